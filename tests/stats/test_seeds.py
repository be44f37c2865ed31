"""Randomness by name."""

from hashlib import blake2b

import numpy as np
from scipy.stats import kstest

from umpirical.stats.seeds import generator, normal, uniform


def test_a_draw_depends_on_seed_and_every_name_and_on_nothing_else():
    draws = {uniform(1, "a"), uniform(2, "a"), uniform(1, "b"), uniform(1, "a", "b"), uniform(1, "ab")}
    assert len(draws) == 5
    assert uniform(1, "a") == uniform(1, "a")
    assert uniform(1, "ab", "c") != uniform(1, "a", "bc")


def test_a_known_value_so_that_no_release_changes_published_stimuli_unseen():
    # By hand: each name with its length in front, hashed, read as a fraction.
    hashed = blake2b(b"1:15:known", digest_size=8).digest()
    assert uniform(1, "known") == (int.from_bytes(hashed, "big") + 0.5) / 2**64 == 0.13339386010819046
    assert generator(1, "known").integers(10**9) == 541785669


def test_draws_are_uniform_and_normal():
    names = [str(n) for n in range(5000)]
    assert kstest([uniform(3, name) for name in names], "uniform").pvalue > 0.001
    assert kstest([normal(3, name) for name in names], "norm").pvalue > 0.001
    assert abs(np.corrcoef([normal(3, n) for n in names], [normal(4, n) for n in names])[0, 1]) < 0.05
