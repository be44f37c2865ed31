"""Naming parts in which a judge fails: sound judges are almost never named a part, and failing ones are named theirs.

Runs are drawn all at once. Failures of the pairs of a family are correlated: each family has a rate of its own.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from scipy.special import betaincinv

from tests.protocols.datasheet.in_process import checks_of, count
from tests.stimuli.built import built
from umpirical.domain.stimuli import Family
from umpirical.measures.parts import LARGE
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.policy import EACH_PART

CORRELATION = 0.05
"""Assumed by the check."""

POLICY = preset("adjudication")
CHECKS = {check.measure: check.at_most for check in POLICY.compare if check.at == EACH_PART}
MISSED, REVERSED = CHECKS


class Plan(NamedTuple):
    """The pairs of a run that one measure counts: a cell is a family's pairs of one format."""

    pairs: np.ndarray
    """By cell."""
    family: np.ndarray
    """The family of each cell, by number."""
    parts: dict[str, np.ndarray]
    """The cells of each part."""


@cache
def plan(measure: str, size: str = "standard") -> Plan:
    cells: dict[tuple[str, str], int] = {}
    known: dict[tuple[str, str], dict[str, str]] = {}
    for stimulus in built(size):
        large = stimulus.family == Family.GRADED and stimulus.delta >= LARGE
        if stimulus.family in {Family.BLANK, Family.FINE} or (measure == MISSED and not large):
            continue
        listed = stimulus.stratum == "list" and stimulus.parts["format"] == "prose"
        kinds = stimulus.parts | ({"format": "list"} if listed else {})
        key = stimulus.cluster, kinds["format"]
        cells[key] = cells.get(key, 0) + 1
        known[key] = kinds
    families = sorted({family for family, _ in cells})
    names = sorted({f"{kind}={name}" for kinds in known.values() for kind, name in kinds.items()})
    return Plan(
        np.array(list(cells.values())),
        np.array([families.index(family) for family, _ in cells]),
        {
            name: np.array([known[key][name.partition("=")[0]] == name.partition("=")[2] for key in cells])
            for name in names
        },
    )


def drawn(plan: Plan, rates: np.ndarray, correlation: float, runs: int, rng: np.random.Generator) -> np.ndarray:
    """Failed pairs by run and cell. `rates` are those of the cells, and the same for all cells of a family."""
    if not correlation:
        return rng.binomial(plan.pairs, rates, (runs, len(rates)))
    _, first = np.unique(plan.family, return_index=True)
    scale = 1 / correlation - 1
    chances = rng.beta(rates[first] * scale, (1 - rates[first]) * scale, (runs, len(first)))
    return rng.binomial(plan.pairs, chances[:, plan.family])


def named(measure: str, plan: Plan, failed: np.ndarray) -> np.ndarray:
    """Which parts are named in each run: the bound of `reports/parts.py`, for all runs at once."""
    level = POLICY.refusing_level(POLICY.compare) / len(plan.parts)
    found = []
    for cells in plan.parts.values():
        sizes = np.bincount(plan.family[cells], plan.pairs[cells])
        effect = 1 + ((sizes**2).sum() / sizes.sum() - 1) * CORRELATION
        hits, units = failed[:, cells].sum(axis=1) / effect, sizes.sum() / effect
        low = np.where(hits > 0, betaincinv(np.maximum(hits, 1e-9), units - hits + 1, level), 0.0)
        found.append(low > CHECKS[measure])
    return np.array(found).T


def any_named(rates: dict[str, float], correlation: float, runs: int, seed: int) -> float:
    """The share of runs in which any part is named by either measure."""
    rng, hit = np.random.default_rng(seed), np.zeros(runs, bool)
    for measure, rate in rates.items():
        own = plan(measure)
        failed = drawn(own, np.full(len(own.pairs), rate), correlation, runs, rng)
        hit |= named(measure, own, failed).any(axis=1)
    return hit.mean()


def lapsing(share: float) -> dict[str, float]:
    """A lapse names the wrong answer. One in either order misses a pair, and one in exactly one order reverses it."""
    return {MISSED: 1 - (1 - share) ** 2, REVERSED: 2 * share * (1 - share)}


@pytest.mark.parametrize("share", [0.01, 0.02])
def test_a_sound_judge_is_almost_never_named_a_part(share):
    assert any_named(lapsing(share), 0.05, 2000, seed=1) <= 0.005


# At a correlation of .2 it is .125 of runs: families then differ so much that some parts are truly worse.
@pytest.mark.parametrize("correlation", [0.0, 0.05])
def test_a_judge_exactly_at_the_threshold_everywhere_is_named_a_part_in_few_runs(correlation):
    assert any_named(CHECKS, correlation, 2000, seed=2) <= 0.05


@pytest.mark.parametrize(
    ("part", "power"), [("domain=json-extraction", 0.8), ("domain=how-to", 0.8), ("domain=grounded-answers", 0.95)]
)
def test_a_coin_in_one_domain_is_named_there(part, power):
    """It never ties: it misses three large differences in four, and reverses every second verdict."""
    rng, hit, others = np.random.default_rng(3), np.zeros(500, bool), np.zeros(500, bool)
    for measure, rate in {MISSED: 0.75, REVERSED: 0.5}.items():
        own = plan(measure)
        rates = np.where(own.parts[part], rate, lapsing(0.01)[measure])
        found = named(measure, own, drawn(own, rates, 0.05, 500, rng))
        place = [*own.parts].index(part)
        hit |= found[:, place]
        kin = [n for n, cells in enumerate(own.parts.values()) if (cells & own.parts[part]).any()]
        others |= np.delete(found, kin, axis=1).any(axis=1)
    assert hit.mean() >= power
    assert others.mean() <= 0.005


def test_the_fast_bound_is_the_one_that_decides():
    """The same answers, drawn and counted by the measures themselves."""
    locked = {"json": "format=json", "de": "language=de"}
    stimuli = {stimulus.candidates: stimulus for stimulus in built("standard")}

    def judge(_, first, second):
        stimulus = stimuli.get((first, second)) or stimuli[second, first]
        return "1" if {*stimulus.parts.values()} & {*locked} else "tie"

    checks = {check.measure: check for check in checks_of(count(judge, built("standard")), [POLICY])["adjudication"]}
    own = plan(REVERSED)
    rates = np.any([own.parts[part] for part in locked.values()], axis=0).astype(float)
    fast = named(REVERSED, own, drawn(own, rates, 0.0, 1, np.random.default_rng(1)))[0]
    seen = {part for part, hit in zip(own.parts, fast, strict=True) if hit}
    assert {one.part for one in checks[REVERSED].failing} == set(locked.values())
    assert seen == {*locked.values(), "domain=json-extraction", "domain=german"}
