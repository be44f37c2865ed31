"""A study, and the interface of its protocol, the only one that studies, runs, the command line and the API use.

A protocol is an object of a class in a folder of its own. It adds keys to the study file, makes the stimuli, says how
they are presented, and makes a record from a judge's answers, with the documents that follow from it. Everything else
(planning, asking, spending, resuming, the command line) is the same for all protocols and knows none by name.

`Protocol` joins three interfaces: what a study needs (`StudyProtocol`), what a run needs (`RunProtocol`) and what a
record needs (`RecordProtocol`). What only some protocols can do is an optional part, a class that a protocol also
inherits from: `isinstance(protocol, FollowsUp)` tells whether it can.
"""

import shlex
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.measures import Measure
from umpirical.domain.scales import JudgeKind
from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.domain.tallies import CallTally, Tallies
from umpirical.domain.trials import Trial
from umpirical.judges.judge import Judge
from umpirical.judges.spec import JUDGE_NAME, JudgeSpec
from umpirical.measures.counting.judgments import counting
from umpirical.models.spec import ModelSpec
from umpirical.protocols.writing import ReviewTerms, Writing
from umpirical.reports.decision import EXIT_CODES, INCOMPLETE, VerdictRecord
from umpirical.reports.gate import HeldCheck, own_checks
from umpirical.reports.policy import NamedPolicy, Shelf
from umpirical.reports.record import Record, record_json, schema_text, why_unfinished
from umpirical.reports.tiles import Tile
from umpirical.runs.judgments import Facts, Reading
from umpirical.runs.plan import Design
from umpirical.runs.run import Run
from umpirical.stats.juries import LEAST, RuleName
from umpirical.store.files import write_text
from umpirical.store.stimulus_sets import StimulusSet

STUDY_FILE = "umpirical.yaml"

OWN_MODELS = "own-models.yaml"
"""The same study with the models of an imported configuration."""


class DesignSpec(BaseModel):
    """How often to ask, and with which prompt variants."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    repeats: int = Field(default=1, ge=1, le=10_000, description="How often to ask each question.")
    variants: tuple[str, ...] = Field(
        default=("baseline",),
        min_length=1,
        description="Built-in prompt variants for judges without their own prompts: baseline, strict, forced-choice.",
    )


class JurySpec(BaseModel):
    """A jury of judges: each question is put to all members, and their vote is the verdict."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=JUDGE_NAME, description="The name in folders, reports and commands, as of a judge.")
    members: tuple[str, ...] = Field(min_length=LEAST, description="Judges of the study, by name.")
    rule: RuleName | None = Field(
        default=None,
        description="How they vote. Default: majority; for ordinal grades median, for interval grades mean.",
    )


