"""What every part of Umpirical knows of a measure, and the list of all measures."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from umpirical.domain.measures import Measure
from umpirical.domain.scales import JudgeKind
from umpirical.domain.tallies import Tallies
from umpirical.registry import Registry

EVERY_PROTOCOL = "*"
"""In place of a protocol's name: for those that exist, and those that plugins bring."""

Scale = Literal["rate", "difference", "requirements", "latent", "steps", "p-value", "ratio", "bits", "coefficient"]
"""A share from 0 to 1; a difference of shares; a number of requirements; a number of standard deviations of the
judge's noise; a number of grades; a probability under a null hypothesis; a ratio of weights or of steps; bits of
entropy; a coefficient of agreement or correlation, 1 at best."""


@dataclass(frozen=True, slots=True)
class MeasureSpec:
    """One kind of measure: its name, what it says, and how it is computed."""

    name: str
    title: str
    about: str
    """What it measures, in one sentence for the datasheet."""
    worse: Literal["higher", "lower", "depends"]
    compute: Callable[[Tallies, str], Sequence[Measure]]
    """Takes a run's tallies and the name of an arm; gives one measure for each part of the design it is about."""
    scale: Scale = "rate"
    """What kind of number it is, which decides how reports write it."""
    kinds: tuple[JudgeKind, ...] = ("compare",)
    """The kinds of judges it says something about; for others it is not computed."""
    protocols: tuple[str, ...] = ("datasheet",)
    """Names of the protocols whose runs it measures: `datasheet` (controlled stimuli), `stress` (tests on the user's
    own data), `agent` (transcripts), `pairs` (labelled pairs), that of a plugin, or EVERY_PROTOCOL."""
    between_arms: bool = False
    """It compares an arm with the baseline, so the baseline itself has none."""
    symbol: str = ""
    """What the Dark Current paper calls it; empty for a measure that the paper does not have."""
    symbol_above_0: str = ""
    """What the paper calls it on a ladder step, where that has a name of its own."""

    def symbol_at(self, stratum: str) -> str:
        """Returns the paper's symbol for one part of the design."""
        return self.symbol_above_0 if self.symbol_above_0 and stratum not in ("", "0") else self.symbol

    def is_for(self, kind: JudgeKind, protocol: str) -> bool:
        """Whether it says something about judges of that kind under that protocol."""
        return kind in self.kinds and (protocol in self.protocols or EVERY_PROTOCOL in self.protocols)


