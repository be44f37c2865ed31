"""How a template spells its placeholders: `{{ name }}`, as Jinja does, or `{name}`, as Python's format does.

A template that was written for production is used as it is. Where two programs would fill it in differently, it is
refused: a judge that is asked something else than in production would be another judge.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from string import Formatter
from typing import Literal

from umpirical.domain.errors import UsageError
from umpirical.text.templates import occurrences

ROW = "row."
"""What a placeholder for a column of the data begins with."""

Spelling = Literal["double", "format", "replaced"]
"""`{{name}}`; `{name}` with `{{` and `}}` for braces; `{name}` among braces that stand for themselves."""

_NAME = r"row\.[^{}\n]*|[A-Za-z_][\w.]*"
_DOUBLE = re.compile(rf"\{{\{{[ \t]*((?:{_NAME})[ \t]*)\}}\}}")
_SINGLE = re.compile(rf"(?<!\{{)\{{({_NAME})\}}(?!\}})")
_STATEMENT = re.compile(
    r"\{%-?[ \t]*(?:block|elif|else|endfor|endif|extends|filter|for|if|import|include|macro|raw|set)\b"
)
_EXPRESSION = re.compile(r"\{\{-?[ \t]*[A-Za-z_][\w.]*[ \t]*(?:[|(\[][^{}\n]*|-)\}\}")


def spelling_of(texts: Sequence[str], known: Collection[str], *, what: str) -> Spelling:
    """Returns how a template spells its placeholders; `known` are the names it may use, `what` is it in words."""
    text = "\n".join(texts)
    doubles, singles = _named(_DOUBLE, text, known), _named(_SINGLE, text, known)
    if doubles and singles:
        raise UsageError(
            f"{what} has both {{{min(singles)}}} and {{{{{min(doubles)}}}}}",
            fix="use two braces for every placeholder, or one brace for every placeholder",
        )
    if not singles:
        return "double"
    if all(map(_is_format, texts)):
        return "format"
    if "{{" in text:
        raise UsageError(
            f"{what} has placeholders such as {{{min(singles)}}}, but also double braces and other braces",
            fix="use two braces for every placeholder, as in {{name}}; single braces are then plain text",
        )
    return "replaced"


def respelled(text: str, spelling: Spelling, fillings: Mapping[str, str], *, what: str) -> str:
    """Returns a template with each placeholder replaced by its filling: a text, or `{{name}}` with our own name.

    A column of the data needs no filling: it keeps its name. Raises UsageError for any other name without one, and for
    what a template language would have computed.
    """
    pieces = list(_pieces(text, spelling))
    columns = {name for _, name in pieces if name is not None and name.startswith(ROW)}
    fillings = {name: f"{{{{{name}}}}}" for name in columns} | dict(fillings)
    if unknown := sorted({name for _, name in pieces if name is not None and name not in fillings}):
        raise UsageError(
            f"{what} has unknown placeholders: {', '.join(unknown)}",
            fix=f"define them in the judge's inputs or values; known placeholders: {', '.join(sorted(fillings))}"
            + ("" if spelling == "double" else "; write a literal brace twice"),
        )
    if spelling == "double" and (found := _STATEMENT.search(text) or _EXPRESSION.search(text)):
        raise UsageError(
            f"{what} contains {found[0]!r}, but template statements and filters are not supported",
            fix="use only placeholders, as in {{name}}",
        )
    made = "".join(literal + ("" if name is None else fillings[name]) for literal, name in pieces)
    meant = sum(len(occurrences(fillings[name])) for _, name in pieces if name is not None)
    if len(occurrences(made)) != meant:
        raise UsageError(f"{what} contains literal braces that look like a placeholder", fix="write them differently")
    return made


def _pieces(text: str, spelling: Spelling) -> Iterator[tuple[str, str | None]]:
    """Yields what stands before each placeholder, and its name; None after the last one."""
    if spelling == "format":
        yield from ((literal, field) for literal, field, _, _ in Formatter().parse(text))
        return
    end = 0
    for match in (_DOUBLE if spelling == "double" else _SINGLE).finditer(text):
        yield text[end : match.start()], match[1].strip()
        end = match.end()
    yield text[end:], None


def _named(pattern: re.Pattern[str], text: str, known: Collection[str]) -> set[str]:
    """Returns the names in a text that may be used; a column of the data may have any name."""
    found = {match[1].strip() for match in pattern.finditer(text)}
    return {name for name in found if name in known or name.startswith(ROW)}


def _is_format(text: str) -> bool:
    """Whether Python's format could fill in a text: each field in it is a plain name."""
    try:
        fields = [entry[1:] for entry in Formatter().parse(text)]
    except ValueError:
        return False
    return all(name is None or (re.fullmatch(_NAME, name) and not spec and not kind) for name, spec, kind in fields)
