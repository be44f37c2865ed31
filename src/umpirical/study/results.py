"""Measured runs: found by what a person types, listed, read again, and held to a policy. Makes no calls."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from umpirical.domain.errors import StoreError, UmpiricalError, UsageError
from umpirical.protocols.catalogue import PROTOCOLS, protocol_of_run, read_record
from umpirical.protocols.jury_record import Jury
from umpirical.protocols.protocol import (
    STUDY_FILE,
    DecidesByPolicy,
    Decision,
    Documents,
    FollowsUp,
    HoldsToChecks,
    Protocol,
    ShowsSideBySide,
    command_again,
)
from umpirical.reports.decision import INCOMPLETE
from umpirical.reports.gate import (
    BaselineRecord,
    GateDecision,
    HeldCheck,
    Ruling,
    own_measures,
    ruling,
)
from umpirical.reports.record import Record, ResultRecord, why_unfinished
from umpirical.reports.regressions import MARGIN, regressions
from umpirical.reports.significance import LEVEL
from umpirical.runs.run import Run, open_run
from umpirical.store.budget import Budget
from umpirical.store.runs import RunStore, run_folders
from umpirical.store.snapshots import snapshot, started

STUDY_ENDINGS = (".yaml", ".yml")

RUN_WAYS = "a study folder or file, a run folder, or the name of a run or a judge"


@dataclass(frozen=True, slots=True)
class RunTarget:
    """Runs that a person has named."""

    study: Path
    """The study's folder."""
    runs: tuple[Path, ...]
    """Their folders, by name; those of a study may be none."""
    whole: bool
    """Whether they are all runs of the study."""


def find_runs(target: str | Path) -> RunTarget:
    """Finds the runs that a person means. A name is looked up in the folder before it, or in the working directory.

    Raises UsageError, with what there is, if there is nothing of that name.
    """
    path = Path(target)
    if (path / "run.json").is_file():
        return RunTarget(study_of_run(path), (path,), whole=False)
    if path.is_dir() and ((path / "runs").is_dir() or (path / STUDY_FILE).is_file()):
        return RunTarget(path, tuple(run_folders(path)), whole=True)
    if path.is_file():
        _refuse_other_files(path)
        return RunTarget(path.parent, tuple(run_folders(path.parent)), whole=True)
    study = path.parent.parent if path.parent.name == "runs" else path.parent
    known = run_folders(study)
    named = [run for run in known if run.name == path.name] or [run for run in known if _judge_of(run) == path.name]
    if named:
        return RunTarget(study, tuple(named), whole=False)
    if path.is_dir():
        return RunTarget(path, (), whole=True)
    raise UsageError(f"unknown run or judge {str(target)!r}", fix=_what_there_is(path.name, study, known))


def find_run(target: str | Path) -> Path:
    """Finds the one run that a person means. Raises UsageError, with their names, if there are several or none."""
    found = find_runs(target)
    if not found.runs:
        raise UsageError(f"{target}: there are no runs yet", fix=run_first(found.study))
    if len(found.runs) > 1:
        names = ", ".join(str(run) for run in found.runs)
        raise UsageError(f"{target} contains {len(found.runs)} runs; only one can be used", fix=f"choose one: {names}")
    return found.runs[0]


def newest_runs(target: str | Path) -> list[Path]:
    """Finds the newest run of each judge that a person means; a record is taken as it is."""
    if _is_record(Path(target)):
        return [Path(target)]
    found = find_runs(target)
    if len(found.runs) < 2:
        return [find_run(target)]
    created = {state.name: state.created or "" for state in list_runs(found.study)}
    newest = {_judge_of(run): run for run in sorted(found.runs, key=lambda run: (created[run.name], run.name))}
    return list(newest.values())


def shared_study(runs: Sequence[Path]) -> Path:
    """Returns the folder of the study that all of these runs are of; the working directory if they are of several."""
    studies = {study_of_run(run).resolve() for run in runs}
    return studies.pop() if len(studies) == 1 else Path()


