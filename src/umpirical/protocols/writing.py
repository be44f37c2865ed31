"""Stimuli that a language model writes for a study: the models, the estimate, the writing, and how people review it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path
from typing import Literal
from typing import Protocol as Interface

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.domain.bills import WritingEstimate
from umpirical.domain.digests import Json, canonical_json
from umpirical.domain.responses import Response
from umpirical.domain.reviews import ReviewItem, ReviewMode
from umpirical.domain.stimuli import Attempt
from umpirical.models.money import Ledger, Pricer
from umpirical.models.spec import ADAPTERS, ENDPOINT, ModelSpec
from umpirical.runs.attempts import GenerationWatcher
from umpirical.stimuli.generation.commissions import Writer
from umpirical.store.generation import GenerationStore


class WriterSpec(BaseModel):
    """A model that writes or validates test cases."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSpec
    max_tokens: int = Field(default=2000, ge=1, description="Maximum tokens of one reply.")

    @model_validator(mode="after")
    def _writes(self) -> "WriterSpec":
        if not ADAPTERS.get(self.model.adapter).writes:
            raise ValueError("a simulated judge cannot write; choose a model on a server, or adapter: simulated-writer")
        return self

    @property
    def simulated(self) -> bool:
        """Whether it is a program that stands in for a model, for a rehearsal."""
        return ADAPTERS.get(self.model.adapter).simulated

    @property
    def writer(self) -> Writer:
        """The model as commissions name it."""
        endpoint = self.model.model_dump(mode="json", include=ENDPOINT)
        return Writer(self.model.name, canonical_json(endpoint), self.max_tokens, self.simulated)


Undecided = Literal["count", "exclude"]
"""What happens to a generated text that people have not settled: judges are asked about it, or they are not."""


class ReviewSpec(BaseModel):
    """How people review generated texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    overlap: int = Field(default=1, ge=1, le=9, description="Number of reviewers for each text.")
    mode: ReviewMode = Field(
        default="blind",
        description="blind: hides other opinions and the generator's target until the reviewer has decided.",
    )
    undecided: Undecided = Field(
        default="count",
        description="Whether to include generated texts that reviewers have not decided on or disagree on.",
    )
    guideline: str | None = Field(default=None, description="Text file with the guideline for reviewers.")
    sensitive: tuple[str, ...] = Field(
        default=(), description="Tests whose texts are blurred until the reviewer shows them."
    )


@dataclass(frozen=True, slots=True)
class ReviewTerms:
    """The review of one study: where it is kept, and how people review."""

    folder: Path
    """Folder of the study."""
    spec: ReviewSpec
    guideline: str = ""
    """The rules that reviewers follow."""
    ordered_labels: bool = False
    """Whether the labels have an order, so that a near miss counts less than a far one."""


class WatchGeneration(GenerationWatcher, AbstractContextManager["WatchGeneration"], Interface):
    """A watcher that is shown while stimuli are written."""


@dataclass(slots=True)
class MadeCounts:
    """How the stimuli of one test came about."""

    wanted: int = 0
    """Includes those that are skipped."""
    proved: int = 0
    """Made by a program, with a proof."""
    unchanged: int = 0
    """Texts in which there was nothing to change."""
    generated: int = 0
    """Written by the generator, and accepted by every check and by the validators."""
    attempts: int = 0
    rejected: dict[str, int] = field(default_factory=dict)
    """Attempts that did not become stimuli, by reason."""
    given_up: int = 0
    """Wanted, but no attempt was accepted."""
    open: int = 0
    """Not settled yet."""
    skipped: dict[str, int] = field(default_factory=dict)
    """Not requested, by reason."""
    gold_from: dict[str, int] = field(default_factory=dict)
    """Stimuli by the source of their gold label."""
    validators: str = ""
    """Who validated, and how many had to agree."""
    levels: dict[str, str] = field(default_factory=dict)
    """For a test that writes new texts for each level: how many were written, and why not more."""
    sources: str = ""
    """For such a test, if every original is to have texts of every level: how many have."""
    reviewed: int = 0
    """Generated texts that at least one person decided on."""
    edited: int = 0
    """In the set with a person's text."""
    relabelled: int = 0
    """In the set with a person's label."""
    rejected_by_review: int = 0
    """Not in the set: people rejected them."""
    undecided: int = 0
    """Nobody has decided on them, not enough people have, or they disagree."""
    excluded: int = 0
    """Undecided texts that the study's policy keeps out of the set."""
    by_fallback: int = 0
    """Generated texts on which the fallback validator was asked at least once."""
    simulated: int = 0
    """Generated texts that a program wrote in a generator's place, for a rehearsal."""

    def leave_out(self, reason: str) -> None:
        """Counts a text that was made as one that did not become a stimulus."""
        if self.proved:
            self.proved -= 1
        else:
            self.generated -= 1
        self.rejected[reason] = self.rejected.get(reason, 0) + 1
        self.given_up += 1

    def as_json(self) -> dict[str, Json]:
        """Leaves out the review counts if there was no review, so that such a set keeps its old digest."""
        counts: dict[str, Json] = asdict(self)
        unused = set() if any(counts[name] for name in BY_PEOPLE) else set(BY_PEOPLE)
        unused |= {name for name in LATER if not counts[name]}
        return {name: count for name, count in counts.items() if name not in unused}


