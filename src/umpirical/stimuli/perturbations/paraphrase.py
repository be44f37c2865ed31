"""The same in other words."""

from umpirical.stimuli.generation.checks import (
    edit_scope,
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
    name="paraphrase",
    title="Paraphrase",
    about="The response is said in other words, with the same content and the same faults.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "paraphrase"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(0.7, 1.4),
        edit_scope(lost=(0.2, 1.0)),
        # Far below what a paraphrase has: it keeps out what has nothing to do with the original.
        similarity_between(0.05, 0.95, Lexical()),
        *keeps_content(),
    ),
    unfit=shorter_than(5),
    alters="wording",
)
