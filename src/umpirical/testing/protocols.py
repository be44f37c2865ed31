"""The conformance kit for protocols: one call in a test holds a protocol to what every protocol promises.

- card: a name in kebab case, a version, a study file that refuses unknown keys, and a record with a format of its own;
- check: a sound study has no problem, and what would be asked about is what is asked about;
- stimuli: made once, told apart, and the same wherever the study lies;
- plan: the same study has the same run, whose trials are told apart;
- precision: a plan says how precise its measures will be;
- whole: the record accounts for every planned trial, by outcome;
- the same again: a run that is read again gives the same record, and a record that is read again the same bytes;
- documents: page and card are pure functions of the record, the card is one screen, and nothing on the page is fetched;
- inert: what judges and servers said is shown as text;
- missing: a judge that never answers has no measure but of its failures, and one that was not asked has none at all;
- start: a study that the protocol writes for somebody to start from is one that it reads.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Any, Literal, NoReturn

from pydantic import ValidationError

from umpirical.domain.measures import Estimate
from umpirical.models.spec import Calling
from umpirical.protocols.protocol import Protocol, Study
from umpirical.registry import KEBAB_CASE
from umpirical.reports.facts import OUTCOMES, unbalanced
from umpirical.reports.pages import MOST_LINES
from umpirical.reports.record import Record, TroubleRecord
from umpirical.runs.executor import EXECUTORS, LOCAL, Unwatched
from umpirical.runs.run import Run
from umpirical.store.yaml_files import load_yaml
from umpirical.study.estimate import expected_precision
from umpirical.study.prepare import prepare_run
from umpirical.testing.markup import HARMLESS, HIDDEN, PAYLOADS, Tag, active, shape

Promise = Literal[
    "card", "check", "stimuli", "plan", "precision", "whole", "the same again", "documents", "inert", "missing", "start"
]
"""What the message of a failed check names."""

OF_CALLS = frozenset({"failure-rate", "unparsed-rate"})
"""Measures that a judge without a single answer has a value of."""


def silent(*shown: str) -> NoReturn:
    """A judge that never answers."""
    raise RuntimeError(f"no answer to {len(shown)} texts")


def check_protocol(
    protocol: Protocol[Any, Any], study: Mapping[str, Any], files: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Raises AssertionError, naming the promise, for the first one that does not hold.

    `study` is what a small study file of the protocol holds, with a judge that answers and costs nothing, and `files`
    are those beside it that it names, by name.
    """
    _card(protocol, study)
    with TemporaryDirectory() as folder:
        checks = _Checks(protocol, study, files, Path(folder))
        checks.made()
        checks.measured()
        checks.missing()
        checks.started()


def _card(protocol: Protocol[Any, Any], study: Mapping[str, Any]) -> None:
    if not KEBAB_CASE.fullmatch(protocol.name):
        _broken("card", f"{protocol.name!r} is not a name in kebab case")
    if not re.fullmatch(r"[\w-]+/\d+", protocol.version):
        _broken("card", f"{protocol.version!r} is not a version such as umpirical-{protocol.name}/1")
    form = protocol.record.model_fields.get("format")
    if form is None or not re.fullmatch(r"[\w-]+/\d+", str(form.default)):
        _broken("card", "its record has no format such as judge-datasheet/2")
    try:
        protocol.spec.model_validate({**study, "no_such_key": 1})
    except ValidationError:
        pass
    else:
        _broken("card", "it accepts an unknown key in the study file")
    if not isinstance(json.loads(protocol.schema()), dict):
        _broken("card", "the schema of its record is not a valid JSON Schema")


