"""Plans to a question: how much would have to be asked for a limit to be settled, whatever a named size has."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Literal

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import BASELINE
from umpirical.measures.estimates.rates import PLANNING_CORRELATION
from umpirical.reports.forecast import settling_units
from umpirical.study.estimate import RunEstimate
from umpirical.study.precision import Precision

SHARES = (0.0, 0.25, 0.5, 0.75)
"""How near the limit the judge may truly be, as a share of the way from the best there is to the limit."""

_QUESTION = re.compile(r"\s*([a-z0-9-]{1,64})(?:@([^\s<>=]{1,64}))?\s*(<=|>=)\s*(\d{0,9}\.?\d{0,9})\s*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Question:
    """Whether a rate is within a limit."""

    measure: str
    stratum: str
    kind: Literal["at_most", "at_least"]
    limit: float

    def true_values(self) -> list[float]:
        """Returns rates on the right side of the limit, from the best to one that is near it."""
        best = 0.0 if self.kind == "at_most" else 1.0
        return [round(best + share * (self.limit - best), 9) for share in SHARES]


@dataclass(frozen=True, slots=True)
class Needed:
    """What settles a question if the judge's true rate is this one."""

    true: float
    units: int | None
    """None if no number is enough."""
    tasks: int | None
    """With as many units in each as the plan has."""
    in_each: int | None
    """Units in each of the planned tasks that would do instead; None if no number is enough."""
    calls: int | None
    """Of a design like the planned one, with so many tasks."""
    dollars: Decimal | None
    """Expected, for all of them; None if no price is known, or nothing is left to ask that would show it."""


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """A question to one judge, beside what its plan has."""

    judge: str
    question: Question
    power: float
    unit: str
    units: int
    """Of the plan."""
    tasks: int
    each: float
    """Units of a task."""
    needed: tuple[Needed, ...]


def parse_question(text: str) -> Question:
    """Reads `dark-current<=0.05`, or `target-sensitivity@5>=0.9` for a part of the design."""
    found = _QUESTION.fullmatch(text)
    try:
        limit = float(found[4]) if found else -1.0
    except ValueError:
        limit = -1.0
    if found is None or not 0 < limit < 1:
        raise UsageError(
            f"{text[:80]!r} is no question", fix='ask like "dark-current<=0.05" or "target-sensitivity@5>=0.9"'
        )
    return Question(found[1], found[2] or "", "at_most" if found[3] == "<=" else "at_least", limit)


def plan_question(run: RunEstimate, question: Question, *, power: float) -> QuestionPlan:
    """Returns what would settle a question, in designs of more or fewer tasks like those of the planned run.

    Units of a task are assumed to correlate as in every plan. That the design keeps its proportions is assumed too:
    twice the pairs of one kind are twice the calls.
    """
    row = _row(run.precision, question)
    each = row.units / row.tasks
    effect = max(1.0, 1 + (each - 1) * PLANNING_CORRELATION)
    planned = run.calls + run.answered
    price = Decimal(0) if run.pricing == "free" else None
    if run.expected is not None and run.calls:
        price = run.expected / run.calls
    needed = []
    for true in question.true_values():
        units = settling_units(true, question.limit, effect=effect, units=0, power=power)
        tasks = None if units is None else max(2, ceil(units / each))
        calls = None if tasks is None else ceil(planned * tasks / row.tasks)
        dollars = None if calls is None or price is None else price * calls
        independent = settling_units(true, question.limit, effect=1.0, units=0, power=power)
        needed.append(Needed(true, units, tasks, _in_each(independent, row.tasks), calls, dollars))
    return QuestionPlan(run.judge, question, power, row.unit, row.units, row.tasks, each, tuple(needed))


def _in_each(independent: int | None, tasks: int) -> int | None:
    """Returns the units in each of so many tasks that are worth so many independent units; None if none are.

    With n units in each of G tasks, the design effect is 1 + (n - 1) r, so that G n / (1 + (n - 1) r) of them are
    independent: never more than G / r.
    """
    if independent is None or independent * PLANNING_CORRELATION >= tasks:
        return None
    return ceil(independent * (1 - PLANNING_CORRELATION) / (tasks - independent * PLANNING_CORRELATION))


def _row(measures: Sequence[Precision], question: Question) -> Precision:
    named = [row for row in measures if row.measure == question.measure and row.arm == BASELINE]
    for row in named:
        if row.stratum == question.stratum:
            return row
    if named:
        parts = ", ".join(row.stratum or "the whole" for row in named)
        raise UsageError(f"{question.measure} has no part {question.stratum!r}", fix=f"it has: {parts}")
    known = ", ".join(dict.fromkeys(row.measure for row in measures))
    raise UsageError(f"no rate of this plan is called {question.measure!r}", fix=f"name one of {known}")
