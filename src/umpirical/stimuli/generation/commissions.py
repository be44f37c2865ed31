"""Commissions: the stimuli that are wanted, each with everything that decides how it is written."""

from dataclasses import dataclass
from functools import cached_property

from umpirical.domain.digests import Json, digest
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Expectation, FlippedVerdict, GivenLabel, SameVerdict, Stimulus
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation


@dataclass(frozen=True, slots=True)
class Writer:
    """A model that writes or validates, as it is asked."""

    model: str
    endpoint: str
    """Where it is served, with everything that decides its answers; another endpoint is another writer."""
    max_tokens: int
    simulated: bool = False
    """Whether it is a program that stands in for a model."""

    @property
    def words(self) -> str:
        """What a record calls it, so that nobody takes a program for a model."""
        return f"simulated {self.model}" if self.simulated else self.model


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
    """Opinions asked for about each text that has passed its checks."""
    agree: int = 2
    """Opinions that must agree for the text to be used."""
    validator_temperature: float = 0.7
    temperatures: tuple[float, ...] = (0.7, 0.9, 1.1)
    """Temperatures of the generator, in turn: an attempt that was rejected is followed by a bolder one."""
    tries: int = 2
    """Attempts at each temperature."""
    fallback: Writer | None = None
    """Asked in the validator's place where that refuses; its opinion is one like any other."""
    own_generator: Writer | None = None
    """The judge's own model, which writes the tests of its own words."""
    rubric_column: str = ""
    """The column of the data that holds the rubric of each row; empty if there is one for all."""
    reference_column: str = ""
    """The column of the data that holds a reference answer for each row."""

    def __post_init__(self) -> None:
        if not 1 <= self.agree <= self.votes:
            raise ValueError(f"{self.agree} of {self.votes} votes cannot agree")
        if not self.temperatures or self.tries < 1:
            raise ValueError("a commission needs at least one temperature and one attempt")

    def temperature(self, number: int) -> float:
        """The temperature of attempt `number`, counted from 0."""
        if not 0 <= number < self.attempts:
            raise ValueError(f"attempt {number} is not one of the {self.attempts} attempts of a commission")
        return self.temperatures[number // self.tries]

    @property
    def attempts(self) -> int:
        return len(self.temperatures) * self.tries


@dataclass(frozen=True)
class Commission:
    """One stimulus that is wanted."""

    perturbation: GeneratedPerturbation
    terms: GenerationTerms
    source: Stimulus
    """The original it is made from; for a text written from scratch, an original that answers the same task."""
    target: str = ""
    """The label it is to deserve; empty if that of its source is to be kept."""
    examples: tuple[str, ...] = ()
    """Responses shown to the generator, of the target label if there are any."""
    number: int = 0
    """Tells apart commissions that are otherwise alike."""
    example_label: str = ""
    """The label of the examples, which is not the target if no response has that; empty without examples."""
    given: str = ""
    """A text that was written elsewhere, to be checked in place of a generator's; empty if one is to be written."""

    def __post_init__(self) -> None:
        keeps = self.perturbation.expectation == "same-verdict"
        if keeps and (self.target or self.perturbation.validation == "target-grade"):
            raise ValueError(f"{self.perturbation.name} should keep the verdict, so it has no target to validate")
        if not keeps and self.target not in self.terms.scale.labels:
            raise ValueError(f"{self.perturbation.name}: the target {self.target!r} is not a label of the scale")

    @property
    def generator(self) -> Writer:
        """The model that writes it."""
        own = self.terms.own_generator
        return own if own is not None and self.perturbation.writer == "own-generator" else self.terms.generator

    @property
    def rubric(self) -> str:
        """What the text is written and validated by: the rubric of its row, or that of the study."""
        terms, columns = self.terms, self.source.columns
        own = columns[terms.rubric_column] if terms.rubric_column else terms.rubric
        reference = columns[terms.reference_column] if terms.reference_column else ""
        return with_reference(own, reference) if reference else own

    @property
    def expectation(self) -> Expectation:
        match self.perturbation.expectation:
            case "same-verdict":
                return SameVerdict()
            case "flipped-verdict":
                return FlippedVerdict()
            case "given-label":
                return GivenLabel(self.target)

    @cached_property
    def id(self) -> str:
        terms = self.terms
        return digest(
            "commission",
            self._later()
            | {
                "maker": self.perturbation.maker,
                # What the checks allow decides what becomes of an attempt as much as the prompt does.
                "checks": [[check.name, check.allowed] for check in self.perturbation.checks],
                "validation": self.perturbation.validation,
                # By its content: one more column to split results by is no reason to write everything again.
                "source": [self.source.content, self.source.gold if "{{label}}" in self.perturbation.prompt else ""],
                "target": self.target,
                "examples": [self.example_label, *self.examples],
                "number": self.number,
                "instruction": terms.instruction,
                "rubric": terms.rubric,
                "scale": [terms.scale.kind, *terms.scale.labels, terms.scale.low, terms.scale.high],
                "generator": [self.generator.model, self.generator.endpoint, self.generator.max_tokens],
                "validator": [terms.validator.model, terms.validator.endpoint, terms.validator.max_tokens],
                "votes": [terms.votes, terms.agree, terms.validator_temperature],
                "temperatures": [*terms.temperatures, terms.tries],
            },
        )

    def _later(self) -> dict[str, Json]:
        """Returns what a study may set besides, only where it is set, so that older commissions keep their ids."""
        fallback, columns = self.terms.fallback, [self.terms.rubric_column, self.terms.reference_column]
        found: dict[str, Json] = {"columns": columns} if any(columns) else {}
        if self.given:
            found["given"] = self.given
        if fallback is not None:
            found["fallback"] = [fallback.model, fallback.endpoint, fallback.max_tokens]
        return found


def with_reference(rubric: str, reference: str) -> str:
    """Returns a rubric with a reference answer, as judges, generators and validators are all shown it."""
    return f"{rubric}\n\nReference answer:\n{reference}"