class StudySpec(BaseModel):
    """What the user writes, whatever the protocol: which judges are measured. A protocol adds keys of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    study: str = Field(description="Name of the study.")
    protocol: str | None = Field(default=None, description="Protocol of the study. Default: detected from its keys.")
    seed: int = Field(default=1, description="Random seed.")
    judges: list[JudgeSpec] = Field(min_length=1)
    juries: tuple[JurySpec, ...] = Field(default=(), description="Juries of these judges, each tested as one judge.")
    design: DesignSpec = DesignSpec()
    concurrency: int = Field(default=16, ge=1, le=4096, description="Maximum number of calls at the same time.")

    @model_validator(mode="after")
    def _distinct(self) -> "StudySpec":
        judges = [judge.name for judge in self.judges]
        names = [*judges, *(jury.name for jury in self.juries)]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two judges are named {', '.join(sorted(doubled))}")
        for jury in self.juries:
            if unknown := [name for name in jury.members if name not in judges]:
                raise ValueError(f"jury {jury.name}: {unknown[0]!r} is not a judge of this study")
            if len(set(jury.members)) < len(jury.members):
                raise ValueError(f"jury {jury.name}: a member is listed twice")
        return self


SpecT_co = TypeVar("SpecT_co", bound=StudySpec, covariant=True)


@dataclass(frozen=True)
class Study(Generic[SpecT_co]):
    """A study file after reading, and its folder. Prompts are resolved, so every file that it names exists."""

    folder: Path
    spec: SpecT_co
    protocol: "Protocol[Any, Any]"
    commands: Mapping[str, str] = field(default_factory=dict)
    """Maps a judge to the command that measures it, if that is not `umpirical run`."""
    found: Mapping[str, object] = field(default_factory=dict, repr=False)
    """Maps a judge to the object itself, for judges that were passed in this process."""
    policy: str | Mapping[str, Any] = ""
    """The policy that a person names for this run, in place of the study's: a shipped one, a file, or its keys."""
    max_calls: int | None = None
    """Most calls that one judge may take; None if a person has set how much is asked, and not a file."""

    def command(self, judge: str) -> str:
        policy = f" --policy {shlex.quote(self.policy)}" if isinstance(self.policy, str) and self.policy else ""
        return self.commands.get(judge, f"umpirical run --judge {judge}") + policy

    def chosen(self, names: Sequence[str]) -> list[JudgeSpec]:
        """Returns the named judges, and the members of the named juries; all judges if there are no names."""
        juries = {jury.name: jury.members for jury in self.spec.juries}
        wanted = [member for name in names for member in juries.get(name, (name,))]
        return [self.judge(name) for name in dict.fromkeys(wanted)] if names else list(self.spec.judges)

    def judge(self, name: str) -> JudgeSpec:
        for judge in self.spec.judges:
            if judge.name == name:
                return judge
        raise UsageError(f"no judge {name!r} in the study", fix=f"known: {', '.join(j.name for j in self.spec.judges)}")


AGAIN = frozenset(
    {"--answer", "--judge", "--max-calls", "--outside", "--policy", "--repeats", "--size", "--until", "--variant"}
)
"""Options of a command that measures again. A record may be a stranger's: nothing else is suggested to anybody."""


def command_again(command: str) -> list[str]:
    """Returns the words of the command that made a run; empty if it was Python, or is none to type again.

    >>> command_again("umpirical run --judge careful")
    ['umpirical', 'run', '--judge', 'careful']
    >>> command_again("umpirical run --yes; reboot")
    []
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    known = words[:1] == ["umpirical"] and set(words[1:2]) <= {"run", "datasheet", "extend", "more"}
    return words if known and {word for word in words if word.startswith("-")} <= AGAIN else []


StudyT = TypeVar("StudyT", bound=Study[Any])
RecordT = TypeVar("RecordT", bound=Record)


class _Named:
    name: str
    """As in `protocol: NAME`, and in the names of its files: a record is NAME.json."""
    version: str
    """As in a run's manifest: `umpirical-datasheet/2`. A run is read by the protocol that has its version."""


# What a study needs


@dataclass(frozen=True, slots=True)
class StudyCheck:
    """What was found in a study, without making any calls."""

    problems: list[str] = field(default_factory=list)
    """What must be fixed before a run."""
    notes: list[str] = field(default_factory=list)
    """Remarks that prevent nothing."""
    gates: list[GateResult] = field(default_factory=list)
    stimuli: Iterable[Stimulus] = ()
    """The stimuli that judges would be asked about; they can be iterated over again."""


