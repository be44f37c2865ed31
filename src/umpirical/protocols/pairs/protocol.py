"""The protocol of labelled pairs."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from umpirical.datasets.guess import profile_columns
from umpirical.datasets.pairs import PairDatasetSpec, ReadPairs, read_pairs
from umpirical.datasets.readers import format_of
from umpirical.datasets.spec import LimitsSpec
from umpirical.domain.digests import Json
from umpirical.domain.errors import GateError, UsageError
from umpirical.domain.stimuli import GateResult
from umpirical.judges.judge import Judge
from umpirical.judges.prompt import columns_of, resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.pairs.page import render_pairs_html, render_pairs_markdown, tiles
from umpirical.protocols.pairs.record import PairsReport
from umpirical.protocols.pairs.report import FACTS, held_to, pairs_report_from, pairs_report_of, recounted
from umpirical.protocols.pairs.spec import SHELF, PairsPolicy, PairsStudy, PairsStudySpec, of_pairs
from umpirical.protocols.pairs.stimuli import MadePairs, make_pairs, write_pairs_set
from umpirical.protocols.protocol import (
    CombinesJudges,
    DataSource,
    DecidesByPolicy,
    HoldsToChecks,
    JuryTerms,
    NewStudy,
    Protocol,
    Study,
    StudyCheck,
)
from umpirical.protocols.start import new_study_file, path_from, scalar, study_name
from umpirical.reports.tiles import Tile
from umpirical.runs.judgments import Reading
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stats.intervals import wilson
from umpirical.stimuli.controlled.gates import both_orders
from umpirical.store.files import inside, write_text
from umpirical.store.stimulus_sets import StimulusSet

PAIRS_STUDY = """\
# Comparing judges on labeled pairs.  umpirical schema config  lists every key.
study: {name}
seed: 1

# {rows:,} rows, {pairs:,} labeled pairs of {prompts:,} prompts
dataset:
  path: {path}
  columns:
{columns}
{sample}

# Formatting changes that a program makes in one answer of a pair and proves harmless.
edits: [inline-spacing, markdown-or-plain]
sides: [chosen, rejected]

# Acceptance thresholds.
policy: {{accuracy: {policy.accuracy}, same_position: {policy.same_position}, changes: {policy.changes}}}

design:
  repeats: 1    # with 2 or more, the effect of edits is adjusted for the judge's own noise