def _refuse_other_files(path: Path) -> None:
    """Refuses a file that is no study's: it would pass for all runs that happen to lie beside it."""
    if path.suffix in STUDY_ENDINGS:
        return
    run = path.parent if (path.parent / "run.json").is_file() else None
    fix = f"use its folder, {run}" if run else f"name {RUN_WAYS}"
    raise UsageError(f"{path} is not a study file ({' or '.join(STUDY_ENDINGS)})", fix=fix)


def _judge_of(run: Path) -> str | None:
    """Returns the name of a run's judge; None if its manifest is damaged."""
    try:
        judge = RunStore(run).manifest.get("judge")
    except StoreError:
        return None
    return str(judge.get("name")) if isinstance(judge, dict) else None


def study_of_run(run: Path) -> Path:
    """Returns the folder of a run's study: `STUDY/runs/RUN`, or the run's own if it lies elsewhere."""
    parent = run.resolve().parent
    return parent.parent if parent.name == "runs" else run


def _what_there_is(name: str, study: Path, known: Sequence[Path]) -> str:
    names = [*(run.name for run in known), *filter(None, map(_judge_of, known))]
    near = get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    judges = ", ".join(dict.fromkeys(filter(None, map(_judge_of, known))))
    where = f"judges with runs in {study}: {judges}" if judges else f"there are no runs in {study}"
    return f"name {RUN_WAYS}; {where}"


# The runs of a study at a glance.


@dataclass(frozen=True, slots=True)
class RunState:
    """A run at a glance. What a damaged run does not tell is None."""

    name: str
    judge: str | None = None
    created: str | None = None
    trials: int | None = None
    answered: int | None = None
    failed: int | None = None
    document: str = ""
    """File name of the record; empty while there is none."""
    decision: str = ""
    """What the record says to do with the judge; empty while there is none."""
    damage: str = ""
    """What is wrong with the files of the run; empty if it can be read."""
    spent: Decimal | None = None
    """US dollars; None if no call of it had a price."""
    billed: Decimal | None = None
    uncertain: Decimal | None = None
    """What is booked and perhaps was not billed."""


def list_runs(folder: Path) -> list[RunState]:
    """Returns the runs in a study folder, oldest first."""
    found = [run_state(RunStore(run)) for run in run_folders(folder)]
    return sorted(found, key=lambda state: (state.created or "", state.name))


def run_state(store: RunStore) -> RunState:
    """Returns a run at a glance; of one that cannot be read, the damage."""
    try:
        return _state(store)
    # Whatever a stranger has written into the files: one damaged run is no reason to list none.
    except (UmpiricalError, ValueError, LookupError, TypeError, AttributeError) as error:
        said = str(error) if isinstance(error, UmpiricalError) else f"{type(error).__name__}: {error}"
        return RunState(store.folder.name, damage=said.partition("\n")[0])


def _state(store: RunStore) -> RunState:
    manifest, size = store.manifest, store.plan_size()
    with snapshot(store) as now:
        answered, failed = now.counts()
    bill = Budget(store.folder.parent.parent).bill_of(store.folder.name)
    documents = (f"{name}.json" for name in PROTOCOLS.names())
    document = next((name for name in documents if (store.folder / name).exists()), "")
    return RunState(
        name=store.folder.name,
        judge=str(manifest["judge"]["name"]),
        created=str(manifest["created"]),
        trials=size[0] if size else 0,
        answered=answered,
        failed=failed,
        document=document,
        decision=_decision(store, document),
        spent=bill.total if bill else None,
        billed=bill.billed if bill else None,
        uncertain=bill.uncertain if bill else None,
    )


def _decision(store: RunStore, document: str) -> str:
    if not document:
        return ""
    protocol = protocol_of_run(store)
    decided = protocol.decision(protocol.parse((store.folder / document).read_text(encoding="utf-8")))
    return decided.verdict if decided else ""


# Reads runs again, and writes their documents.


