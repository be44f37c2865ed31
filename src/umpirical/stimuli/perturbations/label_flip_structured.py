"""A text that deserves another grade, built like its original: the label flip of the Judge Reliability Harness."""

from umpirical.stimuli.generation.checks import (
    keeps_structure,
    language_same,
    length_ratio,
    mentions_no_label,
    not_a_copy,
    not_a_refusal,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template

PERTURBATION = GeneratedPerturbation(
    name="label-flip-structured",
    title="Label flip, same structure",
    about="The response is rewritten so that by the rubric it deserves the opposite grade, with as many paragraphs, "
    "list items and headings.",
    version=1,
    expectation="flipped-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "label-flip-structured"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(0.5, 2.0),
        keeps_structure(0.25),
        mentions_no_label(),
        language_same(),
    ),
    validation="target-grade",
)
