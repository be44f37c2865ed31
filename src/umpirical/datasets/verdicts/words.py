"""The words of others for a verdict: slots, ties, the absence of a verdict, orders."""

import math
from collections.abc import Collection

from umpirical.datasets.values import is_missing, plain_text
from umpirical.datasets.verdicts.past_verdict import Given
from umpirical.domain.errors import ConfigError
from umpirical.domain.judgments import Abstained, Failed, Unparsed
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Order

SLOT_1 = frozenset({"1", "a", "first", "[[a]]", "a>b", "a>>b", "slot 1", "answer 1", "response_a"})
SLOT_2 = frozenset({"2", "b", "second", "[[b]]", "b>a", "b>>a", "slot 2", "answer 2", "response_b"})
TIES = frozenset({"tie", "tied", "draw", "equal", "same", "both", "a=b", "b=a", "c", "[[c]]"})
ABSTAINED = frozenset({"abstain", "abstained", "abstention", "cannot say"})
FAILED = frozenset({"error", "failed", "failure", "timeout", "refused"})
NOTHING = frozenset({"nan", "none", "null", "n/a", "na", "unparsed", "-"})
"""Words that programs write where there is no verdict."""

UNCLEAR = frozenset({"failed", "failure"})
"""Words for a response that does not pass, and for a call that did not work: which one is not for us to guess."""

PASSING = frozenset({"pass", "passed", "fail"})
"""Words beside which these are unclear; beside grades they say that a call did not work."""

ORDERS = (
    ({"uv"}, {"vu"}),
    ({"ab"}, {"ba"}),
    ({"0"}, {"1"}),
    ({"1"}, {"2"}),
    ({"original", "first", "normal", "forward"}, {"swapped", "second", "reversed", "reverse", "flipped", "backward"}),
    ({"false"}, {"true"}),
)
"""What the two orders are called: the one in which contents are named, and the other."""


def unclear(word: str, place: str) -> ConfigError:
    """Returns the error for a word that may be a verdict or none."""
    return ConfigError(
        f"{word!r} may be a verdict, or a call that did not work",
        where=place,
        fix="write fail for a response that does not pass; leave the cell empty where the judge gave no answer",
    )


def choice_of(value: object) -> Given:
    """Returns which slot a verdict names."""
    if (missing := _no_verdict(value)) is not None:
        return missing
    word = plain_text(value).strip().casefold()
    if word in SLOT_1:
        return Choice.SLOT_1
    if word in SLOT_2:
        return Choice.SLOT_2
    if word in TIES:
        return Choice.TIE
    return Unparsed(plain_text(value)[:400], "it names neither slot, nor a tie")


def grade_of(value: object) -> Given:
    """Returns a grade as text: a number in its shortest spelling, true and false as these words."""
    if (missing := _no_verdict(value)) is not None:
        return missing
    if isinstance(value, bool | int | float | str):
        return plain_text(value).strip()
    return Unparsed(str(value)[:400], f"a {type(value).__name__} is no verdict")


def content_of(value: object) -> str:
    """Returns which content a label calls the better one, in the order in which contents are named; empty if none."""
    return (
        {Choice.SLOT_1: "u", Choice.SLOT_2: "v", Choice.TIE: "tie"}.get(found, "")
        if isinstance(found := choice_of(value), Choice)
        else ""
    )


def swapped(choice: Choice) -> Choice:
    """Returns the same content's slot in the other order."""
    return {Choice.SLOT_1: Choice.SLOT_2, Choice.SLOT_2: Choice.SLOT_1}.get(choice, choice)


def orders_of(words: Collection[str], where: str) -> dict[str, Order]:
    """Returns what each word for an order means. Raises ConfigError if the words do not tell."""
    folded = {word: word.strip().casefold() for word in words}
    for first, second in ORDERS:
        if set(folded.values()) <= first | second:
            return {word: Order.UV if fold in first else Order.VU for word, fold in folded.items()}
    raise ConfigError(
        f"the orders are called {', '.join(sorted(words)[:5])}, and it is not known which is which",
        where=where,
        fix="call them uv and vu: in uv, slot 1 holds the content that a label names as 1",
    )


def _no_verdict(value: object) -> Abstained | Unparsed | Failed | None:
    if is_missing(value) or (isinstance(value, float) and not math.isfinite(value)):
        return Unparsed("", "no verdict stands there")
    if not isinstance(value, str):
        return None
    word = value.strip().casefold()
    if word in ABSTAINED:
        return Abstained()
    if word in FAILED:
        return Failed("judge-error", f"the file says {word}")
    return Unparsed(value[:400], f"the file says {word}") if word in NOTHING else None
