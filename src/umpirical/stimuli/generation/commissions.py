"""Commissions: the stimuli that are wanted, each with all that decides how it is written."""

from dataclasses import dataclass
from functools import cached_property

from umpirical.domain.digests import digest
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Stimulus
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation

__all__ = ["Commission", "GenerationTerms", "Writer"]


@dataclass(frozen=True, slots=True)
class Writer:
    """A model that writes or validates, as it is asked."""

    model: str
    endpoint: str
    """Where it is served, with all that decides its answers; another endpoint is another writer."""
    max_tokens: int


@dataclass(frozen=True, slots=True)
class GenerationTerms:
    """How stimuli are written and what is asked of them, the same for every commission of a study."""

    instruction: str
    """The judge's own, verbatim: what the validator goes by."""
    rubric: str
    scale: GradeScale
    generator: Writer
    validator: Writer
    votes: int = 3
    """Opinions asked for of each text that passed its checks."""
    agree: int = 2
    """Opinions that must agree for the text to be taken."""
    validator_temperature: float = 0.7
    temperatures: tuple[float, ...] = (0.7, 0.9, 1.1)
    """Of the generator, one step after the other: an attempt that was rejected is followed by a bolder one."""
    tries: int = 2
    """Attempts at each temperature."""

    def __post_init__(self) -> None:
        if not 1 <= self.agree <= self.votes:
            raise ValueError(f"{self.agree} of {self.votes} votes cannot agree")
        if not self.temperatures or self.tries < 1:
            raise ValueError("a commission needs at least one temperature and one try at it")

    def temperature(self, number: int) -> float:
        """Of attempt `number`, counted from 0."""
        if not 0 <= number < self.attempts:
            raise ValueError(f"attempt {number} is not one of the {self.attempts} that a commission has")
        return self.temperatures[number // self.tries]

    @property
    def attempts(self) -> int:
        """How often a commission is tried before it is given up."""
        return len(self.temperatures) * self.tries


@dataclass(frozen=True)
class Commission:
    """One stimulus that is wanted."""

    perturbation: GeneratedPerturbation
    terms: GenerationTerms
    source: Stimulus
    """The original it is made from; for a text written from nothing, one that was answered to the same task."""
    target: str = ""
    """The label it is to deserve; empty where that of its source is to be kept."""
    examples: tuple[str, ...] = ()
    """Responses shown to the generator, of the target label where there are any."""
    number: int = 0
    """Tells commissions apart that are alike in all else."""
    example_label: str = ""
    """The label that the examples have, which is another than the target where none has that; empty without any."""

    def __post_init__(self) -> None:
        keeps = self.perturbation.expectation == "same-verdict"
        if keeps and (self.target or self.perturbation.validation == "target-grade"):
            raise ValueError(f"{self.perturbation.name} is to keep the verdict, so it has no target to be validated by")
        if not keeps and self.target not in self.terms.scale.labels:
            raise ValueError(f"{self.perturbation.name}: the target {self.target!r} is not a label of the scale")

    @cached_property
    def id(self) -> str:
        terms = self.terms
        return digest(
            "commission",
            {
                "maker": self.perturbation.maker,
                # What passes decides what becomes of an attempt as much as the prompt does.
                "checks": [[check.name, check.allowed] for check in self.perturbation.checks],
                "validation": self.perturbation.validation,
                # By what it says: a column more to split results by is no reason to write everything anew.
                "source": [self.source.content, self.source.gold if "{{label}}" in self.perturbation.prompt else ""],
                "target": self.target,
                "examples": [self.example_label, *self.examples],
                "number": self.number,
                "instruction": terms.instruction,
                "rubric": terms.rubric,
                "scale": [terms.scale.kind, *terms.scale.labels, terms.scale.low, terms.scale.high],
                "generator": [terms.generator.model, terms.generator.endpoint, terms.generator.max_tokens],
                "validator": [terms.validator.model, terms.validator.endpoint, terms.validator.max_tokens],
                "votes": [terms.votes, terms.agree, terms.validator_temperature],
                "temperatures": [*terms.temperatures, terms.tries],
            },
        )
