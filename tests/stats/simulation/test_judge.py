"""The latent rule: its formulas against brute-force simulation, and the paper's identity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.recovery.sampling import sample_choices
from umpirical.stats.simulation.judge import LatentJudge, correct_rate, dark_current, decomposition, tie_rate

JUDGES = {
    "clean": LatentJudge(2.7, 1.13, 0.35, 0.15, 0.005, 3.0),
    "positional": LatentJudge(0.35, 0.05, 2.2, 0.3, 0.01, 0.45),
    "cross-sensitive": LatentJudge(1.5, 0.6, 0.2, 2.0, 0.01, 2.5),
    "coin": LatentJudge(0.0, 0.0, vacuum_criterion=0.0),
}

latent_judges = st.builds(
    LatentJudge,
    resolution=st.floats(0, 4),
    criterion=st.floats(0, 3),
    slot_bias=st.floats(-2, 2),
    surface=st.floats(0, 3),
    lapse=st.floats(0, 0.3),
)


@given(latent_judges)
def test_the_four_shares_are_everything_and_equation_7_holds(judge):
    shares = decomposition(judge)
    parts = (shares.stable, shares.positional, shares.one_sided, shares.no_preference)
    assert sum(parts) == pytest.approx(1, abs=1e-12)
    assert 1 - shares.raw_false_preference == pytest.approx(float(tie_rate(judge, 0.0)), abs=1e-6)


@given(latent_judges)
def test_correct_tie_and_wrong_are_everything(judge):
    wrong = correct_rate(judge, -2.0)
    assert float(correct_rate(judge, 2.0) + tie_rate(judge, 2.0) + wrong) == pytest.approx(1)


@pytest.mark.parametrize("name", JUDGES)
def test_formulas_agree_with_simulation(name):
    judge, pairs = JUDGES[name], 200_000
    rng = np.random.default_rng(11)
    one, two = sample_choices(judge, np.zeros(pairs), rng)
    shares = decomposition(judge)
    # Content: position 1 holds u in the first order and v in the second.
    simulated = {
        "stable": np.mean((one != 0) & (one == -two)),
        "positional": np.mean((one != 0) & (one == two)),
        "one_sided": np.mean((one != 0) ^ (two != 0)),
        "no_preference": np.mean((one == 0) & (two == 0)),
    }
    for share, value in simulated.items():
        assert value == pytest.approx(getattr(shares, share), abs=4.5 * 0.5 / np.sqrt(pairs)), share
    one, two = sample_choices(judge, np.full(pairs, 2.0), rng)
    assert np.mean([one == 1, two == -1]) == pytest.approx(float(correct_rate(judge, 2.0)), abs=0.005)
    x = judge.slot_bias + rng.standard_normal(pairs)
    hit = np.where(rng.random(pairs) < judge.lapse, rng.random(pairs) < 2 / 3, abs(x) > judge.vacuum_criterion)
    assert np.mean(hit) == pytest.approx(dark_current(judge), abs=0.005)
