"""Self-preference: the same content in the judge's own words and in another model's, and said to be by either.

Two comparisons tell apart what is often taken for one thing. `own-words` compares two models' words for the same
content, with no word about who wrote them. `own-claim` compares two claims about who wrote one text, whoever did.
"""

import re
from dataclasses import replace
from typing import Any

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


def _claim(name: str, title: str, about: str, claim: str, **more: Any) -> ProvedPerturbation:  # noqa: ANN401  # its fields
    """Returns the change that puts a claim before a text; before a paraphrase, in a study that has those."""
    return ProvedPerturbation(
        name,
        title,
        about,
        version=1,
        change=lambda text, _: f"{claim}\n\n{text}",
        # A text that begins with a claim is proved as well: all claims at its beginning go.
        normal=lambda text: _CLAIM.sub("", text),
        over=("other-words", "own-words"),
        **more,
    )


OTHER_CLAIM = _claim(
    "other-claim", "Claim: another model's", "A first line says that another model wrote the text.", _CLAIMS[1]
)

OWN_CLAIM = _claim(
    "own-claim",
    "Claim: its own",
    "The first line says that the judge wrote the text, instead of another model; the two versions are compared.",
    _CLAIMS[0],
    alters="own-claim",
    against="other-claim",
)
