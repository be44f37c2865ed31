"""A text that deserves another grade."""

from umpirical.stimuli.generation.checks import (
    language_same,
    length_ratio,
    mentions_no_label,
    not_a_copy,
    not_a_refusal,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template

PERTURBATION = GeneratedPerturbation(
    name="label-flip",
    title="Label flip",
    about="The response is rewritten so that by the rubric it deserves the opposite grade.",
    version=1,
    expectation="flipped-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "label-flip"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(0.5, 2.0),
        mentions_no_label(),
        language_same(),
    ),
    validation="target-grade",
)
