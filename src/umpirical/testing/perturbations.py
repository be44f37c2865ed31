"""The conformance kit for perturbations: one call in a test checks a perturbation against every rule.

A perturbation made by a program:

- `change` gives the same text for the same generator, and never raises;
- the proof holds: original and changed text have the same normal form;
- it finds something to change in ordinary text;
- `normal` leaves a normal form as it is;
- `normal` tells apart texts that differ in a word, a number or the order of words;
- `change` and `normal` take time in proportion to the text.

A perturbation made by a language model:

- the prompt has {{fence}}, and {{response}} or {{task}}, and no placeholder that nobody fills;
- the prompt tells neither label nor target where the verdict should stay the same;
- its checks reject a copy of the original, an empty text and a refusal;
- a check says what it found, in words, whatever the text; neither it nor `unfit` ever raises.

Both: a name in kebab case, a title, one sentence about it, a version from 1, and one of the known words for what it
alters.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NoReturn, TypeVar, get_args

import numpy as np

from umpirical.registry import KEBAB_CASE
from umpirical.stimuli.perturbations.catalogue import (
    Alters,
    Check,
    GeneratedPerturbation,
    Made,
    Perturbation,
    ProvedPerturbation,
)
from umpirical.stimuli.perturbations.proof import prove
from umpirical.testing.sample_texts import AWKWARD_TEXTS, ORDINARY_TEXTS
from umpirical.text.templates import placeholders

T = TypeVar("T")
Argument = TypeVar("Argument", str, Made)

REFUSALS = (
    "I'm sorry, I can't help with that.",
    "I’m sorry, but I can’t assist with that request.",
    "I cannot help with this.",
)

PLACEHOLDERS = frozenset(
    {"instruction", "rubric", "task", "response", "label", "target", "scale", "examples", "fence"},
)

SHAPES = (
    ORDINARY_TEXTS[0],
    "a",
    "a b",
    "\n",
    "\r\n ",
    " ",
    "*",
    "**a ",
    '"',
    "`",
    "<a ",
    "# A\n",
    "- Then it ended.\n",
)
"""Repeated, they make texts on which a careless pattern takes quadratic time."""

SHORT, TIMES = 5_000, 4
MOST_TIMES = 10.0
"""How many times as long a text of `TIMES` the length may take. Linear time is 4, quadratic time 16."""
NOTICED = 0.02
"""CPU seconds below which a time is meaningless."""

TASK = "Write a short text for your school newspaper."


def check_perturbation(perturbation: Perturbation, texts: Iterable[str] | None = None) -> None:
    """Raises AssertionError with the rule and the text that breaks it. `texts` are tried besides the built-in ones."""
    own = tuple(texts or ())
    _check_card(perturbation)
    match perturbation:
        case ProvedPerturbation():
            _check_changes(perturbation, (*ORDINARY_TEXTS, *own), (*AWKWARD_TEXTS, *_long(SHORT)))
            _check_tells_apart(perturbation)
            _check_time(perturbation)
        case GeneratedPerturbation():
            _check_prompt(perturbation)
            _check_rejections(perturbation)
            _check_never_raises(perturbation, (*ORDINARY_TEXTS, *AWKWARD_TEXTS, *own))


def _check_card(perturbation: Perturbation) -> None:
    if not isinstance(perturbation, ProvedPerturbation | GeneratedPerturbation):
        # Not a TypeError: as with every other rule, the test should fail and not end in an error.
        got = type(perturbation).__name__
        raise AssertionError(f"expected a ProvedPerturbation or a GeneratedPerturbation, got {got}")  # noqa: TRY004
    if not KEBAB_CASE.fullmatch(perturbation.name):
        _broken(perturbation, "name", f"expected kebab case such as `in-line-spacing`, got {perturbation.name!r}")
    if not perturbation.title.strip():
        _broken(perturbation, "title", "expected a title for the report, got nothing")
    about = perturbation.about
    if not re.fullmatch(r"[^\Wa-z_].+[.]", about) or re.search(r"[.!?]\s+[^\Wa-z]", about):
        _broken(perturbation, "about", f"expected one sentence with a full stop, got {about!r}")
    if type(perturbation.version) is not int or perturbation.version < 1:
        _broken(perturbation, "version", f"expected a whole number from 1, got {perturbation.version!r}")
    if perturbation.alters not in get_args(Alters):
        _broken(perturbation, "alters", f"expected {', '.join(get_args(Alters))}, got {perturbation.alters!r}")


# Made by a program.


def _check_changes(perturbation: ProvedPerturbation, ordinary: Sequence[str], awkward: Sequence[str]) -> None:
    changing = 0
    for text in (*ordinary, *awkward):
        normal = _called(perturbation, "normal", perturbation.normal, text)
        if _called(perturbation, "normal", perturbation.normal, normal) != normal:
            _broken(perturbation, "idempotent", f"the normal form of a normal form is different, for {_short(text)}")
        for seed in range(3):
            changed = _changed(perturbation, text, seed)
            changing += changed != text and text in ordinary
            _called(perturbation, "proof", partial(prove, perturbation, text), changed, kind=dict)
    if not changing:
        _broken(perturbation, "finds something", f"it changed none of {len(ordinary)} ordinary texts")


def _changed(perturbation: ProvedPerturbation, text: str, seed: int) -> str:
    def change(text: str) -> str:
        return perturbation.change(text, np.random.default_rng(seed))

    once, again = (_called(perturbation, "change", change, text) for _ in range(2))
    if once != again:
        _broken(perturbation, "deterministic", f"two texts from one seed, {seed}, for {_short(text)}")
    return once


def _check_tells_apart(perturbation: ProvedPerturbation) -> None:
    for text in ORDINARY_TEXTS:
        normal = perturbation.normal(text)
        for what, other in _other_texts(text):
            if perturbation.normal(other) == normal:
                _broken(perturbation, "tells apart", f"the normal form is the same {what}, in {_short(text)}")


def _other_texts(text: str) -> Iterator[tuple[str, str]]:
    """Yields texts that say something else, each with how it differs."""
    found = [*re.finditer(r"\b[a-z]{3,}(?= )", text)]
    for word, other in zip(found[::4], found[2::4], strict=False):
        start, end = text[: word.start()], text[word.end() :]
        between = text[word.end() : other.start()]
        yield f"without the word {word[0]!r}", start + end[1:]
        yield f"with another word for {word[0]!r}", f"{start}unlike{end}"
        yield f"with {word[0]!r} said twice", f"{start}{word[0]} {word[0]}{end}"
        if word[0] != other[0]:
            swapped = f"{start}{other[0]}{between}{word[0]}{text[other.end() :]}"
            yield f"with {word[0]!r} and {other[0]!r} in each other's place", swapped
    for number in re.finditer(r"\d", text):
        digit = (int(number[0]) + 1) % 10
        yield f"with {digit} for the figure {number[0]}", f"{text[: number.start()]}{digit}{text[number.end() :]}"


def _check_time(perturbation: ProvedPerturbation) -> None:
    """Times short and long texts side by side, and again if the ratio is too high: a busy machine only adds time."""
    for short, long, shape in zip(_long(SHORT), _long(SHORT * TIMES), SHAPES, strict=True):
        seconds, most = _seconds(perturbation, short), _seconds(perturbation, long)
        for _ in range(4):
            if most < max(NOTICED, MOST_TIMES * seconds):
                break
            seconds, most = min(seconds, _seconds(perturbation, short)), min(most, _seconds(perturbation, long))
        if most >= max(NOTICED, MOST_TIMES * seconds):
            _broken(
                perturbation,
                "time in proportion",
                f"a text {TIMES} times as long takes {most / seconds:.1f} times as long ({seconds:.3f} s and "
                f"{most:.3f} s), for repeated {_short(shape)}",
            )


def _seconds(perturbation: ProvedPerturbation, text: str) -> float:
    start = time.process_time()
    perturbation.change(text, np.random.default_rng(0))
    perturbation.normal(text)
    return max(time.process_time() - start, 1e-6)


def _long(length: int) -> list[str]:
    return [(shape * (length // len(shape) + 1))[:length] for shape in SHAPES]


# Made by a language model.


def _check_prompt(perturbation: GeneratedPerturbation) -> None:
    named = placeholders(perturbation.prompt)
    if unknown := sorted(named - PLACEHOLDERS):
        known = ", ".join(sorted(PLACEHOLDERS))
        _broken(perturbation, "placeholders", f"unknown placeholders {', '.join(unknown)}; choose from {known}")
    left = re.sub(r"\{\{ *[a-z_]+ *\}\}", "", perturbation.prompt)
    if "{{" in left or "}}" in left:
        _broken(perturbation, "placeholders", "double braces without a lowercase name would be sent unchanged")
    if "fence" not in named:
        _broken(perturbation, "fence", "without {{fence}} a response can end its own quotation and give instructions")
    if not named & {"response", "task"}:
        _broken(
            perturbation, "material", "expected {{response}} or {{task}}, got neither: there is nothing to write from"
        )
    if perturbation.expectation == "same-verdict" and (told := sorted(named & {"label", "target"})):
        _broken(perturbation, "no leak", f"the verdict should stay the same, but the prompt contains {', '.join(told)}")


def _check_rejections(perturbation: GeneratedPerturbation) -> None:
    for original in ORDINARY_TEXTS:
        wrong = {"rejects a copy": original, "rejects an empty text": ""}
        for rule, text in (*wrong.items(), *(("rejects a refusal", refusal) for refusal in REFUSALS)):
            made = _made(perturbation, original, text)
            if all(_passed(perturbation, check, made) for check in perturbation.checks):
                names = ", ".join(check.name for check in perturbation.checks) or "none"
                _broken(perturbation, rule, f"no check fails for {_short(text)}; its checks: {names}")


def _check_never_raises(perturbation: GeneratedPerturbation, texts: Sequence[str]) -> None:
    usual = ORDINARY_TEXTS[1]
    for text in texts:
        _called(perturbation, "unfit", perturbation.unfit, text)
    for check in perturbation.checks:
        if not (check.name.strip() and check.allowed.strip()):
            _broken(perturbation, "check", f"expected a name and a limit, got {check.name!r}, {check.allowed!r}")
        for text in texts:
            for original, changed in ((usual, text), (text, usual), (text, text)):
                _passed(perturbation, check, _made(perturbation, original, changed))


def _made(perturbation: GeneratedPerturbation, original: str, text: str) -> Made:
    if perturbation.expectation == "given-label":
        return Made("", text, TASK, "2", others=(original,))
    return Made(original, text, TASK, "" if perturbation.expectation == "same-verdict" else "2")


def _passed(perturbation: GeneratedPerturbation, check: Check, made: Made) -> bool:
    rule = f"check {check.name!r}"
    found = _called(perturbation, rule, check.found, made)
    if not found:
        _broken(perturbation, rule, f"expected a description of what was found, got {found!r} for {_short(made)}")
    return _called(perturbation, rule, check.passed, made, kind=bool)


# For both.


def _called(
    perturbation: Perturbation, rule: str, function: Callable[[Argument], T], argument: Argument, *, kind: type = str
) -> T:
    """Returns the function's result, which must be of that type."""
    try:
        given = function(argument)
    except Exception as error:  # noqa: BLE001  # whatever it is, it would end a run
        _broken(perturbation, rule, f"raised {type(error).__name__}: {error} for {_short(argument)}")
    if not isinstance(given, kind):
        _broken(perturbation, rule, f"expected {kind.__name__}, got {type(given).__name__} for {_short(argument)}")
    return given


def _broken(perturbation: Perturbation, rule: str, message: str) -> NoReturn:
    raise AssertionError(f"{perturbation.name}, rule {rule!r}: {message}")


def _short(shown: str | Made) -> str:
    text = shown if isinstance(shown, str) else shown.changed
    return repr(text if len(text) <= 60 else f"{text[:57]}...")
