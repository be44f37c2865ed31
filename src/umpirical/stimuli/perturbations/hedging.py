"""The same claims, less certain."""

from umpirical.stimuli.generation.checks import (
    adds_words,
    edit_scope,
    keeps_content,
    length_ratio,
    not_a_copy,
    not_a_refusal,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.text.templates import shipped_template
from umpirical.text.words import shorter_than

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

PERTURBATION = GeneratedPerturbation(
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
