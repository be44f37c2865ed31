"""Grades of single answers: those of the ladder and of the pairs of equal quality, which cover all qualities evenly."""

from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import GradeTally, Tallies

FAMILIES = (Family.DELTA0, Family.LADDER)


def graded_answers(tallies: Tallies, arm: str) -> list[GradeTally]:
    return [tally for tally in tallies.grades if tally.arm == arm and tally.family in FAMILIES]


def answers_without_grade(tallies: Tallies, arm: str) -> dict[str, int]:
    """Answers left out, by reason."""
    calls = [tally for tally in tallies.calls if tally.arm == arm and tally.family in FAMILIES]
    missing = {
        reason: sum(getattr(tally, reason) for tally in calls)
        for reason in ("abstained", "unparsed", "failed", "unasked")
    }
    return {reason: count for reason, count in missing.items() if count}
