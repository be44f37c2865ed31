"""The available protocols, and which one a study or a run belongs to."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.protocols.protocol import Protocol, Started
from umpirical.registry import Registry
from umpirical.store.runs import RunStore

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


def protocol_of_study(data: Mapping[str, Any]) -> Protocol[Any, Any]:
    """Returns the protocol that a study file names, or whose mark it has, or the one for unmarked files."""
    if isinstance(name := data.get("protocol"), str):
        return PROTOCOLS.get(name)
    protocols = list(PROTOCOLS)
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
    known = ", ".join(protocol.version for protocol in PROTOCOLS)
    raise UsageError(f"run {store.folder.name} was made by protocol {version!r}", fix=f"known here: {known}")


def start_study(folder: Path, *, data: Path | None = None, told: Mapping[str, str] | None = None) -> Started:
    """Writes a study file that runs as is, by the first protocol that can start one. Never overwrites a file.

    `told` are columns of the data that a person has named; the others are guessed.
    """
    for protocol in PROTOCOLS:
        started = protocol.start(folder) if data is None else protocol.start_from(folder, data, told or {})
        if started is not None:
            return started
    what = "a study without data" if data is None else f"a study of {data}"
    raise UsageError(f"no protocol here starts {what}", fix="write the file by hand;  umpirical schema config")