judges:
  # A simulated judge for a dry run: needs no key and no network.
  - name: rehearsal
    kind: compare
    model: {{adapter: simulated, name: careful}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   kind: compare
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   decoding: {{temperature: 0, max_tokens: 256}}

concurrency: 16
"""

SAMPLE = 200
"""Number of pairs: enough for a sound judge to pass every check, and few enough to be cheap."""

MOST_NEEDED = 100_000
"""Pairs beyond which a check is as good as out of reach."""

RIGHT, POSITIONAL, SWAYED = 0.93, 0.03, 0.01
"""A judge clearly better than the thresholds: the shares of pairs that it gets right, in which it follows the position,
and in which a harmless edit changes its verdict."""

SOUND_WORDS = "right about 93% of the pairs, follows the position in 3% and edits in 1%"


def are_pairs(data: Path) -> bool:
    """Whether a file holds labelled pairs, by the names of its columns."""
    if not data.is_file() or data.suffix.lower() not in (".csv", ".jsonl", ".ndjson", ".parquet", ".pq"):
        return False
    return {"chosen", "rejected"} <= {profile.name.casefold() for profile in profile_columns(data)}


def start_pairs_study(folder: Path, data: Path) -> NewStudy:
    """Writes a study of the pairs in `data` that runs as is. No existing file is overwritten."""
    file = new_study_file(folder)
    read = read_pairs(PairDatasetSpec(path=str(data.resolve())), folder)
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = PAIRS_STUDY.format(
        name=scalar(study_name(folder)),
        rows=read.rows,
        pairs=len(read.pairs),
        prompts=len({pair.cluster for pair in read.pairs}),
        path=scalar(path_from(folder, data)),
        columns="\n".join(f"    {line}" for line in _columns(read)),
        sample=_sample(read),
        policy=PairsPolicy(),
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    return NewStudy(file, (file,), tuple(_guessed(read)), "--outside" if outside else "")


def pairs_needed(policy: PairsPolicy) -> int | None:
    """Returns the fewest pairs with which a sound judge is shown to keep every check; None if it does not keep them."""
    if policy.accuracy >= RIGHT or policy.same_position <= POSITIONAL or policy.changes <= SWAYED:
        return None

    def enough(pairs: int) -> bool:
        return (
            wilson(RIGHT * pairs, pairs)[0] >= policy.accuracy
            and wilson(POSITIONAL * pairs, pairs)[1] <= policy.same_position
            and wilson(SWAYED * pairs, pairs)[1] <= policy.changes
            # Each pair takes two calls at least, all of which have a verdict.
            and wilson(0, 2 * pairs)[1] <= policy.without_verdict
        )

    return next(filter(enough, range(2, MOST_NEEDED)), None)


def _columns(read: ReadPairs) -> Iterator[str]:
    for role, column in read.columns.items():
        if role == "strata":
            yield f"strata: [{scalar(column)}]"
        elif role != "id":
            yield f"{role}: {scalar(column)}"
    yield "# cluster: COLUMN   # rows with the same value are not independent; default: rows with the same prompt"


def _sample(read: ReadPairs) -> str:
    by = f", by: [{scalar(read.columns['strata'])}]" if "strata" in read.columns else ""
    if read.rows <= SAMPLE:
        return f"  # sample: {{size: {SAMPLE}{by}}}   # few rows, so all of them are used"
    return f"  sample: {{size: {SAMPLE}{by}}}"


def _guessed(read: ReadPairs) -> Iterator[str]:
    """Yields what was taken for what, so that the user can correct it."""
    yield f"{read.rows:,} rows, {len(read.pairs):,} labeled pairs; columns found by name:"
    yield from (f"  {role:9} {column}" for role, column in read.columns.items())
    yield from (f"  {count:,} rows excluded: {reason}" for reason, count in read.excluded.items())


# The protocol of labelled pairs.


class PairsProtocol(
    Protocol[PairsStudy, PairsReport],
    CombinesJudges[PairsReport],
    DecidesByPolicy[PairsReport],
    HoldsToChecks[PairsReport],
):
    """Judges that compare, on pairs of answers of which one was chosen."""

    name = "pairs"
    version = "umpirical-pairs/2"
    shelf = SHELF
    mark = "dataset"
    spec = PairsStudySpec
    record = PairsReport
    facts = FACTS
    jury = JuryTerms(
        of="prompts",
        about="The results are about these pairs, and only as good as their labels.",
        hears=lambda *_: True,
        knows=lambda _, stimulus: not stimulus.parent,
    )
    answer_key = "umpirical.protocols.pairs.stimuli:answer_key"

    def marks(self, data: Mapping[str, Any]) -> bool:
        return of_pairs(data)

    def open(self, spec: PairsStudySpec, folder: Path, *, outside: bool) -> PairsStudy:
        inside(folder, spec.dataset.path, outside=outside)
        judges = [resolve_prompts(judge, folder, spec.design.variants, hidden={}) for judge in spec.judges]
        for judge in judges:
            if named := columns_of(judge):
                raise UsageError(
                    f"the prompt of judge {judge.name} shows the column {named[0]!r}; labeled pairs allow "
                    "only the task and both answers",
                    fix="remove it",
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
                f"judge {judge.name}: labeled pairs need both orders, but this judge accepts only one order",
                fix="use a judge that accepts both orders",
            )

    def gates(self, judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:
        ways = ((s, way) for s in stimuli for way in design.presentations(s, judge.capabilities, judge.kind))
        gate = both_orders(ways)
        if not gate.passed:
            raise GateError(f"gate {gate.name}: {gate.found}", fix="this is a bug; please report it")
        return [gate]

    def about(self, study: PairsStudy, design: Design) -> dict[str, Json]:  # noqa: ARG002
        spec = study.spec
        policy = SHELF.chosen(study.policy, outside=True) if study.policy else spec.policy
        about: dict[str, Json] = {
            "dataset": Path(spec.dataset.path).name,
            "edits": list(spec.edits),
            "sides": list(spec.sides),
            "policy": policy.model_dump(mode="json"),
        }
        return {"pairs": about}

    def report(self, run: Run) -> PairsReport:
        return pairs_report_of(run)

    def recounted(self, record: PairsReport, judgments: Path, judge: JudgeSpec) -> PairsReport:  # noqa: ARG002
        return recounted(record, judgments)

    def of_judgments(self, run: Run, reading: Reading) -> PairsReport:
        return pairs_report_from(run, reading)

    def page(self, record: PairsReport) -> str:
        return render_pairs_html(record)

    def card(self, record: PairsReport) -> str:
        return render_pairs_markdown(record)

    def tiles(self, record: PairsReport) -> list[Tile]:
        return tiles(record)

    def hold(self, record: PairsReport, policy: str | Mapping[str, Any]) -> PairsReport:
        return held_to(record, SHELF.chosen(policy, outside=True))

    def policy_of(self, record: PairsReport) -> PairsPolicy:
        return record.policy

    def as_published(self, record: PairsReport, published: PairsReport) -> PairsReport:
        return held_to(record, published.policy)

    def summary(self, record: PairsReport) -> Mapping[str, Any]:
        return {"checks": {check.measure: check.verdict for check in record.checks}}

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy | None:
        return start_pairs_study(folder, data) if not told and are_pairs(data) else None


def _notes(study: PairsStudy, made: MadePairs) -> Iterator[str]:
    read, policy = made.read, study.spec.policy
    prompts = len({pair.cluster for pair in read.pairs})
    yield f"dataset {Path(study.spec.dataset.path).name}: {read.rows:,} rows, {read.taken:,} used"
    yield f"  {len(read.pairs):,} labeled pairs of {prompts:,} prompts"
    yield from (f"  {count:,} rows excluded: {reason}" for reason, count in read.excluded.items())
    yield "  columns: " + ", ".join(f"{role} is {column}" for role, column in read.columns.items())
    for edit in study.spec.edits:
        yield f"{edit}: {made.made.get(edit, 0):,} pairs edited by a program, {made.unchanged.get(edit, 0):,} unchanged"
    if (needed := pairs_needed(policy)) is not None:
        yield f"a judge that is {SOUND_WORDS} needs about {needed:,} pairs to pass every check"


PAIRS = PairsProtocol()