Command = tuple[str | Path, ...]
"""The words of a command. A path is shown from where the person is."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that its protocol has measured."""

    folder: Path
    protocol: Protocol[Any, Any]
    record: Record
    documents: Documents
    is_own: bool = True
    """Whether it is decided on by the policy that the run was made for."""
    jury: Jury | None = None
    """What is to be said of a jury alone, if it is one: its run is those of its members."""

    @property
    def decision(self) -> Decision | None:
        return self.protocol.decision(self.record)

    @property
    def next_command(self) -> Command:
        """The command that may change the decision; empty if there is none."""
        if self.jury is not None:
            return ()
        may_settle = self.is_own or not has_enough(self.record)
        return next_command(self.folder, self.protocol, self.record) if may_settle else ()

    @property
    def exit_code(self) -> int:
        """What the decision says; of a protocol that makes none, 5 if the run can be resumed."""
        if self.decision:
            return self.decision.exit_code
        return 0 if has_enough(self.record) else INCOMPLETE

    @property
    def findings(self) -> list[str]:
        return [*(self.jury.findings if self.jury else ()), *self.protocol.findings(self.record)]

    def text(self) -> str:
        """Returns the record as in its JSON file."""
        return self.protocol.render(self.record)

    def summary(self) -> dict[str, Any]:
        spend = self.record.spend
        return {
            "run": self.folder.name,
            "judge": self.record.judge.name,
            "complete": self.record.complete,
            "trials": self.record.run.trials,
            "failed": failed_calls(self.record),
            "unparsed": sum(row.unparsed for row in self.record.audit),
            "decision": self.decision.verdict if self.decision else None,
            "findings": self.findings,
            "budget": spend.budget.model_dump(mode="json") if spend and spend.budget else None,
            self.protocol.name: str(self.documents.json),
            "html": str(self.documents.html),
            **self.protocol.summary(self.record),
        }


def has_enough(record: Record) -> bool:
    """Whether everything was asked and not too many calls failed."""
    return not why_unfinished(complete=record.complete, audit=record.audit)


def failed_calls(record: Record) -> int:
    return sum(row.failed for row in record.audit)


def next_command(folder: Path, protocol: Protocol[Any, Any], record: Record) -> Command:
    """Returns the command that may change what is decided on a run; empty if none is known to."""
    if not has_enough(record):
        return _resuming(study_of_run(folder), record.run.command)
    settles = isinstance(protocol, FollowsUp) and protocol.settles(record)
    return ("umpirical", "extend", folder) if settles else ()


def _resuming(study: Path, command: str) -> Command:
    """Returns the command that made a run, to be typed anywhere; empty if it was none, or cannot be given again."""
    if not (again := command_again(command)):
        return ()
    program, name, *words = again
    named = words.pop(0) if words and not words[0].startswith("-") else ""
    if name == "run" and (study / (named or STUDY_FILE)).is_file():
        return (program, name, study / named, *words)
    if name == "datasheet" and named:
        return (program, name, named, *words, "--folder", study)
    # Runs made before the command was renamed say `more`.
    follows = name in {"extend", "more"} and (study / named / "run.json").is_file()
    return (program, "extend", study / named) if follows else ()


def run_first(folder: Path) -> str:
    """Says how to get a run in a folder that has none."""
    if (folder / STUDY_FILE).is_file():
        return shlex.join(["umpirical", "run", str(folder)])
    return "start a study with  umpirical init, or test a judge without one with  umpirical datasheet JUDGE"


def finished_run(folder: Path, *, out: Path | None = None, policy: str = "") -> FinishedRun:
    """Rereads a run, measures it, and writes its protocol's documents to the run's folder or to `out`.

    `policy` names what to hold it to in place of what the study says.
    """
    run = open_run(folder)
    protocol = protocol_of_run(run.store)
    record = protocol.report(run)
    if policy:
        if not isinstance(protocol, DecidesByPolicy):
            raise DecidesByPolicy.missing(protocol)
        record = protocol.hold(record, policy)
    return FinishedRun(folder, protocol, record, protocol.write(record, out or folder), is_own=not policy)


def measured_runs(folder: Path, *, among: Sequence[Path] | None = None) -> list[Path]:
    """Returns the folders of a study's runs, or of those `among` it, in which at least one question has been asked."""
    planned = run_folders(folder) if among is None else among
    found = [run for run in planned if _started_or_damaged(run)]
    if not found:
        raise UsageError(f"{folder}: no run has a report yet", fix=run_first(folder))
    return found


