"""Reads YAML 1.2 safely: `yes` stays text, a repeated key is an error, and nothing expands."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.errors import ConfigError

__all__ = ["YamlDocument", "dump_yaml", "load_yaml", "parse_yaml"]

MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class YamlDocument:
    """A parsed document that can say where each part of it was."""

    data: Mapping[str, Any]
    name: str
    text: str

    def where(self, path: tuple[str | int, ...]) -> str:
        """Returns `file:line` of the entry at `path`, or of the nearest entry around it that has a line."""
        from ruamel.yaml import YAML

        # Parsed a second time, by the slower loader that keeps lines, only if something is wrong.
        node: Any = YAML(typ="rt", pure=True).load(self.text)
        line = 1
        for key in path:
            try:
                spot = node.lc.item(key) if isinstance(key, int) else node.lc.key(key)
                line = spot[0] + 1
                node = node[key]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
        return f"{self.name}:{line}"


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
    """Parses a mapping, without anchors or aliases (a few hundred bytes of them can expand to gigabytes)."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError
    from ruamel.yaml.tokens import AliasToken, AnchorToken, DirectiveToken

    try:
        # Only a document with such a character can have an anchor or a directive; most need no second pass.
        for token in YAML(typ="safe", pure=True).scan(text) if any(sign in text for sign in "&*%") else ():
            where = f"{name}:{token.start_mark.line + 1}"
            if isinstance(token, AliasToken | AnchorToken):
                raise ConfigError("anchors and aliases are not supported", where=where, fix="write the value out")
            if isinstance(token, DirectiveToken):
                # `%YAML 1.1` would turn some labels into booleans.
                raise ConfigError("directives are not supported", where=where, fix="delete the line that starts with %")
        data = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(str(error.problem or "not YAML"), where=f"{name}:{line}") from None
    except YAMLError as error:
        raise ConfigError(str(error).splitlines()[0], where=name) from None
    except (ValueError, LookupError) as error:
        raise ConfigError(f"a value does not have the type it is written as: {error}", where=name) from None
    except RecursionError:
        raise ConfigError("nested too deeply", where=name) from None
    if not isinstance(data, Mapping):
        raise ConfigError(f"expected a mapping at the top, got {type(data).__name__}", where=f"{name}:1")
    return YamlDocument(data, name, text)


def dump_yaml(data: Mapping[str, Any]) -> str:
    """Writes plain data as YAML that a person can edit, with its keys in order."""
    from io import StringIO

    from ruamel.yaml import YAML

    writer, out = YAML(typ="rt", pure=True), StringIO()
    writer.default_flow_style = False
    writer.width = 1_000  # a sentence stays on its line
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.dump(dict(data), out)
    return out.getvalue()