MEASURES: Registry[MeasureSpec] = Registry(
    "measures",
    {
        "dark-current": "umpirical.measures.pairs.dark_current:SPEC",
        "raw-false-preference": "umpirical.measures.pairs.raw_false_preference:SPEC",
        "stable-cross-sensitivity": "umpirical.measures.pairs.stable_cross_sensitivity:SPEC",
        "unlocked-cross-sensitivity": "umpirical.measures.pairs.unlocked_cross_sensitivity:SPEC",
        "positional-false-preference": "umpirical.measures.pairs.positional_false_preference:SPEC",
        "one-sided-commit": "umpirical.measures.pairs.one_sided_commit:SPEC",
        "other-conflict": "umpirical.measures.pairs.other_conflict:SPEC",
        "no-preference": "umpirical.measures.pairs.no_preference:SPEC",
        "one-sided-slot": "umpirical.measures.pairs.one_sided_slot:SPEC",
        "one-sided-content": "umpirical.measures.pairs.one_sided_content:SPEC",
        "slot-1-rate": "umpirical.measures.pairs.slot_1_rate:SPEC",
        "slot-2-rate": "umpirical.measures.pairs.slot_2_rate:SPEC",
        "slot-effect": "umpirical.measures.layout.slot_effect:SPEC",
        "label-effect": "umpirical.measures.layout.label_effect:SPEC",
        "list-effect": "umpirical.measures.layout.list_effect:SPEC",
        "tie-place-effect": "umpirical.measures.layout.tie_place_effect:SPEC",
        "excess-stable": "umpirical.measures.pairs.excess_stable:SPEC",
        "excess-positional": "umpirical.measures.pairs.excess_positional:SPEC",
        "target-sensitivity": "umpirical.measures.pairs.target_sensitivity:SPEC",
        "both-orders-sensitivity": "umpirical.measures.pairs.both_orders_sensitivity:SPEC",
        "tie-rate": "umpirical.measures.pairs.tie_rate:SPEC",
        "wrong-choice-rate": "umpirical.measures.pairs.wrong_choice_rate:SPEC",
        "committed-accuracy": "umpirical.measures.pairs.committed_accuracy:SPEC",
        "detection-threshold": "umpirical.measures.pairs.detection_threshold:SPEC",
        "task-following": "umpirical.measures.quads.task_following:SPEC",
        "task-blind-preference": "umpirical.measures.quads.task_blind_preference:SPEC",
        "task-reversal": "umpirical.measures.quads.task_reversal:SPEC",
        "one-version-preference": "umpirical.measures.quads.one_version_preference:SPEC",
        "neither-version-preference": "umpirical.measures.quads.neither_version_preference:SPEC",
        "text-appeal": "umpirical.measures.quads.text_appeal:SPEC",
        "figure-sensitivity": "umpirical.measures.pairs.figure_sensitivity:SPEC",
        "figure-following": "umpirical.measures.quads.figure_following:SPEC",
        "figure-blind-preference": "umpirical.measures.quads.figure_blind_preference:SPEC",
        "model-threshold": "umpirical.measures.signal.model_threshold:SPEC",
        "resolution": "umpirical.measures.signal.resolution:SPEC",
        "criterion": "umpirical.measures.signal.criterion:SPEC",
        "slot-bias": "umpirical.measures.signal.slot_bias:SPEC",
        "surface-sensitivity": "umpirical.measures.signal.surface_sensitivity:SPEC",
        "length-weight": "umpirical.measures.signal.length_weight:SPEC",
        "lapse": "umpirical.measures.signal.lapse:SPEC",
        "goodness-of-fit": "umpirical.measures.signal.goodness_of_fit:SPEC",
        "d-prime": "umpirical.measures.signal.d_prime:SPEC",
        "criterion-shift": "umpirical.measures.pairs.criterion_shift:SPEC",
        "criterion-shift-test": "umpirical.measures.pairs.criterion_shift_test:SPEC",
        "sensitivity-shift": "umpirical.measures.pairs.sensitivity_shift:SPEC",
        "resolution-shift": "umpirical.measures.signal.resolution_shift:SPEC",
        "length-preference": "umpirical.measures.pairs.length_preference:SPEC",
        "conflict-loss": "umpirical.measures.pairs.conflict_loss:SPEC",
        "conflict-excess": "umpirical.measures.pairs.conflict_excess:SPEC",
        "requirement-weight": "umpirical.measures.pairs.requirement_weight:SPEC",
        "requirement-weight-ratio": "umpirical.measures.pairs.requirement_weight_ratio:SPEC",
        "requirement-weight-test": "umpirical.measures.pairs.requirement_weight_test:SPEC",
        "carrier-sensitivity": "umpirical.measures.pairs.carrier_sensitivity:SPEC",
        "carrier-false-preference": "umpirical.measures.pairs.carrier_false_preference:SPEC",
        "carrier-following": "umpirical.measures.quads.carrier_following:SPEC",
        "carrier-blind-preference": "umpirical.measures.quads.carrier_blind_preference:SPEC",
        "flip-rate": "umpirical.measures.repeats.flip_rate:SPEC",
        "grade-spread": "umpirical.measures.grades.grade_spread:SPEC",
        "grade-concordance": "umpirical.measures.grades.grade_concordance:SPEC",
        "grade-slope": "umpirical.measures.grades.grade_slope:SPEC",
        "effective-grades": "umpirical.measures.grades.effective_grades:SPEC",
        "grades-used": "umpirical.measures.grades.grades_used:SPEC",
        "change-rate": "umpirical.measures.changes.change_rate:SPEC",
        "excess-change": "umpirical.measures.changes.excess_change:SPEC",
        "grade-shift": "umpirical.measures.changes.grade_shift:SPEC",
        "shift-equivalence": "umpirical.measures.changes.shift_equivalence:SPEC",
        "flip-detection": "umpirical.measures.changes.flip_detection:SPEC",
        "right-on-both": "umpirical.measures.changes.right_on_both:SPEC",
        "violation-detection": "umpirical.measures.policies.violation_detection:SPEC",
        "false-alarm": "umpirical.measures.policies.false_alarm:SPEC",
        "noticed-edit": "umpirical.measures.policies.noticed_edit:SPEC",
        "policy-following": "umpirical.measures.policies.policy_following:SPEC",
        "policy-blind-verdict": "umpirical.measures.policies.policy_blind_verdict:SPEC",
        "policy-sensitivity": "umpirical.measures.policies.policy_sensitivity:SPEC",
        "right-in-both-orders": "umpirical.measures.policies.right_in_both_orders:SPEC",
        "wrong-in-both-orders": "umpirical.measures.policies.wrong_in_both_orders:SPEC",
        "positional-preference": "umpirical.measures.policies.positional_preference:SPEC",
        "one-order-preference": "umpirical.measures.policies.one_order_preference:SPEC",
        "neither-order-preference": "umpirical.measures.policies.neither_order_preference:SPEC",
        "policy-blind-preference": "umpirical.measures.policies.policy_blind_preference:SPEC",
        "policy-reversal": "umpirical.measures.policies.policy_reversal:SPEC",
        "one-policy-preference": "umpirical.measures.policies.one_policy_preference:SPEC",
        "neither-policy-preference": "umpirical.measures.policies.neither_policy_preference:SPEC",
        "both-orders-accuracy": "umpirical.measures.labelled.both_orders_accuracy:SPEC",
        "both-orders-error": "umpirical.measures.labelled.both_orders_error:SPEC",
        "same-answer-rate": "umpirical.measures.natural.same_answer_rate:SPEC",
        "same-slot-rate": "umpirical.measures.natural.same_slot_rate:SPEC",
        "one-order-rate": "umpirical.measures.natural.one_order_rate:SPEC",
        "no-winner-rate": "umpirical.measures.natural.no_winner_rate:SPEC",
        "named-slot-1-rate": "umpirical.measures.natural.named_slot_1_rate:SPEC",
        "named-slot-2-rate": "umpirical.measures.natural.named_slot_2_rate:SPEC",
        "single-order-accuracy": "umpirical.measures.labelled.single_order_accuracy:SPEC",
        "chosen-first-accuracy": "umpirical.measures.labelled.chosen_first_accuracy:SPEC",
        "chosen-second-accuracy": "umpirical.measures.labelled.chosen_second_accuracy:SPEC",
        "length-gap": "umpirical.measures.labelled.length_gap:SPEC",
        "edit-favour": "umpirical.measures.labelled.edit_favour:SPEC",
        "edit-disfavour": "umpirical.measures.labelled.edit_disfavour:SPEC",
        "edit-overturn": "umpirical.measures.labelled.edit_overturn:SPEC",
        "verdict-entropy": "umpirical.measures.repeats.verdict_entropy:SPEC",
        "modal-share": "umpirical.measures.repeats.modal_share:SPEC",
        "repeat-icc": "umpirical.measures.repeats.repeat_icc:SPEC",
        "accuracy": "umpirical.measures.gold.accuracy:SPEC",
        "within-one": "umpirical.measures.gold.within_one:SPEC",
        "mean-absolute-error": "umpirical.measures.gold.mean_absolute_error:SPEC",
        "grade-bias": "umpirical.measures.gold.grade_bias:SPEC",
        "weighted-kappa": "umpirical.measures.gold.weighted_kappa:SPEC",
        "agreement-ccc": "umpirical.measures.gold.agreement_ccc:SPEC",
        "pearson": "umpirical.measures.gold.pearson:SPEC",
        "spearman": "umpirical.measures.gold.spearman:SPEC",
        "krippendorff-alpha": "umpirical.measures.gold.krippendorff_alpha:SPEC",
        "severity": "umpirical.measures.gold.severity:SPEC",
        "compression": "umpirical.measures.gold.compression:SPEC",
        "false-positive-rate": "umpirical.measures.gold.false_positive_rate:SPEC",
        "false-negative-rate": "umpirical.measures.gold.false_negative_rate:SPEC",
        "balanced-accuracy": "umpirical.measures.gold.balanced_accuracy:SPEC",
        "mcc": "umpirical.measures.gold.mcc:SPEC",
        "abstention-rate": "umpirical.measures.calls.abstention_rate:SPEC",
        "unparsed-rate": "umpirical.measures.calls.unparsed_rate:SPEC",
        "failure-rate": "umpirical.measures.calls.failure_rate:SPEC",
        "reasoning-contradiction": "umpirical.measures.calls.reasoning_contradiction:SPEC",
    },
    noun="measure",
)


def measure_all(
    tallies: Tallies, *, kind: JudgeKind, protocol: str, only: Collection[str] | None = None
) -> list[tuple[MeasureSpec, Measure]]:
    """Every measure for this kind of judge under this protocol, arm by arm, in the order of the registry.

    `only` are the names of those to compute, for whoever needs but a few: to fit the signal model takes seconds.
    """
    specs = [spec for spec in MEASURES if spec.is_for(kind, protocol) and (only is None or spec.name in only)]
    return [(spec, measure) for arm in tallies.arms() for spec in specs for measure in spec.compute(tallies, arm)]
