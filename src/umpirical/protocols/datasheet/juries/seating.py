"""Who is on a jury, by which rule it decides, and which calls may speak for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from umpirical.domain.errors import UsageError
from umpirical.domain.readouts import calibration_tasks
from umpirical.protocols.datasheet.juries.ballots import Member, SharedCalls
from umpirical.reports.facts import spend_record
from umpirical.stats.juries import LEARNED, RULES, Ballots, JuryRule, Votes, best_jury, fitted


@dataclass(frozen=True, slots=True)
class Seated:
    """Who is on a jury, how they vote, and which calls may speak for it."""

    shared: SharedCalls
    judges: tuple[int, ...]
    rule: str
    how: JuryRule
    learned_on: frozenset[str]
    """Empty if nothing was settled by any call."""
    looked_best_at: float | None

    @property
    def members(self) -> list[Member]:
        return [self.shared.members[judge] for judge in self.judges]

    @property
    def reported_on(self) -> frozenset[str]:
        return frozenset(self.shared.families) - self.learned_on

    def reported(self) -> Ballots:
        return self.shared.ballots.among(self.shared.numbers_of(self.reported_on))

    def verdicts(self, ballots: Ballots) -> Votes:
        return self.how.verdicts(ballots.of(self.judges))


def seat(shared: SharedCalls, rule: str | None, *, choose: bool, budget: Decimal | None) -> Seated:
    """Seats all judges, or the best jury among them; one half of the families settles what is learned or chosen."""
    everybody, half = tuple(range(len(shared.members))), calibration_tasks(shared.families)
    settled_on = shared.ballots.among(shared.numbers_of(half))
    if not choose:
        named = rule or "majority"
        how = fitted(settled_on, named)
        return Seated(shared, everybody, named, how, half if named in LEARNED else frozenset(), None)
    costs = [cost_of(member) for member in shared.members]
    unknown = [member.name for member, cost in zip(shared.members, costs, strict=True) if cost is None]
    if budget is not None and unknown:
        raise UsageError(
            f"what {', '.join(unknown)} costs is not known, so no budget can be kept", fix="leave out --budget"
        )
    found = best_jury(
        settled_on,
        [float(cost or 0) for cost in costs],
        budget=float("inf") if budget is None else float(budget),
        rules=[rule] if rule else list(RULES),
    )
    if found is None:
        raise UsageError(f"no jury costs as little as ${budget} per 1,000 verdicts", fix="raise --budget")
    how = fitted(settled_on, found.rule).of(found.judges)
    return Seated(shared, found.judges, found.rule, how, half, found.accuracy)


def cost_of(member: Member) -> Decimal | None:
    """Returns the dollars that 1,000 calls to a member cost; None if that is not known."""
    return spend_record(member.run, member.reading.spent).cost_per_1000


def total(amounts: Sequence[Decimal | None]) -> Decimal | None:
    """Returns the sum; None if an amount is not known."""
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if len(known) == len(amounts) else None
