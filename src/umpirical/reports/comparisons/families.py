"""Which differences between two judges stand when all rows of their comparison are looked at.

The rows of the policy's limits are the primary family: they were named before any judge was compared, and a difference
in one of them is shown only if it stands after Holm's correction. Every other row is exploratory: Benjamini and
Hochberg's correction tells a hint from noise, and a hint is for the next comparison to confirm.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.reports.record import EstimateRecord, UndefinedRecord
from umpirical.reports.significance import LEVEL, difference_p, false_discoveries, holm

Family = Literal["primary", "exploratory"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What one row's difference is worth among all rows."""

    family: Family
    p_value: float | None
    """Of no difference, the row taken alone; None if it has no interval."""
    adjusted_p: float | None
    """The same for the row among those of its family."""

    @property
    def shown(self) -> bool:
        return self.adjusted_p is not None and self.adjusted_p < LEVEL


def standings(differences: Sequence[EstimateRecord | UndefinedRecord], primary: Sequence[bool]) -> list[Standing]:
    """Returns the standing of every difference; `primary` says which of them belong to the policy's limits."""
    found = [difference_p(one) if isinstance(one, EstimateRecord) else None for one in differences]
    first = iter(holm([p for p, named in zip(found, primary, strict=True) if named]))
    rest = iter(false_discoveries([p for p, named in zip(found, primary, strict=True) if not named]))
    return [
        Standing("primary", p, next(first)) if named else Standing("exploratory", p, next(rest))
        for p, named in zip(found, primary, strict=True)
    ]


def one_way_everywhere(p_values: Sequence[float | None]) -> bool:
    """Whether every row is shown, each at its own level, given that all of them lie the same way.

    A claim about all rows at once is wrong as soon as one of them is, so each row's test at the level is a test of the
    whole claim at that level, and none is corrected.

    Reference: R. L. Berger, Multiparameter hypothesis testing and acceptance sampling, Technometrics 24 (1982): the
    intersection-union test.
    """
    return bool(p_values) and all(p is not None and p < LEVEL for p in p_values)
