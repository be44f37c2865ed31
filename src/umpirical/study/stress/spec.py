"""What the user writes about stress tests."""

from difflib import get_close_matches
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from umpirical.judges.spec import ModelSpec
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation, ProvedPerturbation

__all__ = ["REPEAT_TESTS", "StressSpec", "WriterSpec"]

REPEAT_TESTS = ("stability", "seeds")
"""Tests that change nothing: the same request again, and the same with another seed."""

SYNTHETIC = "synthetic-ordinal"

DEFAULT_TESTS = ("vertical-spacing", "inline-spacing", "indentation", "stability")
"""Those that need no model but the judge."""


class WriterSpec(BaseModel):
    """A model that writes stimuli, or that validates them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSpec
    max_tokens: int = Field(default=2000, ge=1, description="Of one answer.")


class StressSpec(BaseModel):
    """Which stress tests are made, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tests: tuple[str, ...] = Field(
        default=DEFAULT_TESTS,
        min_length=1,
        description="Perturbations by name, and stability or seeds. The docs list them all.",
    )
    repeats: int = Field(
        default=3,
        ge=1,
        le=1000,
        description="How often every original is asked: the judge's own noise, which each change is held against.",
    )
    seeds: int = Field(default=3, ge=2, le=1000, description="For the test seeds: requests with a seed of their own.")
    margin: float = Field(
        default=0.05,
        gt=0,
        lt=1,
        description="What counts as no change: a share of the scale's range for grades, of items for verdicts.",
    )
    generator: WriterSpec | None = Field(default=None, description="The model that writes what a program cannot.")
    validator: WriterSpec | None = Field(
        default=None, description="The model that says whether it came out as meant. Another one than the generator."
    )
    votes: int = Field(default=3, ge=1, le=25, description="Opinions of the validator on each text, at most.")
    agree: int = Field(default=2, ge=1, le=25, description="Opinions that must agree before a text is used.")
    validator_temperature: float = Field(default=0.7, ge=0)
    temperatures: tuple[float, ...] = Field(
        default=(0.7, 0.9, 1.1), min_length=1, description="Of the generator, one step after the other."
    )
    tries: int = Field(default=2, ge=1, le=20, description="Attempts at each temperature.")
    similarity: Literal["lexical", "embedding"] = Field(
        default="lexical",
        description="What tells synthetic texts from each other; embedding needs the extra umpirical[embeddings].",
    )
    per_level: int = Field(default=5, ge=1, le=10_000, description="For synthetic-ordinal: texts for each level.")

    @model_validator(mode="after")
    def _sound(self) -> "StressSpec":
        if len(set(self.tests)) != len(self.tests):
            raise ValueError("a test is named twice")
        known = [*PERTURBATIONS.names(), *REPEAT_TESTS]
        if unknown := [name for name in self.tests if name not in known]:
            near = get_close_matches(unknown[0], known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ValueError(f"tests: no test is named {unknown[0]!r}: {hint}")
        if self.agree > self.votes:
            raise ValueError(f"agree: {self.agree} of {self.votes} votes cannot agree")
        if any(temperature < 0 for temperature in self.temperatures):
            raise ValueError("a temperature is negative")
        if self.generated and (self.generator is None or self.validator is None):
            names = ", ".join(test.name for test in self.generated)
            raise ValueError(f"{names}: written by a model, so generator and validator have to be named")
        if "stability" in self.tests and self.repeats < 2:
            raise ValueError("stability: needs repeats of at least 2")
        return self

    @property
    def proved(self) -> tuple[ProvedPerturbation, ...]:
        """The tests that a program makes."""
        chosen = (PERTURBATIONS.get(name) for name in self._perturbations)
        return tuple(test for test in chosen if isinstance(test, ProvedPerturbation))

    @property
    def generated(self) -> tuple[GeneratedPerturbation, ...]:
        """The tests that a model writes."""
        chosen = (PERTURBATIONS.get(name) for name in self._perturbations)
        return tuple(self._told_apart(test) for test in chosen if isinstance(test, GeneratedPerturbation))

    def _told_apart(self, test: GeneratedPerturbation) -> GeneratedPerturbation:
        if test.name != SYNTHETIC or self.similarity == "lexical":
            return test
        from umpirical.stimuli.perturbations.synthetic_ordinal import synthetic_ordinal
        from umpirical.stimuli.similarity.embedding import installed_embedding

        return synthetic_ordinal(installed_embedding())

    @property
    def _perturbations(self) -> list[str]:
        return [name for name in self.tests if name not in REPEAT_TESTS]
