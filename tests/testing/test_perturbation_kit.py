"""The conformance kit: what is sound passes, and each rule can be broken."""

import random
import re
from dataclasses import replace

import pytest

import umpirical.testing
from tests.cases import each
from umpirical.stimuli.perturbations.catalogue import (
    PERTURBATIONS,
    Check,
    GeneratedPerturbation,
    ProvedPerturbation,
)
from umpirical.testing import check_perturbation
from umpirical.testing.sample_texts import AWKWARD_TEXTS, ORDINARY_TEXTS

SOUND = ProvedPerturbation(
    name="two-blanks",
    title="Two blanks",
    about="Every blank becomes two.",
    version=1,
    change=lambda text, _: re.sub(r"(?<! ) (?! )", "  ", text),
    normal=lambda text: re.sub(r" +", " ", text),
)


def check(name="long enough", found=lambda made: f"{len(made.changed)} characters", **changes):
    passed = changes.pop(
        "passed", lambda made: len(made.changed) > 80 and made.changed not in (made.original, *made.others)
    )
    return Check(name, changes.pop("allowed", "more than 80, and other ones"), found, passed)


WRITTEN = GeneratedPerturbation(
    name="in-verse",
    title="In verse",
    about="The response is put into verse.",
    version=2,
    expectation="same-verdict",
    prompt="[{{fence}}] {{response}} [{{ fence }}] By {{rubric}}, say it in verse.",
    checks=(check(),),
)


def broken_by(perturbation, texts=None):
    with pytest.raises(AssertionError) as caught:
        check_perturbation(perturbation, texts)
    return str(caught.value)


@each("name", PERTURBATIONS.names())
def test_every_perturbation_there_is_keeps_the_rules(name):
    check_perturbation(PERTURBATIONS.get(name))


@pytest.mark.parametrize("sound", [SOUND, WRITTEN], ids=["proved", "generated"])
def test_what_is_sound_passes_with_and_without_texts_of_ones_own(sound):
    check_perturbation(sound)
    check_perturbation(sound, ["my own  text", ""])
    check_perturbation(sound, texts=iter(["from an iterator"]))


def test_the_kit_is_exported():
    assert "check_perturbation" in umpirical.testing.__all__
    assert umpirical.testing.__all__ == sorted(umpirical.testing.__all__)


def test_what_is_no_perturbation_is_said_to_be_none():
    assert broken_by("two-blanks") == "expected a ProvedPerturbation or a GeneratedPerturbation, got str"


@each("sound", [SOUND, WRITTEN])
@each(
    ("rule", "changes"),
    [
        ("name", {"name": "Two blanks"}),
        ("name", {"name": "two_blanks"}),
        ("name", {"name": "two--blanks"}),
        ("name", {"name": ""}),
        ("title", {"title": " "}),
        ("about", {"about": ""}),
        ("about", {"about": "Every blank becomes two"}),
        ("about", {"about": "every blank becomes two."}),
        ("about", {"about": "Every blank becomes two. Then it ends."}),
        ("about", {"about": "Every blank\nbecomes two."}),
        ("version", {"version": 0}),
        ("version", {"version": "1"}),
        ("version", {"version": True}),
        ("alters", {"alters": "formatting"}),
        ("alters", {"alters": None}),
    ],
)
def test_a_card_that_is_not_in_order(sound, rule, changes):
    assert f"rule {rule!r}" in broken_by(replace(sound, **changes))


