"""What Umpirical asks of a measure of similarity."""

from collections.abc import Sequence
from typing import Protocol


class Similarity(Protocol):
    """How alike two texts are in wording or in subject.

    It tells whether a text repeats another one. It does not tell whether two texts mean the same: "it is" and "it is
    not" are close neighbours for every measure of this kind. What means the same is for validators to say.
    """

    @property
    def name(self) -> str:
        """With its version, as it goes into the record."""
        ...

    @property
    def near_copy(self) -> float:
        """From here on, one text is taken for a copy of the other. Each measure has a range of its own."""
        ...

    def between(self, one: str, other: str) -> float:
        """From 0, nothing in common, to 1, the same; the order of the two does not matter. Any text will do."""
        ...

    def to_each(self, text: str, others: Sequence[str]) -> list[float]:
        """`between` the text and each of the others."""
        ...
