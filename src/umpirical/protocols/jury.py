"""Several judges as one: their votes on the calls that all were asked, who is seated, and what the jury comes to.

A protocol whose judges can sit on a jury says what they vote on, and makes the jury's record as it makes a judge's:
from a table of judgments.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Outcome, Unparsed, Verdict
from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.scoring_methods import calibration_tasks
from umpirical.domain.stimuli import FlippedVerdict, GivenLabel, GivenWinner, NoPreference, SameVerdict, Stimulus
from umpirical.domain.trials import BASELINE, Presentation, Trial, position_of
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.protocols.jury_record import JurorRecord, Jury, MeasureName, SharedErrors, findings
from umpirical.protocols.protocol import CombinesJudges, JuryTerms
from umpirical.reports.facts import judge_record, spend_record
from umpirical.reports.record import JudgeRecord, Record, SpendRecord
from umpirical.runs.judgments import Facts, Reading, judgment_row, read_judgments
from umpirical.runs.run import Run, open_run
from umpirical.stats.differences import paired_difference, signed_mean
from umpirical.stats.intervals import cluster_mean, cluster_wilson, jackknife
from umpirical.stats.juries import (
    LEARNED,
    NO_VOTE,
    TIE,
    TWO_CANDIDATES,
    Ballots,
    JuryRule,
    Votes,
    VoteScale,
    best_jury,
    by_cluster,
    effective_judges,
    error_correlations,
    fair_shares,
    fitted,
    quorum,
)
from umpirical.store.files import building
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema

CHOICES = (Choice.POSITION_1, Choice.POSITION_2, Choice.TIE)
"""The classes of a vote on two candidates, by number."""


def vote_scale(scale: GradeScale | None) -> VoteScale:
    """Returns what members vote on: two candidates, or the grades of a scale."""
    if scale is None:
        return TWO_CANDIDATES
    if scale.kind == "interval":
        return VoteScale(0, span=(scale.high or 0.0) - (scale.low or 0.0))
    return VoteScale(len(scale.labels), span=len(scale.labels) - 1.0 if scale.kind == "ordinal" else 0.0)


def vote_of(outcome: Outcome | None, scale: GradeScale | None = None) -> float:
    """Returns the class or number of a verdict; whatever is no verdict is no vote."""
    said = outcome.value if isinstance(outcome, Verdict) else None
    if scale is None:
        return CHOICES.index(said) if isinstance(said, Choice) else NO_VOTE
    if said is None or isinstance(said, Choice):
        return NO_VOTE
    return _grade(said, scale)


def _grade(said: str | float, scale: GradeScale) -> float:
    if scale.kind != "interval":
        return scale.labels.index(str(said))
    return float(said) - (scale.low or 0.0)


def verdict_of(vote: float, scale: GradeScale | None) -> Verdict:
    """Returns the verdict that a vote stands for."""
    if scale is None:
        return Verdict(CHOICES[int(vote)])
    return Verdict(float(vote) + (scale.low or 0.0) if scale.kind == "interval" else scale.labels[int(vote)])


Asked = tuple[str, Presentation]
"""What was asked: a stimulus and how it was shown, but for the layout, which is a judge's own."""


def asked_of(trial: Trial) -> Asked:
    return trial.stimulus_id, replace(trial.presentation, layout=None)


@dataclass(frozen=True, slots=True)
class Member:
    """A judge that has been measured, and what it cost."""

    run: Run
    reading: Reading

    @property
    def name(self) -> str:
        return self.run.judge.name


@dataclass(frozen=True, slots=True)
class SharedCalls:
    """What all members were asked, with their votes and what is right."""

    members: tuple[Member, ...]
    asked: tuple[Asked, ...]
    calls: tuple[tuple[Trial, Stimulus], ...]
    """As the first member was asked."""
    families: tuple[str, ...]
    """The cluster of every statistic, by number."""
    ballots: Ballots
    """Of all calls. What is right is `NO_VOTE` where nobody knows it."""
    excluded: int
    """Calls that not all of them were asked."""

    @property
    def known(self) -> Ballots:
        """The calls whose right answer is known: they alone say how good a judge or a jury is."""
        return self.ballots.where(self.ballots.truth != NO_VOTE)

    @property
    def half(self) -> frozenset[str]:
        """The clusters by which rules are learned and juries are chosen."""
        return calibration_tasks(self.families[number] for number in np.unique(self.known.clusters))

    def numbers_of(self, families: Sequence[str] | frozenset[str]) -> list[int]:
        return [number for number, family in enumerate(self.families) if family in families]


