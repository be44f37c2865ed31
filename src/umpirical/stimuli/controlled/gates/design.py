"""Gates on the set as a whole: nothing twice, nothing missing, and the same again from the same seed."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations, groupby

import numpy as np

from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.domain.trials import Order, Presentation
from umpirical.stats.seeds import generator
from umpirical.stimuli.controlled.gates.contents import result
from umpirical.text.words import Triples, shared_triples, word_triples

SIMILAR = 0.8
"""Two answers that share this much of their word triples, or more, count as one answer."""

HASHES, BAND = 64, 4
"""Two answers with 80 % of triples in common share a band of four hashes with a chance of 1 - 2·10⁻⁴."""


def near_duplicates(stimuli: Sequence[Stimulus]) -> GateResult:
    """No answer comes, word for word or nearly so, under two tasks, and no pair comes twice."""
    problems = [
        f"stimuli {one.id} and {other.id} show the same pair"
        for one, other in _same([(s, (s.task, *s.candidates)) for s in stimuli])
    ]
    texts: dict[str, Stimulus] = {}
    problems += [
        f"stimuli {texts[text].id} and {stimulus.id} show the same answer under two tasks"
        for stimulus in stimuli
        for text in filter(str.strip, stimulus.candidates)
        if texts.setdefault(text, stimulus).twin != stimulus.twin
    ]
    triples = {text: word_triples(text) for text in texts}
    for one, other in _look_alike(triples):
        first, second = texts[one], texts[other]
        if first.twin != second.twin and shared_triples(triples[one], triples[other]) >= SIMILAR:
            problems.append(f"stimuli {first.id} and {second.id} show nearly the same answer under two tasks")
    allowed = f"no two tasks share an answer by {SIMILAR:.0%} of word triples"
    return result("near-duplicates", problems, f"{len(texts)} answers", allowed)


def controls(stimuli: Sequence[Stimulus]) -> GateResult:
    """The largest step, which every judge should see, and vacuum, which none should, are both there."""
    missing = [family for family in ("vacuum", "delta0", "ladder") if not any(s.family == family for s in stimuli)]
    problems = [f"no stimulus of family {family}" for family in missing]
    if not any(s.family == "ladder" and s.base == 0 and (s.delta or 0) >= 2 for s in stimuli):
        problems.append("no pair that differs by several requirements")
    return result("controls", problems, f"{len(stimuli)} stimuli", "a positive and a negative control")


def rebuilds(stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> GateResult:
    """The same tasks, recipe and seed give the same stimuli, byte for byte."""
    other = [stimulus.id for stimulus in again]
    same = other == [stimulus.id for stimulus in stimuli]
    found = f"{len(other)} stimuli built again, {'all' if same else 'not all'} of them the same"
    return GateResult("rebuilds", same, found, "byte-identical")


def both_orders(shown: Iterable[tuple[Stimulus, Presentation]]) -> GateResult:
    """Every pair is asked in both orders, in every arm and repeat. What is asked about a stimulus comes together."""
    pairs, problems = 0, list[str]()
    for name, ways in groupby(shown, key=lambda each: each[0].id):
        orders: defaultdict[tuple[str, int], set[Order]] = defaultdict(set)
        for stimulus, way in ways:
            if len(set(stimulus.candidates)) > 1:
                orders[way.arm, way.repeat].add(way.order)
        pairs += len(orders)
        problems += [f"stimulus {name} is asked in one order only" for seen in orders.values() if len(seen) < 2]
    return result("both-orders", problems, f"{pairs} pairs", "each in both orders")


def _same(keyed: Sequence[tuple[Stimulus, object]]) -> Iterable[tuple[Stimulus, Stimulus]]:
    seen: dict[object, Stimulus] = {}
    for stimulus, key in keyed:
        if key in seen:
            yield seen[key], stimulus
        seen.setdefault(key, stimulus)


def _look_alike(triples: dict[str, Triples]) -> set[tuple[str, str]]:
    """Pairs worth comparing, found by bands of min-hashes: comparing all with all would take minutes."""
    rng = generator(0, "near-duplicates")
    prime = (1 << 31) - 1
    a, b = rng.integers(1, prime, (2, HASHES, 1), dtype=np.int64)
    numbers: dict[tuple[str, ...], int] = {}
    bands: defaultdict[tuple[int, bytes], list[str]] = defaultdict(list)
    for text, own in triples.items():
        codes = np.array([numbers.setdefault(triple, len(numbers) + 1) for triple in own] or [0], dtype=np.int64)
        signature = ((a * codes + b) % prime).min(axis=1)
        for band in range(HASHES // BAND):
            bands[band, signature[band * BAND : (band + 1) * BAND].tobytes()].append(text)
    return {pair for texts in bands.values() for pair in combinations(sorted(texts), 2)}
