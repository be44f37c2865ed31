"""The same in another language."""

from umpirical.stimuli.generation.checks import (
    keeps_numbers,
    keeps_placeholders,
    language_other,
    length_ratio,
    not_a_copy,
    not_a_refusal,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template
from umpirical.text.words import shorter_than

# Names are not checked: many have another form in another language.
PERTURBATION = GeneratedPerturbation(
    name="wrong-language",
    title="Other language",
    about="The response is translated into German, one in German into English; fair only where the rubric asks for no "
    "language and grades no command of it.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "wrong-language"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(0.6, 1.7),
        language_other("German", instead="English"),
        keeps_numbers(),
        keeps_placeholders(),
    ),
    # With fewer words, a program cannot tell the language of the translation.
    unfit=shorter_than(25),
    question="Does the translation say the same?",
)
