"""New responses for every level of the scale."""

from umpirical.stimuli.generation.checks import (
    language_same,
    length_like_others,
    mentions_no_label,
    not_a_copy,
    not_a_refusal,
    unlike_others,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.stimuli.similarity.lexical import Lexical
from umpirical.stimuli.similarity.port import Similarity
from umpirical.text.templates import shipped_template


def synthetic_ordinal(similarity: Similarity, *, most: float | None = None, whom: str = "") -> GeneratedPerturbation:
    """The test with a measure of similarity of the user's choice, which decides what repeats another text.

    `most` is how similar a text may be, by default the measure's own limit; `whom` says to which texts.
    """
    return GeneratedPerturbation(
        name="synthetic-ordinal",
        title="Synthetic levels",
        about="New responses are written for every level of the scale, as many for each.",
        version=1,
        expectation="given-label",
        prompt=shipped_template("umpirical.stimuli.perturbations", "synthetic-ordinal"),
        checks=(
            not_a_refusal(),
            not_a_copy(),
            length_like_others(0.2, 3.0),
            mentions_no_label(),
            language_same(),
            unlike_others(similarity, most=most, whom=whom),
        ),
        validation="target-grade",
    )


PERTURBATION = synthetic_ordinal(Lexical())
