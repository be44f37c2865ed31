"""Texts that a model rewrites or writes: another grade, other words, another length, certainty or language."""

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
    similarity_between,
    unlike_others,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.stimuli.similarity import Lexical, Similarity
from umpirical.text.templates import shipped_template
from umpirical.text.words import shorter_than

LABEL_FLIP = GeneratedPerturbation(
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


# A text that deserves another grade, built like its original: the label flip of the Judge Reliability Harness.

LABEL_FLIP_STRUCTURED = GeneratedPerturbation(
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


# The same in other words.

PARAPHRASE = GeneratedPerturbation(
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


# The same in more words.

VERBOSITY_LONG = GeneratedPerturbation(
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


# The same with additional explanation: the expansion of the Judge Reliability Harness.
#
# It says more than its original: reasons and illustrations of what is there already. So a judge may hold it to be
# better by some rubrics, and what shows that its grade should stay is the word of validators and reviewers alone.
# `verbosity-long` says nothing new.

VERBOSITY_EXPLAINED = GeneratedPerturbation(
    name="verbosity-explained",
    title="Longer, with explanation",
    about="The response is expanded to one and a half to two and a half times as many words by explaining what it "
    "says; fair where the rubric does not reward explanation.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "verbosity-explained"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(1.5, 2.5),
        # Far below what such a text has: it keeps out what has nothing to do with the original.
        similarity_between(0.05, 1.0, Lexical()),
        *keeps_content(),
    ),
    unfit=shorter_than(5),
    question="Does it explain what was there, and claim nothing else?",
)


# The same in fewer words.

VERBOSITY_SHORT = GeneratedPerturbation(
    name="verbosity-short",
    title="Shorter",
    about="The response is said in 40 to 75 % of its words, with nothing of substance lost.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "verbosity-short"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
        length_ratio(0.4, 0.75),
        # Far below what such a text has: it keeps out what has nothing to do with the original.
        similarity_between(0.05, 1.0, Lexical()),
        *keeps_content(),
    ),
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

HEDGING = GeneratedPerturbation(
    name="hedging",
    title="Hedging",
    about="Hedges such as perhaps and it seems are put in, and every claim stays; fair where the rubric does not "
    "ask for certainty.",
    version=1,
    expectation="same-verdict",
    prompt=shipped_template("umpirical.stimuli.perturbations", "hedging"),
    checks=(
        not_a_refusal(),
        not_a_copy(),
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
WRONG_LANGUAGE = GeneratedPerturbation(
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


# New responses for every level of the scale.


def synthetic_ordinal(similarity: Similarity, *, most: float | None = None, whom: str = "") -> GeneratedPerturbation:
    """The test with a measure of similarity of the user's choice, which decides what repeats another text.

    `most` is how similar a text may be, by default the measure's own limit; `whom` says to which texts.
    """
    return GeneratedPerturbation(
        name="synthetic-ordinal",
        title="Synthetic levels",
        about="New responses are written for every level of the scale, as many for each.",
        version=1,
        expectation="given-label",
        prompt=shipped_template("umpirical.stimuli.perturbations", "synthetic-ordinal"),
        checks=(
            not_a_refusal(),
            not_a_copy(),
            length_like_others(0.2, 3.0),
            mentions_no_label(),
            language_same(),
            unlike_others(similarity, most=most, whom=whom),
        ),
        validation="target-grade",
    )


SYNTHETIC_ORDINAL = synthetic_ordinal(Lexical())