@dataclass(slots=True)
class VoteKeeper:
    """The calls of one run that a jury hears, as they are read."""

    terms: JuryTerms
    scale: GradeScale | None = None
    votes: dict[Asked, float] = field(default_factory=dict)
    calls: dict[Asked, tuple[Trial, Stimulus]] = field(default_factory=dict)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:  # noqa: ARG002
        self.keep(trial, stimulus, outcome)

    def keep(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None) -> Asked | None:
        """Keeps a vote, and returns what was asked; None for a call that a jury does not hear."""
        if trial.presentation.variant != BASELINE or not self.terms.hears(trial, stimulus):
            return None
        key = asked_of(trial)
        self.calls[key] = trial, stimulus
        self.votes[key] = vote_of(outcome, self.scale)
        return key


def read_members(runs: Sequence[Path], protocol: CombinesJudges[Any], rule: str | None = None) -> SharedCalls:
    """Reads the runs of a jury's members. Raises UsageError if they cannot vote on the same questions by this rule."""
    opened = [open_run(run) for run in runs]
    refuse_no_jury(opened, protocol.jury, rule)
    kept, members = [], []
    for run in opened:
        one = VoteKeeper(protocol.jury, run.judge.scale)
        with read_judgments(run, protocol.facts, seen=one.see) as reading:
            members.append(Member(run, reading))
        kept.append(one)
    return share_calls(members, kept)


def share_calls(members: Sequence[Member], kept: Sequence[VoteKeeper]) -> SharedCalls:
    """Returns the calls that all members were asked, with the votes that were kept of each."""
    terms, scale = kept[0].terms, kept[0].scale
    shared = [key for key in kept[0].calls if all(key in one.calls for one in kept)]
    calls = tuple(kept[0].calls[key] for key in shared)
    families = tuple(sorted({stimulus.cluster for _, stimulus in calls}))
    number = {family: place for place, family in enumerate(families)}
    everything = set().union(*(one.calls for one in kept))
    right = [_right(*call, scale) if terms.knows(*call) else NO_VOTE for call in calls]
    return SharedCalls(
        members=tuple(members),
        asked=tuple(shared),
        calls=calls,
        families=families,
        ballots=Ballots(
            np.array([[one.votes[key] for one in kept] for key in shared], dtype=float).reshape(-1, len(kept)),
            np.array(right, dtype=float),
            np.array([number[stimulus.cluster] for _, stimulus in calls], dtype=np.int64),
            vote_scale(scale),
        ),
        excluded=len(everything) - len(shared),
    )


def refuse_no_jury(runs: Sequence[Run], terms: JuryTerms, rule: str | None) -> None:
    """Raises if these judges are no jury."""
    same = "measure all judges in one study, or with the same size and seed"
    if len({run.folder.resolve() for run in runs}) < len(runs):
        raise UsageError("a run is named twice", fix="name each run once: a judge has one vote")
    if len({run.manifest["fingerprint"] for run in runs}) < len(runs):
        message = "two runs are of the same judge"
        raise UsageError(message, fix=f"name one run of each judge: {', '.join(run.name for run in runs)}")
    refuse_unlike([run.judge for run in runs], terms, rule)
    if len({run.stimuli.digest for run in runs}) > 1:
        raise UsageError("the judges were run on different test cases", fix=same)
    if not all(BASELINE in run.manifest["variants"] for run in runs):
        raise UsageError("a judge was not run with its own prompt", fix=same)


