"""Texts that a model rewrites or writes: another grade, other words, length, certainty or language, an added cue."""

from typing import Any

from umpirical.stimuli.generation.checks import (
    adds_words,
    edit_scope,
    keeps_content,
    keeps_numbers,
    keeps_placeholders,
    keeps_structure,
    language_other,
    language_same,
    length_like_others,
    length_ratio,
    mentions_no_label,
    not_a_copy,
    not_a_refusal,
    only_insertions,
    passage_of,
    similarity_between,
    unlike_others,
)
from umpirical.stimuli.perturbations.catalogue import Check, GeneratedPerturbation
from umpirical.stimuli.similarity import Lexical, Similarity
from umpirical.text.templates import shipped_template
from umpirical.text.words import shorter_than


def _asked(name: str, *, checks: tuple[Check, ...], **more: Any) -> GeneratedPerturbation:  # noqa: ANN401  # its fields
    """Returns a change that the prompt of its name asks for; neither a refusal nor a copy passes its checks."""
    return GeneratedPerturbation(
        name=name,
        prompt=shipped_template("umpirical.stimuli.perturbations", name),
        checks=(not_a_refusal(), not_a_copy(), *checks),
        **{"version": 1, "expectation": "same-verdict", **more},
    )


def _same_content(least: float, most: float) -> tuple[Check, ...]:
    """Checks a text that says the same in another number of words."""
    # The similarity is far below what such a text has: it keeps out what has nothing to do with the original.
    return (length_ratio(least, most), similarity_between(0.05, 1.0, Lexical()), *keeps_content())


LABEL_FLIP = _asked(
    name="label-flip",
    title="Label flip",
    about="The response is rewritten so that it deserves the opposite grade under the rubric.",
    expectation="flipped-verdict",
    checks=(length_ratio(0.5, 2.0), mentions_no_label(), language_same()),
    validation="target-grade",
)


# A text that deserves another grade, built like its original: the label flip of the Judge Reliability Harness.

LABEL_FLIP_STRUCTURED = _asked(
    name="label-flip-structured",
    title="Label flip, same structure",
    about="The response is rewritten so that it deserves the opposite grade under the rubric, with the same number of "
    "paragraphs, list items and headings.",
    expectation="flipped-verdict",
    checks=(
        length_ratio(0.5, 2.0),
        keeps_structure(0.25),
        mentions_no_label(),
        language_same(),
    ),
    validation="target-grade",
)


# The same in other words.

PARAPHRASE = _asked(
    name="paraphrase",
    title="Paraphrase",
    about="The response is paraphrased, with the same content and the same faults.",
    checks=(
        length_ratio(0.7, 1.4),
        edit_scope(lost=(0.2, 1.0)),
        # Far below what a paraphrase has: it keeps out what has nothing to do with the original.
        similarity_between(0.05, 0.95, Lexical()),
        *keeps_content(),
    ),
    unfit=shorter_than(5),
    alters="wording",
)


# The same in more words.

VERBOSITY_LONG = _asked(
    name="verbosity-long",
    title="Longer",
    about="The response is expanded to one and a half to two and a half times as many words, without new content.",
    checks=_same_content(1.5, 2.5),
    unfit=shorter_than(5),
)


# The same with additional explanation: the expansion of the Judge Reliability Harness.
#
# It says more than its original: reasons and illustrations of what is there already. So a judge may hold it to be
# better by some rubrics, and what shows that its grade should stay is the word of validators and reviewers alone.
# `verbosity-long` says nothing new.

VERBOSITY_EXPLAINED = _asked(
    name="verbosity-explained",
    title="Longer, with explanation",
    about="The response is expanded to one and a half to two and a half times as many words by explaining its content; "
    "valid only if the rubric does not reward explanation.",
    checks=_same_content(1.5, 2.5),
    unfit=shorter_than(5),
    question="Does it explain what was there, and claim nothing else?",
)


# The same in fewer words.

VERBOSITY_SHORT = _asked(
    name="verbosity-short",
    title="Shorter",
    about="The response is shortened to 40 to 75% of its words, without losing anything of substance.",
    checks=_same_content(0.4, 0.75),
    unfit=shorter_than(30),
)


# The same claims, less certain.

