"""Text as an editor shows it: hidden characters are spelled out, so that they can be seen, deleted and kept."""

import re

from umpirical.text.inert import inert

_OPENED = "⟦U+"
_WRITTEN = re.compile(r"⟦U\+([0-9A-F]{4,6})⟧")
_HIGHEST = 0x10FFFF


def to_editor(text: str) -> str:
    r"""`text` with every hidden character as ⟦U+202E⟧; a text that only looks like that is escaped.

    >>> to_editor("a\u202eb"), to_editor("⟦U+202E⟧")
    ('a⟦U+202E⟧b', '⟦U+27E6⟧U+202E⟧')
    """
    return inert(text.replace(_OPENED, "⟦U+27E6⟧U+"))


def from_editor(text: str) -> str:
    r"""The text that an editor's text stands for: `from_editor(to_editor(text))` is `text`.

    >>> from_editor("a⟦U+202E⟧b") == "a\u202eb"
    True
    """
    return _WRITTEN.sub(lambda found: chr(code) if (code := int(found[1], 16)) <= _HIGHEST else found[0], text)