@dataclass(frozen=True, slots=True)
class DataSource:
    """Data that a study names. It may be anywhere, so a person has to agree to what is not in the study's folder."""

    what: str
    """`dataset`, `rubric`."""
    name: str
    """As written in the study file."""
    format: str | None = None
    """The reader of a dataset; None for a text."""
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    """Settings of the reader."""
    raised: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Limits that the study raises: what it sets, and what is usual, by name."""


@dataclass(frozen=True, slots=True)
class NewStudy:
    """A study file that was written as a starting point."""

    file: Path
    written: tuple[Path, ...]
    """Every file that was written, the study file last."""
    notes: tuple[str, ...] = ()
    """What was guessed, and from what."""
    options: str = ""
    """Options that every command on this study needs besides its folder."""
    generates: bool = False
    """Whether models write test cases before judges are asked."""
    runs_code: bool = False
    """Whether it runs what somebody else may have written, so that a person must agree to it first."""


class StudyProtocol(_Named, ABC, Generic[StudyT]):
    """Reads a study file of its own, checks it, and makes what the judges are asked about."""

    mark: str = ""
    """The key that identifies its study files; empty for the one protocol whose files have no such key."""
    spec: type[StudySpec]
    """The model of its study file."""

    def marks(self, data: Mapping[str, Any]) -> bool:  # noqa: ARG002  # for most, the key is enough
        """Whether a study file with the protocol's mark is one of its own; the first that says so reads it."""
        return True

    @abstractmethod
    def open(self, spec: Any, folder: Path, *, outside: bool) -> StudyT:  # noqa: ANN401  # of the type `spec`
        """Returns a study from its validated spec: reads the files that it names, and resolves the judges' prompts."""

    def check(self, study: StudyT) -> StudyCheck:
        """Checks whether a study is fit to run. Only reads files."""
        return StudyCheck(stimuli=list(self.stimuli(study)))

    def models(self, study: StudyT) -> Iterable[tuple[str, ModelSpec]]:  # noqa: ARG002  # most ask only judges
        """Returns the models that are asked besides the judges, each with its name in messages."""
        return ()

    def sources(self, study: StudyT) -> Iterable[DataSource]:  # noqa: ARG002  # most read only their own folder
        """Returns the data that a study names and that may be outside its folder."""
        return ()

    @abstractmethod
    def stimuli(self, study: StudyT) -> StimulusSet:
        """Returns what the judges of a study are asked about, made and written once."""

    def stimuli_line(self, stimuli: StimulusSet) -> str:  # noqa: ARG002  # most have nothing to say
        """Returns a remark on the stimuli to print before a run is planned; empty if there is none."""
        return ""

    def start(self, folder: Path) -> NewStudy | None:  # noqa: ARG002
        """Writes a study file that runs as is; returns None if a study needs the user's data."""
        return None

    def start_from(self, folder: Path, data: Path, told: Mapping[str, str]) -> NewStudy | None:  # noqa: ARG002
        """Writes a study of the data; returns None if this protocol cannot use such data."""
        return None


# What a run needs


@dataclass(frozen=True, slots=True)
class EarlyMeasures:
    """What is measured of a run while it is asked."""

    facts: Facts
    """The columns that counting needs, besides those of all judgments."""
    tally: Callable[[Path, JudgeKind], Tallies]
    """Counts a file of judgments."""
    measures: tuple[str, ...]
    """The names of the measures, each cheap and of use before the end."""


class PlannedCounts(ABC):
    """The trials of a plan, counted as if each had been answered, so that precision is known in advance."""

    @abstractmethod
    def add(self, trial: Trial, stimulus: Stimulus) -> None: ...

    @abstractmethod
    def tallies(self) -> Tallies: ...


class _PlannedCalls(PlannedCounts):
    """Counts the calls and nothing else, each as answered."""

    def __init__(self, kind: JudgeKind) -> None:
        self._kind = kind
        self._calls: dict[tuple[str, str, str], int] = {}

    def add(self, trial: Trial, stimulus: Stimulus) -> None:
        key = (stimulus.cluster, trial.presentation.variant, stimulus.family)
        self._calls[key] = self._calls.get(key, 0) + 1

    def tallies(self) -> Tallies:
        calls = [CallTally(*key, "", None, planned=count) for key, count in self._calls.items()]
        if self._kind == "compare":
            return Tallies(calls=tuple(replace(call, tie=call.planned) for call in calls))
        return Tallies(calls=tuple(replace(call, graded=call.planned) for call in calls))


def _tally_calls(judgments: Path, kind: JudgeKind) -> Tallies:
    with counting(judgments, kind) as found:
        return Tallies(calls=found.calls())


CALL_MEASURES = ("unparsed-rate", "failure-rate", "abstention-rate")
"""What became of the calls: measures that every protocol has early."""


