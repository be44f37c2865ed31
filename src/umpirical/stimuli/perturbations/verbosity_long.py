"""The same in more words."""

from umpirical.stimuli.generation.checks import (
    keeps_content,
    length_ratio,
    not_a_copy,
    not_a_refusal,
    similarity_between,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.stimuli.similarity.lexical import Lexical
from umpirical.text.templates import shipped_template
from umpirical.text.words import shorter_than

PERTURBATION = GeneratedPerturbation(
    name="verbosity-long",
    title="Longer",
    about="The response is said in one and a half to two and a half times as many words, with nothing new in them.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "verbosity-long"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(1.5, 2.5),
        # Far below what such a text has: it keeps out what has nothing to do with the original.
        similarity_between(0.05, 1.0, Lexical()),
        *keeps_content(),
    ),
    unfit=shorter_than(5),
)
