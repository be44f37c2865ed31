"""How a simulated judge grades: the latent rule, read from the prompt."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from umpirical.domain.scales import GradeScale
from umpirical.judges.prompt import builtin_prompt
from umpirical.judges.simulated.profiles import DETAIL, GraderProfile, Profile, call_noise
from umpirical.stats.isotonic import threshold
from umpirical.stats.repeats import effective_number
from umpirical.stats.seeds import normal, uniform
from umpirical.stats.simulation import grader as grading
from umpirical.stats.simulation.grader import centre, cut_points
from umpirical.stats.simulation.judge import (
    LatentJudge,
    correct_rate,
    dark_current,
    decomposition,
    slot_rates,
    tie_rate,
)

ORDER = r"(?:lowest first|in no order)"
"""How the built-in grade prompts state the order of the labels."""

SHOWN_ALONE = re.compile(
    r"\A(?P<task>.*?)\[answer, (?P<fence>[0-9a-f]+)\]\n(?P<answer>.*?)\n\[end of answer, (?P=fence)\].*"
    rf"on this scale, {ORDER}: (?P<scale>.+)\. If you cannot judge",
    re.DOTALL,
)

_RANGE = re.compile(r"a number from (?P<low>\S+) to (?P<high>\S+)")

WHOLE_GRADES = 100
"""On an interval scale of at most this many units, a simulated judge gives whole numbers; on others, 11 values."""


class Grader:
    """Answers the built-in grade prompt."""

    def __init__(self, profile: GraderProfile, answer_key: Callable[[str, str], float], seed: int) -> None:
        self._profile = profile
        self._answer_key = answer_key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        shown = SHOWN_ALONE.match(prompt)
        if shown is None:
            raise ValueError("a simulated grade judge works only with the built-in grade prompt")
        grades = grades_of(described_scale(shown["scale"]))
        return json.dumps({"grade": grades[self._grade(shown, prompt, trial_id, len(grades))]})

    def _grade(self, shown: re.Match[str], prompt: str, trial_id: str, grades: int) -> int:
        latent = self._profile.latent
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return int(uniform(self._seed, "guess", trial_id) * grades)
        noise = call_noise(self._seed, prompt, trial_id, frozen=self._profile.frozen_noise)
        place = self._place(shown["task"], shown["answer"]) + latent.noise * noise
        return bisect_right(cut_points(grades).tolist(), place)

    def _place(self, task: str, answer: str) -> float:
        """Returns where an answer lies on the scale, before the call's noise."""
        latent, profile = self._profile.latent, self._profile
        shift = profile.leniency_spread * normal(self._seed, "leniency", task)
        if not answer.strip():
            return latent.blank + shift
        gain = latent.gain * math.exp(profile.gain_spread * normal(self._seed, "gain", task))
        surface = latent.surface * normal(self._seed, "surface", answer)
        return float(centre(replace(latent, gain=gain), self._answer_key(task, answer))) + shift + surface


def grades_of(scale: GradeScale) -> list[str | float]:
    """Returns the grades that a simulated judge gives, evenly spaced, lowest first."""
    if scale.kind != "interval":
        return list(scale.labels)
    low, high = float(scale.low or 0.0), float(scale.high or 0.0)
    steps = int(high - low) if 2 <= high - low <= WHOLE_GRADES and (high - low).is_integer() else 10
    return [low + (high - low) * step / steps for step in range(steps + 1)]


def grade_unit(scale: GradeScale) -> float:
    """Returns the steps between neighbouring grades: one, unless an interval scale is divided differently."""
    first, second = (grade if isinstance(grade, float) else None for grade in grades_of(scale)[:2])
    return 1.0 if first is None or second is None else second - first


@lru_cache(maxsize=64)
def described_scale(text: str) -> GradeScale:
    """Parses a scale from a prompt's description. It does not say whether labels have an order; none is needed here."""
    if (found := _RANGE.fullmatch(text)) is not None:
        return GradeScale("interval", low=float(found["low"]), high=float(found["high"]))
    return GradeScale("ordinal", tuple(text.removeprefix('"').removesuffix('"').split('", "')))


# How a simulated judge compares: the latent rule, read from the prompt.


SHOWN = re.compile(
    r"\A(?P<task>.*?)\[candidate (?P<label_1>\w+), (?P<fence>[0-9a-f]+)\]\n(?P<first>.*?)\n"
    r"\[end of candidate (?P=label_1), (?P=fence)\]\n\n"
    r"\[candidate (?P<label_2>\w+), (?P=fence)\]\n(?P<second>.*?)\n\[end of candidate (?P=label_2), (?P=fence)\]",
    re.DOTALL,
)

