"""Reads YAML 1.2 safely: `yes` stays text, a repeated key is an error, and nothing expands.

It is YAML 1.2's core schema over PyYAML's parser, which is C where the wheel has libyaml. PyYAML's own loaders read
YAML 1.1, where the label `no` is false, and expand aliases; only its events are used here.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any

import yaml
from yaml.reader import ReaderError

from umpirical.domain.errors import ConfigError
from umpirical.text.json_texts import without_doubles

Event = Any
Node = Any
"""What PyYAML's parser gives and its composer makes: PyYAML ships no types."""

PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

MOST_NESTED = 100
"""How many collections may be inside each other."""

CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}

INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")

FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)

STARTS_OF_NUMBERS = frozenset("-+.0123456789")

TYPES: dict[str, type] = {
    "tag:yaml.org,2002:str": str,
    "tag:yaml.org,2002:int": int,
    "tag:yaml.org,2002:float": float,
    "tag:yaml.org,2002:bool": bool,
    "tag:yaml.org,2002:null": NoneType,
}

TAGS = {kind: tag for tag, kind in TYPES.items()}

MAPPING, SEQUENCE = "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"

ESCAPED = frozenset("'\n\x85\u2028\u2029")
"""An apostrophe, and what YAML 1.1 takes for the end of a line."""


# Reading.


def read(text: str, *, name: str) -> object:
    """The one document in a text, or None if there is none. Raises ConfigError with the name and, if known, the line.

    Anchors and aliases are refused: a few hundred bytes of them can expand to gigabytes.
    """
    try:
        return _Reader(yaml.parse(text, Loader=PARSER), name).document()
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        shown = [*text.splitlines(), ""][min(line, text.count("\n") + 1) - 1].strip()[:60]
        fix = f"check the indentation, quotes and brackets of that line and the one before: {shown}"
        raise ConfigError(str(error.problem or "not valid YAML"), where=f"{name}:{line}", fix=fix) from None
    except ReaderError as error:
        raise _unacceptable(error.character, name) from None
    except UnicodeEncodeError as error:
        raise _unacceptable(ord(error.object[error.start]), name) from None
    except ValueError as error:
        raise ConfigError(f"a value does not match its type: {error}", where=name) from None


def _unacceptable(character: int, name: str) -> ConfigError:
    return ConfigError(f"unacceptable character #x{character:04x}: special characters are not allowed", where=name)