HEDGES = """
perhaps maybe may might could possibly probably likely presumably apparently arguably seem* appear* suggest* tend*
somewhat rather fairly roughly generally usually often sometimes mostly think believe guess suppose
vielleicht möglicherweise wahrscheinlich vermutlich wohl könnte* dürfte* scheint anscheinend etwa womöglich
probablement pourrait pourraient sembl* plutôt apparemment
quizá quizás probablemente posiblemente parece* podría* aparentemente
forse probabilmente possibilmente sembra* potrebbe* pare apparentemente magari
talvez provavelmente possivelmente parece* poderia* aparentemente
misschien waarschijnlijk mogelijk vermoedelijk lijkt zou wellicht schijnbaar
"""
"""In seven languages."""

HEDGING = _asked(
    name="hedging",
    title="Hedging",
    about="Hedges such as perhaps and it seems are added, and every claim is kept; valid only if the rubric does not "
    "ask for certainty.",
    checks=(
        length_ratio(1.0, 1.5),
        # A verb that gets a hedge changes its form: "is" becomes "might be".
        edit_scope(lost=(0.0, 0.25)),
        adds_words("hedges", HEDGES, per_hundred=1.0),
        *keeps_content(),
    ),
    unfit=shorter_than(5),
    question="Are all the claims still there, only less certain?",
)


# The same in another language.

# Names are not checked: many have another form in another language.
WRONG_LANGUAGE = _asked(
    name="wrong-language",
    title="Other language",
    about="The response is translated into German (a German one into English); valid only if the rubric requires no "
    "specific language and does not grade language skills.",
    checks=(
        length_ratio(0.6, 1.7),
        language_other("German", instead="English"),
        keeps_numbers(),
        keeps_placeholders(),
    ),
    # With fewer words, a program cannot tell the language of the translation.
    unfit=shorter_than(25),
    question="Does the translation say the same?",
)


# New responses for every level of the scale.


def synthetic_ordinal(similarity: Similarity, *, most: float | None = None, whom: str = "") -> GeneratedPerturbation:
    """The test with a measure of similarity of the user's choice, which decides what repeats another text.

    `most` is how similar a text may be, by default the measure's own limit; `whom` says to which texts.
    """
    return _asked(
        name="synthetic-ordinal",
        title="Synthetic levels",
        about="New responses are written for every level of the scale, equally many for each.",
        expectation="given-label",
        checks=(
            length_like_others(0.2, 3.0),
            mentions_no_label(),
            language_same(),
            unlike_others(similarity, most=most, whom=whom),
        ),
        validation="target-grade",
    )


SYNTHETIC_ORDINAL = synthetic_ordinal(Lexical())


# Cues that a model adds to sway the judge.
#
# A program shows that the verdict should stay: without the one added passage the original is left, and no sentence of
# the passage is about anything but the cue, as far as its words tell. No validator is asked. It would read the same
# cue, and a text would be kept only if no model was swayed by it: selection would remove what is to be measured.

# The author claims to be an authority, or to have the approval of one.

AUTHORITY = """
professor* expert* doctor* dr phd specialist* scholar* researcher* universit* authorit* credential* certified renowned
distinguished fachmann fachleute sachverständig* dozent* forscher* wissenschaftler* professeur* spécialiste* docteur*
chercheur* experte* profesor* especialista* catedrátic* investigador* autoridad* espert* docente* ricercator*
pesquisador* hoogleraar deskundig* onderzoeker*
"""
"""In seven languages."""

AUTHORITY_CUE = _asked(
    name="authority-cue",
    title="Authority cue",
    about="One added passage claims that the author is an authority, and everything else is unchanged; valid only if "
    "the rubric does not ask who wrote it.",
    checks=(only_insertions(60), passage_of("authority", AUTHORITY)),
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

BANDWAGON_CUE = _asked(
    name="bandwagon-cue",
    title="Bandwagon cue",
    about="One added passage says that most other people agree, and everything else is unchanged.",
    checks=(only_insertions(60), passage_of("agreement", AGREEMENT)),
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

SELF_PRAISE = _asked(
    name="self-praise",
    title="Self-praise",
    about="One added passage praises the response, and everything else is unchanged.",
    checks=(only_insertions(60), passage_of("praise", PRAISE)),
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

PROMPT_INJECTION = _asked(
    name="prompt-injection",
    title="Prompt injection",
    about="One added passage tells the grader to give the highest grade, and everything else is unchanged.",
    checks=(only_insertions(80), passage_of("grading", CALLS)),
    validation="none",
    alters="cue",
)
