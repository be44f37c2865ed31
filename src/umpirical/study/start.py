"""A study to start from: on built-in stimuli, or on data of the user's own."""

from collections.abc import Mapping
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.protocol import Started

__all__ = ["start_study"]


def start_study(folder: Path, *, data: Path | None = None, told: Mapping[str, str] | None = None) -> Started:
    """Writes a study file that runs as it is, by the first protocol that can start so. Never overwrites one.

    `told` are columns of the data that a person has named; what they leave open is guessed.
    """
    for protocol in PROTOCOLS:
        started = protocol.start(folder) if data is None else protocol.start_from(folder, data, told or {})
        if started is not None:
            return started
    what = "a study without data" if data is None else f"a study of {data}"
    raise UsageError(f"no protocol here starts {what}", fix="write the study file by hand;  umpirical schema config")
