"""Quads of kinds whose share differs between families, and what every measure of them should come to.

Each crossed pair is of one kind: a set of four chances, by version and order, that a call names the text that is
better under version A, and as many that it names the other one. The kinds of a family's crossed pairs are drawn with
shares of its own, Dirichlet around the common ones, so that two crossed pairs of one family are of the same kind more
often than by chance: by `correlation`, which is the intra-family correlation of every kind.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np

from umpirical.domain.tallies import PairTally, QuadTally, Tallies

U, V, TIE = 1, -1, 0
VERSIONS, ORDERS = (0, 1), (0, 1)
RIGHT = {0: U, 1: V}
"""The better text by version."""


@dataclass(frozen=True)
class Kind:
    """How crossed pairs of one kind are answered."""

    u: tuple[tuple[float, float], tuple[float, float]]
    """Chance that u is named, by version and order."""
    v: tuple[tuple[float, float], tuple[float, float]]

    def chance(self, version: int, order: int, answer: int) -> float:
        u, v = self.u[version][order], self.v[version][order]
        return {U: u, V: v, TIE: 1 - u - v}[answer]


def _mostly(under_a, under_b, *, sure=0.9, rest=0.04) -> Kind:
    """Calls that name the given text under each version and order in `sure` of cases, and the other in `rest`."""
    wanted = (under_a, under_b)
    u = tuple(tuple({U: sure, V: rest, TIE: 0.1}[text] for text in texts) for texts in wanted)
    v = tuple(tuple({V: sure, U: rest, TIE: 0.1}[text] for text in texts) for texts in wanted)
    return Kind(u, v)


KINDS = {
    "follows": _mostly((U, U), (V, V)),
    "likes u": _mostly((U, U), (U, U)),
    "likes v": _mostly((V, V), (V, V)),
    "slot": _mostly((U, V), (U, V)),
    "ties": _mostly((TIE, TIE), (TIE, TIE)),
    "reversed": _mostly((V, V), (U, U)),
}

SHARES = {"follows": 0.45, "likes u": 0.12, "likes v": 0.12, "slot": 0.13, "ties": 0.12, "reversed": 0.06}


def sample_quads(rng, *, families=24, per_family=8, correlation=0.0, shares=None, family="graded", steps=(1.0,)):
    """One run, each crossed pair asked once: tallies of crossed pairs and of their pairs."""
    common = np.array([(shares or SHARES)[name] for name in KINDS])
    tallies, pairs = [], []
    for number in range(families):
        for step in steps:
            own = common if not correlation else rng.dirichlet(common[common > 0] * (1 / correlation - 1))
            if correlation and (common == 0).any():
                full = np.zeros(len(common))
                full[common > 0] = own
                own = full
            kinds = rng.choice(len(KINDS), size=per_family, p=own)
            answers = _answers([list(KINDS.values())[kind] for kind in kinds], rng)
            tallies.append(_quad_tally(f"f{number}", family, step, answers))
            pairs.append(_pair_tally(f"f{number}", family, step, answers))
    return Tallies(quads=tuple(tallies), pairs=tuple(pairs))


def _answers(kinds, rng):
    """Texts that were named, by crossed pair, version and order."""
    u, v = np.array([kind.u for kind in kinds]), np.array([kind.v for kind in kinds])
    drawn = rng.random(u.shape)
    return np.where(drawn < u, U, np.where(drawn < u + v, V, TIE))


def _quad_tally(cluster, family, step, answers):
    counts = dict.fromkeys(("following", "blind", "reversed", "one_version", "neither"), 0)
    appeal = 0.0
    for crossed_pair in answers.tolist():
        counts[outcome(crossed_pair)] += 1
        appeal += halves(crossed_pair)
    return QuadTally(cluster, "baseline", family, "", step, len(answers), appeal=appeal, **counts)


def _pair_tally(cluster, family, step, answers):
    right = np.array([RIGHT[version] for version in VERSIONS])[None, :, None]
    correct = (answers == right).sum(axis=2)
    return PairTally(
        cluster,
        "baseline",
        family,
        step,
        correct.size,
        correct_calls=int(correct.sum()),
        both_correct=int((correct == 2).sum()),
    )


def outcome(crossed_pair) -> str:
    won = [texts[0] if texts[0] == texts[1] else TIE for texts in crossed_pair]
    if TIE in won:
        return "neither" if won == [TIE, TIE] else "one_version"
    if won[0] == won[1]:
        return "blind"
    return "following" if won == [RIGHT[0], RIGHT[1]] else "reversed"


def halves(crossed_pair) -> float:
    (a_uv, a_vu), (b_uv, b_vu) = crossed_pair
    return (a_uv + b_vu) * (a_vu + b_uv) / 4


def truths(shares=None) -> dict[str, float]:
    """By summation over every way to answer the four calls."""
    found = dict.fromkeys(("following", "blind", "reversed", "one_version", "neither", "right", "both", "square"), 0.0)
    for name, share in (shares or SHARES).items():
        kind = KINDS[name]
        for answers in product((U, V, TIE), repeat=4):
            crossed_pair = [list(answers[:2]), list(answers[2:])]
            cells = [(version, order) for version in VERSIONS for order in ORDERS]
            chance = share * np.prod([kind.chance(*cell, text) for cell, text in zip(cells, answers, strict=True)])
            found[outcome(crossed_pair)] += chance
            found["right"] += (
                chance * sum(crossed_pair[version][order] == RIGHT[version] for version, order in cells) / 4
            )
            found["both"] += chance * sum(texts == [RIGHT[place]] * 2 for place, texts in enumerate(crossed_pair)) / 2
        appeal = np.mean([np.mean(kind.u) - np.mean(kind.v)])
        found["square"] += share * appeal**2
    return found
