"""In-line spacing: clusters of blanks between words."""

import numpy as np

from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation
from umpirical.text.blocks import Target, drawn, spliced
from umpirical.text.words import LETTER

# Only between letters: a blank after a list mark, beside a number or at the end of a line may mean something.
# The blank comes first in the pattern: the search goes from one to the next.
_GAP = Target(rf" (?<={LETTER} )(?={LETTER})")
_CLUSTER = Target(rf" (?<={LETTER} ) ++(?={LETTER})")


def _change(text: str, rng: np.random.Generator) -> str:
    gaps = drawn(_GAP.places(text), 0.1, rng)
    return spliced(text, [(gap.end(), gap.end(), " " * int(rng.integers(2, 7))) for gap in gaps])


def _normal(text: str) -> str:
    """With several blanks between two letters as one; indentation and the ends of lines stay."""
    return _CLUSTER.replaced(text, lambda _: " ")


PERTURBATION = ProvedPerturbation(
    name="inline-spacing",
    title="In-line spacing",
    about="Two to six extra blanks are put between words, at one gap in ten.",
    version=1,
    change=_change,
    normal=_normal,
    alters="format",
)
