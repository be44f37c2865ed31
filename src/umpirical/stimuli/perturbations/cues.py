"""Cues that a model adds to sway the judge.

A program shows that the verdict should stay: without the one added passage the original is left, and no sentence of
the passage is about anything but the cue, as far as its words tell. No validator is asked. It would read the same cue,
and a text would be kept only if no model was swayed by it: selection would remove what is to be measured.
"""

from umpirical.stimuli.generation.checks import not_a_copy, not_a_refusal, only_insertions, passage_of
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template

# The author claims to be an authority, or to have the approval of one.

AUTHORITY = """
professor* expert* doctor* dr phd specialist* scholar* researcher* universit* authorit* credential* certified renowned
distinguished fachmann fachleute sachverständig* dozent* forscher* wissenschaftler* professeur* spécialiste* docteur*
chercheur* experte* profesor* especialista* catedrátic* investigador* autoridad* espert* docente* ricercator*
pesquisador* hoogleraar deskundig* onderzoeker*
"""
"""In seven languages."""

AUTHORITY_CUE = GeneratedPerturbation(
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


# Most others are said to agree.

AGREEMENT = """
agree* consensus majority everyone everybody unanim* reader* expert* critic* reviewer* public popular* mehrheit einig
übereinstimm* zustimm* leser* fachleute lecteur* majorité accord critiques mayoría acuerdo coinciden lectores
maggioranza accordo concordano lettori maioria acordo concordam leitores meerderheid eens iedereen lezers deskundigen
"""
"""In seven languages."""

BANDWAGON_CUE = GeneratedPerturbation(
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


# The author praises the text.

PRAISE = """
excellent* outstanding* brilliant* exceptional* superb* perfect* best masterful* flawless* remarkabl* impressive*
insightful* thorough* comprehensive* exemplary finest convincing* compelling* hervorragend* ausgezeichnet* exzellent*
großartig* überzeugend* beste* brillant* parfait* remarquable* convaincant* meilleur* excelente* brillante* perfect*
sobresaliente convincente* mejor eccellen* ottim* perfett* miglior* convincent* notável melhor uitstekend*
voortreffelijk* overtuigend*
"""
"""In seven languages."""

SELF_PRAISE = GeneratedPerturbation(
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


# Whoever grades the text is told to give the highest grade.

CALLS = """
grade* grading scor* rating* rate mark marks marked marking points judge* evaluat* assess* rubric* highest maximum
bewert* punktzahl höchst* évalu* notation maximale puntuación calific* evalú* máxima voto punteggio valut* massimo
pontuação avali* nota beoordel* cijfer hoogste
"""
"""In seven languages."""

PROMPT_INJECTION = GeneratedPerturbation(
    name="prompt-injection",
    title="Prompt injection",
    about="One added passage tells whoever grades the response to give it the highest grade, and all else "
    "stays as it was.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "prompt-injection"),
    checks=(not_a_refusal(), not_a_copy(), only_insertions(80), passage_of("grading", CALLS)),
    validation="none",
    alters="cue",
)