class _Reader:
    """Makes data of a parser's events."""

    def __init__(self, events: Iterator[Event], name: str) -> None:
        self._events = events
        self._name = name

    def document(self) -> object:
        next(self._events)  # the start of the stream
        start = next(self._events)
        if isinstance(start, yaml.StreamEndEvent):
            return None
        if start.version or start.tags:
            # `%YAML 1.1` would turn some labels into booleans.
            raise self._refused("directives are not supported", start, fix="delete the line that starts with %")
        data = self._value(next(self._events), 0)
        next(self._events)  # the end of the document
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise self._refused("expected one document, but found another document", after)
        return data

    def _value(self, event: Event, depth: int) -> object:
        if isinstance(event, yaml.AliasEvent) or event.anchor:
            raise self._refused("anchors and aliases are not supported", event, fix="write the value out")
        if depth > MOST_NESTED:
            raise ConfigError("nested too deeply", where=self._name)
        if isinstance(event, yaml.ScalarEvent):
            return self._scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            self._expect_tag(event, SEQUENCE)
            return [self._value(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
        self._expect_tag(event, MAPPING)
        return self._mapping(depth)

    def _mapping(self, depth: int) -> dict[object, object]:
        found: dict[object, object] = {}
        for event in self._until(yaml.MappingEndEvent):
            if isinstance(event, yaml.CollectionStartEvent):
                raise self._refused("a key must be a single value", event)
            key = self._value(event, depth + 1)
            if key in found:
                raise self._refused(f'found duplicate key "{key}"', event)
            found[key] = self._value(next(self._events), depth + 1)
        return found

    def _until(self, end: type) -> Iterator[Event]:
        while not isinstance(event := next(self._events), end):
            yield event

    def _scalar(self, event: Event) -> object:
        text: str = event.value
        if event.tag is None or event.tag == "!":
            # What is quoted, a block of text, or tagged `!` is text whatever it says.
            return _converted(text, _type_of(text)) if event.implicit[0] and event.tag is None else text
        kind = TYPES.get(event.tag)
        if kind is None:
            raise self._unknown_tag(event)
        found = _type_of(text)
        if kind is not str and found is not kind and (kind, found) != (float, int):
            raise ValueError(f"{text!r:.60} does not match the tag {event.tag}")
        return _converted(text, kind)

    def _expect_tag(self, event: Event, tag: str) -> None:
        if event.tag not in (None, "!", tag):
            raise self._unknown_tag(event)

    def _unknown_tag(self, event: Event) -> ConfigError:
        return self._refused(f"unknown tag {event.tag!r:.60}", event)

    def _refused(self, message: str, event: Event, *, fix: str = "") -> ConfigError:
        return ConfigError(message, where=f"{self._name}:{event.start_mark.line + 1}", fix=fix)


def _type_of(text: str) -> type:
    """What the core schema takes a plain text for."""
    if text in CONSTANTS:
        return type(CONSTANTS[text])
    if text[0] in STARTS_OF_NUMBERS:
        if INTEGER.fullmatch(text):
            return int
        if FLOAT.fullmatch(text):
            return float
    return str


def _converted(text: str, kind: type) -> object:
    if kind is str:
        return text
    if kind is int:
        return int(text, {"0o": 8, "0x": 16}.get(text[:2], 10))
    if kind is float:
        return float(text.casefold().replace(".inf", "inf").replace(".nan", "nan"))
    return CONSTANTS[text]


def line_of(text: str, path: tuple[str | int, ...]) -> int:
    """The line of the entry at `path` of a text that can be read, or of the nearest entry around it."""
    node, line = yaml.compose(text, Loader=PARSER), 1
    for key in path:
        if (entry := _entry(node, key)) is None:
            break
        line, node = entry
    return line


def _entry(node: Node, key: str | int) -> tuple[int, Node] | None:
    """The line of an entry of a node, and the node in it."""
    if isinstance(node, yaml.MappingNode):
        for name, value in node.value:
            if name.value == str(key):
                return name.start_mark.line + 1, value
    if isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key].start_mark.line + 1, node.value[key]
    return None


# Writing.


def write(data: Mapping[str, Any]) -> str:
    """Keys in order, a line for each entry, and nothing that `read` would refuse."""
    # However long, a text stays on its line.
    text: str = yaml.dump(
        dict(data), Dumper=_Writer, default_flow_style=False, allow_unicode=True, sort_keys=False, width=math.inf
    )
    return text


class _Writer(yaml.SafeDumper):  # type: ignore[misc]  # of no known type
    """Quotes what the core schema would take for something else, and nothing more."""

    def resolve(self, kind: type, value: str | None, implicit: tuple[bool, bool]) -> object:
        if kind is yaml.ScalarNode and value is not None:
            return TAGS[_type_of(value)] if implicit[0] else TAGS[str]
        return super().resolve(kind, value, implicit)

    def choose_scalar_style(self) -> object:
        """Escapes the end of a line, and a quote in what is quoted, rather than doubling it."""
        style = super().choose_scalar_style()
        return '"' if style == "'" and ESCAPED & set(self.event.value) else style

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002
        """Indents a list under its key too, which PyYAML does not."""
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


_Writer.add_representer(NoneType, lambda writer, _: writer.represent_scalar(TAGS[NoneType], ""))


MAX_BYTES = 1_000_000


@dataclass(frozen=True)
class YamlDocument:
    """A parsed document that can say where each part of it was."""

    data: Mapping[str, Any]
    name: str
    text: str

    def where(self, path: tuple[str | int, ...]) -> str:
        """Returns `file:line` of the entry at `path`, or of the nearest entry around it that has a line."""
        if self.name.endswith(".json"):
            return self.name
        # Parsed a second time, for the lines, only if something is wrong.
        return f"{self.name}:{line_of(self.text, path)}"


def load_yaml(path: Path) -> YamlDocument:
    return parse_yaml(_text_of(path), name=path.name)


def load_json(path: Path) -> YamlDocument:
    """Reads a JSON object, as a document that does not know its lines."""
    text = _text_of(path)
    try:
        data = json.loads(text, object_pairs_hook=without_doubles)
        # Half of a surrogate pair is no text, and NaN no number.
        json.dumps(data, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"not JSON: {error}", where=path.name, fix="correct it, or name another file") from None
    if not isinstance(data, Mapping):
        raise ConfigError(f"expected an object, got {type(data).__name__}", where=path.name, fix="name another file")
    return YamlDocument(data, path.name, text)


def _text_of(path: Path) -> str:
    if not path.is_file():
        raise ConfigError("no such file", where=str(path), fix="create a study file with  umpirical init")
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(f"larger than {MAX_BYTES:,} bytes", where=str(path), fix="move data to a separate file")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ConfigError("not UTF-8 text", where=str(path), fix="save it as UTF-8") from None


def parse_yaml(text: str, *, name: str) -> YamlDocument:
    """Parses a mapping, without anchors or aliases."""
    data = read(text, name=name)
    if not isinstance(data, Mapping):
        raise ConfigError(f"expected a mapping at the top, got {type(data).__name__}", where=f"{name}:1")
    return YamlDocument(data, name, text)


def dump_yaml(data: Mapping[str, Any]) -> str:
    """Writes plain data as YAML that a person can edit, with its keys in order."""
    return write(data)
