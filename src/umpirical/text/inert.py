"""Text from outside, made harmless to look at: nothing in it is invisible, and nothing moves what stands beside it."""

import re
from functools import lru_cache
from unicodedata import category
from urllib.parse import urlsplit

_SHOWN = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs"})
_PLAIN = frozenset("\n\t ")

# Invisible, although Unicode files them under letters, marks or symbols, or has not assigned them. They are listed by
# number, because going by category `Cn` would make the same record read differently under another Python.
_BLANK = frozenset(
    [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x2800, 0x3164, 0xFFA0]
)
_BLANK_RANGES = (range(0xFDD0, 0xFDF0), range(0xFE00, 0xFE10), range(0xFFF0, 0xFFF9), range(0xE0000, 0xE1000))
_NONCHARACTER = 0xFFFE


def inert(text: str) -> str:
    r"""`text` with every control, format, odd-space, private, unpaired or blank character written as ⟦U+202E⟧.

    Newline, tab and the plain space stay. The result can always be encoded, and `inert` of it is itself.

    >>> inert("a\u202eb")
    'a⟦U+202E⟧b'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if is_inert(char) else f"⟦U+{ord(char):04X}⟧" for char in text)


def table_cell(text: str) -> str:
    r"""`text` as one cell of a table in Markdown: it begins no other cell, no tag and no code.

    >>> table_cell("a|<b>")
    'a\\|\\<b\\>'
    """
    return re.sub(r"([|<>\\`])", r"\\\1", one_line(text))


def one_line(text: str) -> str:
    r"""`text` made inert, on one line: white space is a single space.

    >>> one_line("a\n  b\u202e")
    'a b⟦U+202E⟧'
    """
    return " ".join(inert(text).split())


_LATER = re.compile(r"##(?=\w*\[)")
_FIRST = re.compile(r"^([ \t]*):(?=:)", re.MULTILINE)


def no_command(text: str) -> str:
    """`text` in which the runner of a pipeline finds no command: no line begins with `::`, and none holds `##[`.

    GitHub looks for the first behind white space, and for the second anywhere; others have `##vso[` or `##teamcity[`.

    >>> no_command("::stop-commands::x ##[error]y")
    ': :stop-commands::x ## [error]y'
    """
    return _FIRST.sub(r"\1: ", _LATER.sub("## ", text))


@lru_cache(maxsize=4096)
def is_inert(char: str) -> bool:
    """Whether a character can be seen, and moves nothing else."""
    if char in _PLAIN:
        return True
    code = ord(char)
    return not (
        category(char) in _SHOWN
        or code in _BLANK
        or code & 0xFFFE == _NONCHARACTER
        or any(code in blank for blank in _BLANK_RANGES)
    )


def plain_address(url: str) -> str:
    """Returns where a URL leads, without what may be a secret: a user, a password, a query or a fragment."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()
