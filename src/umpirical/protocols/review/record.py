"""What the record says of the people who looked at generated stimuli: how many, how far, and how far they agree."""

from typing import Annotated, Literal

from pydantic import Field

from umpirical.reports.record import EstimateRecord, Strict, UndefinedRecord

Found = Annotated[EstimateRecord | UndefinedRecord, Field(discriminator="kind")]


class ReviewedTest(Strict):
    """The review of one test's texts."""

    test: str
    agreement: Found = Field(description="Share of pairs of decisions on one text that say the same.")
    alpha: Found = Field(description="Krippendorff's alpha of keeping or rejecting.")
    rejection: Found = Field(description="Share of the texts people settled that they rejected.")


class ReviewedGenerator(Strict):
    """What became of the texts of one generator."""

    generator: str
    rejection: Found


class ReviewRecord(Strict):
    """The review as it stood when the stimuli were put together."""

    generated: int = Field(description="Generated texts there were to review.")
    reviewed: int = Field(description="Of those: texts that at least one person decided on.")
    people: int = Field(description="People who decided on any of them.")
    decisions: int = Field(description="Decisions that stand; skips and undone ones are none.")
    adjudicated: int = Field(description="Texts that an adjudicator settled.")
    edited: int
    relabelled: int
    rejected: int
    undecided: int = Field(description="Texts that too few people have decided on, or that they disagree on.")
    left_out: int = Field(description="Of those: not shown to the judges, by the study's policy.")
    policy: Literal["count", "leave-out"] = Field(description="Whether texts that are undecided count.")
    overlap: int = Field(description="People who decide on each text.")
    modes: dict[str, int] = Field(description="Decisions by whether others' opinions were hidden: blind, assisted.")
    guidelines: list[int] = Field(description="Versions of the guideline that decisions went by; 0 for none.")
    agreement: Found
    alpha: Found
    label_alpha: Found = Field(description="Krippendorff's alpha of the labels that people gave.")
    tests: list[ReviewedTest]
    generators: list[ReviewedGenerator]
