"""The models that write and validate stimuli, and the commissions they are to fill."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.domain.digests import canonical_json
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.protocols.stress.spec import StressStudy, WriterSpec
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms, Writer
from umpirical.stimuli.generation.plan import Skipped, plan_commissions

__all__ = ["PlannedCommissions", "planned_commissions", "texts_by_label"]


@dataclass(frozen=True, slots=True)
class PlannedCommissions:
    """The texts that a generator is to write."""

    commissions: tuple[Commission, ...]
    skipped: tuple[Skipped, ...]
    """What it cannot be asked to write, and why."""


def planned_commissions(study: StressStudy, originals: Sequence[Stimulus]) -> PlannedCommissions:
    """Returns the commissions of a study's generated tests; none if it has no such test."""
    stress = study.spec.stress
    if not stress.generated:
        return PlannedCommissions((), ())
    commissions, skipped = plan_commissions(
        originals, stress.generated, generation_terms(study), seed=study.spec.seed, per_level=stress.per_level
    )
    return PlannedCommissions(tuple(commissions), tuple(skipped))


def generation_terms(study: StressStudy) -> GenerationTerms:
    """Returns the terms of a study whose stress tests need a generator."""
    stress = study.spec.stress
    if stress.generator is None or stress.validator is None:
        raise UsageError("no generator and validator are named", fix="name them under stress in the study file")
    return GenerationTerms(
        instruction=study.instruction,
        rubric=study.rubric,
        scale=study.spec.dataset.scale,
        generator=_writer(stress.generator),
        validator=_writer(stress.validator),
        votes=stress.votes,
        agree=stress.agree,
        validator_temperature=stress.validator_temperature,
        temperatures=stress.temperatures,
        tries=stress.tries,
    )


def texts_by_label(originals: Sequence[Stimulus]) -> dict[str, list[str]]:
    """Returns the user's own responses by label."""
    found: dict[str, list[str]] = defaultdict(list)
    for original in originals:
        found[original.gold].append(original.candidates[0])
    return found


def _writer(spec: WriterSpec) -> Writer:
    endpoint = spec.model.model_dump(mode="json", include={"adapter", "base_url", "batch", "model_args"})
    return Writer(spec.model.name, canonical_json(endpoint), spec.max_tokens)
