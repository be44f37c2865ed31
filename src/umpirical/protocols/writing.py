"""Stimuli that a language model writes for a study: what that will take, doing it, and what people review of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from typing import Protocol as Interface

from umpirical.domain.digests import Json
from umpirical.domain.reviews import ReviewItem
from umpirical.models.money import Ledger, Pricer
from umpirical.models.spec import ModelSpec
from umpirical.protocols.review.spec import ReviewTerms
from umpirical.runs.generation import GenerationWatcher

__all__ = ["BY_PEOPLE", "MadeCounts", "WatchGeneration", "Writing", "WritingEstimate", "Written"]


class WatchGeneration(GenerationWatcher, AbstractContextManager["WatchGeneration"], Interface):
    """A watcher that is shown while stimuli are written."""


@dataclass(slots=True)
class MadeCounts:
    """How the stimuli of one test came to be."""

    wanted: int = 0
    """Those that are skipped included."""
    proved: int = 0
    """Made by program, with a proof."""
    unchanged: int = 0
    """Texts in which there was nothing to change."""
    generated: int = 0
    """Written by the generator, passed by every check and by the validators."""
    attempts: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    """Attempts that are no stimulus, by reason."""
    given_up: int = 0
    """Wanted, and none of the attempts was accepted."""
    open: int = 0
    """Not settled yet."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Not asked for, by reason."""
    gold_from: dict[str, int] = field(default_factory=dict)
    """Whose word the gold label is."""
    validators: str = ""
    """Who validated, and how many had to agree."""
    levels: dict[str, str] = field(default_factory=dict)
    """Of a test that writes new texts for each level: how many were written, and why not more."""
    reviewed: int = 0
    """Of those generated: texts that at least one person decided on."""
    edited: int = 0
    """In the set with a person's text."""
    relabelled: int = 0
    """In the set with a person's label."""
    rejected_by_review: int = 0
    """Not in the set: people rejected them."""
    undecided: int = 0
    """Nobody has decided on them, not enough people have, or they disagree."""
    left_out: int = 0
    """Of those undecided: not in the set, by the study's policy."""

    def as_json(self) -> dict[str, Json]:
        """Without what people said where nobody was asked: such a set is what it was before there were reviews."""
        counts: dict[str, Json] = asdict(self)
        if not any(counts[name] for name in BY_PEOPLE):
            return {name: count for name, count in counts.items() if name not in BY_PEOPLE}
        return counts


BY_PEOPLE = ("reviewed", "edited", "relabelled", "rejected_by_review", "undecided", "left_out")
"""What a review adds to the counts."""


@dataclass(frozen=True, slots=True)
class WritingEstimate:
    """What writing will take."""

    commissions: int
    settled: int
    """Written or given up before."""
    fewest_calls: int
    """If every first attempt is taken by the first validators asked."""
    most_calls: int
    """If every commission is given up."""
    expected: Decimal | None
    """US dollars for the fewest calls at their worst; None if no price is known."""
    at_most: Decimal | None
    """US dollars for the most calls at their worst."""
    tables: tuple[str, ...]
    """Where the prices are from."""


@dataclass(frozen=True, slots=True)
class Written:
    """What came of writing, by test."""

    made: Mapping[str, MadeCounts]
    failures: Mapping[tuple[str, str], int]
    """Kind and detail of the calls that failed for what is still open."""

    @property
    def open(self) -> int:
        return sum(made.open for made in self.made.values())


class Writing(ABC):
    """What a model is to write for one study. A protocol whose stimuli a model writes makes one."""

    models: Mapping[str, ModelSpec]
    """The models that are asked, by their part: generator, validator."""
    review: ReviewTerms
    """How people review what was written."""

    @abstractmethod
    def estimate(self, pricers: Mapping[str, Pricer]) -> WritingEstimate:
        """Counts what is left to write, and prices it. Reads the record; asks nothing."""

    @abstractmethod
    def write(
        self, pricers: Mapping[str, Pricer], ledger: Ledger, watch: Callable[[str, int], WatchGeneration]
    ) -> Written:
        """Writes what is left, or goes on where it stopped. Calls are booked in `ledger`, and stop at its cap."""

    @property
    @abstractmethod
    def wanted(self) -> int:
        """Texts there will be if everything that is asked for is written."""

    @abstractmethod
    def items_after(self, serial: int, *, most: int) -> list[tuple[int, ReviewItem | None]]:
        """Texts that were written after the one of that number, each with its own number, at most so many.

        None stands for a text that the study as it is now does not ask for. Writing may go on in another process.
        """
