"""Prompt filling: what is filled in is never looked at again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.prompt import builtin_prompt, fence
from umpirical.text.templates import fill, placeholders

TRAPS = [
    "{{task}}",
    "{{first}}",
    "{{ second }}",
    "{{fence}}",
    "{{",
    "}}",
    "{",
    "}",
    "\\1",
    "\\g<0>",
    "\\",
    "{task}",
    "%s",
]

VALUES = st.lists(st.sampled_from(TRAPS) | st.text(max_size=5), max_size=6).map("".join)


@given(VALUES, VALUES, VALUES)
def test_every_value_comes_out_verbatim_and_is_not_filled_again(task, first, second):
    values = {"task": task, "first": first, "second": second, "fence": "f"}
    filled = fill("T:{{task}}|{{ first }}|{{second}}|{{first}}|{{fence}}|\\1", values)
    assert filled == f"T:{task}|{first}|{second}|{first}|f|\\1"


@given(VALUES, VALUES, VALUES)
def test_the_fence_is_the_same_in_both_orders(task, first, second):
    assert fence(Presented(task, first, second)) == fence(Presented(task, second, first))


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), min_size=2, max_size=8))
def test_other_texts_have_another_fence(texts):
    different = {(task, *sorted(pair)) for task, *pair in texts}
    # 32 bits: among a handful of texts, two alike would be one run in a hundred million.
    assert len({fence(Presented(*shown)) for shown in texts}) == len(different)


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("compare", {"task", "first", "second", "fence", "first_label", "second_label", "options"}),
        ("compare-strict", {"task", "first", "second", "fence", "first_label", "second_label", "options"}),
        *(
            (f"compare-{name}", {"task", "first", "second", "fence", "first_label", "second_label", "options"})
            for name in ("short", "guided", "example")
        ),
        ("compare-forced-choice", {"task", "first", "second", "fence", "first_label", "second_label", "winners"}),
        ("grade", {"task", "first", "fence", "scale"}),
    ],
)
def test_a_built_in_prompt_has_exactly_the_placeholders_of_its_kind(name, needed):
    assert placeholders(builtin_prompt(name)) == needed


@pytest.mark.parametrize("name", ["nothing", "", "../prompting", "compare.md", "COMPARE"])
def test_an_unknown_built_in_prompt_is_refused_with_those_there_are(name):
    with pytest.raises(UsageError) as refused:
        builtin_prompt(name)
    assert (
        "compare, compare-example, compare-forced-choice, compare-guided, compare-short, compare-strict"
        in refused.value.fix
    )


STYLE = ("wording", "style", "fluency", "verbosity", "surface", "length")

RULE = "only wording, style, fluency, verbosity or surface form, the verdict is"


@pytest.mark.parametrize(
    "name", ["compare", "compare-forced-choice", "compare-short", "compare-guided", "compare-example", "grade"]
)
def test_a_baseline_says_nothing_about_style(name):
    text = builtin_prompt(name).casefold()
    assert [word for word in STYLE if word in text] == []


def test_strict_is_the_baseline_and_one_rule_about_what_is_a_tie():
    baseline, strict = builtin_prompt("compare"), builtin_prompt("compare-strict")
    rule = f'Whenever the differences between them are {RULE} "tie". '
    assert strict.count(rule) == 1
    assert strict.replace(rule, "") == baseline


def test_each_longer_prompt_is_the_one_before_it_and_more():
    short, own, guided, example = (builtin_prompt(f"compare{end}") for end in ("-short", "", "-guided", "-example"))
    # The short one puts the first sentence as a question, and leaves out when to tie, which the options still name.
    assert set(short.splitlines()[1:]) < set(own.splitlines()) < set(guided.splitlines()) < set(example.splitlines())
    assert len(short.split()) < len(own.split()) < len(guided.split()) < len(example.split())


def test_a_baseline_allows_a_tie_and_forced_choice_does_not():
    assert 'The two candidates may be equally good: then the verdict is "tie".' in builtin_prompt("compare")
    forced = builtin_prompt("compare-forced-choice")
    assert "there is no tie" in forced
    assert '"tie"' not in forced