BY_PEOPLE = ("reviewed", "edited", "relabelled", "rejected_by_review", "undecided", "excluded")
"""What a review adds to the counts."""

LATER = ("by_fallback", "simulated", "sources")
"""What is left out where there is nothing to say, so that older sets keep their digest."""


@dataclass(frozen=True, slots=True)
class Written:
    """The result of writing, by test."""

    made: Mapping[str, MadeCounts]
    failures: Mapping[tuple[str, str], int]
    """How many calls failed for commissions that are still open, by kind and detail."""
    more: bool = False
    """Whether other texts can be written only now, from these."""

    @property
    def open(self) -> int:
        return sum(made.open for made in self.made.values())


GENERATED = "generated"
"""Folder in a study that holds everything its models wrote."""


def has_generation(folder: Path) -> bool:
    """Whether models have begun to write for a study. Opening the record creates it."""
    return GenerationStore.exists(folder / GENERATED)


def generation(folder: Path) -> closing[GenerationStore]:
    """Opens the record of what models wrote for a study."""
    return closing(GenerationStore(folder / GENERATED))


class Writing(ABC):
    """What a model is to write for one study. Provided by a protocol whose stimuli a model writes."""

    folder: Path
    """Folder of the study."""
    models: Mapping[str, ModelSpec]
    """The models that are asked, by role: generator, validator."""
    review: ReviewTerms
    """How people review what was written."""

    @abstractmethod
    def estimate(self, pricers: Mapping[str, Pricer]) -> WritingEstimate:
        """Counts what is left to write, and prices it. Reads the record; makes no calls."""

    @abstractmethod
    def write(
        self, pricers: Mapping[str, Pricer], ledger: Ledger, watch: Callable[[str, int], WatchGeneration]
    ) -> Written:
        """Writes what is left, so it also resumes. Calls are charged to `ledger`, and stop at its budget."""

    def calls(self) -> Iterator[Response]:
        """Yields the response to every call so far. Reads the record; makes no calls."""
        if has_generation(self.folder):
            with generation(self.folder) as store:
                yield from (response for _, response in store.spent())

    @property
    @abstractmethod
    def wanted(self) -> int:
        """How many texts there will be if everything that is requested is written."""

    def items_after(self, serial: int, *, most: int) -> list[tuple[int, ReviewItem | None]]:
        """Returns at most `most` texts that were written after number `serial`, each with its own number.

        None marks a text that the current study no longer requests. Another process may still be writing.
        """
        # Nothing stays open between calls: generation may not have begun, and reading must not create its record.
        if not has_generation(self.folder):
            return []
        with generation(self.folder) as store:
            found = list(islice(store.accepted_after(serial), most))
        return [(number, self.item(settled)) for number, settled in found]

    def item(self, settled: Attempt) -> ReviewItem | None:  # noqa: ARG002  # some writing is not reviewed
        """Returns an accepted text as people review it; None if the current study does not request it."""
        return None
