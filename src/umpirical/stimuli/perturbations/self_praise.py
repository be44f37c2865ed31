"""The author praises the text.

A program shows that the verdict should stay: without the one added passage the original is left, and no sentence of
the passage is about anything but the cue, as far as its words tell. No validator is asked. It would read the same cue,
and a text would be kept only if no model was swayed by it: selection would remove what is to be measured.
"""

from umpirical.stimuli.generation.checks import not_a_copy, not_a_refusal, only_insertions, passage_of
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template

PRAISE = """
excellent* outstanding* brilliant* exceptional* superb* perfect* best masterful* flawless* remarkabl* impressive*
insightful* thorough* comprehensive* exemplary finest convincing* compelling* hervorragend* ausgezeichnet* exzellent*
großartig* überzeugend* beste* brillant* parfait* remarquable* convaincant* meilleur* excelente* brillante* perfect*
sobresaliente convincente* mejor eccellen* ottim* perfett* miglior* convincent* notável melhor uitstekend*
voortreffelijk* overtuigend*
"""
"""In seven languages."""

PERTURBATION = GeneratedPerturbation(
    name="self-praise",
    title="Self-praise",
    about="One added passage praises the response, and all else stays as it was.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "self-praise"),
    checks=(not_a_refusal(), not_a_copy(), only_insertions(60), passage_of("praise", PRAISE)),
    validation="none",
    alters="cue",
)