def _quadratic(text):
    # By the square of the length, whatever the text: 0.1 s for the longer one.
    for _ in range(len(text) // 20):
        text.encode("utf-8", "surrogatepass").hex(":")
    return re.sub(r" +", " ", text)


def _random_blanks(text, _):
    return text.replace(" ", "  ") if random.random() < 0.5 else text  # noqa: S311  # which is what is wrong with it


def _only_in_awkward_texts(text, _):
    return text.replace("\r\n", "\r\n\r\n")


@each(
    ("rule", "changes"),
    [
        ("deterministic", {"change": _random_blanks}),
        ("proof", {"change": lambda text, _: text + "!"}),
        ("proof", {"change": lambda text, _: text.replace("not", "NOT")}),
        ("proof", {"change": lambda text, rng: text + "!" * int(rng.integers(2))}),
        ("finds something", {"change": lambda text, _: text}),
        (
            "finds something",
            {"change": _only_in_awkward_texts, "normal": lambda text: " ".join(text.split())},
        ),
        ("idempotent", {"normal": lambda text: text.replace("  ", " ")}),
        ("tells apart", {"normal": lambda _: ""}),
        ("tells apart", {"normal": lambda text: " ".join("x" for _ in text.split())}),
        ("tells apart", {"normal": lambda text: " ".join(sorted(text.split()))}),
        ("tells apart", {"normal": lambda text: " ".join(dict.fromkeys(text.split()))}),
        ("tells apart", {"normal": lambda text: re.sub(r"[ 0-9]+", " ", text)}),
        ("tells apart", {"normal": lambda text: " ".join(word for word in text.split() if word[0] != "s")}),
        ("time in proportion", {"normal": _quadratic}),
        ("change", {"change": lambda text, _: SOUND.change(text[0] + text[1:], _)}),
        ("change", {"change": lambda text, _: text.encode("utf-8").decode("utf-8")}),
        ("change", {"change": lambda _text, _: None}),
        ("normal", {"normal": lambda text: str(text.index("e"))}),
        ("normal", {"normal": lambda text: text.split()}),
    ],
)
def test_a_change_by_program_that_breaks_a_rule(rule, changes):
    said = broken_by(replace(SOUND, **changes))
    assert said.startswith(f"two-blanks, rule {rule!r}: "), said
    assert len(said) < 600


def test_texts_of_ones_own_are_held_to_the_rules():
    only_mine = replace(SOUND, change=lambda text, _: "changed" if text == "mine" else SOUND.change(text, _))
    check_perturbation(only_mine)
    assert "rule 'proof'" in broken_by(only_mine, ["mine"])


def test_what_only_finds_something_in_ones_own_text_passes_with_it():
    rare = replace(
        SOUND,
        change=lambda text, _: text.replace("colour ", "colour  "),
        normal=lambda text: re.sub(r"(?<=colour) +", " ", text),
    )
    assert "rule 'finds something'" in broken_by(rare)
    check_perturbation(rare, ["the colour blue"])


def _raises(_):
    raise KeyError("length")


@each(
    ("rule", "changes"),
    [
        ("placeholders", {"prompt": WRITTEN.prompt + "{{winner}}"}),
        ("placeholders", {"prompt": WRITTEN.prompt + "{{Response}}"}),
        ("placeholders", {"prompt": WRITTEN.prompt + "{{response}"}),
        ("fence", {"prompt": "{{response}}"}),
        ("material", {"prompt": "{{fence}} {{rubric}}"}),
        ("no leak", {"prompt": WRITTEN.prompt + "{{label}}"}),
        ("no leak", {"prompt": WRITTEN.prompt + "{{ target }}"}),
        ("rejects a copy", {"checks": (check(passed=lambda made: len(made.changed) > 80),)}),
        ("rejects a copy", {"checks": ()}),
        ("rejects an empty text", {"checks": (check(passed=lambda made: made.changed != made.original),)}),
        (
            "rejects a refusal",
            {"checks": (check(passed=lambda made: made.changed != made.original and bool(made.changed)),)},
        ),
        ("check 'long enough'", {"checks": (check(found=_raises),)}),
        ("check 'long enough'", {"checks": (check(passed=_raises),)}),
        ("check 'long enough'", {"checks": (check(), check(found=lambda made: 1 / len(made.original)))}),
        ("check 'long enough'", {"checks": (check(found=lambda _: ""),)}),
        ("check 'long enough'", {"checks": (check(found=lambda _: 3),)}),
        ("check 'long enough'", {"checks": (check(passed=lambda _: None),)}),
        ("check", {"checks": (check(allowed=""),)}),
        ("check", {"checks": (check(name=" "),)}),
        ("unfit", {"unfit": _raises}),
        ("unfit", {"unfit": lambda text: len(text) < 5}),
    ],
)
def test_a_change_by_a_model_that_breaks_a_rule(rule, changes):
    said = broken_by(replace(WRITTEN, **changes))
    assert said.startswith(f"in-verse, rule {rule!r}: "), said


@pytest.mark.parametrize("expectation", ["flipped-verdict", "given-label"])
def test_where_the_verdict_should_change_the_prompt_may_tell_the_target(expectation):
    told = replace(WRITTEN, expectation=expectation, prompt="{{fence}} {{task}} {{label}} {{target}}")
    check_perturbation(told)


def test_a_text_written_anew_must_not_repeat_another():
    anew = replace(WRITTEN, expectation="given-label")
    check_perturbation(anew)
    careless = check(passed=lambda made: len(made.changed) > 80 and made.changed != made.original)
    assert "rule 'rejects a copy'" in broken_by(replace(anew, checks=(careless,)))


def test_one_check_that_rejects_is_enough():
    lenient = check(name="anything", passed=lambda _: True)
    check_perturbation(replace(WRITTEN, checks=(lenient, check(), lenient)))


def test_the_texts_are_what_they_are_said_to_be():
    assert len(set(AWKWARD_TEXTS)) == len(AWKWARD_TEXTS) >= 30
    assert not set(AWKWARD_TEXTS) & set(ORDINARY_TEXTS)
    every = "".join(AWKWARD_TEXTS)
    assert all(sign in every for sign in ("\r\n", "\ud800", "\x00", "```", "http", "漢", "\u200b", "{{", "\t"))
    assert all(re.search(r"\d", text) and len(text.split()) > 50 for text in ORDINARY_TEXTS)
