"""Why a test has nothing to judge: no text was made for it, or nothing could be asked."""

from umpirical.reports import numbers
from umpirical.reports.stress.record import MadeRecord, StressTest

__all__ = ["why_not_made"]


def why_not_made(test: StressTest) -> str:
    """In words; empty where there is a text to judge."""
    if test.kind == "original":
        return ""
    made = test.made
    if test.kind == "repeats":
        is_unseeded = test.name == "seeds" and not made.wanted
        return "not asked: a judge that is a function has no seed to set" if is_unseeded else ""
    kept = made.accepted - made.rejected_by_review - made.left_out
    if made.proved or kept > 0 or not made.wanted:
        return ""
    if made.accepted:
        return _taken_away(made)
    words = f"0 of {numbers.count(made.wanted)} {numbers.units('text', made.wanted)} were made"
    reasons = "; ".join(_reasons(made))
    return f"{words}: {reasons}" if reasons else f"{words}: none was tried"


def _taken_away(made: MadeRecord) -> str:
    """Where there were texts, and people have let none of them through."""
    words = f"no text is left of {numbers.count(made.accepted)} that {'was' if made.accepted == 1 else 'were'} made"
    said = [f"{numbers.count(made.rejected_by_review)} rejected by people"] if made.rejected_by_review else []
    said += [f"{numbers.count(made.left_out)} left out until people settle them"] if made.left_out else []
    return f"{words}: {'; '.join(said)}"


def _reasons(made: MadeRecord) -> list[str]:
    said = []
    if rejected := sum(made.rejected.values()):
        commonest, times = max(made.rejected.items(), key=lambda reason: reason[1])
        were = "was" if rejected == 1 else "were"
        counted = f"{numbers.count(rejected)} {numbers.units('attempt', rejected)} {were} rejected"
        said.append(f"{counted}, most often ({numbers.count(times)}) because of: {commonest}")
    if made.unchanged:
        said.append(f"{numbers.count(made.unchanged)} had nothing to change")
    said += [f"{numbers.count(count)} not tried, {reason}" for reason, count in made.skipped.items()]
    return said