def refuse_unlike(judges: Sequence[JudgeSpec], terms: JuryTerms, rule: str | None = None) -> None:
    """Raises if judges cannot vote together, or not by this rule."""
    if other := [judge.name for judge in judges if judge.kind not in terms.kinds]:
        message = f"{', '.join(other)}: the judge does not compare two answers"
        raise UsageError(message, fix="name judges that compare")
    if len({judge.kind for judge in judges}) > 1:
        graders = ", ".join(judge.name for judge in judges if judge.kind == "grade")
        raise UsageError(f"{graders}: the judge grades, and others compare", fix="name judges that do the same")
    if len({judge.scale for judge in judges}) > 1:
        raise UsageError("the judges grade on different scales", fix="give all judges of the study the same scale")
    if rule is not None and rule not in (rules := vote_scale(judges[0].scale).rules):
        raise UsageError(f"these judges cannot vote by {rule}", fix=f"choose one of {', '.join(rules)}")


def _right(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> float:
    """Returns the right answer as a vote: the label or, as a position, the candidate that is better, or a tie."""
    match stimulus.expectation:
        case GivenWinner(candidate=better):
            return position_of(better, trial.presentation.order) - 1
        case NoPreference():
            return TIE
        case GivenLabel() | SameVerdict() | FlippedVerdict():
            return NO_VOTE if scale is None or not stimulus.gold else _grade(stimulus.gold, scale)


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
        return self.shared.known.among(self.shared.numbers_of(self.reported_on))

    def verdicts(self, ballots: Ballots) -> Votes:
        return self.how.verdicts(ballots.of(self.judges))


def seat(shared: SharedCalls, rule: str | None, *, choose: bool, budget: Decimal | None) -> Seated:
    """Seats all judges, or the best jury among them; one half of the clusters settles what is learned or chosen."""
    rules = shared.ballots.scale.rules
    everybody, half = tuple(range(len(shared.members))), shared.half
    settled_on = shared.known.among(shared.numbers_of(half))
    if not choose:
        named = rule or rules[0]
        how = fitted(settled_on, named)
        return Seated(shared, everybody, named, how, half if named in LEARNED else frozenset(), None)
    costs = [cost_of(member) for member in shared.members]
    unknown = [member.name for member, cost in zip(shared.members, costs, strict=True) if cost is None]
    if budget is not None and unknown:
        raise UsageError(
            f"the cost of {', '.join(unknown)} is unknown, so --budget cannot be checked", fix="omit --budget"
        )
    found = best_jury(
        settled_on,
        [float(cost or 0) for cost in costs],
        budget=float("inf") if budget is None else float(budget),
        rules=[rule] if rule else rules,
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


ASSUMPTIONS = [
    "Every member is called once for each verdict. Prices are those of the measured calls.",
    "Weighted and Dawid-Skene rules are only as good as the calls they were trained on.",
]


def measure_of(ballots: Ballots) -> MeasureName:
    """Returns what is said of how right verdicts are."""
    if ballots.scale.span:
        return "closeness"
    return "balanced accuracy" if ballots.scale.tie == TIE and (ballots.truth == TIE).any() else "accuracy"


def jury_record(seated: Seated, name: str, terms: JuryTerms) -> Jury:
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
                    accuracy=accuracy_of(votes[:, place], ballots),
                    cost_per_1000=cost,
                    without_verdict=int(np.count_nonzero(votes[:, place] == NO_VOTE)),
                )
                for place, (member, cost) in enumerate(zip(seated.members, costs, strict=True))
            ],
            "chosen_from": [] if seated.looked_best_at is None else [member.name for member in shared.members],
            "learned_on": sorted(seated.learned_on),
            "reported_on": sorted(seated.reported_on),
            "looked_best_at": seated.looked_best_at,
            "measure": measure_of(ballots),
            "accuracy": accuracy_of(verdicts, ballots),
            "without_verdict": int(np.count_nonzero(verdicts == NO_VOTE)),
            "best_judge": best,
            "gain": gain,
            "error_correlation": correlation,
            "effective_judges": _effective_judges(len(seated.judges), correlation),
            "shared_errors": [
                SharedErrors(
                    first=seated.members[one].name,
                    second=seated.members[other].name,
                    correlation=_error_correlation(votes[:, [one, other]], ballots),
                )
                for one in range(len(costs))
                for other in range(one + 1, len(costs))
            ],
            "cost_per_1000": total(costs),
            "excluded": shared.excluded,
            "findings": [],
            "assumptions": [terms.about, *ASSUMPTIONS],
        }
    )
    return jury.model_copy(update={"findings": findings(jury, terms.of)})