VARIANTS = ("strict", "forced-choice", *DETAIL)
"""Built-in instructions that may matter; any other prompt is treated as the baseline."""

CHOICES = ("1", "2", "tie")


class Comparer:
    """Answers the built-in compare prompts."""

    def __init__(self, profile: Profile, answer_key: Callable[[str, str], float], seed: int) -> None:
        self._profile = profile
        self._answer_key = answer_key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        return json.dumps({"verdict": _words(prompt)[self._verdict(prompt, trial_id)]})

    def probabilities(self, prompt: str) -> dict[str, float]:
        """Returns how likely each word is over all noise, like the log-probabilities of a model's text."""
        latent, x, criterion = self._weighed(prompt)
        first, second = (float(rate) for rate in slot_rates(latent, x, criterion=criterion))
        words = _words(prompt)
        shares = zip(CHOICES, (first, second, max(0.0, 1 - first - second)), strict=True)
        return {words[choice]: share for choice, share in shares}

    def _verdict(self, prompt: str, trial_id: str) -> str:
        latent, x, criterion = self._weighed(prompt)
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return CHOICES[int(uniform(self._seed, "guess", trial_id) * 3)]
        x += call_noise(self._seed, prompt, trial_id, frozen=self._profile.frozen_noise)
        return "1" if x > criterion else "2" if x < -criterion else "tie"

    def _weighed(self, prompt: str) -> tuple[LatentJudge, float, float]:
        """Returns the judge under the prompt's instruction, the evidence for position 1, and the criterion."""
        shown = _shown(prompt)
        variant, task = _instruction(shown["task"])
        first, second, latent = shown["first"], shown["second"], self._profile.under(variant)
        x = self._evidence(latent, task, first, second) + latent.slot_bias
        return latent, x, self._criterion(latent, variant, task, blank=_vacuum(first, second))

    def _evidence(self, latent: LatentJudge, task: str, first: str, second: str) -> float:
        if _vacuum(first, second):
            return 0.0
        low, high = sorted([first, second])
        surface = latent.surface * normal(self._seed, "surface", low, high) * (1 if first == low else -1)
        spread = self._profile.resolution_spread
        resolution = latent.resolution * math.exp(spread * normal(self._seed, "resolution", task))
        quality = resolution * (self._answer_key(task, first) - self._answer_key(task, second))
        length = latent.length_weight * math.log((len(first) or 1) / (len(second) or 1))
        return quality + surface + length

    def _criterion(self, latent: LatentJudge, variant: str, task: str, *, blank: bool) -> float:
        if variant == "forced-choice":
            return 0.0
        shift = self._profile.criterion_spread * normal(self._seed, "criterion", task)
        # Below zero, both positions would win at once.
        return max(0.0, (latent.vacuum_criterion if blank else latent.criterion) + shift)


def read_compared(prompt: str) -> tuple[str, str, str, dict[str, str]]:
    """Returns what a prompt says before its candidates, both candidates, and the word for each choice."""
    shown = _shown(prompt)
    return shown["task"], shown["first"], shown["second"], _words(prompt)


def _shown(prompt: str) -> re.Match[str]:
    shown = SHOWN.match(prompt)
    if shown is None:
        raise ValueError("a simulated compare judge works only with the built-in compare prompts")
    return shown


def _words(prompt: str) -> dict[str, str]:
    """Maps each choice to the word for it: a simulated judge sees positions, and calls them as the prompt does."""
    shown = _shown(prompt)
    return {"1": shown["label_1"], "2": shown["label_2"], "tie": "tie"}


def _instruction(text: str) -> tuple[str, str]:
    """Returns the variant whose built-in instruction begins the prompt, and the task, the same in every variant."""
    for variant, head in _instructions().items():
        if text.startswith(head):
            return variant, text.removeprefix(head)
    return "baseline", text


@cache
def _instructions() -> dict[str, str]:
    prompts = {"baseline": "compare", **{variant: f"compare-{variant}" for variant in VARIANTS}}
    return {variant: builtin_prompt(name).partition("{{task}}")[0] for variant, name in prompts.items()}


def _vacuum(first: str, second: str) -> bool:
    return first == second or not (first.strip() or second.strip())


# The values that a simulated judge's measures should have.


Values = dict[tuple[str, str], float]
"""Maps (measure, stratum) to the true value."""


class GradedPair(NamedTuple):
    """Two answers of the design, each graded separately."""

    cluster: str
    base: float
    """Quality of the lesser answer."""
    delta: float


