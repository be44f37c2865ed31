"""The available protocols, which one a study or a run belongs to, and reading the record that any of them wrote."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import UsageError
from umpirical.protocols.protocol import OWN_MODELS, STUDY_FILE, NewStudy, Protocol
from umpirical.registry import Registry
from umpirical.reports.record import Record
from umpirical.store.files import write_text
from umpirical.store.runs import RunStore
from umpirical.text.problems import first_problem

PROTOCOLS: Registry[Protocol[Any, Any]] = Registry(
    "protocols",
    {
        "datasheet": "umpirical.protocols.datasheet.protocol:DATASHEET",
        # Before the protocol of any other data: the first that can start a study of a file does.
        "agent": "umpirical.protocols.agent.protocol:AGENT",
        # Before that of single responses, which has the same mark.
        "pairs": "umpirical.protocols.pairs.protocol:PAIRS",
        "stress": "umpirical.protocols.stress.protocol:STRESS",
    },
    noun="protocol",
)


MARKS = {"agent": "transcripts", "pairs": "dataset", "stress": "dataset"}
"""The marks of built-in protocols. One whose mark a study does not have need not be imported for it."""


def protocol_of_study(data: Mapping[str, Any]) -> Protocol[Any, Any]:
    """Returns the protocol that a study file names, or whose mark it has, or the one for unmarked files."""
    if isinstance(name := data.get("protocol"), str):
        return PROTOCOLS.get(name)
    protocols = [PROTOCOLS.get(each) for each in PROTOCOLS.names() if each not in MARKS or MARKS[each] in data]
    by_mark: dict[str, Protocol[Any, Any]] = {}
    for protocol in protocols:
        if protocol.mark in data and protocol.marks(data):
            by_mark.setdefault(protocol.mark, protocol)
    marked = list(by_mark.values())
    if len(marked) > 1:
        marks = " and ".join(protocol.mark for protocol in marked)
        raise UsageError(
            f"the study has {marks}, which belong to different protocols", fix="write a study file for each"
        )
    return marked[0] if marked else next(protocol for protocol in protocols if not protocol.mark)


def protocol_of_run(store: RunStore) -> Protocol[Any, Any]:
    """Returns the protocol that made a run."""
    version = store.manifest["protocol"]
    for protocol in PROTOCOLS:
        if protocol.version == version:
            return protocol
    if version.removesuffix("/1") in {protocol.version.removesuffix("/2") for protocol in PROTOCOLS}:
        raise UsageError(
            f"run {store.folder.name} was made by an earlier version, whose files have other names",
            fix="measure again, or read it with the version that made it",
        )
    known = ", ".join(protocol.version for protocol in PROTOCOLS)
    raise UsageError(f"run {store.folder.name} was made by protocol {version!r}", fix=f"known here: {known}")


SCHEMA_FILE = "umpirical.schema.json"
"""The schema of study files, which is also written beside one: an editor finds it there, whatever is installed."""


def start_study(folder: Path, *, data: Path | None = None, told: Mapping[str, str] | None = None) -> NewStudy:
    """Writes a study file that runs as is, by the first that can start one, and its schema. Overwrites no file.

    `told` are columns of the data that a person has named; the others are guessed.
    """
    started = _started(folder, data, told or {})
    for study in started.written:
        if study.name in (STUDY_FILE, OWN_MODELS):
            write_text(study, f"# yaml-language-server: $schema={SCHEMA_FILE}\n{study.read_text(encoding='utf-8')}")
    schema = folder / SCHEMA_FILE
    if schema.exists():
        return started
    write_text(schema, (files("umpirical.protocols") / SCHEMA_FILE).read_text(encoding="utf-8"))
    return replace(started, written=(schema, *started.written))


def _started(folder: Path, data: Path | None, told: Mapping[str, str]) -> NewStudy:
    if data is not None and data.suffix.lower() in (".yml", ".yaml", ".json"):
        # Imported here: it knows several protocols, and nothing else needs it.
        from umpirical.protocols.imports.start import start_from_configuration

        if (described := start_from_configuration(folder, data)) is not None:
            return described
    for protocol in PROTOCOLS:
        started = protocol.start(folder) if data is None else protocol.start_from(folder, data, told)
        if started is not None:
            return started
    what = "a study without data" if data is None else f"a study of {data}"
    raise UsageError(f"no protocol here starts {what}", fix="write the file by hand;  umpirical schema config")


LARGEST = 1 << 28
"""Bytes of a record that are read at most."""


@dataclass(frozen=True, slots=True)
class ReadRecord:
    """A record, and where it came from."""

    protocol: Protocol[Any, Any]
    record: Record
    file: Path
    text: str

    @property
    def run(self) -> Path | None:
        """The folder of its run; None for a record that lies elsewhere."""
        return self.file.parent if (self.file.parent / "run.json").is_file() else None


EARLIER = {"judge-datasheet/1", "judge-stress/1", "judge-pairs/1", "judge-agent/1"}
"""Formats of records from before keys were renamed."""


def read_record(path: Path) -> ReadRecord:
    """Reads a record. `path` is its JSON file, or the folder of a measured run."""
    names = [f"{protocol.name}.json" for protocol in PROTOCOLS]
    file = next((path / name for name in names if (path / name).is_file()), path)
    if not file.is_file():
        raise UsageError(f"{path} holds no record", fix=f"name a file such as {names[0]}, or the folder of a run")
    if file.stat().st_size > LARGEST:
        raise UsageError(f"{file} has more than {LARGEST:,} bytes", fix="name a JSON file that Umpirical wrote")
    try:
        text = file.read_bytes().decode("utf-8")
        form = json.loads(text).get("format")
    except (ValueError, AttributeError, RecursionError):
        raise UsageError(f"{file} is not a record", fix="name a JSON file that Umpirical wrote") from None
    for protocol in PROTOCOLS:
        if protocol.record.model_fields["format"].default == form:
            try:
                record = protocol.parse(text)
            except ValidationError as error:
                message = f"{file} is not whole: {first_problem(error)}"
                raise UsageError(message, fix="restore it, or measure again") from None
            return ReadRecord(protocol, record, file, text)
    if isinstance(form, str) and form in EARLIER:
        raise UsageError(
            f"{file} has the format of an earlier version ({form}), whose keys have other names",
            fix="measure again, or read it with the version that wrote it",
        )
    raise UsageError(f"{file} is a record of format {form!r}, which is not known here", fix="is its plugin installed?")
