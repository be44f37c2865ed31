"""Makes the report of a run on labelled pairs from its responses. Makes no calls, and needs no key."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from umpirical.datasets.pairs import LONGER
from umpirical.domain.measures import Estimate
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.domain.trials import BASELINE, Trial
from umpirical.measures.catalogue import measure_all
from umpirical.measures.counting.pairs import WorstPair
from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.measures.natural import LONGER_CHOSEN, LONGER_REJECTED, NATURAL
from umpirical.protocols.pairs.counting import pairs_counts
from umpirical.protocols.pairs.record import (
    PairEditRecord,
    PairsData,
    PairsDecision,
    PairsMeasure,
    PairsReport,
    WrongChoice,
)
from umpirical.protocols.pairs.spec import ACCURACY, LEAN, PairsPolicy
from umpirical.protocols.pairs.stimuli import SIDE
from umpirical.reports.checks import hold_intervals
from umpirical.reports.decision import Parts, decide_in_parts, find, said_with_need, weak_parts
from umpirical.reports.facts import audit_rows, run_facts
from umpirical.reports.record import measure_record, why_unfinished
from umpirical.runs.judgments import Facts, Reading, read_judgments
from umpirical.runs.run import Run
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS
from umpirical.store.stimulus_sets import StimulusSet

EXCESS, CHANGE = "excess-change", "change-rate"

FINDINGS: Mapping[tuple[str, str], str] = {
    (ACCURACY, ""): "It picks the chosen answer in both orders in {} of pairs.",
    ("single-order-accuracy", ""): "With one random order, it would pick the chosen answer in {} of pairs.",
    ("swap-inconsistency", ""): "Swapping the two answers changes its verdict in {} of pairs.",
    (LEAN, ""): "Position bias: it picks one position more often than the other by {} of calls.",
    (ACCURACY, LONGER_CHOSEN): "If the chosen answer is longer, it is right in both orders in {} of pairs.",
    (ACCURACY, LONGER_REJECTED): "If the rejected answer is longer, it is right in both orders in {} of pairs.",
    (CHANGE, ""): "A harmless edit of one answer changes {} of its verdicts.",
    (
        "edit-overturn",
        "side=rejected",
    ): "A harmless edit makes the rejected answer win in {} of pairs where it did not win before.",
}
"""What is said of a measure over all pairs, or of a group of them."""

LONGEST = 2_000
"""Characters of a text that are kept."""

NON_CLAIMS = (
    """\
