"""The figures of a jury: how often it is right, what it has over its best member, how far its members err together."""

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.readouts import calibration_tasks
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.protocols.datasheet.juries.record import JurorRecord, Jury, SharedErrors
from umpirical.protocols.datasheet.juries.seating import Seated, cost_of, total
from umpirical.protocols.datasheet.juries.words import ASSUMPTIONS, findings
from umpirical.reports.record import result_record
from umpirical.stats.differences import paired_difference
from umpirical.stats.intervals import cluster_wilson, jackknife
from umpirical.stats.juries import NO_VOTE, Ballots, Votes, effective_judges, error_correlations, fair_shares


def jury_record(seated: Seated, name: str) -> Jury:
    shared, ballots = seated.shared, seated.reported()
    verdicts, votes = seated.verdicts(ballots), ballots.of(seated.judges)
    best, gain = _gain(seated)
    correlation = _error_correlation(votes, ballots)
    costs = [cost_of(member) for member in seated.members]
    jury = Jury.model_validate(
        {
            "name": name,
            "rule": seated.rule,
            "members": [
                JurorRecord(
                    name=member.name,
                    run=member.run.name,
                    fingerprint=member.run.manifest["fingerprint"],
                    accuracy=result_record(balanced_accuracy(votes[:, place], ballots)),
                    cost_per_1000=cost,
                    without_verdict=int(np.count_nonzero(votes[:, place] == NO_VOTE)),
                )
                for place, (member, cost) in enumerate(zip(seated.members, costs, strict=True))
            ],
            "chosen_from": [] if seated.looked_best_at is None else [member.name for member in shared.members],
            "learned_on": sorted(seated.learned_on),
            "reported_on": sorted(seated.reported_on),
            "looked_best_at": seated.looked_best_at,
            "accuracy": result_record(balanced_accuracy(verdicts, ballots)),
            "without_verdict": int(np.count_nonzero(verdicts == NO_VOTE)),
            "best_judge": best,
            "gain": result_record(gain),
            "error_correlation": result_record(correlation),
            "effective_judges": result_record(_effective_judges(len(seated.judges), correlation)),
            "shared_errors": [
                SharedErrors(
                    first=seated.members[one].name,
                    second=seated.members[other].name,
                    correlation=result_record(_error_correlation(votes[:, [one, other]], ballots)),
                )
                for one in range(len(costs))
                for other in range(one + 1, len(costs))
            ],
            "cost_per_1000": total(costs),
            "left_out": shared.left_out,
            "findings": [],
            "assumptions": ASSUMPTIONS,
        }
    )
    return jury.model_copy(update={"findings": findings(jury)})


def balanced_accuracy(verdicts: Votes, ballots: Ballots) -> Result:
    """How often verdicts are right, calls with a better answer and calls without weighing the same."""
    right, total = fair_shares(verdicts, ballots)
    if len(total) < 2:
        return Undefined(ONE_TASK)
    found, calls = cluster_wilson(right, total), len(verdicts)
    limits = Interval(found.low, found.high, "cluster-Wilson over families, both kinds of call weighted alike")
    return Estimate(found.value, found.value * calls, calls, "call", limits, found.clusters, found.design_effect)


def _gain(seated: Seated) -> tuple[str, Result]:
    """Returns the best judge of all, on the half for choosing, and what the jury has over it on the other half.

    A jury is no gain if a judge that was left out does as well alone.
    """
    shared = seated.shared
    half = calibration_tasks(shared.families)
    chosen_on = shared.ballots.among(shared.numbers_of(half))
    ballots = shared.ballots.among(shared.numbers_of(frozenset(shared.families) - half))

    def did(judge: int) -> float:
        right, total = fair_shares(chosen_on.votes[:, judge], chosen_on)
        return sum(right) / sum(total)

    best = max(range(len(shared.members)), key=did)
    ours, theirs = fair_shares(seated.verdicts(ballots), ballots), fair_shares(ballots.votes[:, best], ballots)
    found, calls = paired_difference(*ours, *theirs), len(ballots.truth)
    limits = Interval(found.low, found.high, "cluster-Wilson limits of both, joined over families")
    gain = Estimate(found.value, found.value * calls, calls, "call", limits, found.clusters)
    return shared.members[best].name, gain


def _error_correlation(votes: Votes, ballots: Ballots) -> Result:
    """Mean correlation of errors over all pairs of members of whom each errs."""
    families = np.unique(ballots.clusters)

    def estimate(kept: NDArray[np.bool_]) -> float:
        rows = np.isin(ballots.clusters, families[kept])
        found = error_correlations(votes[rows], ballots.truth[rows])
        return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")

    if not np.isfinite(estimate(np.ones(len(families), dtype=bool))):
        return Undefined("of no two members does each err")
    found = jackknife(estimate, len(families))
    limits = Interval(
        max(-1.0, float(found.low)), min(1.0, float(found.high)), "leave-one-family-out jackknife, Student's t"
    )
    value, calls = float(found.value), len(votes)
    return Estimate(value, value * calls, calls, "call", limits, len(families))


def _effective_judges(judges: int, correlation: Result) -> Result:
    """What the correlation makes of so many judges; its limits are those of the correlation, the other way round."""
    if isinstance(correlation, Undefined) or correlation.interval is None:
        return correlation
    ends = correlation.interval
    low, high = (None if end is None else effective_judges(judges, end) for end in (ends.high, ends.low))
    value, calls = effective_judges(judges, correlation.value), correlation.denominator
    return Estimate(value, value * calls, calls, "call", Interval(low, high, ends.method), correlation.clusters)
