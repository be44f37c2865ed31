"""A verdict that was given in the past, and what a file of them says about itself."""

from dataclasses import dataclass, field

from umpirical.domain.digests import digest
from umpirical.domain.judgments import Abstained, Failed, Unparsed
from umpirical.domain.scales import Choice, GradeScale, JudgeKind
from umpirical.domain.trials import Order

Given = Choice | str | Abstained | Unparsed | Failed
"""A slot, or a grade as the file spells it; or why there is no verdict. The absence of one is never a grade."""


@dataclass(frozen=True, slots=True)
class Asking:
    """What a person says about a file; whatever is left open is guessed from the file, or not known."""

    columns: dict[str, str] = field(default_factory=dict)
    """Maps a role to the column that has it: verdict, item, order, repeat, label, judge, task."""
    kind: JudgeKind | None = None
    scale: GradeScale | None = None


@dataclass(frozen=True, slots=True)
class PastVerdict:
    """One answer of one judge, as a file has kept it."""

    judge: str
    item: str
    """What was judged: the same for repeats, and for both orders of a pair."""
    given: Given
    task: str = ""
    """Items of one task are not independent of each other; empty if every item is a task of its own."""
    order: Order | None = None
    """Which content was in slot 1; None if the file does not say, and for a grade."""
    repeat: str = ""
    """What the file calls the repeat; empty if it counts none, and the rows stand in their order."""
    gold: str = ""
    """The right grade; for a pair, the better content, `u` or `v`, or `tie`. Empty if it is not known."""


@dataclass(frozen=True, slots=True)
class VerdictFile:
    """Everything that a file holds."""

    format: str
    kind: JudgeKind
    verdicts: tuple[PastVerdict, ...]
    scale: GradeScale | None = None
    """The scale of the grades, if the format says so; None if it has to be found in the grades."""
    notes: tuple[str, ...] = ()
    """What the format hides or changes, so that no measure of it can tell."""


def item_of(*parts: object) -> str:
    """Returns a name for what was judged, made from its texts: the same texts are the same item."""
    return digest("item", [str(part) for part in parts])
