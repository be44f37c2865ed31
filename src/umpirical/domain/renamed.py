"""Names of keys that changed, so that whoever writes an old one is told the new one."""

RENAMED = {
    "arm": "variant",
    "arms": "variants",
    "carriers": "own_answers",
    "claims": "facts",
    "ladder": "graded",
    "limits": "checks",
    "same_slot": "same_position",
}


def now_called(key: object) -> str:
    """What to write for an old key; empty if it is not one.

    >>> now_called("arms"), now_called("seed")
    ("it is called 'variants' now", '')
    """
    return f"it is called {RENAMED[key]!r} now" if isinstance(key, str) and key in RENAMED else ""
