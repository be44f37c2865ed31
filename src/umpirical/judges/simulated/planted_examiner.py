"""The values that a simulated examiner's measures should have on the texts of a design."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL
from umpirical.judges.simulated.examiner import Truth, grade_unit
from umpirical.judges.simulated.examiner_profiles import ExaminerProfile
from umpirical.judges.simulated.grader import grades_of
from umpirical.stats.simulation.examiner import (
    LatentExaminer,
    centre,
    grade_rates,
    joint_rates,
    length_pull,
    pull,
    repeat_rates,
)

Floats = NDArray[np.float64]

Values = dict[tuple[str, str], float]
"""Maps (measure, test) to the true value."""

REPEATED = ("stability", "seeds", "sampling")
"""Tests that ask about the originals again; to a simulated judge, another seed or temperature is just another call."""


def planted_examiner(profile: ExaminerProfile, scale: GradeScale, truths: Iterable[Truth]) -> Values:
    """Returns the true values of every test in the design, by summation over its labelled texts.

    Failures and unparsed answers are drawn independently of the content, so they change no value. On a scale without
    order, values that need one are left out. So is an undefined coefficient, such as that of a judge with one grade.
    """
    design: dict[str, list[Truth]] = {}
    for truth in truths:
        # The grade that an examiner draws for an item without a label is not a truth about it.
        if truth.level is None or truth.required is None:
            continue
        design.setdefault(truth.test, []).append(truth)
    items = {truth.item for truth in design.get(ORIGINAL, [])}
    values: Values = {("unparsed-rate", ""): profile.unparsed_rate, ("failure-rate", ""): profile.failure_rate}
    for test, texts in design.items():
        whole = _texts(texts, profile.latent, scale)
        values |= _keyed(test, _against_gold(whole, scale))
        made = [truth for truth in texts if truth.item in items]
        if test == ORIGINAL:
            repeated = {"flip-rate": _rate(whole, 1 - _alike(_repeats(whole)))}
            values |= {key: value for name in REPEATED for key, value in _keyed(name, repeated).items()}
        elif made:
            values |= _keyed(test, _changes(_texts(made, profile.latent, scale), scale))
    return values


class _Texts(NamedTuple):
    """Texts of one test, with equal ones combined. Grades are numbered from 0."""

    latent: LatentExaminer
    level: Floats
    required: Floats
    weight: Floats
    """Shares of all texts."""
    original: Floats
    """Place of the original."""
    changed: Floats
    """Place of the text itself, for a judge that sees what it requires."""
    unseen: Floats
    """Place of the text itself, for a judge that is blind to the flip."""
    scatter: float
    grades: int


def _texts(truths: list[Truth], latent: LatentExaminer, scale: GradeScale) -> _Texts:
    rows = np.array([(truth.level, truth.required, truth.words_ratio) for truth in truths])
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    level, required, ratio = kinds[:, 0] / grade_unit(scale), kinds[:, 1] / grade_unit(scale), kinds[:, 2]
    grades = len(grades_of(scale))
    # All of them were made by one test.
    shift, scatter = pull(latent, truths[0].kind)
    lifted = length_pull(latent, ratio) + shift
    original = centre(latent, level, grades=grades)
    changed = centre(latent, required, grades=grades) + lifted
    weight = counts / len(truths)
    return _Texts(latent, level, required, weight, original, changed, original + lifted, scatter, grades)


def _mean(texts: _Texts, values: Floats) -> float:
    return float(texts.weight @ values)


def _rate(texts: _Texts, values: Floats) -> float:
    """Returns a share of the texts, clipped so that rounding does not carry it beyond 0 or 1."""
    return min(1.0, max(0.0, _mean(texts, values)))


def _repeats(texts: _Texts) -> Floats:
    """Returns the joint distribution of two calls about the original."""
    return repeat_rates(texts.latent, texts.original, grades=texts.grades)


def _changed_repeats(texts: _Texts) -> Floats:
    """Returns the joint distribution of two calls about one changed text."""
    return repeat_rates(texts.latent, texts.changed, grades=texts.grades, scatter=texts.scatter)


def _pairs(texts: _Texts) -> Floats:
    """Returns the joint distribution of a call about the original and one about the text made from it."""
    seen, unseen = (
        joint_rates(texts.latent, texts.original, place, grades=texts.grades, scatter=texts.scatter)
        for place in (texts.changed, texts.unseen)
    )
    blind = texts.latent.flip_blindness
    return (1 - blind) * seen + blind * unseen


def _alike(joint: Floats) -> Floats:
    return np.asarray(np.trace(joint, axis1=1, axis2=2))


def _changes(texts: _Texts, scale: GradeScale) -> dict[str, float]:
    joint = _pairs(texts)
    steps = np.arange(texts.grades, dtype=float)
    before, after = steps[:, None], steps
    difference = after - before
    if not (texts.level != texts.required).any():
        changed = 1 - _alike(joint)
        noise = 1 - (_alike(_repeats(texts)) + _alike(_changed_repeats(texts))) / 2
        excess = changed - noise
        values = {"change-rate": _rate(texts, changed), "excess-change": _mean(texts, excess)}
        if scale.kind != "nominal":
            shift = grade_unit(scale) * _mean(texts, (joint * difference).sum(axis=(1, 2)))
            values |= {"grade-shift": shift, "shift-equivalence": shift}
        return values
    first, second = (value[:, None, None] for value in (texts.level, texts.required))
    right = (_same(before, first) & _same(after, second)) * joint
    moved = np.sign(difference) == np.sign(second - first)
    if scale.kind == "nominal":
        moved = _same(after, second) & ~_same(before, second)
    rates = {"flip-detection": moved * joint, "right-on-both": right}
    return {name: _rate(texts, rate.sum(axis=(1, 2))) for name, rate in rates.items()}


def _against_gold(texts: _Texts, scale: GradeScale) -> dict[str, float]:
    seen, unseen = (
        grade_rates(texts.latent, place, grades=texts.grades, scatter=texts.scatter)
        for place in (texts.changed, texts.unseen)
    )
    blind = texts.latent.flip_blindness
    rates = (1 - blind) * seen + blind * unseen
    steps, gold = np.arange(texts.grades, dtype=float), texts.required
    error, unit = steps - gold[:, None], grade_unit(scale)
    values = {"accuracy": _rate(texts, (rates * _same(steps, gold[:, None])).sum(axis=1))}
    if scale.kind == "nominal":
        return values
    values |= {
        "mean-absolute-error": unit * _mean(texts, (rates * np.abs(error)).sum(axis=1)),
        "grade-bias": unit * _mean(texts, (rates * error).sum(axis=1)),
    }
    if scale.kind != "binary":
        values["within-one"] = _rate(texts, (rates * (unit * np.abs(error) <= 1 + 1e-9)).sum(axis=1))
    return values | _coefficients(texts, rates, unit)


def _coefficients(texts: _Texts, rates: Floats, unit: float) -> dict[str, float]:
    """Returns the coefficients that follow from the first two moments of gold and given grades."""
    steps, gold = np.arange(texts.grades), texts.required
    mean_gold, mean_given = _mean(texts, gold), _mean(texts, rates @ steps)
    spread_gold = _mean(texts, (gold - mean_gold) ** 2)
    spread_given = _mean(texts, rates @ (steps - mean_given) ** 2)
    together = _mean(texts, (gold - mean_gold) * (rates @ steps))
    values: dict[str, float] = {}
    apart = spread_gold + spread_given + (mean_gold - mean_given) ** 2
    if apart > 1e-12:
        # Kappa with quadratic weights equals Lin's coefficient of the same two sets of grades.
        values |= dict.fromkeys(("weighted-kappa", "agreement-ccc"), 2 * together / apart)
    if min(spread_gold, spread_given) > 1e-12:
        values["pearson"] = together / float(np.sqrt(spread_gold * spread_given))
    if spread_gold > 1e-12:
        slope, middle = together / spread_gold, (texts.grades - 1) / 2
        fitted = mean_given + slope * (middle - mean_gold)
        values |= {"compression": slope, "severity": unit * (fitted - middle)}
    return values


def _same(grades: Floats, right: Floats) -> NDArray[np.bool_]:
    """Compares grades; on an interval scale, a gold label between two grades equals neither."""
    return np.asarray(np.abs(grades - right) < 1e-9)


def _keyed(test: str, values: dict[str, float]) -> Values:
    return {(name, test): value for name, value in values.items()}
