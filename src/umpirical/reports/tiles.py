"""A tile: one thing that a reader asks first of a judge, answered by the check that decides it.

Every place that shows a judge at a glance shows its tiles, so that none has another value or mark.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from umpirical.reports.record import CheckVerdict

Mark = Literal["pass", "fail", "open", "none"]
"""What a tile comes to. `none`: nothing was checked."""

MARKS: Mapping[CheckVerdict, Mark] = {"PASS": "pass", "FAIL": "fail", "INCONCLUSIVE": "open", "N/A": "none"}


@dataclass(frozen=True, slots=True)
class Tile:
    """One answer. Its value, threshold and mark are those of one check of the record."""

    name: str
    mark: Mark
    value: str
    """As it is written in the table of checks; empty if nothing was measured."""
    part: str
    """The step of the ladder that it is about, which differs from judge to judge; empty for any other."""
    interval: str
    """Of the value; empty if there is none."""
    about: str
    """What the value is; without a value, why there is none."""
    threshold: str
    """Empty without a check."""
    bound: str
    """What an open check cannot rule out; empty for any other."""
    anchor: str
    """Where on the page its check is."""