def true_values(
    profile: Profile, steps: Sequence[float], variant: str = "baseline", *, fine: Sequence[float] = ()
) -> Values:
    """Returns the true values of a judge that compares, under an instruction, for a profile with one resolution.

    Failures and unparsed answers are drawn independently of the content, so they change no other value. Rates are means
    over tasks, whose criteria may differ. The detection threshold is the crossing of the true curve as measured: at the
    ladder's steps, joined by straight lines; a value beyond the ladder's ends is left out.
    """
    latent, every = profile.under(variant), sorted({*steps, *fine})
    values = _mean_rates(latent, profile.criterion_spread, (0.0, *steps), every) | _trouble(profile)
    correct = [values.pop(("correct", f"{step:g}")) for step in every]
    by_step = dict(zip(every, correct, strict=True))
    values |= {("target-sensitivity", f"{step:g}"): by_step[step] for step in steps}
    values |= {("fine-sensitivity", f"{step:g}"): by_step[step] for step in fine}
    if not profile.criterion_spread:
        # The signal model has one criterion for all tasks.
        values |= {
            ("resolution", ""): latent.resolution,
            ("criterion", ""): latent.criterion,
            ("slot-bias", ""): latent.slot_bias,
            ("surface-sensitivity", ""): latent.surface,
        }
    return values | _crossing(every, correct)


def _mean_rates(latent: LatentJudge, spread: float, tied: Sequence[float], every: Sequence[float]) -> Values:
    """Returns the rates of a judge, averaged over tasks whose criteria have this standard deviation."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(41) if spread else (np.zeros(1), np.ones(1))
    mean: Values = {}
    for shift, weight in zip(spread * nodes, weights / weights.sum(), strict=True):
        criteria = (max(0.0, each + shift) for each in (latent.criterion, latent.vacuum_criterion))
        judge = replace(latent, **dict(zip(("criterion", "vacuum_criterion"), criteria, strict=True)))
        for key, rate in _rates(judge, tied, every).items():
            mean[key] = mean.get(key, 0.0) + float(weight) * rate
    return mean


def _rates(latent: LatentJudge, tied: Sequence[float], every: Sequence[float]) -> Values:
    shares = decomposition(latent)
    return {
        **_dark(dark_current(latent), "empty", "whitespace", "identical"),
        ("raw-false-preference", ""): shares.raw_false_preference,
        ("stable-cross-sensitivity", ""): shares.stable,
        ("positional-false-preference", ""): shares.positional,
        ("one-sided-commit", ""): shares.one_sided,
        ("no-preference", ""): shares.no_preference,
        **{("tie-rate", f"{step:g}"): float(rate) for step, rate in zip(tied, tie_rate(latent, tied), strict=True)},
        **{
            ("correct", f"{step:g}"): float(rate) for step, rate in zip(every, correct_rate(latent, every), strict=True)
        },
    }


def true_grades(
    profile: GraderProfile, scale: GradeScale, pairs: Sequence[GradedPair], fine: Sequence[GradedPair] = ()
) -> Values:
    """Returns the true values of a judge that grades, for a profile without task effects.

    `pairs` are those of equal quality and of the ladder: an answer's place on the scale decides whether a difference
    shows, so these values depend on the design.
    """
    latent, grades, unit = profile.latent, len(grades_of(scale)), grade_unit(scale)
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
    sizes = np.array([pair.delta for pair in fine])
    small = grading.pair_order(latent, np.array([pair.base for pair in fine]), sizes, grades=grades).higher
    for step in sorted(set(sizes.tolist())):
        values["fine-sensitivity", f"{step:g}"] = float(small[sizes == step].mean())
    sizes, higher = np.r_[sizes, delta[ladder]], np.r_[small, order.higher[ladder]]
    every = sorted(set(sizes.tolist()))
    values |= {("target-sensitivity", f"{step:g}"): float(order.higher[delta == step].mean()) for step in steps}
    return values | _crossing(every, [float(higher[sizes == step].mean()) for step in every])


def _dark(rate: float, *classes: str) -> Values:
    return {("dark-current", part): rate for part in ("", *classes)}


def _trouble(profile: Profile | GraderProfile) -> Values:
    return {("unparsed-rate", ""): profile.unparsed_rate, ("failure-rate", ""): profile.failure_rate}


def _crossing(steps: list[float], correct: list[float]) -> Values:
    """Where the curve of all steps reaches 75%, if it does between two of them."""
    crossing = threshold(steps, correct)
    return {("detection-threshold", ""): crossing.value} if crossing.censoring == "none" else {}