def _started_or_damaged(run: Path) -> bool:
    """Whether there is anything to report: answers, or damage, which whoever reads the run names."""
    try:
        return started(RunStore(run))
    except StoreError:
        return True


def _is_readable(run: Path) -> bool:
    try:
        return bool(RunStore(run).manifest)
    except StoreError:
        return False


def write_side_by_side(
    folder: Path, *, runs: Sequence[Path] = (), out: Path | None = None
) -> tuple[list[Record], Path] | None:
    """Writes one document on all judges of a study; returns their records and the page, or None if there is no page.

    `runs` must be in it, such as the ones just made. Other judges' newest runs by the same protocol on the same stimuli
    are put beside them: judges that saw different stimuli cannot be compared.
    """
    measured = [RunStore(run) for run in measured_runs(folder) if _is_readable(run)]
    # The manifest is rewritten each time a run is resumed.
    measured.sort(key=lambda store: (store.folder / "run.json").stat().st_mtime_ns)
    chosen = {run.resolve() for run in runs}
    measured.sort(key=lambda store: store.folder.resolve() in chosen)
    known = [(store, protocol_of_run(store)) for store in measured]
    ready = [(s, p) for s, p in known if (s.folder / f"{p.name}.json").is_file()]
    if not ready:
        raise UsageError(f"{folder}: no run has a report yet", fix=run_first(folder))
    last, protocol = ready[-1]
    if not isinstance(protocol, ShowsSideBySide):
        return None
    alike = [s for s, p in ready if p is protocol and s.manifest["stimuli"] == last.manifest["stimuli"]]
    texts = [(s.folder / f"{protocol.name}.json").read_text(encoding="utf-8") for s in alike]
    newest = {record.judge.name: record for record in map(protocol.parse, texts)}
    records = [newest[name] for name in sorted(newest)]
    return records, protocol.side_by_side(records, out or folder / "report")


# Holds a run, or what was published about it, to a policy and to an earlier run. Makes no calls.


RECORDS = ".json"
"""How the file of a record ends; anything else names a run."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A judge as it was measured: a run, or a record without the run that it was made from."""

    name: str
    protocol: Protocol[Any, Any]
    record: Record
    run: Run | None


def gate_run(
    target: str | Path,
    *,
    policy: str | Mapping[str, Any] = "",
    baseline: str | Path | None = None,
    margin: float = MARGIN,
) -> GateDecision:
    """Decides as `gate_and_next` does, for whoever goes on alone."""
    return gate_and_next(target, policy=policy, baseline=baseline, margin=margin)[0]


def gate_and_next(
    target: str | Path,
    *,
    policy: str | Mapping[str, Any] = "",
    baseline: str | Path | None = None,
    margin: float = MARGIN,
) -> tuple[GateDecision, Command]:
    """Holds the run or the record that a person names to a policy, or to the one that it was made for.

    The responses of a run are read again. A record is taken at its word, and decided on again: its measures count, and
    not the decision in it. With `baseline`, an earlier run or record on the same stimuli, a measure that the policy
    checks and that is shown to be worse by more than `margin` is a regression.

    Also returns the command that may change the decision. There is none for a record alone, and `umpirical extend`
    collects what a run's own policy leaves open.
    """
    if not 0 <= margin < 1:
        raise UsageError(f"invalid margin {margin}", fix="give a number from 0 to 1, for example 0.05")
    subject = _subject(target)
    protocol, record = subject.protocol, subject.record
    if isinstance(protocol, DecidesByPolicy):
        if not policy:
            protocol.refuse_forged(record)
        record = protocol.hold(record, policy) if policy else protocol.as_published(record, record)
    elif policy:
        raise DecidesByPolicy.missing(protocol)
    decided = protocol.decision(record)
    if decided is None or not isinstance(protocol, HoldsToChecks):
        raise HoldsToChecks.missing(protocol)
    checks = protocol.held_checks(record)
    earlier = None if baseline is None else _against(subject, _subject(baseline), checks, margin)
    ruled = ruling(Ruling(decided.verdict, decided.line, decided.exit_code), earlier)
    gate = GateDecision(
        judge=record.judge.name,
        run=subject.name,
        protocol=protocol.name,
        **(protocol.policy_marks(record) if isinstance(protocol, DecidesByPolicy) else {"policy": ""}),
        checks=checks,
        baseline=earlier,
        **ruled._asdict(),
    )
    asked = subject.run is not None and (not policy or decided.exit_code == INCOMPLETE)
    return gate, next_command(subject.run.folder, protocol, record) if asked and subject.run else ()


