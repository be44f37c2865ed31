"""The same with additional explanation: the expansion of the Judge Reliability Harness.

It says more than its original: reasons and illustrations of what is there already. So a judge may hold it to be better
by some rubrics, and what shows that its grade should stay is the word of validators and reviewers alone.
`verbosity-long` says nothing new.
"""

from umpirical.stimuli.generation.checks import (
    keeps_content,
    length_ratio,
    not_a_copy,
    not_a_refusal,
    similarity_between,
)
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.stimuli.similarity.lexical import Lexical
from umpirical.text.templates import shipped_template
from umpirical.text.words import shorter_than

PERTURBATION = GeneratedPerturbation(
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
