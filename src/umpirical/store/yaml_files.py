"""Reads YAML 1.2 safely: `yes` stays text, a repeated key is an error, and nothing expands."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.errors import ConfigError

MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class YamlDocument:
    """A parsed document that can say where each part of it was."""

    data: Mapping[str, Any]
    name: str
    text: str

    def where(self, path: tuple[str | int, ...]) -> str:
        """Returns `file:line` of the entry at `path`, or of the nearest entry around it that has a line."""
        from umpirical.store.yaml_core import line_of

        # Parsed a second time, for the lines, only if something is wrong.
        return f"{self.name}:{line_of(self.text, path)}"


def load_yaml(path: Path) -> YamlDocument:
    if not path.is_file():
        raise ConfigError("no such file", where=str(path), fix="umpirical init  writes a study file to start from")
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(f"larger than {MAX_BYTES:,} bytes", where=str(path), fix="move data out of the study file")
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8 text", where=str(path), fix="save it as UTF-8") from None
    return parse_yaml(text, name=path.name)


def parse_yaml(text: str, *, name: str) -> YamlDocument:
    """Parses a mapping, without anchors or aliases."""
    from umpirical.store.yaml_core import read

    data = read(text, name=name)
    if not isinstance(data, Mapping):
        raise ConfigError(f"expected a mapping at the top, got {type(data).__name__}", where=f"{name}:1")
    return YamlDocument(data, name, text)


def dump_yaml(data: Mapping[str, Any]) -> str:
    """Writes plain data as YAML that a person can edit, with its keys in order."""
    from umpirical.store.yaml_core import write

    return write(data)