def gates_and_next(
    target: str | Path, *, policy: str, baseline: str | Path | None, margin: float
) -> Iterator[tuple[GateDecision, Command]]:
    """Gates the newest run of each judge of a study; a baseline that is a study has a run of each of them, too."""
    _refuse_untested(target)
    runs, before = newest_runs(target), newest_runs(baseline) if baseline else []
    for run in runs:
        # One run may be compared with any one other: a judge is often renamed with its prompt.
        same = before if len(runs) == 1 >= len(before) else [one for one in before if _judge_of(one) == _judge_of(run)]
        if baseline and not same:
            raise UsageError(f"{baseline} has no run of {_judge_of(run)}", fix="test that judge there, or name another")
        yield gate_and_next(run, policy=policy, baseline=same[0] if same else None, margin=margin)


def _refuse_untested(target: str | Path) -> None:
    """Refuses a study one of whose judges has no run: the others passing would say nothing about it."""
    from umpirical.study.file import read_study

    if not (file := Path(target) / STUDY_FILE).is_file():
        return
    tested = {_judge_of(run) for run in run_folders(Path(target))}
    # A judge measured by its name alone leaves runs beside a study file that does not name it.
    judges = [judge.name for judge in read_study(file).spec.judges]
    if tested and (untested := [name for name in judges if name not in tested]):
        raise UsageError(f"no run of {', '.join(untested)}", fix=f"umpirical run {target}, or name one run")


def _is_record(path: Path) -> bool:
    return path.suffix == RECORDS and path.is_file()


def _subject(target: str | Path) -> _Subject:
    path = Path(target)
    if _is_record(path):
        stored = read_record(path)
        return _Subject(stored.record.run.id, stored.protocol, stored.record, None)
    run = open_run(find_run(target))
    protocol = protocol_of_run(run.store)
    return _Subject(run.name, protocol, protocol.report(run), run)


def _against(now: _Subject, before: _Subject, checks: list[HeldCheck], margin: float) -> BaselineRecord:
    _refuse_other(now, before)
    return BaselineRecord(
        judge=before.record.judge.name,
        run=before.name,
        margin=margin,
        level=LEVEL,
        rows=regressions(
            checks, own_measures(before.record), own_measures(now.record), paired=_paired(now, before), margin=margin
        ),
    )


def _refuse_other(now: _Subject, before: _Subject) -> None:
    """Refuses a baseline that says nothing about a change: other stimuli, another kind of judge, or half a run."""
    if before.protocol is not now.protocol or before.record.judge.kind != now.record.judge.kind:
        raise UsageError(
            "the baseline has a different protocol or a different kind of judge", fix="use a run of the same study"
        )
    if before.record.run.stimuli != now.record.run.stimuli:
        raise UsageError("the baseline has different test cases", fix="run both with the same size, seed and tasks")
    if not has_enough(before.record):
        raise UsageError("the baseline is incomplete", fix="resume it first, or use another baseline")


def _paired(now: _Subject, before: _Subject) -> dict[tuple[str, str], ResultRecord]:
    """Returns differences on the tasks of both, which need the responses of both."""
    if now.run is None or before.run is None or not isinstance(now.protocol, HoldsToChecks):
        return {}
    variants = {measure.variant for measure in own_measures(now.record)}
    return {
        (one.name, one.stratum): one.result
        for one in now.protocol.differences(before.run, now.run)
        if one.variant in variants
    }