def accuracy_of(verdicts: Votes, ballots: Ballots) -> Result:
    """How right verdicts are: how often, or on a scale with order how close they come. No verdict is not right.

    Of two candidates, calls with a better one and calls without weigh the same.
    """
    right, total = (np.array(each) for each in fair_shares(verdicts, ballots))
    if len(total) < 2:
        return Undefined(ONE_TASK)
    calls = len(verdicts)
    if ballots.scale.span:
        size = _usual(1 - ballots.scale.credit(verdicts, ballots.truth), ballots)
        off = cluster_mean(np.maximum(total - right, 0.0) / size, total)
        method = "1 minus the cluster score limits of the mean distance, variance in proportion to the mean"
        value, limits = 1 - size * off.value, Interval(max(0.0, 1 - size * off.high), 1 - size * off.low, method=method)
        return Estimate(value, value * calls, calls, "call", limits, off.clusters)
    found = cluster_wilson(right, total)
    weighed = ", both kinds of call weighted alike" if measure_of(ballots) == "balanced accuracy" else ""
    limits = Interval(found.low, found.high, method=f"cluster-Wilson over families{weighed}")
    return Estimate(found.value, found.value * calls, calls, "call", limits, found.clusters, found.design_effect)


def _usual(distances: NDArray[np.float64], ballots: Ballots) -> float:
    """Returns the size of a usual distance that is not 0: the unit in which a score interval counts what is unseen."""
    seen = np.abs(distances).sum()
    step = 1 / ballots.scale.span if ballots.scale.classes else 1.0
    return float((distances**2).sum() / seen) if seen > 0 else step


def gain_of(verdicts: Votes, others: Votes, ballots: Ballots) -> Result:
    """How much more right verdicts are than others on the same calls."""
    calls, scale = len(ballots.truth), ballots.scale
    if len(np.unique(ballots.clusters)) < 2:
        return Undefined(ONE_TASK)
    if scale.span:
        more = scale.credit(verdicts, ballots.truth) - scale.credit(others, ballots.truth)
        size = _usual(more, ballots)
        up, down = (by_cluster(np.maximum(side, 0.0) / size, ballots) for side in (more, -more))
        mean = signed_mean(up, down, by_cluster(np.ones(calls), ballots))
        method = "score limits of the calls that are closer and less close, joined over clusters"
        limits = Interval(max(-1.0, size * mean.low), min(1.0, size * mean.high), method=method)
        return Estimate(size * mean.value, size * mean.value * calls, calls, "call", limits, mean.clusters)
    found = paired_difference(*fair_shares(verdicts, ballots), *fair_shares(others, ballots))
    limits = Interval(found.low, found.high, method="cluster-Wilson limits of both, joined over families")
    return Estimate(found.value, found.value * calls, calls, "call", limits, found.clusters)


def _gain(seated: Seated) -> tuple[str, Result]:
    """Returns the best judge of all, on the half for choosing, and what the jury has over it on the other half.

    A jury is no gain if a judge that was left out does as well alone.
    """
    shared, half = seated.shared, seated.shared.half
    chosen_on = shared.known.among(shared.numbers_of(half))
    ballots = shared.known.among(shared.numbers_of(frozenset(shared.families) - half))

    def did(judge: int) -> float:
        right, total = fair_shares(chosen_on.votes[:, judge], chosen_on)
        return sum(right) / sum(total)

    best = max(range(len(shared.members)), key=did)
    return shared.members[best].name, gain_of(seated.verdicts(ballots), ballots.votes[:, best], ballots)