class _Checks:
    def __init__(
        self, protocol: Protocol[Any, Any], study: Mapping[str, Any], files: Mapping[str, str], folder: Path
    ) -> None:
        self._protocol, self._data, self._files, self._folder = protocol, study, files, folder

    def made(self) -> None:
        """Stimuli and plan, in two folders that have nothing to do with each other."""
        here, there = self._study("here"), self._study("there")
        checked = self._protocol.check(here)
        if checked.problems:
            _broken("check", f"a valid study has a problem: {checked.problems[0]}")
        stimuli = self._protocol.stimuli(here)
        ids = [stimulus.id for stimulus in stimuli]
        if sorted(ids) != sorted(stimulus.id for stimulus in checked.stimuli):
            _broken("check", "check() and stimuli() give different test cases")
        if not ids or len(set(ids)) < len(ids):
            _broken("stimuli", f"{len(ids)} test cases have {len(set(ids))} ids")
        written = _written(stimuli.folder)
        if self._protocol.stimuli(here).folder != stimuli.folder or _written(stimuli.folder) != written:
            _broken("stimuli", "they were generated a second time")
        if self._protocol.stimuli(there).digest != stimuli.digest:
            _broken("stimuli", "they are different in another folder")
        run, other = self._run(here), self._run(there)
        trials = [trial for shard in range(run.shards) for trial, _ in run.store.plan_shard(shard)]
        if run.manifest["id"] != other.manifest["id"] or not trials:
            _broken("plan", "the same study gives a different plan, or an empty one")
        told = {(trial.id, trial.stimulus_id, trial.presentation) for trial in trials}
        if len(told) < len(trials):
            _broken("plan", f"of {len(trials)} trials, {len(trials) - len(told)} are duplicates")
        counts, by_id = self._protocol.planned(run.judge), {stimulus.id: stimulus for stimulus in stimuli}
        for trial in trials:
            counts.add(trial, by_id[trial.stimulus_id])
        if not list(expected_precision(counts.tallies(), kind=run.judge.kind, protocol=self._protocol.name)):
            _broken("precision", "the plan gives no expected precision for any measure")

    def measured(self) -> None:
        """The study's own judge, asked everything."""
        run = self._asked(self._study("here"))
        record = self._protocol.report(run)
        _whole(run, record, complete=True)
        text = self._protocol.render(record)
        if self._protocol.render(self._protocol.report(run)) != text:
            _broken("the same again", "reading a run again gives a different record")
        if self._protocol.render(self._protocol.parse(text)) != text:
            _broken("the same again", "reading a record from its file gives a different record")
        self._documents(record)

    def missing(self) -> None:
        """A judge that raises whatever it is asked, and one that nobody asks."""
        entry = {key: value for key, value in self._data["judges"][0].items() if key not in ("model", "prompts")}
        study = self._study("silent", {**entry, "name": "silent", "callable": f"{__name__}:silent"})
        run = self._run(study)
        unasked = self._protocol.report(run)
        _whole(run, unasked, complete=False)
        _without_a_number(unasked, frozenset(), "no calls were made")
        self._asked(study)
        record = self._protocol.report(run)
        _whole(run, record, complete=True)
        if sum(row.failed for row in record.audit) != run.trials:
            _broken("missing", "a judge always raises an exception, but not every call is a failure")
        _without_a_number(record, OF_CALLS, "every call failed")
        self._documents(record)

    def started(self) -> None:
        folder = self._folder / "started"
        folder.mkdir()
        started = self._protocol.start(folder)
        if started is None:
            return
        try:
            self._protocol.open(self._protocol.spec.model_validate(load_yaml(started.file).data), folder, outside=False)
        except Exception as error:  # noqa: BLE001  # whatever it is, the person who started there is stuck
            _broken("start", f"it cannot read the study file that it wrote: {error}")

    def _documents(self, record: Record) -> None:
        before = self._protocol.render(record)
        page, card = self._protocol.page(record), self._protocol.card(record)
        if self._protocol.page(record) != page or self._protocol.card(record) != card:
            _broken("documents", "rendering them again gives a different text")
        if self._protocol.render(record) != before:
            _broken("documents", "rendering changed the record")
        if len(card.splitlines()) > MOST_LINES:
            _broken("documents", f"the card has {len(card.splitlines())} lines; the limit is {MOST_LINES} (one screen)")
        if found := active(page):
            _broken("documents", f"the page loads or runs something: {found}")
        harmless = _shape("documents", self._protocol.page(_said(record, HARMLESS)))
        for payload in PAYLOADS:
            said = _said(record, payload)
            infected = self._protocol.page(said)
            if _shape("inert", infected) != harmless or HIDDEN.search(infected):
                _broken("inert", f"{payload!r} became part of the page")
            if HIDDEN.search(text := self._protocol.card(said)) or "<" in text:
                _broken("inert", f"{payload!r} became part of the card")

    def _study(self, name: str, judge: Mapping[str, Any] | None = None) -> Study[Any]:
        folder = self._folder / name
        folder.mkdir(exist_ok=True)
        for file, text in self._files.items():
            (folder / file).write_text(text, encoding="utf-8")
        data = {**self._data, "protocol": self._protocol.name}
        spec = self._protocol.spec.model_validate({**data, "judges": [judge or data["judges"][0]]})
        study: Study[Any] = self._protocol.open(spec, folder, outside=False)
        return study

    @staticmethod
    def _run(study: Study[Any]) -> Run:
        return prepare_run(study, study.spec.judges[0])

    def _asked(self, study: Study[Any]) -> Run:
        run = self._run(study)
        EXECUTORS.get(LOCAL)(Calling(study.spec.concurrency)).run(range(run.shards), run.call, run.store, Unwatched())
        return run


def _whole(run: Run, record: Record, *, complete: bool) -> None:
    if record.run.id != run.manifest["id"] or record.run.trials != run.trials or record.complete != complete:
        _broken("whole", f"the record is not of this run, or says complete={record.complete}")
    if unbalanced(record.audit) or sum(row.planned for row in record.audit) != run.trials:
        _broken("whole", f"the counts in the audit do not add up to the {run.trials} trials of the plan")
    if not complete and sum(row.unasked for row in record.audit) != run.trials:
        _broken("whole", "trials without a call have an outcome")


def _without_a_number(record: Record, allowed: frozenset[str], why: str) -> None:
    for measure in record.measures:
        if isinstance(measure.result, Estimate) and measure.name not in allowed:
            _broken("missing", f"{why}, but {measure.name} is {measure.result.value}")
    if any(any(getattr(row, name) for name in OUTCOMES[:4]) for row in record.audit):
        _broken("missing", f"{why}, but the audit has verdicts")


def _said(record: Record, text: str) -> Record:
    """The record of a judge and a server that said this, in words of their own choice."""
    judge = record.judge.model_copy(update={"served_by": [text], "instruction": text})
    trouble = TroubleRecord(outcome="unparsed", why=text, count=1, example=text)
    return record.model_copy(update={"judge": judge, "trouble": [*record.trouble, trouble]})


def _shape(promise: Promise, page: str) -> list[Tag]:
    try:
        return shape(page)
    except ValueError as error:
        _broken(promise, str(error))


def _written(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in folder.iterdir()}


def _broken(promise: Promise, why: str) -> NoReturn:
    raise AssertionError(f"{promise}: {why}")
