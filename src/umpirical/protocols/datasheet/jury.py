"""Several judges as one: their votes on the calls that all were asked, who is seated, and what the jury comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Outcome, Unparsed, Verdict
from umpirical.domain.measures import Estimate, Interval, Result, Undefined
from umpirical.domain.responses import Response
from umpirical.domain.scales import Choice
from umpirical.domain.scoring_methods import calibration_tasks
from umpirical.domain.stimuli import TIER_2, GivenWinner, Stimulus
from umpirical.domain.trials import BASELINE, Order, Trial
from umpirical.measures.catalogue import Scale, measure_all
from umpirical.measures.estimates.rates import ONE_TASK
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import assemble, policy_of
from umpirical.protocols.datasheet.stimuli import stimuli_record
from umpirical.protocols.protocol import Decision, Documents
from umpirical.reports import numbers
from umpirical.reports.facts import judge_record, run_record, spend_record
from umpirical.reports.pages import plain, quoted
from umpirical.reports.record import JudgeRecord, ResultRecord, SpendRecord, Strict, record_json
from umpirical.runs.judgments import Reading, judgment_row, read_judgments
from umpirical.runs.run import Run, open_run
from umpirical.stats.differences import paired_difference
from umpirical.stats.intervals import cluster_wilson, jackknife
from umpirical.stats.juries import (
    LEARNED,
    NO_VOTE,
    RULES,
    TIE,
    Ballots,
    JuryRule,
    Votes,
    best_jury,
    effective_judges,
    error_correlations,
    fair_shares,
    fitted,
)
from umpirical.store.files import building, write_text
from umpirical.store.parquet import row_writer
from umpirical.store.schemas import judgment_schema

RuleName = Literal["majority", "weighted", "dawid-skene"]


class JurorRecord(Strict):
    """A member of the jury, measured on the same calls."""

    name: str
    run: str
    fingerprint: str
    accuracy: ResultRecord
    cost_per_1000: Decimal | None
    without_verdict: int = Field(description="Calls on which it gave no vote.")


class SharedErrors(Strict):
    """How often two members are wrong together."""

    first: str
    second: str
    correlation: ResultRecord = Field(description="Correlation of being wrong in the same call.")


class Jury(Strict):
    """Several judges as one."""

    format: Literal["judge-jury/2"] = "judge-jury/2"
    name: str
    rule: RuleName
    members: list[JurorRecord]
    chosen_from: list[str] = Field(description="The judges the jury was chosen from; empty if all are members.")
    learned_on: list[str] = Field(description="Task families used to select the jury or train its rule; empty if none.")
    reported_on: list[str] = Field(description="Held-out task families that all results here are about.")
    looked_best_at: float | None = Field(
        description="Balanced accuracy on the families used for selection, so too optimistic; null if not selected."
    )
    accuracy: ResultRecord = Field(
        description="Balanced accuracy. Calls with a better answer and calls without one have the same weight."
    )
    without_verdict: int = Field(
        description="Calls on which no more than half of the members voted. They count as wrong."
    )
    best_judge: str = Field(description="The best of all named judges on the families used for selection.")
    gain: ResultRecord = Field(
        description="Balanced accuracy of the jury minus that of the best judge, on the held-out families."
    )
    error_correlation: ResultRecord = Field(description="Mean over all pairs of members.")
    effective_judges: ResultRecord = Field(
        description="How many judges with independent errors would be worth as much."
    )
    shared_errors: list[SharedErrors]
    cost_per_1000: Decimal | None = Field(description="Dollars per 1,000 verdicts of the jury; null if unknown.")
    excluded: int = Field(description="Calls that not all members were asked.")
    findings: list[str]
    assumptions: list[str]


CHOICES = (Choice.POSITION_1, Choice.POSITION_2, Choice.TIE)
"""The classes of a vote, by number."""

Asked = tuple[str, Order, int]
"""What was asked: stimulus, order and repeat. It is the same for all judges."""


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
    """What all members were asked, with their votes and what is right by construction."""

    members: tuple[Member, ...]
    asked: tuple[Asked, ...]
    calls: tuple[tuple[Trial, Stimulus], ...]
    """As the first member was asked."""
    families: tuple[str, ...]
    """The cluster of every statistic, by number."""
    ballots: Ballots
    excluded: int
    """Calls that not all of them were asked."""

    def numbers_of(self, families: Sequence[str] | frozenset[str]) -> list[int]:
        return [number for number, family in enumerate(self.families) if family in families]


@dataclass(slots=True)
class VoteKeeper:
    """The calls of one run with the judge's own prompt, as they are read."""

    votes: dict[Asked, int] = field(default_factory=dict)
    calls: dict[Asked, tuple[Trial, Stimulus]] = field(default_factory=dict)

    def see(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None, response: Response | None) -> None:  # noqa: ARG002
        self.keep(trial, stimulus, outcome)

    def keep(self, trial: Trial, stimulus: Stimulus, outcome: Outcome | None) -> Asked | None:
        """Keeps a vote, and returns what was asked; None for a call that a jury does not hear."""
        if trial.presentation.variant != BASELINE or stimulus.family in TIER_2:
            return None
        key = stimulus.id, trial.presentation.order, trial.presentation.repeat
        self.calls[key] = trial, stimulus
        self.votes[key] = vote_of(outcome)
        return key


