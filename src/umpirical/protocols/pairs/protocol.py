"""The protocol of labelled pairs."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from umpirical.datasets.readers import format_of
from umpirical.datasets.spec import LimitsSpec
from umpirical.domain.digests import Json
from umpirical.domain.errors import GateError, UsageError
from umpirical.domain.stimuli import GateResult
from umpirical.judges.judge import Judge
from umpirical.judges.prompt import columns_of, resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.pairs.card import render_pairs_markdown
from umpirical.protocols.pairs.page import render_pairs_html
from umpirical.protocols.pairs.policy import chosen_policy
from umpirical.protocols.pairs.record import PairsReport
from umpirical.protocols.pairs.report import held_to, pairs_report_of
from umpirical.protocols.pairs.spec import PairsStudy, PairsStudySpec, of_pairs
from umpirical.protocols.pairs.start import SOUND_WORDS, are_pairs, pairs_needed, start_pairs_study
from umpirical.protocols.pairs.stimuli import MadePairs, make_pairs, write_pairs_set
from umpirical.protocols.protocol import (
    DataSource,
    DecidesByPolicy,
    Decision,
    HoldsToLimits,
    NewStudy,
    Protocol,
    Study,
    StudyCheck,
)
from umpirical.reports.decisions import EXIT_CODES
from umpirical.reports.gate import HeldLimit, own_limits
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stimuli.controlled.gates.design import both_orders
from umpirical.store.files import inside
from umpirical.store.stimulus_sets import StimulusSet


class PairsProtocol(Protocol[PairsStudy, PairsReport], DecidesByPolicy[PairsReport], HoldsToLimits[PairsReport]):
    """Judges that compare, on pairs of answers of which one was chosen."""

    name = "pairs"
    version = "umpirical-pairs/1"
    mark = "dataset"
    spec = PairsStudySpec
    record = PairsReport
    answer_key = "umpirical.protocols.pairs.key:answer_key"

    def marks(self, data: Mapping[str, Any]) -> bool:
        return of_pairs(data)

    def open(self, spec: PairsStudySpec, folder: Path, *, outside: bool) -> PairsStudy:
        inside(folder, spec.dataset.path, outside=outside)
        judges = [resolve_prompts(judge, folder, spec.design.arms, hidden={}) for judge in spec.judges]
        for judge in judges:
            if named := columns_of(judge):
                raise UsageError(
                    f"judge {judge.name} names the column {named[0]!r}: of a labelled pair it is shown the task and "
                    "both answers, and nothing that could tell which was chosen",
                    fix="take it out",
                )
        # The command that reproduces a run needs the option too.
        commands = {judge.name: f"umpirical run --outside --judge {judge.name}" for judge in judges} if outside else {}
        return Study(folder, spec.model_copy(update={"judges": judges}), self, commands)

    def check(self, study: PairsStudy) -> StudyCheck:
        made = make_pairs(study)
        return StudyCheck(notes=list(_notes(study, made)), stimuli=made.stimuli)

    def sources(self, study: PairsStudy) -> Iterable[DataSource]:
        spec, usual = study.spec.dataset, LimitsSpec()
        raised = {name: (most, getattr(usual, name)) for name, most in spec.limits if most > getattr(usual, name)}
        read_as = format_of(spec.path, study.folder, named=spec.format)
        return [DataSource("dataset", spec.path, read_as, spec.options, raised)]

    def stimuli(self, study: PairsStudy) -> StimulusSet:
        return write_pairs_set(study)

    def admit(self, judge: JudgeSpec) -> None:
        if not judge.capabilities.order_controllable:
            raise UsageError(
                f"judge {judge.name}: labelled pairs are asked about in both orders, and it can be shown one only",
                fix="use a judge that can be shown both",
            )

    def gates(self, judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:
        ways = ((s, way) for s in stimuli for way in design.presentations(s, judge.capabilities, judge.kind))
        gate = both_orders(ways)
        if not gate.passed:
            raise GateError(f"gate {gate.name}: {gate.found}", fix="report it: such a plan cannot come about")
        return [gate]

    def about(self, study: PairsStudy, design: Design) -> dict[str, Json]:  # noqa: ARG002
        spec = study.spec
        policy = chosen_policy(study.policy) if study.policy else spec.policy
        about: dict[str, Json] = {
            "dataset": Path(spec.dataset.path).name,
            "edits": list(spec.edits),
            "sides": list(spec.sides),
            "policy": policy.model_dump(mode="json"),
        }
        return {"pairs": about}

    def report(self, run: Run) -> PairsReport:
        return pairs_report_of(run)

    def page(self, record: PairsReport) -> str:
        return render_pairs_html(record)

    def card(self, record: PairsReport) -> str:
        return render_pairs_markdown(record)

    def findings(self, record: PairsReport) -> list[str]:
        return record.findings

    def hold(self, record: PairsReport, policy: str | Mapping[str, Any]) -> PairsReport:
        return held_to(record, chosen_policy(policy))

    def policy_name(self, record: PairsReport) -> str:
        return record.policy.policy

    def as_published(self, record: PairsReport, published: PairsReport) -> PairsReport:
        return held_to(record, published.policy)

    def decision(self, record: PairsReport) -> Decision:
        found = record.decision
        return Decision(found.verdict, f"{found.title}. {' '.join(found.sentences)}", EXIT_CODES[found.verdict])

    def held_limits(self, record: PairsReport) -> list[HeldLimit]:
        return own_limits(record.limits)

    def summary(self, record: PairsReport) -> Mapping[str, Any]:
        return {"limits": {limit.measure: limit.verdict for limit in record.limits}}

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy | None:
        return start_pairs_study(folder, data) if not told and are_pairs(data) else None


def _notes(study: PairsStudy, made: MadePairs) -> Iterator[str]:
    read, policy = made.read, study.spec.policy
    prompts = len({pair.cluster for pair in read.pairs})
    yield f"dataset {Path(study.spec.dataset.path).name}: {read.rows:,} rows, {read.taken:,} taken"
    yield f"  {len(read.pairs):,} labelled pairs of {prompts:,} prompts"
    yield from (f"  {count:,} rows left out: {reason}" for reason, count in read.left_out.items())
    yield "  columns: " + ", ".join(f"{role} is {column}" for role, column in read.columns.items())
    for edit in study.spec.edits:
        yield f"{edit}: {made.made.get(edit, 0):,} pairs edited by program, {made.unchanged.get(edit, 0):,} not"
    if (needed := pairs_needed(policy)) is not None:
        yield f"a judge that is {SOUND_WORDS} needs about {needed:,} pairs to keep every limit"


PAIRS = PairsProtocol()
