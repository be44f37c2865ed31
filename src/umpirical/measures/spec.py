"""What a measure is to the rest of the house, and which there are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.domain.measures import Measure
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.registry import Registry

__all__ = ["MEASURES", "MeasureSpec", "Protocol", "Scale", "measure_all"]

Scale = Literal["rate", "difference", "requirements", "latent", "steps", "p-value", "ratio", "bits", "coefficient"]
"""A share from 0 to 1; a difference of shares; a number of requirements; a number of standard deviations of the
judge's noise; a number of grades; a probability under a null hypothesis; a ratio of weights or of steps; bits of
entropy; a coefficient of agreement or correlation, 1 at best."""


Protocol = Literal["datasheet", "stress"]
"""Controlled stimuli, or stress tests on the user's own data."""


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """One kind of measure: how it is called, and how it is computed."""

    name: str
    title: str
    about: str
    """What it measures, in one sentence for the datasheet."""
    worse: Literal["higher", "lower", "depends"]
    compute: Callable[[Tallies, str], Sequence[Measure]]
    """From a run's tallies and the name of an arm, one measure per part of the design it speaks of."""
    scale: Scale = "rate"
    """What kind of number it is, which decides how it is written."""
    kinds: tuple[JudgeKind, ...] = ("compare",)
    """The kinds of judges it says something about; for others it is not computed."""
    protocols: tuple[Protocol, ...] = ("datasheet",)
    """Whether it is made of controlled stimuli, of the user's own data, or of either."""


MEASURES: Registry[MeasureSpec] = Registry(
    "measures",
    {
        "dark-current": "umpirical.measures.dark_current:SPEC",
        "raw-false-preference": "umpirical.measures.raw_false_preference:SPEC",
        "stable-cross-sensitivity": "umpirical.measures.stable_cross_sensitivity:SPEC",
        "positional-false-preference": "umpirical.measures.positional_false_preference:SPEC",
        "one-sided-commit": "umpirical.measures.one_sided_commit:SPEC",
        "no-preference": "umpirical.measures.no_preference:SPEC",
        "one-sided-slot": "umpirical.measures.one_sided_slot:SPEC",
        "one-sided-content": "umpirical.measures.one_sided_content:SPEC",
        "slot-1-rate": "umpirical.measures.slot_1_rate:SPEC",
        "slot-2-rate": "umpirical.measures.slot_2_rate:SPEC",
        "excess-stable": "umpirical.measures.excess_stable:SPEC",
        "excess-positional": "umpirical.measures.excess_positional:SPEC",
        "target-sensitivity": "umpirical.measures.target_sensitivity:SPEC",
        "tie-rate": "umpirical.measures.tie_rate:SPEC",
        "wrong-choice-rate": "umpirical.measures.wrong_choice_rate:SPEC",
        "committed-accuracy": "umpirical.measures.committed_accuracy:SPEC",
        "detection-threshold": "umpirical.measures.detection_threshold:SPEC",
        "model-threshold": "umpirical.measures.model_threshold:SPEC",
        "resolution": "umpirical.measures.resolution:SPEC",
        "criterion": "umpirical.measures.criterion:SPEC",
        "slot-bias": "umpirical.measures.slot_bias:SPEC",
        "surface-sensitivity": "umpirical.measures.surface_sensitivity:SPEC",
        "length-weight": "umpirical.measures.length_weight:SPEC",
        "lapse": "umpirical.measures.lapse:SPEC",
        "goodness-of-fit": "umpirical.measures.goodness_of_fit:SPEC",
        "d-prime": "umpirical.measures.d_prime:SPEC",
        "criterion-shift": "umpirical.measures.criterion_shift:SPEC",
        "criterion-shift-test": "umpirical.measures.criterion_shift_test:SPEC",
        "sensitivity-shift": "umpirical.measures.sensitivity_shift:SPEC",
        "resolution-shift": "umpirical.measures.resolution_shift:SPEC",
        "length-preference": "umpirical.measures.length_preference:SPEC",
        "conflict-loss": "umpirical.measures.conflict_loss:SPEC",
        "conflict-excess": "umpirical.measures.conflict_excess:SPEC",
        "requirement-weight": "umpirical.measures.requirement_weight:SPEC",
        "requirement-weight-ratio": "umpirical.measures.requirement_weight_ratio:SPEC",
        "requirement-weight-test": "umpirical.measures.requirement_weight_test:SPEC",
        "carrier-sensitivity": "umpirical.measures.carrier_sensitivity:SPEC",
        "carrier-false-preference": "umpirical.measures.carrier_false_preference:SPEC",
        "flip-rate": "umpirical.measures.flip_rate:SPEC",
        "grade-spread": "umpirical.measures.grade_spread:SPEC",
        "grade-concordance": "umpirical.measures.grade_order:SPEC",
        "grade-slope": "umpirical.measures.grade_slope:SPEC",
        "effective-grades": "umpirical.measures.grade_levels:SPEC",
        "grades-used": "umpirical.measures.grades_used:SPEC",
        "change-rate": "umpirical.measures.change_rate:SPEC",
        "excess-change": "umpirical.measures.excess_change:SPEC",
        "grade-shift": "umpirical.measures.grade_shift:SPEC",
        "shift-equivalence": "umpirical.measures.shift_equivalence:SPEC",
        "flip-detection": "umpirical.measures.flip_detection:SPEC",
        "right-on-both": "umpirical.measures.right_on_both:SPEC",
        "verdict-entropy": "umpirical.measures.verdict_entropy:SPEC",
        "modal-share": "umpirical.measures.modal_share:SPEC",
        "repeat-icc": "umpirical.measures.repeat_icc:SPEC",
        "accuracy": "umpirical.measures.accuracy:SPEC",
        "within-one": "umpirical.measures.within_one:SPEC",
        "mean-absolute-error": "umpirical.measures.mean_absolute_error:SPEC",
        "grade-bias": "umpirical.measures.grade_bias:SPEC",
        "weighted-kappa": "umpirical.measures.weighted_kappa:SPEC",
        "agreement-ccc": "umpirical.measures.agreement_ccc:SPEC",
        "pearson": "umpirical.measures.pearson:SPEC",
        "spearman": "umpirical.measures.spearman:SPEC",
        "krippendorff-alpha": "umpirical.measures.krippendorff_alpha:SPEC",
        "severity": "umpirical.measures.severity:SPEC",
        "compression": "umpirical.measures.compression:SPEC",
        "false-positive-rate": "umpirical.measures.false_positive_rate:SPEC",
        "false-negative-rate": "umpirical.measures.false_negative_rate:SPEC",
        "balanced-accuracy": "umpirical.measures.balanced_accuracy:SPEC",
        "mcc": "umpirical.measures.mcc:SPEC",
        "abstention-rate": "umpirical.measures.abstention_rate:SPEC",
        "unparsed-rate": "umpirical.measures.unparsed_rate:SPEC",
        "failure-rate": "umpirical.measures.failure_rate:SPEC",
    },
)


def measure_all(tallies: Tallies) -> list[tuple[MeasureSpec, Measure]]:
    """Every measure for this kind of judge on every arm, in the order of the registry."""
    kind: JudgeKind = "grade" if tallies.grade_pairs or tallies.grades else "compare"
    protocol: Protocol = "datasheet"
    if tallies.scale is not None:
        kind, protocol = "grade", "stress"
    specs = [spec for spec in MEASURES if kind in spec.kinds and protocol in spec.protocols]
    return [(spec, measure) for arm in tallies.arms() for spec in specs for measure in spec.compute(tallies, arm)]
