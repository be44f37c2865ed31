"""The models that write and validate stimuli, and the commissions they are to fill."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.protocols.stress.spec import StressStudy
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms
from umpirical.stimuli.generation.plan import Skipped, plan_commissions


@dataclass(frozen=True, slots=True)
class PlannedCommissions:
    """The texts that a generator is to write."""

    commissions: tuple[Commission, ...]
    skipped: tuple[Skipped, ...]
    """What it cannot be asked to write, and why."""
    by_source: bool = False
    """Whether every original is to have texts of every level."""

    @property
    def simulated(self) -> bool:
        """Whether a program stands in for the generator."""
        return any(commission.terms.generator.simulated for commission in self.commissions)


def planned_commissions(study: StressStudy, originals: Sequence[Stimulus]) -> PlannedCommissions:
    """Returns the commissions of a study's generated tests; none if it has no such test."""
    stress = study.spec.stress
    if not stress.generated:
        return PlannedCommissions((), ())
    commissions, skipped = plan_commissions(
        originals,
        stress.generated,
        generation_terms(study),
        seed=study.spec.seed,
        per_level=stress.per_level,
        per_source=stress.per_source,
        shown=stress.examples,
    )
    return PlannedCommissions(tuple(commissions), tuple(skipped), by_source=stress.per_source is not None)


def generation_terms(study: StressStudy) -> GenerationTerms:
    """Returns the terms of a study whose stress tests need a generator."""
    stress = study.spec.stress
    if stress.generator is None or stress.validator is None:
        raise UsageError("no generator and validator are named", fix="name them under stress in the study file")
    return GenerationTerms(
        instruction=study.instruction,
        rubric=study.rubric,
        scale=study.spec.dataset.scale,
        generator=stress.generator.writer,
        validator=stress.validator.writer,
        votes=stress.votes,
        agree=stress.agree,
        validator_temperature=stress.validator_temperature,
        temperatures=stress.temperatures,
        tries=stress.tries,
        fallback=stress.fallback_validator.writer if stress.fallback_validator else None,
        rubric_column=study.spec.dataset.columns.rubric or "",
        reference_column=study.spec.dataset.columns.reference or "",
    )


def texts_by_label(originals: Sequence[Stimulus]) -> dict[str, list[str]]:
    """Returns the user's own responses by label."""
    found: dict[str, list[str]] = defaultdict(list)
    for original in originals:
        found[original.gold].append(original.candidates[0])
    return found