def _error_correlation(votes: Votes, ballots: Ballots) -> Result:
    """Mean correlation of errors over all pairs of members of whom each errs."""
    families = np.unique(ballots.clusters)

    def estimate(kept: NDArray[np.bool_]) -> float:
        rows = np.isin(ballots.clusters, families[kept])
        found = error_correlations(votes[rows], ballots.truth[rows], ballots.scale)
        return float(np.nanmean(found)) if np.isfinite(found).any() else float("nan")

    if not np.isfinite(estimate(np.ones(len(families), dtype=bool))):
        return Undefined("no two members both make errors")
    found = jackknife(estimate, len(families))
    limits = Interval(
        max(-1.0, float(found.low)), min(1.0, float(found.high)), method="leave-one-family-out jackknife, Student's t"
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
    return Estimate(value, value * calls, calls, "call", Interval(low, high, method=ends.method), correlation.clusters)


NO_QUORUM = "no more than half of the jury gave a verdict"

TIED = "the votes of the jury are tied"


def jury_report(seated: Seated, name: str, protocol: CombinesJudges[Any], place: Path) -> Record:
    """Returns the record of a jury, made as that of a judge: it is told from one by its judge and its run."""
    members, first = seated.members, seated.members[0].run
    # A jury has no model of its own, and so nothing that is known of a simulated one.
    spec = first.judge.model_copy(update={"name": name, "model": None})
    with building(place / "judgments.parquet") as path:
        reading = _write_judgments(seated, path, protocol.facts)
        record: Record = protocol.of_judgments(replace(first, call=replace(first.call, judge=spec)), reading)
    members_read = sorted(member.reading.responses_sha256 for member in members)
    runs = " ".join(f"runs/{member.run.name}" for member in seated.shared.members)
    run = record.run.model_copy(
        update={
            "id": digest("jury", [seated.rule, members_read])[:12],
            "variants": [BASELINE],
            "steps": {},
            "responses_sha256": digest("responses", members_read),
            "command": f"umpirical jury {runs}{_options(seated)}",
        }
    )
    return record.model_copy(update={"judge": _judge(seated, name), "run": run, "spend": _spend(members)})


def _write_judgments(seated: Seated, path: Path, facts: Facts) -> Reading:
    """Writes the jury's verdicts on the calls that may speak for it, in the form of a judge's."""
    shared, scale = seated.shared, seated.members[0].run.judge.scale
    reading, rows = Reading(path), []
    decided = seated.verdicts(shared.ballots).tolist()
    enough = quorum(shared.ballots.of(seated.judges)).tolist()
    for (trial, stimulus), verdict, voted in zip(shared.calls, decided, enough, strict=True):
        if stimulus.cluster in seated.reported_on:
            none = Unparsed("", TIED if voted else NO_QUORUM)
            said: Outcome = none if verdict == NO_VOTE else verdict_of(verdict, scale)
            reading.add(said)
            rows.append(judgment_row(trial, stimulus, said, scale, facts))
    with row_writer(path, judgment_schema(facts.columns)) as write:
        write(rows)
    return reading


def _judge(seated: Seated, name: str) -> JudgeRecord:
    """Returns the jury as a judge: a configuration of its own, with its own fingerprint."""
    members = [judge_record(member.run, member.reading) for member in seated.members]
    return JudgeRecord(
        name=name,
        kind=members[0].kind,
        model=f"jury, {seated.rule}: {', '.join(member.name for member in members)}",
        fingerprint=digest("jury", [[member.fingerprint for member in members], seated.rule, seated.how.learned]),
        served_by=sorted({server for member in members for server in member.served_by}),
        decoding={},
        instruction="",
        answer_schema="",
        scale=members[0].scale,
        grades=members[0].grades,
        capabilities={
            ability: all(member.capabilities[ability] for member in members) for ability in members[0].capabilities
        },
    )


def _options(seated: Seated) -> str:
    chosen = " --choose" if seated.looked_best_at is not None else ""
    return f" --rule {seated.rule}{chosen}"


def _spend(members: Sequence[Member]) -> SpendRecord:
    """What the calls of all members took. One verdict of the jury takes a call to each of them."""
    each = [spend_record(member.run, member.reading.spent) for member in members]
    return SpendRecord(
        calls=sum(spend.calls for spend in each),
        cost=total([spend.cost for spend in each]),
        cost_per_1000=total([spend.cost_per_1000 for spend in each]),
        price_table=", ".join(sorted({spend.price_table for spend in each if spend.price_table})),
        latency_p50_ms=None,
        latency_p95_ms=None,
        input_tokens=None,
        output_tokens=None,
    )
