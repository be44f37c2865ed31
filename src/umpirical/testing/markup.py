"""Pages under attack: text that tries to be more than text, and what a page turns out to be made of."""

import re
from html.parser import HTMLParser

PAYLOADS = (
    "<script>alert(1)</script>",
    "</p></section><img src=x onerror=alert(1)>",
    '" onmouseover="alert(1)" x="',
    "<a href='https://evil.example/'>x</a>",
    "{{7*7}} {% for x in [1] %}",
    "safe\u202etxt.exe",
    "\x1b[31m \x00",
    "| a | b |\n\n# Heading",
)
"""Text that tries to be more than text."""

HARMLESS = "harmless words"
HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069]")
"""Letters that nobody sees, or that change how others are seen."""

_ACTIVE = frozenset({"script", "iframe", "object", "embed", "base", "form"})
_FETCHING = frozenset({"src", "srcset", "xlink:href", "action", "poster", "data"})
_VOID = frozenset({"br", "hr", "img", "input", "wbr", "col", "meta", "link"})

Tag = tuple[str, tuple[str, ...]]
"""A tag, with the names of its attributes."""


def shape(text: str) -> list[Tag]:
    """The tags of a page, in order. Raises ValueError where one is not closed, or closes what is not open."""
    parsed = _Parsed(text)
    if parsed.wrong or parsed.open:
        raise ValueError(parsed.wrong or f"<{parsed.open[-1]}> is never closed")
    return [(tag, tuple(name for name, _ in attributes)) for tag, attributes in parsed.tags]


def active(text: str, *, part: bool = False) -> str:
    """What of a page is run or fetched when it is opened; empty if nothing is. `part` of a page has no head."""
    for tag, attributes in _Parsed(text).tags:
        if tag in _ACTIVE or (part and tag in ("link", "meta", "style")):
            return f"<{tag}>"
        for name, value in attributes:
            fetches = name in _FETCHING or (name == "href" and (part or tag == "link"))
            # A place on the same page, and what is written out in the page itself.
            if name.startswith("on") or (fetches and not value.startswith(("#", "data:"))):
                return f"{name}={value!r}"
    return ""


class _Parsed(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str]]]] = []
        self.open: list[str] = []
        self.wrong = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_startendtag(tag, attrs)
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [(name, value or "") for name, value in attrs]))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong = self.wrong or f"</{tag}> closes a tag that is not open"
