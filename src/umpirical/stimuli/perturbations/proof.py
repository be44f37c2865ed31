"""Proof by program: a text and its changed version are equal in the perturbation's normal form."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from operator import ne

from umpirical.domain.stimuli import SameVerdict, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.perturbations.catalogue import ProvedPerturbation

_WORD = re.compile(r"\S+")
_AROUND = 30
"""Characters shown on each side of a difference."""


class ProofFailed(ValueError):
    """A perturbation has changed more than its normal form allows, so the text is not a stimulus."""


def prove(perturbation: ProvedPerturbation, original: str, changed: str) -> dict[str, str]:
    """The evidence that only what the perturbation may change has changed, and how much of it."""
    before, after = perturbation.normal(original), perturbation.normal(changed)
    if before != after:
        pairs = enumerate(zip(before, after, strict=False))
        place = next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))
        window = slice(max(0, place - _AROUND), place + _AROUND)
        raise ProofFailed(
            f"{perturbation.maker}: the changed text differs from the original in its normal form, at character "
            f"{place:,}: got {after[window]!r}, expected {before[window]!r}; correct `change` or `normal`"
        )
    return {
        "proof": f"equal after {perturbation.maker} normal form",
        "normal form sha256": hashlib.sha256(before.encode("utf-8", "surrogatepass")).hexdigest(),
        "changed": _extent(original, changed),
    }


def proved_stimuli(
    perturbation: ProvedPerturbation, originals: Iterable[Stimulus], *, seed: int, text: str | None = None
) -> Iterator[tuple[Stimulus, Stimulus | None]]:
    """Each original with its changed version, or with None if there was nothing to change.

    `text` is a changed version that was made elsewhere, and is only to be proved.
    """
    for original in originals:
        if len(original.candidates) != 1:
            raise ValueError(
                f"stimulus {original.id} has {len(original.candidates)} candidates; a perturbation changes one response"
            )
        before, changed = original.candidates[0], text
        if changed is None:
            changed = perturbation.change(before, generator(seed, original.content, perturbation.name))
        yield original, None if changed == before else _stimulus(perturbation, original, changed)


def _stimulus(perturbation: ProvedPerturbation, original: Stimulus, changed: str) -> Stimulus:
    return Stimulus(
        task_id=original.task_id,
        task=original.task,
        candidates=(changed,),
        expectation=SameVerdict(),
        maker=perturbation.maker,
        family=perturbation.name,
        parent=original.id,
        gold=original.gold,
        gold_from=original.gold_from,
        evidence=prove(perturbation, original.candidates[0], changed),
        strata=original.strata,
        columns=original.columns,
    )


def _extent(original: str, changed: str) -> str:
    """How many words and gaps between words differ; if words were added or removed, how many there were and are."""
    words, new_words = original.split(), changed.split()
    if len(words) != len(new_words):
        return f"{len(words):,} words became {len(new_words):,}"
    # What stands before the first word and after the last counts as a gap too.
    gaps, new_gaps = _WORD.split(original), _WORD.split(changed)
    differing = _differing(words, new_words), _differing(gaps, new_gaps)
    return f"{differing[0]:,} of {len(words):,} words, {differing[1]:,} of {len(gaps):,} gaps"


def _differing(old: list[str], new: list[str]) -> int:
    return sum(map(ne, old, new))
