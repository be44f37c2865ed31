"""Which stimuli a generator is to write: the commissions, and what cannot be asked for and why."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Stimulus
from umpirical.stats import seeds
from umpirical.stimuli.generation.buckets import EXAMPLES, plan_buckets
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation


@dataclass(frozen=True, slots=True)
class Skipped:
    """A stimulus that was wanted and is not tried."""

    test: str
    source: str
    """Id of the original; empty if the whole test is skipped."""
    reason: str
    """The same words for the same cause, so that they can be counted."""


def plan_commissions(  # noqa: PLR0913  # each by its name
    originals: Sequence[Stimulus],
    tests: Sequence[GeneratedPerturbation],
    terms: GenerationTerms,
    *,
    seed: int,
    per_level: int,
    per_source: int | None = None,
    shown: int = EXAMPLES,
) -> tuple[list[Commission], list[Skipped]]:
    """The commissions of every test, in the order of the tests and of the originals.

    A test that changes a response has one commission for each original. One that writes new responses has `per_level`
    of them for each level of the scale, or `per_source` for each level and original; the generator is `shown` examples.
    """
    commissions: list[Commission] = []
    skipped: list[Skipped] = []
    for test in tests:
        if test.expectation == "given-label":
            sources = [original for original in originals if not _without_rubric(original, terms)]
            planned = plan_buckets(
                test, sources, terms, seed=seed, per_level=per_level, per_source=per_source, shown=shown
            )
            if isinstance(planned, str):
                skipped.append(Skipped(test.name, "", planned))
            else:
                commissions += planned
            continue
        for original in originals:
            target = _target(test, original, terms, seed)
            if reason := _without_rubric(original, terms) or _unfit(test, original) or target.reason:
                skipped.append(Skipped(test.name, original.id, reason))
            else:
                commissions.append(Commission(test, terms, original, target.label))
    return _distinct(commissions, skipped)


@dataclass(frozen=True, slots=True)
class _Target:
    label: str = ""
    reason: str = ""


def _target(test: GeneratedPerturbation, original: Stimulus, terms: GenerationTerms, seed: int) -> _Target:
    """The label that the changed text is to deserve, or why there is none; neither if the verdict is to stay."""
    if test.expectation == "same-verdict":
        return _Target()
    if terms.scale.kind == "interval":
        return _Target(reason="an interval scale has no label to flip to")
    if not original.gold:
        return _Target(reason="the original has no label")
    if original.gold not in terms.scale.labels:
        return _Target(reason="the label of the original is not on the scale")
    return _flipped(original.gold, terms.scale, seeds.uniform(seed, test.name, original.content, "target"))


def _flipped(label: str, scale: GradeScale, draw: float) -> _Target:
    """The other label of two, the level mirrored over the middle of the scale, or any other label by a draw."""
    if scale.kind != "nominal":
        return _mirrored(scale.labels, scale.labels.index(label))
    others = [other for other in scale.labels if other != label]
    return _Target(others[int(draw * len(others))])


def _mirrored(labels: Sequence[str], place: int) -> _Target:
    """The level equally far from the other end of the scale, so that labels are flipped in both directions."""
    mirrored = len(labels) - 1 - place
    if mirrored == place:
        return _Target(reason="the original is in the middle of the scale, which has no opposite")
    return _Target(labels[mirrored])


def _without_rubric(original: Stimulus, terms: GenerationTerms) -> str:
    held = not terms.rubric_column or original.columns[terms.rubric_column].strip()
    return "" if held else "the row has no rubric to write and validate by"


def _unfit(test: GeneratedPerturbation, original: Stimulus) -> str:
    text = original.candidates[0]
    return "the response is empty" if not text.strip() else test.unfit(text)


def _distinct(commissions: Sequence[Commission], skipped: list[Skipped]) -> tuple[list[Commission], list[Skipped]]:
    """Each commission once: an original that is there twice adds nothing."""
    kept: dict[str, Commission] = {}
    for commission in commissions:
        if commission.id in kept:
            skipped.append(Skipped(commission.perturbation.name, commission.source.id, "the original is there twice"))
        else:
            kept[commission.id] = commission
    return list(kept.values()), skipped
