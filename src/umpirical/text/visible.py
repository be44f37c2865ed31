"""Invisible characters made visible: blanks by a sign, hidden characters by their name."""

import re
import unicodedata

SPACE = "·"

_CONTROLS = {0x00: "NUL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE"}

# The names of characters never change, so every version of Python writes the same text alike.
_NAMED = (
    0x00A0, 0x00AD, 0x034F, 0x061C, 0x180E, *range(0x2000, 0x2010), *range(0x2028, 0x2030), 0x205F,
    *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0x3000, 0x3164, 0xFEFF,
)  # fmt: skip

_NAMES = {chr(code): f"⟦{name}⟧" for code, name in _CONTROLS.items()} | {
    chr(code): f"⟦{unicodedata.name(chr(code))}⟧" for code in _NAMED
}
_HIDDEN = re.compile(f"[{''.join(map(re.escape, _NAMES))}]")

# A space that a reader would overlook: one of several, or one at the edge of a line.
_OVERLOOKED = re.compile(r" {2,}|(?<=[\n\t]) +| +(?=[\n\t])")


def named(text: str) -> str:
    r"""`text` with hidden characters replaced by their names, where these are well known; the page spells out the rest.

    >>> named("a\u200bb")
    'a⟦ZERO WIDTH SPACE⟧b'
    """
    return _HIDDEN.sub(lambda found: _NAMES[found[0]], text)


def mark_blanks(text: str, *, newline: str, tab: str) -> str:
    r"""A piece that was added or removed, with a sign for line ends, tabs and spaces that a reader would overlook.

    >>> mark_blanks("two  spaces\n", newline="⏎", tab="⇥"), mark_blanks("plain words ", newline="⏎", tab="⇥")
    ('two··spaces⏎\n', 'plain words ')
    """
    dotted = text.replace(" ", SPACE) if text.isspace() else _OVERLOOKED.sub(lambda run: SPACE * len(run[0]), text)
    return dotted.replace("\t", tab).replace("\n", f"{newline}\n")


def signed(text: str) -> str:
    r"""A piece that was added or removed, with its blanks marked and its hidden characters named.

    >>> signed("two  spaces\n"), signed(" "), signed("a\u200b")
    ('two··spaces↵\n', '·', 'a⟦ZERO WIDTH SPACE⟧')
    """
    return named(mark_blanks(text, newline="↵", tab="→"))
