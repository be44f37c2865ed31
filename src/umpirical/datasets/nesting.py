"""How deep JSON is nested, found before anything is parsed."""

import re

# A string is taken as one piece, closed or not, so that brackets inside it do not count.
_PIECES = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)


def is_deeper(text: str, deepest: int) -> bool:
    """Whether brackets nest deeper than that."""
    if text.count("[") + text.count("{") <= deepest:
        return False
    depth = 0
    for piece in _PIECES.finditer(text):
        if piece[0] in "[{":
            depth += 1
            if depth > deepest:
                return True
        elif piece[0] in "]}":
            depth -= 1
    return False