The results apply to these pairs, this prompt and these settings.
The chosen answer is a person's label. If the label is wrong, a judge that is right counts as wrong.
A model may have seen a public dataset in training, so a judge may know the labels.
The longer answer has more characters. Pairs that differ in length also differ in other ways.
A program proves that each edit is harmless. The edits show only how formatting affects verdicts.
The prompt always uses the same labels in the same order, so a preference for a position may be one for its label.
Parts are checked separately, so with many parts some are weak by chance."""
).splitlines()


def _facts(trial: Trial, stimulus: Stimulus, scale: GradeScale | None) -> dict[str, Any]:  # noqa: ARG001
    better = stimulus.expectation
    return {
        "winner": better.candidate if isinstance(better, GivenWinner) else None,
        "parent": stimulus.parent,
        "crossed_pair": "",
        "version": "",
        "side": stimulus.stratum.removeprefix(f"{SIDE}="),
        "groups": [f"{name}={value}" for name, value in sorted(stimulus.strata.items())],
    }


FACTS = Facts(
    {
        "winner": "int32",
        "parent": "string",
        "crossed_pair": "string",
        "version": "string",
        "side": "string",
        "groups": "list<string>",
    },
    _facts,
)
"""What counting needs to know about a trial on a labelled pair."""


def pairs_report_of(run: Run) -> PairsReport:
    """Rereads every response of a run, and measures."""
    with read_judgments(run, FACTS) as reading:
        return pairs_report_from(run, reading)


def pairs_report_from(run: Run, reading: Reading) -> PairsReport:
    """Measures the judgments of a run that has been read."""
    about = run.manifest["pairs"]
    with pairs_counts(reading.judgments) as counts:
        tallies, worst = counts.tallies(), counts.worst()
    measures = _measures(tallies)
    parts: dict[str, Any] = {
        **run_facts(run, reading, tallies),
        "data": _data(run.stimuli, about),
        "measures": measures,
        "findings": find(FINDINGS, measures),
        "wrong": list(_wrong(worst, run.stimuli)),
        "non_claims": NON_CLAIMS,
    }
    return _held(parts, PairsPolicy.model_validate(about["policy"]))


def recounted(report: PairsReport, judgments: Path) -> PairsReport:
    """Returns the report with everything that follows from judgments counted again from these."""
    with pairs_counts(judgments) as counts:
        tallies = counts.tallies()
    measures = _measures(tallies)
    audit = audit_rows(tallies.calls, by=("variant", "family"))
    again = {"measures": measures, "findings": find(FINDINGS, measures), "audit": audit}
    return _held({**dict(report), **again, "complete": not any(row.unasked for row in audit)}, report.policy)


def _measures(tallies: Tallies) -> list[PairsMeasure]:
    measured = measure_all(tallies, kind="compare", protocol="pairs")
    return [PairsMeasure(group=found.group, **dict(measure_record(spec, found))) for spec, found in measured]


def held_to(report: PairsReport, policy: PairsPolicy) -> PairsReport:
    """Returns the report with the decision by another policy."""
    return _held(dict(report), policy)


def _held(parts: Mapping[str, Any], policy: PairsPolicy) -> PairsReport:
    measures, data = parts["measures"], parts["data"]
    asked = policy.checks(_changes(measures))
    checks = hold_intervals(asked, measures)
    # A study without edits asks nothing of them, and says so.
    held = [check for check in checks if data.edits or check.measure != CHANGE]
    weak = list(weak_parts(measures, asked, {ACCURACY: "it is right in"}, lambda one: one.group))
    unknown = list(_unknown(data))
    decision = decide_in_parts(
        PairsDecision,
        policy.policy,
        held,
        Parts("pairs", weak, unknown),
        unfinished=why_unfinished(complete=parts["complete"], audit=parts["audit"]),
        say=said_with_need,
    )
    return PairsReport(**{**parts, "policy": policy, "checks": checks, "decision": decision})


def _changes(measures: Sequence[PairsMeasure]) -> str:
    """Returns the measure of what edits change. Where calls were made once, noise is not known: all changes count."""
    whole = [one for one in measures if not (one.stratum or one.group) and one.variant == BASELINE]
    known = any(one.name == EXCESS and isinstance(one.result, Estimate) for one in whole)
    return EXCESS if known else CHANGE


def _unknown(data: PairsData) -> Iterator[str]:
    """Yields what these pairs cannot show of a judge that keeps every check."""
    if not data.edits:
        yield "Not measured: whether harmless edits change its verdicts."


def _data(stimuli: StimulusSet, about: Mapping[str, Any]) -> PairsData:
    made, whole = stimuli.manifest, [stimulus for stimulus in stimuli if stimulus.family == NATURAL]
    sizes = Counter(one.cluster for one in whole)
    longer = Counter(one.cluster for one in whole if one.strata[LONGER] == "chosen")
    share = clustered_rate(
        [Counted(cluster, longer[cluster], size) for cluster, size in sorted(sizes.items())],
        unit="pair",
        empty="there are no pairs",
        excluded={},
    )
    return PairsData(
        source=about["dataset"],
        rows=made["rows"],
        taken=made["taken"],
        pairs=made["pairs"],
        clusters=len(sizes),
        excluded=made["excluded"],
        columns=made["columns"],
        longer=made[LONGER],
        longer_chosen=share,
        edits=[_edit(name, made) for name in about["edits"]],
    )


def _edit(name: str, made: Mapping[str, Any]) -> PairEditRecord:
    known = PERTURBATIONS.get(name)
    return PairEditRecord(
        name=name,
        title=known.title,
        about=known.about,
        made=made["made"].get(name, 0),
        unchanged=made["unchanged"].get(name, 0),
    )


def _wrong(rows: Sequence[WorstPair], stimuli: Iterable[Stimulus]) -> Iterator[WrongChoice]:
    """Joins the rows with the pairs that they are about."""
    wanted = {row.stimulus_id for row in rows}
    found = {stimulus.id: stimulus for stimulus in stimuli if stimulus.id in wanted}
    for row in rows:
        shown = found[row.stimulus_id]
        place = shown.expectation.candidate if isinstance(shown.expectation, GivenWinner) else 0
        yield WrongChoice(
            pair=shown.evidence["pair"],
            edit=row.edit,
            groups=dict(shown.strata),
            task=shown.task[:LONGEST],
            chosen=shown.candidates[place][:LONGEST],
            rejected=shown.candidates[1 - place][:LONGEST],
            right=row.right,
            wrong=row.wrong,
            position_1=row.position_1,
        )