def read_members(runs: Sequence[Path]) -> SharedCalls:
    """Reads the runs of a jury's members. Raises UsageError if they cannot vote on the same questions."""
    opened = [open_run(run) for run in runs]
    refuse_no_jury(opened)
    kept, members = [], []
    for run in opened:
        one = VoteKeeper()
        with read_judgments(run, FACTS, seen=one.see) as reading:
            members.append(Member(run, reading))
        kept.append(one)
    return share_calls(members, kept)


def share_calls(members: Sequence[Member], kept: Sequence[VoteKeeper]) -> SharedCalls:
    """Returns the calls that all members were asked, with the votes that were kept of each."""
    shared = [key for key in kept[0].calls if all(key in one.calls for one in kept)]
    calls = tuple(kept[0].calls[key] for key in shared)
    families = tuple(sorted({stimulus.cluster for _, stimulus in calls}))
    number = {family: place for place, family in enumerate(families)}
    everything = set().union(*(one.calls for one in kept))
    return SharedCalls(
        members=tuple(members),
        asked=tuple(shared),
        calls=calls,
        families=families,
        ballots=Ballots(
            np.array([[one.votes[key] for one in kept] for key in shared], dtype=np.int64).reshape(-1, len(kept)),
            np.array([_right(*call) for call in calls], dtype=np.int64),
            np.array([number[stimulus.cluster] for _, stimulus in calls], dtype=np.int64),
        ),
        excluded=len(everything) - len(shared),
    )


def vote_of(outcome: Outcome | None) -> int:
    """Returns the class of a verdict; whatever is no verdict on two candidates is no vote."""
    said = outcome.value if isinstance(outcome, Verdict) else None
    return CHOICES.index(said) if isinstance(said, Choice) else NO_VOTE


def refuse_no_jury(runs: Sequence[Run]) -> None:
    """Raises if these judges are no jury."""
    same = "measure all judges in one study, or with the same size and seed"
    if other := [run.name for run in runs if run.manifest["protocol"] != DATASHEET.version]:
        raise UsageError(f"{', '.join(other)}: not a datasheet run", fix="name runs that have a datasheet")
    if len({run.folder.resolve() for run in runs}) < len(runs):
        raise UsageError("a run is named twice", fix="name each run once: a judge has one vote")
    if len({run.manifest["fingerprint"] for run in runs}) < len(runs):
        message = "two runs are of the same judge"
        raise UsageError(message, fix=f"name one run of each judge: {', '.join(run.name for run in runs)}")
    if other := [run.name for run in runs if run.judge.kind != "compare"]:
        message = f"{', '.join(other)}: the judge does not compare two answers"
        raise UsageError(message, fix="name runs of judges that compare")
    if len({run.stimuli.digest for run in runs}) > 1:
        raise UsageError("the judges were run on different test cases", fix=same)
    if not all(BASELINE in run.manifest["variants"] for run in runs):
        raise UsageError("a judge was not run with its own prompt", fix=same)


def _right(trial: Trial, stimulus: Stimulus) -> int:
    """Returns the right answer, as a position: the candidate that is better by construction, or a tie."""
    if not isinstance(stimulus.expectation, GivenWinner):
        return TIE
    first = 0 if trial.presentation.order is Order.AB else 1
    return 0 if stimulus.expectation.candidate == first else 1


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
            f"the cost of {', '.join(unknown)} is unknown, so --budget cannot be checked", fix="omit --budget"
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


ASSUMPTIONS = [
    "The results are about constructed answers. On other answers, judges may err together more or less often.",
    "Every member is called once for each verdict. Prices are those of the measured calls.",
    "Weighted and Dawid-Skene rules are only as good as the calls they were trained on.",
]


