"""Self-preference: the same content in the judge's own words and in another model's, and said to be by either.

Two comparisons tell apart what is often taken for one thing. `own-words` compares two models' words for the same
content, with no word about who wrote them. `own-claim` compares two claims about who wrote one text, whoever did.
"""

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.stimuli.perturbations.rewritten import PARAPHRASE

# Both models get the same request, word for word, and their texts pass the same checks.

OTHER_WORDS = replace(
    PARAPHRASE,
    name="other-words",
    title="Another model's words",
    about="The generator paraphrases the response, with the same content and the same faults.",
)

OWN_WORDS = replace(
    PARAPHRASE,
    name="own-words",
    title="Own words",
    about="The judge's own model paraphrases the response instead of the generator; the two paraphrases are compared.",
    alters="own-words",
    against="other-words",
    writer="own-generator",
)


# Claims of about the same length, which a judge understands whatever it is called.

_CLAIMS = "[Author of this text: you, the model that grades it]", "[Author of this text: another model, not you]"
_CLAIM = re.compile(rf"\A(?:(?:{'|'.join(map(re.escape, _CLAIMS))})\n\n)+")


def _said(claim: str) -> Callable[[str, np.random.Generator], str]:
    def change(text: str, _: np.random.Generator) -> str:
        return f"{claim}\n\n{text}"

    return change


def _unclaimed(text: str) -> str:
    # A text that begins with a claim is proved as well: all claims at its beginning go.
    return _CLAIM.sub("", text)


OTHER_CLAIM = ProvedPerturbation(
    name="other-claim",
    title="Claim: another model's",
    about="A first line says that another model wrote the text.",
    version=1,
    change=_said(_CLAIMS[1]),
    normal=_unclaimed,
    over=("other-words", "own-words"),
)

OWN_CLAIM = ProvedPerturbation(
    name="own-claim",
    title="Claim: its own",
    about="The first line says that the judge wrote the text, instead of another model; the two versions are compared.",
    version=1,
    change=_said(_CLAIMS[0]),
    normal=_unclaimed,
    alters="own-claim",
    against="other-claim",
    over=OTHER_CLAIM.over,
)
