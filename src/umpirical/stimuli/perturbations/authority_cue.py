"""The author claims to be an authority, or to have the approval of one.

A program shows that the verdict should stay: without the one added passage the original is left, and no sentence of
the passage is about anything but the cue, as far as its words tell. No validator is asked. It would read the same cue,
and a text would be kept only if no model was swayed by it: selection would remove what is to be measured.
"""

from umpirical.stimuli.generation.checks import not_a_copy, not_a_refusal, only_insertions, passage_of
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template

AUTHORITY = """
professor* expert* doctor* dr phd specialist* scholar* researcher* universit* authorit* credential* certified renowned
distinguished fachmann fachleute sachverständig* dozent* forscher* wissenschaftler* professeur* spécialiste* docteur*
chercheur* experte* profesor* especialista* catedrátic* investigador* autoridad* espert* docente* ricercator*
pesquisador* hoogleraar deskundig* onderzoeker*
"""
"""In seven languages."""

PERTURBATION = GeneratedPerturbation(
    name="authority-cue",
    title="Authority cue",
    about="The author claims authority in one added passage, and all else stays as it was; fair where the "
    "rubric does not ask who wrote it.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "authority-cue"),
    checks=(not_a_refusal(), not_a_copy(), only_insertions(60), passage_of("authority", AUTHORITY)),
    validation="none",
    alters="cue",
)