def findings(jury: Jury) -> list[str]:
    """Returns what was found, in a few plain sentences."""
    count = len(jury.members)
    said = [f"Balanced accuracy of {numbers.count(count)} judges by {jury.rule}: {_shown(jury.accuracy)}."]
    if jury.looked_best_at is not None:
        said.append(
            f"They were selected from {numbers.count(len(jury.chosen_from))} judges on "
            f"{numbers.count(len(jury.learned_on))} task families, where their accuracy was "
            f"{numbers.rate(jury.looked_best_at)}. All results are for the other "
            f"{numbers.count(len(jury.reported_on))} families."
        )
    elif jury.learned_on:
        said.append(
            f"The rule was trained on {numbers.count(len(jury.learned_on))} task families. All results are for the "
            f"other {numbers.count(len(jury.reported_on))}."
        )
    if isinstance(jury.gain, Estimate):
        said.append(
            f"Compared with {jury.best_judge}, the best single judge, that is {_shown(jury.gain, 'difference')} on the "
            f"held-out families: {_worth(jury.gain)}."
        )
    if isinstance(jury.effective_judges, Estimate):
        said.append(
            f"Their errors correlate by {_shown(jury.error_correlation, 'coefficient')}, so {numbers.count(count)} "
            f"judges are worth {_shown(jury.effective_judges, 'ratio')} judges with independent errors."
        )
    if jury.cost_per_1000 is not None:
        said.append(f"Cost of 1,000 verdicts: {numbers.dollars(jury.cost_per_1000)}.")
    if jury.without_verdict:
        said.append(f"{numbers.count(jury.without_verdict)} calls have no verdict and count as wrong.")
    if jury.excluded:
        said.append(f"{numbers.count(jury.excluded)} calls are excluded because not all members were asked.")
    return said


def render_jury_markdown(jury: Jury) -> str:
    """Renders the card of a jury."""
    lines = ["---", f"format: {quoted(jury.format)}", f"name: {quoted(jury.name)}", "---", ""]
    lines += [f"# {plain(jury.name)}", "", *(f"- {plain(finding)}" for finding in jury.findings), ""]
    lines += [
        "| member | balanced accuracy | calls without a vote | dollars per 1,000 calls |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {plain(member.name)} | {_cell(member.accuracy)} | {numbers.count(member.without_verdict)} "
        f"| {_dollars(member.cost_per_1000)} |"
        for member in jury.members
    ]
    lines += ["", "| members | correlation of errors |", "| --- | --- |"]
    lines += [
        f"| {plain(two.first)}, {plain(two.second)} | {_cell(two.correlation, 'coefficient')} |"
        for two in jury.shared_errors
    ]
    lines += ["", "## Assumptions", "", *(f"- {plain(each)}" for each in jury.assumptions)]
    return "\n".join(lines) + "\n"


def _shown(result: Result, scale: Scale = "rate") -> str:
    """Returns a value with its interval, or why there is none."""
    if isinstance(result, Undefined):
        return f"undefined: {result.reason}"
    limits, written = result.interval, numbers.scaled(result.value, scale)
    if limits is None or limits.low is None or limits.high is None:
        return written
    return f"{written} {numbers.scaled_interval(limits.low, limits.high, scale)}"


def _worth(gain: Estimate) -> str:
    """Says whether the jury is better than the best judge alone."""
    limits = gain.interval
    if limits is None or limits.low is None or limits.high is None or limits.low <= 0 <= limits.high:
        return "the difference is not significant"
    return "the jury is significantly better" if limits.low > 0 else "the jury is significantly worse"


def _cell(result: Result, scale: Scale = "rate") -> str:
    return plain(_shown(result, scale))


def _dollars(amount: Decimal | None) -> str:
    return "unknown" if amount is None else numbers.dollars(amount)


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
                    accuracy=balanced_accuracy(votes[:, place], ballots),
                    cost_per_1000=cost,
                    without_verdict=int(np.count_nonzero(votes[:, place] == NO_VOTE)),
                )
                for place, (member, cost) in enumerate(zip(seated.members, costs, strict=True))
            ],
            "chosen_from": [] if seated.looked_best_at is None else [member.name for member in shared.members],
            "learned_on": sorted(seated.learned_on),
            "reported_on": sorted(seated.reported_on),
            "looked_best_at": seated.looked_best_at,
            "accuracy": balanced_accuracy(verdicts, ballots),
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
    limits = Interval(found.low, found.high, method="cluster-Wilson over families, both kinds of call weighted alike")
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
    limits = Interval(found.low, found.high, method="cluster-Wilson limits of both, joined over families")
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


def jury_datasheet(seated: Seated, name: str, place: Path) -> Datasheet:
    members, shared = seated.members, seated.shared
    first = members[0]
    with building(place / "judgments.parquet") as path:
        reading = _write_judgments(seated, path)
        tallies = tally_judgments(path)
    members_read = sorted(member.reading.responses_sha256 for member in members)
    runs = " ".join(f"runs/{member.run.name}" for member in shared.members)
    run = run_record(first.run, reading, tallies).model_copy(
        update={
            "id": digest("jury", [seated.rule, members_read])[:12],
            "variants": [BASELINE],
            "steps": {},
            "responses_sha256": digest("responses", members_read),
            "command": f"umpirical jury {runs}{_options(seated)}",
        }
    )
    return assemble(
        _judge(seated, name),
        run,
        measure_all(tallies, kind="compare", protocol="datasheet"),
        tallies.calls,
        [],
        true_value={},
        stimuli=stimuli_record(first.run.stimuli, first.run.manifest.get("gates", [])),
        spend=_spend(members),
        policy=policy_of(first.run),
    )


