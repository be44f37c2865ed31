"""Characters that cannot be seen, made visible: spaces and line ends by a sign, hidden ones by their name."""

import re
import unicodedata

__all__ = ["named", "signed"]

SPACE, NEWLINE, TAB = "·", "↵", "→"

_CONTROLS = {0x00: "NUL", 0x07: "BELL", 0x08: "BACKSPACE", 0x0D: "CARRIAGE RETURN", 0x1B: "ESCAPE", 0x7F: "DELETE"}

# Names of characters never change, so the same text is written alike under every version of Python.
_NAMED = (
    0x00A0, 0x00AD, 0x034F, 0x061C, 0x180E, *range(0x2000, 0x2010), *range(0x2028, 0x2030), 0x205F,
    *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0x3000, 0x3164, 0xFEFF,
)  # fmt: skip

_NAMES = {chr(code): f"⟦{name}⟧" for code, name in _CONTROLS.items()} | {
    chr(code): f"⟦{unicodedata.name(chr(code))}⟧" for code in _NAMED
}
_HIDDEN = re.compile(f"[{''.join(map(re.escape, _NAMES))}]")

_BLANKS = re.compile(r" {2,}|(?<=[\n\t]) +| +(?=[\n\t])")


def named(text: str) -> str:
    r"""`text` with the hidden characters that have a well-known name written by it; the page writes out the others.

    >>> named("a\u200bb")
    'a⟦ZERO WIDTH SPACE⟧b'
    """
    return _HIDDEN.sub(lambda found: _NAMES[found[0]], text)


def signed(text: str) -> str:
    r"""A piece that was added or removed: line ends, tabs, and spaces that are more than one between words have a sign.

    >>> signed("two  spaces\n"), signed(" "), signed("plain words ")
    ('two··spaces↵\n', '·', 'plain words ')
    """
    dotted = text.replace(" ", SPACE) if text.isspace() else _BLANKS.sub(lambda run: SPACE * len(run[0]), text)
    return named(dotted).replace("\t", TAB).replace("\n", f"{NEWLINE}\n")
