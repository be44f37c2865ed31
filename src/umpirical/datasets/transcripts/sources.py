"""What a reader of transcripts is given, and what it gives back."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from umpirical.datasets.readers import missing_column
from umpirical.datasets.transcripts.limits import TranscriptLimits
from umpirical.datasets.values import is_missing, plain_text
from umpirical.domain.errors import ConfigError
from umpirical.domain.transcripts import Transcript


@dataclass(frozen=True, slots=True)
class TranscriptSource:
    """One file of transcripts."""

    path: Path
    name: str
    """What messages call it."""
    strata: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    limits: TranscriptLimits = field(default_factory=TranscriptLimits)


TranscriptReader = Callable[[TranscriptSource, Callable[[str], None]], Iterator[Transcript]]
"""Yields the transcripts of a source, and calls the second argument with what a person should know about them.

A transcript without a name of its own gets the file and its place there. What cannot be read is a ConfigError."""


class NamedValues:
    """The values that a person has named, taken out of what is known about each transcript."""

    def __init__(self, source: TranscriptSource) -> None:
        self._source = source
        self._known: dict[str, None] = {}

    def of(self, values: Mapping[str, object], where: str) -> tuple[dict[str, str], dict[str, str]]:
        """Returns strata and columns. A stratum that is missing is left out; a column that is missing is empty."""
        if len(self._known) < 1_000:
            self._known.update(dict.fromkeys(values))
        strata = {
            name: self._stratum(name, values[name], where)
            for name in self._source.strata
            if not is_missing(values.get(name))
        }
        columns = {
            name: "" if is_missing(value := values.get(name)) else _column(value) for name in self._source.columns
        }
        self._known.update(dict.fromkeys(name for name in (*strata, *columns) if name in values))
        return strata, columns

    def check(self) -> None:
        """Raises for a name that no transcript has."""
        for name in (*self._source.strata, *self._source.columns):
            if name not in self._known:
                raise missing_column(name, self._known, where=self._source.name)

    def _stratum(self, name: str, value: object, where: str) -> str:
        try:
            return plain_text(value)
        except ValueError as error:
            raise ConfigError(f"{name!r}: {error}", where=where, fix="split by values that are text") from None


def _column(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
