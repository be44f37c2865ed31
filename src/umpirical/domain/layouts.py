"""Layouts: what the candidates are called, and in which order the answers are offered.

A judge that favours slot 1 may favour the slot, the label that the slot carries, or the option that is named first. If
these three always go together, nothing tells them apart, so a plan varies them independently of each other.
"""

from dataclasses import dataclass

LABEL_SETS: tuple[str, ...] = ("1/2", "A/B", "X/Y", "first/second")
"""What two candidates are called: a first label and a second one."""

TIE_PLACES = 3
"""How many places the tie has among the options: before both candidates, between them, after them."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The labels of the two slots, and the order of the options in the question."""

    labels: str = LABEL_SETS[0]
    """The first label and the second, with a stroke between them."""
    labels_swapped: bool = False
    """Slot 1 carries the second label."""
    options_swapped: bool = False
    """The option of slot 1 is named after that of slot 2."""
    tie_place: int = TIE_PLACES - 1
    """How many candidates are named before the tie: 0, 1 or 2."""

    @property
    def slot_labels(self) -> tuple[str, str]:
        """The labels of slot 1 and of slot 2."""
        first, second = self.labels.split("/")
        return (second, first) if self.labels_swapped else (first, second)


PLAIN = Layout()
"""How a prompt is laid out if nothing is varied."""
