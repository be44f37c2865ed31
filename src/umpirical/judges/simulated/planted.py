"""The values that a simulated judge's measures should have."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from umpirical.domain.scales import GradeScale
from umpirical.judges.simulated.grader import grades_of
from umpirical.judges.simulated.profiles import GraderProfile, Profile
from umpirical.stats.isotonic import threshold
from umpirical.stats.repeats import effective_number
from umpirical.stats.simulation import grader as grading
from umpirical.stats.simulation.judge import correct_rate, dark_current, decomposition, tie_rate

Values = dict[tuple[str, str], float]
"""Maps (measure, stratum) to the true value."""


class GradedPair(NamedTuple):
    """Two answers of the design, each graded separately."""

    cluster: str
    base: float
    """Quality of the lesser answer."""
    delta: float


def planted_values(profile: Profile, steps: list[float], arm: str = "baseline") -> Values:
    """Returns the true values of a judge that compares, under an instruction, for a profile without task effects.

    Failures and unparsed answers are drawn independently of the content, so they change no other value. The detection
    threshold is the crossing of the true curve as measured: at the ladder's steps, joined by straight lines; a value
    beyond the ladder's ends is left out.
    """
    latent = profile.under(arm)
    shares = decomposition(latent)
    values = {
        **_dark(dark_current(latent), "empty", "whitespace", "identical"),
        **_trouble(profile),
        ("raw-false-preference", ""): shares.raw_false_preference,
        ("stable-cross-sensitivity", ""): shares.stable,
        ("positional-false-preference", ""): shares.positional,
        ("one-sided-commit", ""): shares.one_sided,
        ("no-preference", ""): shares.no_preference,
        ("tie-rate", "0"): 1 - shares.raw_false_preference,
        ("resolution", ""): latent.resolution,
        ("criterion", ""): latent.criterion,
        ("slot-bias", ""): latent.slot_bias,
        ("surface-sensitivity", ""): latent.surface,
    }
    for step, tie in zip(steps, tie_rate(latent, steps), strict=True):
        values["tie-rate", f"{step:g}"] = float(tie)
    return values | _curve(steps, [float(rate) for rate in correct_rate(latent, steps)])


def planted_grades(profile: GraderProfile, scale: GradeScale, pairs: Sequence[GradedPair]) -> Values:
    """Returns the true values of a judge that grades, for a profile without task effects.

    `pairs` are those of equal quality and of the ladder: an answer's place on the scale decides whether a difference
    shows, so these values depend on the design.
    """
    latent, offered = profile.latent, grades_of(scale)
    grades, unit = len(offered), _unit(scale, offered)
    base, delta = np.array([pair.base for pair in pairs]), np.array([pair.delta for pair in pairs])
    order = grading.pair_order(latent, base, delta, grades=grades)
    tasks = sorted({pair.cluster for pair in pairs})
    task = np.array([tasks.index(pair.cluster) for pair in pairs])
    levels, answered, ladder, equal = np.r_[base, base + delta], np.r_[task, task], delta > 0, delta == 0
    use = np.zeros((len(tasks), grades))
    np.add.at(use, answered, grading.grade_rates(latent, levels, grades=grades))
    steps = sorted({float(step) for step in delta[ladder]})
    values = {
        **_dark(grading.dark_current(latent, grades=grades), "empty", "whitespace"),
        **_trouble(profile),
        ("raw-false-preference", ""): 1 - float(order.equal[equal].mean()),
        ("grade-spread", ""): unit * grading.grade_spread(latent, base[equal], grades=grades),
        ("grade-concordance", ""): grading.concordance(latent, base[ladder], delta[ladder], grades=grades),
        ("grade-slope", ""): unit * grading.grade_slope(latent, levels, answered, grades=grades),
        ("effective-grades", ""): effective_number(use),
    }
    for step in (0.0, *steps):
        values["tie-rate", f"{step:g}"] = float(order.equal[delta == step].mean())
    return values | _curve(steps, [float(order.higher[delta == step].mean()) for step in steps])


def _dark(rate: float, *classes: str) -> Values:
    return {("dark-current", part): rate for part in ("", *classes)}


def _trouble(profile: Profile | GraderProfile) -> Values:
    return {("unparsed-rate", ""): profile.unparsed_rate, ("failure-rate", ""): profile.failure_rate}


def _curve(steps: list[float], correct: list[float]) -> Values:
    values = {("target-sensitivity", f"{step:g}"): rate for step, rate in zip(steps, correct, strict=True)}
    crossing = threshold(steps, correct)
    if crossing.censoring == "none":
        values["detection-threshold", ""] = crossing.value
    return values


def _unit(scale: GradeScale, values: list[str | float]) -> float:
    """Returns the steps between neighbouring grades: one, unless an interval scale is divided differently."""
    first, second = scale.score(values[0]), scale.score(values[1])
    return (second - first) if first is not None and second is not None else 1.0
