"""Contrasts of two judges on the user's own items: by hand, against the measures themselves, and in simulation."""

import numpy as np
import pytest

from tests.recovery.stress_sampling import Design, Examiner, sample_stress, truths
from umpirical.domain.measures import Estimate
from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.measures.catalogue import measure_all
from umpirical.measures.contrasts import contrasts_between, item_rates
from umpirical.reports.significance import difference_p

ARM = "baseline"
SCALE = GradeScale(kind="ordinal", labels=("1", "2", "3"))
DESIGN = Design(shares=(0.2, 0.3, 0.3, 0.2), clusters=80, repeats=2)


def tallies(changed, *, given=("1", "2"), lost=0):
    """Two items: their change rates, and what they were given where 1 and 2 are right."""
    return Tallies(
        changes=tuple(
            ChangeTally(item, ARM, "typos", "", "same-verdict", 1, changed=share, incomplete=lost)
            for item, share in zip("ab", changed, strict=True)
        ),
        repeats=(RepeatTally("a", ARM, "stability", "", (("1", 1), ("2", 1)), (0.0, 1.0), 1, 2),),
        golds=tuple(
            GoldTally(item, ARM, "original", "", gold, label, float(gold), float(label) if label else None, 1.0)
            for item, gold, label in zip("ab", ("1", "2"), given, strict=True)
        ),
        scale=SCALE,
    )


def found(first, second):
    return {(one.measure.name, one.measure.stratum): one for one in contrasts_between(first, second, ARM, ARM)}


def test_each_is_the_second_less_the_first_on_the_items_that_both_answered():
    contrasts = found(tallies([0.0, 0.0]), tallies([0.5, 1.0], given=("2", "2")))
    assert contrasts["change-rate", "typos"].measure.result.value == pytest.approx(0.75)
    assert contrasts["accuracy", "original"].measure.result.value == pytest.approx(-0.5)
    assert contrasts["accuracy", "original"].measure.result.unit == "item"


def test_items_without_a_verdict_are_counted_and_are_no_wrong_answers():
    whole, holed = tallies([0.0, 0.0]), tallies([0.0, 0.0], given=("1", ""), lost=1)
    contrast = found(whole, holed)["accuracy", "original"]
    assert contrast.missing == (0.0, 0.5)
    assert found(whole, holed)["change-rate", "typos"].missing == (0.0, 0.5)
    assert not isinstance(contrast.measure.result, Estimate), "one item in common is no interval"


def test_numbers_are_compared_and_not_how_they_are_written():
    scale = GradeScale(kind="interval", low=0, high=10)
    golds = (GoldTally("a", ARM, "original", "", "5", "5.0", 5.0, 5.0, 1.0),)
    [rate] = item_rates(Tallies(golds=golds, scale=scale), ARM)
    assert rate.counts[0].numerator == 1


def test_every_rate_is_that_of_its_measure():
    drawn = sample_stress(Examiner(shift=0.6, blind=0.3), DESIGN, np.random.default_rng(4))
    own = {
        (one.name, one.stratum): one.result
        for _, one in measure_all(drawn, kind="grade", protocol="stress")
        if not one.group and isinstance(one.result, Estimate)
    }
    rates = list(item_rates(drawn, ARM))
    assert {rate.name for rate in rates} == {"change-rate", "flip-detection", "flip-rate", "accuracy"}
    for rate in rates:
        value = sum(count.numerator for count in rate.counts) / sum(count.denominator for count in rate.counts)
        assert value == pytest.approx(own[rate.name, rate.stratum].value), (rate.name, rate.stratum)


def repeated_contrasts(first, second, runs):
    rng = np.random.default_rng(11)
    for _ in range(runs):
        one, other = (sample_stress(examiner, DESIGN, rng) for examiner in (first, second))
        yield found(one, other)


@pytest.mark.parametrize("runs", [150, pytest.param(2_000, marks=pytest.mark.slow)])
def test_judges_that_are_alike_are_told_apart_in_one_test_of_twenty(runs):
    alike = Examiner(noise=0.8)
    alarms = {}
    for contrasts in repeated_contrasts(alike, alike, runs):
        for key, contrast in contrasts.items():
            if isinstance(contrast.measure.result, Estimate):
                p = difference_p(contrast.measure.result)
                alarms.setdefault(key, []).append(p is not None and p < 0.05)
    assert len(alarms) >= 4
    most = 0.06 if runs >= 2_000 else 0.12
    rates = {key: np.mean(each) for key, each in alarms.items()}
    assert all(rate <= most for rate in rates.values()), rates


@pytest.mark.parametrize("runs", [150, pytest.param(2_000, marks=pytest.mark.slow)])
def test_the_planted_difference_is_recovered_and_covered(runs):
    sound, swayed = Examiner(noise=0.6), Examiner(noise=0.6, shift=0.7, blind=0.4)
    before, after = truths(sound, DESIGN), truths(swayed, DESIGN)
    values, covered = {}, {}
    for contrasts in repeated_contrasts(sound, swayed, runs):
        for (name, test), contrast in contrasts.items():
            result = contrast.measure.result
            if (name, test) in before and isinstance(result, Estimate):
                truth = after[name, test] - before[name, test]
                values.setdefault((name, test), []).append(result.value - truth)
                covered.setdefault((name, test), []).append(result.interval.low <= truth <= result.interval.high)
    assert {"change-rate", "accuracy", "flip-detection"} <= {name for name, _ in values}
    for key, errors in values.items():
        assert abs(np.mean(errors)) < 3.5 * np.std(errors) / np.sqrt(len(errors)) + 1e-9, key
        assert np.mean(covered[key]) >= (0.93 if runs >= 2_000 else 0.9), (key, np.mean(covered[key]))