def _write_judgments(seated: Seated, path: Path) -> Reading:
    """Writes the jury's verdicts on the calls that may speak for it, in the form of a judge's."""
    reading = replace(seated.members[0].reading, judgments=path, planned=0, unasked=0)
    rows = []
    for (trial, stimulus), verdict in zip(
        seated.shared.calls, seated.verdicts(seated.shared.ballots).tolist(), strict=True
    ):
        if stimulus.cluster in seated.reported_on:
            said: Outcome = Unparsed("", NO_QUORUM) if verdict == NO_VOTE else Verdict(CHOICES[verdict])
            reading.add(said)
            rows.append(judgment_row(trial, stimulus, said, None, FACTS))
    with row_writer(path, judgment_schema(FACTS.columns)) as write:
        write(rows)
    return reading


def _judge(seated: Seated, name: str) -> JudgeRecord:
    """Returns the jury as a judge: a configuration of its own, with its own fingerprint."""
    members = [judge_record(member.run, member.reading) for member in seated.members]
    table = [np.round(part, 9).tolist() for part in (seated.how.support, seated.how.start)]
    return JudgeRecord(
        name=name,
        kind="compare",
        model=f"jury, {seated.rule}: {', '.join(member.name for member in members)}",
        fingerprint=digest("jury", [[member.fingerprint for member in members], seated.rule, table]),
        served_by=sorted({server for member in members for server in member.served_by}),
        decoding={},
        instruction="",
        answer_schema="",
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


MOST_JUDGES = 15
"""Of which a jury is chosen: the number of juries doubles with each."""


@dataclass(frozen=True, slots=True)
class SeatedJury:
    """A jury, its datasheet, and where both were written."""

    jury: Jury
    datasheet: Datasheet
    record: Path
    """Of the jury, as JSON."""
    documents: Documents
    """Of the datasheet."""

    @property
    def decision(self) -> Decision | None:
        return DATASHEET.decision(self.datasheet)


def seat_jury(
    runs: Sequence[Path],
    folder: Path,
    *,
    rule: str | None = None,
    choose: bool = False,
    budget: Decimal | None = None,
) -> SeatedJury:
    """Seats a jury of the judges of some runs, and writes its record and its datasheet below a folder.

    Without `choose`, all are members. With it, the best jury of three to seven of them is chosen, by the rule or, if
    none is given, by the best of all rules; with a budget, among those that cost at most so many dollars per 1,000
    verdicts.
    """
    _refuse(runs, rule, choose=choose, budget=budget)
    shared = read_members(runs)
    _refuse_unmeasured(shared)
    seated = seat(shared, rule, choose=choose, budget=budget)
    name = "-".join(["jury", *(member.name for member in seated.members)])
    place = folder / f"{seated.rule}-{digest('jury', [name, seated.rule, sorted(seated.learned_on)])[:12]}"
    jury, sheet = jury_record(seated, name), jury_datasheet(seated, name, place)
    documents = DATASHEET.write(sheet, place)
    write_text(place / "jury.json", record_json(jury))
    write_text(place / "jury.md", render_jury_markdown(jury))
    return SeatedJury(jury, sheet, place / "jury.json", documents)


def _refuse(runs: Sequence[Path], rule: str | None, *, choose: bool, budget: Decimal | None) -> None:
    if rule is not None and rule not in RULES:
        raise UsageError(f"unknown rule {rule!r}", fix=f"choose one of {', '.join(RULES)}")
    if len(runs) < 3:
        raise UsageError(f"a jury needs at least three judges, not {len(runs)}", fix="name more runs")
    if len(runs) > MOST_JUDGES:
        raise UsageError(f"{len(runs)} judges are too many to choose from", fix=f"name at most {MOST_JUDGES}")
    if budget is not None and not choose:
        raise UsageError("--budget needs --choose: without it, all judges are members", fix="add --choose")


def _refuse_unmeasured(shared: SharedCalls) -> None:
    for member in shared.members:
        if member.reading.unasked:
            raise UsageError(
                f"run {member.run.name} is not complete: {member.reading.unasked:,} calls are missing",
                fix=f"umpirical run --judge {member.name}",
            )
    if len(shared.families) < 4:
        raise UsageError(
            f"the judges share only {len(shared.families)} task families; a jury needs at least 4",
            fix="measure them at a larger size",
        )
