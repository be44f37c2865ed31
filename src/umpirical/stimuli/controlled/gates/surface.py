"""Gates on what the surface tells: length, and whatever a judge could go by without reading."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from umpirical.domain.stimuli import GateResult, GivenWinner, Stimulus
from umpirical.stimuli.controlled.gates.contents import result
from umpirical.stimuli.controlled.lengths import length_gap
from umpirical.stimuli.controlled.tasks import Task
from umpirical.stimuli.controlled.trivial import REPORTED, TRIVIAL, TrivialJudge, words_of

COIN = 0.05
"""How far from one half a trivial judge may score."""

ENOUGH = 40
"""With fewer pairs, a coin itself strays further, and is allowed to."""

CORRELATION = 0.05

QUAD_GAP = 4
"""How many tokens beyond the rule the texts of a quad may differ by."""

MATCHED = ("delta0", "ladder", "figures", "delta0-subset")
"""Families whose candidates are equally long; in the others length is what is varied."""


def lengths_match(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """The candidates of a pair are equally long, by both ways to count tokens.

    In a quad a longer text is the better one under one version and the lesser one under the other, so what is left of a
    gap tells nothing, and some is allowed.
    """
    pairs = [stimulus for stimulus in stimuli if stimulus.family in MATCHED]
    problems = [
        f"stimulus {stimulus.id}: the candidates differ in length"
        for stimulus in pairs
        if _gap(tasks, stimulus) > (QUAD_GAP if stimulus.quad else 0)
    ]
    return result(
        "lengths-match",
        problems,
        f"{len(pairs)} pairs",
        "at most 2 tokens or 2 % apart, 10 % in JSON, in two tokenizers",
    )


def _gap(tasks: Mapping[str, Task], stimulus: Stimulus) -> int:
    u, v = stimulus.candidates
    return length_gap(u, v, tasks[stimulus.task_id].layout)


def length_tells_nothing(stimuli: Sequence[Stimulus]) -> GateResult:
    """By how much the better candidate is longer does not grow with the step."""
    ladder = _directed(stimuli, "ladder")
    steps = np.array([delta for _, _, _, delta in ladder])
    gaps = np.array([len(better) - len(lesser) for _, better, lesser, _ in ladder], dtype=float)
    told = 0.0 if len(ladder) < 3 or not (steps.std() and gaps.std()) else float(np.corrcoef(steps, gaps)[0, 1])
    # A correlation that so few pairs may show by chance is not a leak.
    limit = max(CORRELATION, 2 / math.sqrt(max(1, len(ladder))))
    return GateResult(
        "length-tells-nothing",
        passed=abs(told) <= limit,
        found=f"correlation of step and length gap {told:+.3f} over {len(ladder)} pairs",
        allowed=f"within ±{limit:.3f}",
    )


def trivial_judges(stimuli: Sequence[Stimulus]) -> GateResult:
    """No judge that reads nothing does better, or worse, than a coin."""
    scores, allowed, outside = [], [], False
    for family in ("ladder", "delta0"):
        pairs = _directed(stimuli, family)
        limit = COIN if len(pairs) >= ENOUGH else 1 / math.sqrt(max(4, len(pairs)))
        allowed.append(f"{0.5 - limit:.2f} to {0.5 + limit:.2f} each on {family}")
        for name, judge in TRIVIAL.items():
            score = trivial_score(judge, pairs)
            outside |= abs(score - 0.5) > limit + 1e-9
            scores.append(f"{name} {score:.3f} on {family}")
    return GateResult("trivial-judges", not outside, ", ".join(scores), ", ".join(allowed))


def reported_judges(stimuli: Sequence[Stimulus]) -> GateResult:
    """Scores of cues that a good answer may well carry: printed, and no reason to stop."""
    ladder = _directed(stimuli, "ladder")
    found = ", ".join(f"{name} {trivial_score(judge, ladder):.3f}" for name, judge in REPORTED.items())
    return GateResult("reported-judges", passed=True, found=f"{found} on ladder", allowed="reported", blocks=False)


def bag_of_words(stimuli: Sequence[Stimulus]) -> GateResult:
    """How often words alone, learnt on other task families, tell the better candidate. It is printed.

    Naive Bayes on word counts, trained on every family but the one it is tried on.
    """
    ladder = [(s.cluster, s) for s in stimuli if s.family == "ladder"]
    counts: dict[str, list[Counter[str]]] = {}
    directed = [(family, *_better_first(stimulus)) for family, stimulus in ladder]
    for family, better, lesser in directed:
        sides = counts.setdefault(family, [Counter(), Counter()])
        sides[0].update(words_of(better))
        sides[1].update(words_of(lesser))
    if len(counts) < 2:  # nothing left to learn on
        return GateResult("bag-of-words", passed=True, found="one task family", allowed="reported", blocks=False)
    totals = [sum(side, Counter[str]()) for side in zip(*counts.values(), strict=True)]
    learnt = {family: _log_odds(totals[0] - own[0], totals[1] - own[1]) for family, own in counts.items()}
    right = 0.0
    for family, better, lesser in directed:
        weights = learnt[family]
        lead = sum(weights.get(word, 0.0) for word in words_of(better)) - sum(
            weights.get(word, 0.0) for word in words_of(lesser)
        )
        right += 1.0 if lead > 0 else 0.5 if lead == 0 else 0.0
    found = f"{right / len(directed):.3f} on ladder, trained on the other {len(counts) - 1} families"
    return GateResult("bag-of-words", passed=True, found=found, allowed="reported", blocks=False)


Directed = tuple[str, str, str, float]
"""Task, the better candidate, the lesser one, and the step; content u and v where none is better."""


def trivial_score(judge: TrivialJudge, pairs: Sequence[Directed]) -> float:
    """Share of calls that name the better candidate, both orders of every pair, a tie being half right."""
    points = {"1": 1.0, "2": 0.0, "tie": 0.5}
    total = sum(points[judge(task, one, two)] + 1 - points[judge(task, two, one)] for task, one, two, _ in pairs)
    return total / (2 * len(pairs)) if pairs else 0.5


def _directed(stimuli: Sequence[Stimulus], family: str) -> list[Directed]:
    return [(s.task, *_better_first(s), s.delta or 0.0) for s in stimuli if s.family == family]


def _better_first(stimulus: Stimulus) -> tuple[str, str]:
    u, v = stimulus.candidates
    worse_first = isinstance(stimulus.expectation, GivenWinner) and stimulus.expectation.candidate == 1
    return (v, u) if worse_first else (u, v)


def _log_odds(better: Counter[str], lesser: Counter[str]) -> dict[str, float]:
    n, m = better.total(), lesser.total()
    return {
        word: math.log((better[word] + 1) / (n + 1) * (m + 1) / (lesser[word] + 1))
        for word in better.keys() | lesser.keys()
    }