class RunProtocol(_Named, ABC, Generic[StudyT]):
    """Says what a judge is asked about the stimuli, and what can be told before it has answered everything."""

    answer_key: str = ""
    """Path, as `module:function`, of the function that makes simulated judges' answer key from (judge, stimuli)."""
    facts: Facts = Facts({}, lambda *_: {})
    """What the protocol knows about a trial, besides the columns of all judgments."""

    def admit(self, judge: JudgeSpec) -> None:
        """Raises UsageError if this protocol cannot measure a judge."""

    def design(self, study: StudyT, judge: JudgeSpec) -> Design:
        """Returns what a judge of a study is asked about each stimulus."""
        return Design(repeats=study.spec.design.repeats, variants=tuple(judge.prompts) or ("baseline",))

    def gates(self, judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:  # noqa: ARG002
        """Checks the gates on the plan. Raises GateError if a blocking gate fails."""
        return []

    def about(self, study: StudyT, design: Design) -> dict[str, Json]:  # noqa: ARG002  # most say everything in the spec
        """Returns further entries of a run's manifest; none of them decides what is asked."""
        return {}

    def planned(self, judge: JudgeSpec) -> PlannedCounts:
        """Returns the counter of a plan, from which its expected precision follows."""
        return _PlannedCalls(judge.kind)

    def early(self) -> EarlyMeasures:
        """Returns what can be measured before a run is complete; by default, what became of the calls."""
        return EarlyMeasures(self.facts, _tally_calls, CALL_MEASURES)


# What a record needs


@dataclass(frozen=True, slots=True)
class Documents:
    """Where the record of a run and the documents that follow from it were written."""

    json: Path
    html: Path
    markdown: Path


def write_documents(folder: Path, name: str, json: str, html: str, markdown: str) -> Documents:
    """Writes a record and its documents to files of this name."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = Documents(*(folder / f"{name}.{ending}" for ending in ("json", "html", "md")))
    for file, text in ((documents.json, json), (documents.html, html), (documents.markdown, markdown)):
        write_text(file, text)
    return documents


@dataclass(frozen=True, slots=True)
class Decision:
    """What a record says to do with the judge, the same wherever it is shown."""

    verdict: str
    """For programs: `use-with-restrictions`."""
    title: str
    """The verdict in words."""
    line: str
    """In one line, for people."""
    exit_code: int
    """What a command that decides exits with: 0, 3 if the judge is refused, 4 if that is open, 5 if the run is
    incomplete."""


class RecordProtocol(_Named, ABC, Generic[RecordT]):
    """Makes the record of a run, and the documents that are pure functions of it."""

    record: type[RecordT]
    """The model of its record."""

    @abstractmethod
    def report(self, run: Run) -> RecordT:
        """Rereads every response of a run, and measures. Makes no calls, and needs no key."""

    @abstractmethod
    def page(self, record: RecordT) -> str:
        """Renders the record as one HTML page."""

    @abstractmethod
    def card(self, record: RecordT) -> str:
        """Renders the record as one screen of Markdown."""

    def tiles(self, record: RecordT) -> Sequence[Tile]:  # noqa: ARG002
        """Returns what a reader asks first, for places that show a judge at a glance. The anchors are of its page."""
        return ()

    def write(self, record: RecordT, folder: Path) -> Documents:
        """Writes the record, and the documents that are pure functions of it."""
        return write_documents(folder, self.name, self.render(record), self.page(record), self.card(record))

    def render(self, record: RecordT) -> str:
        """Renders the record as in its JSON file: the same record gives the same bytes."""
        return record_json(record)

    def parse(self, text: str) -> RecordT:
        return self.record.model_validate_json(text)

    def recounted(self, record: RecordT, judgments: Path, judge: JudgeSpec) -> RecordT | None:  # noqa: ARG002
        """Returns a record with its counts, measures and decision made again from the judgments that it came from.

        None if this protocol also needs the run.
        """
        return None

    def schema(self) -> str:
        """Returns the JSON Schema of the record."""
        return schema_text(self.record)

    def findings(self, record: RecordT) -> list[str]:
        """Returns what the record says, in a few plain sentences."""
        found: list[str] = getattr(record, "findings", [])
        return found

    def decision(self, record: RecordT) -> Decision | None:
        """Returns what a record says to do with the judge; None if the protocol makes no decision."""
        found: VerdictRecord | None = getattr(record, "decision", None)
        if found is None:
            return None
        unfinished = why_unfinished(complete=record.complete, audit=record.audit)
        code = INCOMPLETE if unfinished else EXIT_CODES[found.verdict]
        return Decision(found.verdict, found.title, found.line, code)

    def summary(self, record: RecordT) -> Mapping[str, Any]:  # noqa: ARG002
        """Returns further entries of the summary for a program that started a run."""
        return {}


class Protocol(StudyProtocol[StudyT], RunProtocol[StudyT], RecordProtocol[RecordT], Generic[StudyT, RecordT]):
    """A way to measure judges. Registered under the entry point `umpirical.protocols`, or built in."""


# What only some protocols can do


class OptionalPart(ABC):
    """Something that a protocol can do if its class also inherits from the part."""

    lacking: ClassVar[str]
    """What to say of a protocol, by its {name}, that cannot do it."""
    instead: ClassVar[str]
    """What to do then."""

    @classmethod
    def missing(cls, protocol: Protocol[Any, Any]) -> UsageError:
        """Returns the error to raise if a protocol without this part is to do it."""
        return UsageError(cls.lacking.format(name=protocol.name), fix=cls.instead)


class WritesStimuli(OptionalPart, Generic[StudyT]):
    """A language model writes some of its stimuli."""

    lacking = "this study has no test cases for a model to write"
    instead = "to start one that does: umpirical init --from FILE"

    @abstractmethod
    def writing(self, study: StudyT) -> Writing:
        """Returns what a language model is to write for a study. Raises UsageError for a study without such stimuli."""


class ReviewsStimuli(OptionalPart, Generic[StudyT]):
    """People review what a language model wrote."""

    lacking = "this study has no generated test cases to review"
    instead = "run it without a review: umpirical run"

    @abstractmethod
    def review(self, study: StudyT) -> ReviewTerms:
        """Returns how people review what a language model wrote for a study. Raises UsageError if it writes nothing."""


class DecidesByPolicy(OptionalPart, Generic[RecordT]):
    """Its records can be decided on again, by another policy."""

    lacking = "protocol {name} does not use a policy"
    instead = "omit --policy"

    policies: tuple[str, ...] = ()
    """The policies that it ships, by their names in `hold`."""

    @abstractmethod
    def hold(self, record: RecordT, policy: str | Mapping[str, Any]) -> RecordT:
        """Returns a record with the decision by another policy: a shipped one by its name, a file, or its keys."""

    shelf: Shelf[Any]
    """The policies that it ships and reads."""

    @abstractmethod
    def policy_of(self, record: RecordT) -> NamedPolicy:
        """Returns the policy that a record's decision is by, whole."""

    def policy_name(self, record: RecordT) -> str:
        """Returns the name of the policy that a record's decision is by."""
        return self.policy_of(record).policy

    def policy_words(self, record: RecordT) -> str:
        """Returns that policy's name and digest, and says so if it is not a shipped one."""
        return self.shelf.words(self.policy_of(record))

    def policy_marks(self, record: RecordT) -> dict[str, Any]:
        """Returns the same as parts of a gate's decision."""
        policy = self.policy_of(record)
        return {
            "policy": policy.policy,
            "policy_digest": self.shelf.digest(policy),
            "policy_shipped": self.shelf.ships(policy),
        }

    def refuse_forged(self, record: RecordT) -> None:
        """Raises StoreError if a record's policy has the name of a shipped one, and asks something else."""
        self.shelf.refuse_forged(self.policy_of(record))

    @abstractmethod
    def as_published(self, record: RecordT, published: RecordT) -> RecordT:
        """Returns a record with the decision by the policy of a published one, to be compared with it."""

    def policy_schema(self) -> str | None:
        """Returns the JSON Schema of a policy file; None if there is none."""
        return None


class HoldsToChecks(OptionalPart, Generic[RecordT]):
    """A gate can hold its judges to checks."""

    lacking = "protocol {name} has no checks"
    instead = "to see its results: umpirical report"

    def held_checks(self, record: RecordT) -> list[HeldCheck]:
        """Returns the checks that a gate holds the judge's own prompt to; by default, those in the record."""
        return own_checks(getattr(record, "checks", ()))

    def differences(self, before: Run, now: Run) -> Iterable[Measure]:  # noqa: ARG002  # most compare records only
        """Returns rates of one run less those of an earlier one, on the tasks of both; none if they are not paired."""
        return ()


@dataclass(frozen=True, slots=True)
class FollowUp:
    """What a follow-up run asks: everything that the run asked, whose answers are reused, and more."""

    study: Study[Any]
    stimuli: StimulusSet
    words: tuple[str, ...]
    """What is asked more, and what for."""
    about: Mapping[str, Json] = field(default_factory=dict)
    """Entries of the manifest, in place of what the study says."""


@dataclass(frozen=True, slots=True)
class Round:
    """What a run asks next."""

    stimuli: Collection[str] = ()
    """By id; none if the run is decided, or was not to be asked in rounds."""
    how_far: str = ""
    """For the person who waits."""
    capped: bool = False
    """Whether there would be more to ask if more calls were allowed."""


class AsksInRounds(OptionalPart):
    """A run can be asked in rounds, and end as soon as it is decided."""

    lacking = "protocol {name} cannot stop before everything is asked"
    instead = "set a size"

    @abstractmethod
    def next_round(self, run: Run) -> Round:
        """Returns what to ask next."""

    @abstractmethod
    def design_of(self, run: Run) -> Design:
        """Returns the design that a run was planned in."""

    @abstractmethod
    def at_once(self, study: Study[Any]) -> Study[Any]:
        """Returns the study without rounds, for a framework that draws all questions before it asks the first."""


class MakesAgain(OptionalPart):
    """Its built-in test cases follow from a recipe, so a reader can make them again."""

    lacking = "protocol {name} has no built-in test cases"
    instead = "keep the stimuli folder of the study"

    @abstractmethod
    def recipe(self, run: Run) -> Mapping[str, Json] | None:
        """Returns what the test cases of a run are made from; None if your own data is among it."""

    @abstractmethod
    def made_again(self, recipe: Mapping[str, Any]) -> Iterable[Stimulus]:
        """Makes the test cases of a recipe, which may be a stranger's. Raises if it is not one of ours."""


class FollowsUp(OptionalPart, Generic[RecordT]):
    """A second run can settle what a run leaves open."""

    lacking = "protocol {name} cannot extend a run"
    instead = "set a larger design, then: umpirical run"

    @abstractmethod
    def settles(self, record: RecordT) -> bool:
        """Whether more questions may settle what a record leaves open. Quick: it makes no stimuli."""

    @abstractmethod
    def more(self, run: Run, record: RecordT) -> FollowUp:
        """Returns what to ask so that a decision left open is settled. Raises UsageError if nothing would."""


@dataclass(frozen=True, slots=True)
class JuryTerms:
    """What the judges of a protocol vote on as a jury, besides prompt variants, which a jury has none of."""

    of: str
    """What is divided into a half to choose and learn by and a half for results, in the plural: `task families`."""
    about: str
    """What the results are about, in a sentence."""
    hears: Callable[[Trial, Stimulus], bool]
    """Whether a jury is measured on a call."""
    knows: Callable[[Trial, Stimulus], bool] = lambda *_: True
    """Whether a call that it hears says how good a judge is: what is right is known, and is not that of another."""
    kinds: tuple[JudgeKind, ...] = ("compare", "grade")
    """The kinds of judges that may be members."""


class CombinesJudges(OptionalPart, Generic[RecordT]):
    """Several of its judges can be measured as one, a jury."""

    lacking = "protocol {name} cannot combine judges into a jury"
    instead = "to show one judge: umpirical report"

    jury: ClassVar[JuryTerms]
    facts: Facts

    @abstractmethod
    def of_judgments(self, run: Run, reading: Reading) -> RecordT:
        """Returns the record of the judgments in a file. `run` is what they are about: its responses are not read."""


class ShowsSideBySide(OptionalPart, Generic[RecordT]):
    """All judges of a study are also reported in one document."""

    lacking = "protocol {name} cannot show judges side by side"
    instead = "to show one judge: umpirical report"

    @abstractmethod
    def side_by_side(self, records: Sequence[RecordT], folder: Path) -> Path:
        """Writes one document on all judges of a study, and returns its path."""
