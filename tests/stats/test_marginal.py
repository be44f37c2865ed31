"""d' and the criterion from two rates: by hand, recovered from known values, and at their edges."""

import pytest
from scipy.stats import norm

from umpirical.stats.signal_estimates import sensitivity


def test_tie_aware_sensitivity_by_hand():
    found = sensitivity(94, 100, named=31, equal_calls=120)
    c = -norm.ppf(31.5 / 121 / 2)
    assert found.criterion == pytest.approx(c)
    assert found.d_prime == pytest.approx(norm.ppf(94.5 / 101) + c)
    assert not found.ceiling


def test_tie_aware_sensitivity_recovers_what_was_true_value():
    mu, c, calls = 2.0, 1.2, 10_000_000
    hits, alarms = round(norm.sf(c - mu) * calls), round(2 * norm.sf(c) * calls)
    found = sensitivity(hits, calls, named=alarms, equal_calls=calls)
    assert (found.d_prime, found.criterion) == pytest.approx((mu, c), abs=1e-4)


@pytest.mark.parametrize(("correct", "named"), [(100, 31), (0, 31), (94, 0), (94, 120)])
def test_rates_of_0_and_1_are_flagged(correct, named):
    assert sensitivity(correct, 100, named=named, equal_calls=120).ceiling


def test_impossible_counts_are_refused():
    with pytest.raises(ValueError, match="are not consistent with 20 calls"):
        sensitivity(21, 20, named=0, equal_calls=10)
    with pytest.raises(ValueError, match="needs calls"):
        sensitivity(0, 0, named=0, equal_calls=10)
