"""The limits that a judge under stress is held to, with the reason for each.

The values are conventions, chosen before any judge was stressed; the user can set only the margin.
"""

from dataclasses import dataclass

from umpirical.protocols.stress.record import ScaleRecord, TestKind
from umpirical.protocols.stress.words import allowed_words

MARGIN = 0.05
"""The default margin: a rate for changes, a share of the scale's range for shifts."""


@dataclass(frozen=True, slots=True)
class StressLimit:
    """One limit on one measure of every test of a kind."""

    kind: TestKind
    measure: str
    least: float | None
    """In margins if `in_margins`; None for no lower limit."""
    most: float | None
    why: str
    """The reason for the value, as printed on the page."""
    in_margins: bool = False
    of_range: bool = False
    """Whether the margin is a share of the scale's range; a scale without order then has no limit."""
    instead: str = ""
    """The measure that is held to the same limit if this one is undefined."""


LIMITS: tuple[StressLimit, ...] = (
    StressLimit(
        "same-verdict", "excess-change", None, 1.0, in_margins=True, instead="change-rate",
        why="A judge that answers the same request differently changes some verdicts anyway. What the changed text may "
        "add to that is the margin. Where nothing was asked twice its own noise is not known, and all changes count.",
    ),
    StressLimit(
        "same-verdict", "shift-equivalence", -1.0, 1.0, in_margins=True, of_range=True,
        why="Changes up and down may cancel out in number and still move the mean, or the other way round. The 90 % "
        "interval inside the margin is two one-sided tests at 5 %: no difference shown is not enough.",
    ),
    StressLimit(
        "flipped-verdict", "flip-detection", 0.80, None,
        why="The value that the datasheet asks for a difference of one requirement: a judge that misses more than one "
        "such change in five does not see what the rubric asks it to see.",
    ),
    StressLimit(
        "repeats", "flip-rate", None, 0.10,
        why="The value that the datasheet allows for preferences between equal answers: more than one pair of answers "
        "in ten that differ is noise in every score.",
    ),
)  # fmt: skip

NO_LIMIT = (
    "no limit is set: how much agreement is enough depends on how well people agree with each other on the same texts, "
    "which labels alone do not say"
)

RULES = (
    "A test passes only if the whole interval of each of its measures lies inside its limit, and fails if that of one "
    "of them lies wholly outside. Items without a verdict are left out of the measures, and may not help to pass: a "
    "test passes only if it still would with all of them counted the worst way. What is neither is INCONCLUSIVE; what "
    "was not measured, or has no limit, is N/A, and N/A never counts as a pass."
)

ANY_DIFFERENCE = (
    "On an interval scale a changed verdict is any difference at all, however small; how far grades move is what the "
    "shift says."
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """A limit in the unit of its measure."""

    limit: StressLimit
    least: float | None
    most: float | None


def allowed(kind: TestKind, *, margin: float, scale: ScaleRecord) -> tuple[Allowed, ...]:
    """Returns the limits on a kind of test; empty if none is set."""
    held = []
    for limit in LIMITS:
        if limit.kind != kind or (limit.of_range and scale.range is None):
            continue
        unit = margin if limit.in_margins else 1.0
        unit *= scale.range if limit.of_range and scale.range is not None else 1.0
        held.append(Allowed(limit, *(None if end is None else end * unit for end in (limit.least, limit.most))))
    return tuple(held)


def limit_words(held: Allowed) -> str:
    return allowed_words(held.least, held.most, unit="grades" if held.limit.of_range else "")


def policy_words(*, margin: float, scale: ScaleRecord) -> list[str]:
    """Returns the rules and limits as printed on the page."""
    kinds: dict[TestKind, str] = {
        "same-verdict": "Should change nothing",
        "flipped-verdict": "Should change the verdict",
        "repeats": "Asked again",
    }
    words = [RULES]
    for kind, title in kinds.items():
        words += [
            f"{title}: {_measure_words(one.limit)} {limit_words(one)}. {one.limit.why}"
            for one in allowed(kind, margin=margin, scale=scale)
        ]
    if scale.range is None:
        words.append("On a scale without order grades do not shift up or down: only changes are held to a limit.")
    if scale.kind == "interval":
        words.append(ANY_DIFFERENCE)
    return [*words, f"Agreement with gold: {NO_LIMIT}."]


def _measure_words(limit: StressLimit) -> str:
    return {
        "excess-change": "verdicts that change, less those that change on asking again,",
        "shift-equivalence": "the mean shift of the grades, its 90 % interval,",
        "flip-detection": "verdicts that change as required",
        "flip-rate": "pairs of answers to the same request that differ",
    }[limit.measure]
