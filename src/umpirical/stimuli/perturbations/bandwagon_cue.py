"""Most others are said to agree.

A program shows that the verdict should stay: without the one added passage the original is left, and no sentence of
the passage is about anything but the cue, as far as its words tell. No validator is asked. It would read the same cue,
and a text would be kept only if no model was swayed by it: selection would remove what is to be measured.
"""

from umpirical.stimuli.generation.checks import not_a_copy, not_a_refusal, only_insertions, passage_of
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template

AGREEMENT = """
agree* consensus majority everyone everybody unanim* reader* expert* critic* reviewer* public popular* mehrheit einig
übereinstimm* zustimm* leser* fachleute lecteur* majorité accord critiques mayoría acuerdo coinciden lectores
maggioranza accordo concordano lettori maioria acordo concordam leitores meerderheid eens iedereen lezers deskundigen
"""
"""In seven languages."""

PERTURBATION = GeneratedPerturbation(
    name="bandwagon-cue",
    title="Bandwagon cue",
    about="One added passage says that most others agree, and all else stays as it was.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "bandwagon-cue"),
    checks=(not_a_refusal(), not_a_copy(), only_insertions(60), passage_of("agreement", AGREEMENT)),
    validation="none",
    alters="cue",
)
