"""Patterns that find an answer in a text. They come with studies and runs, so no pattern may take long to match.

They are matched by RE2, in time proportional to the text. A limit in seconds would read an answer differently on a busy
machine.
"""

import re
from collections.abc import Iterator
from typing import Any

GROUP = "answer"

LONGEST_PATTERN = 1_000
"""Characters of a pattern."""

LONGEST_TEXT = 200_000
"""Characters of an answer that a pattern is matched against; in a longer one, nothing is found."""

SIZE = 1 << 16
"""Bytes of a compiled pattern. What one character takes is at most proportional to this."""


class AnswerPattern:
    """A compiled pattern with a group named answer. Raises ValueError for what RE2 does not know."""

    def __init__(self, pattern: str) -> None:
        if len(pattern) > LONGEST_PATTERN:
            raise ValueError(f"the pattern has {len(pattern):,} characters, at most {LONGEST_PATTERN:,} are allowed")
        self._compiled = _compiled(pattern)
        if GROUP not in self._compiled.groupindex:
            raise ValueError("the pattern needs a group named answer: (?P<answer>1|2|tie)")

    def found(self, text: str) -> Iterator[tuple[str | None, int]]:
        """Yields the answers that are found, and where each match begins.

        None is a match in which the group takes no part.
        """
        # As in Python, $ also matches before a line end at the very end.
        text = text.removesuffix("\n")
        # A text is encoded to be matched, and half of a surrogate pair cannot be.
        text = text.encode("utf-8", "replace").decode("utf-8")
        return ((match[GROUP], match.start()) for match in self._compiled.finditer(text))


def _compiled(pattern: str) -> Any:  # noqa: ANN401  # the package has no types
    import re2

    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {error}") from None
    options = re2.Options()
    options.max_mem, options.log_errors = SIZE, False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        why = error.args[0].decode("utf-8", "replace") if error.args and isinstance(error.args[0], bytes) else error
        raise ValueError(
            f"not a regular expression of RE2, which has no lookarounds, no backreferences and no large counts: {why}"
        ) from None
