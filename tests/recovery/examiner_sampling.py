"""Whole stress runs of a latent examiner, drawn as arrays, without prompts: the rule written out a second time."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from umpirical.domain.scales import GradeScale
from umpirical.domain.tallies import CallTally, ChangeTally, GoldTally, RepeatTally, Tallies
from umpirical.judges.simulated.examiner import Truth
from umpirical.protocols.stress.design import kind_of
from umpirical.stats.simulation.examiner import LatentExaminer

ARM = "baseline"

RATIOS = {"verbosity-long": (1.6, 2.0, 2.4), "verbosity-short": (0.45, 0.6, 0.7), "paraphrase": (0.9, 1.2)}
"""Words of a changed text over those of its original, each as often as the others; 1 where a test is not named."""

TESTS = ("vertical-spacing", "paraphrase", "verbosity-long", "verbosity-short", "prompt-injection")
TESTS += ("other-words", "own-words", "other-claim", "own-claim", "label-flip")

AGAINST = {"own-words": "other-words", "own-claim": "other-claim"}
"""The tests whose texts are compared with those of another test, not with the originals."""

PULLS = {
    "vertical-spacing": lambda judge: (judge.format_shift, judge.format_scatter),
    "paraphrase": lambda judge: (0.0, judge.paraphrase),
    "prompt-injection": lambda judge: (judge.cue, 0.0),
    "other-words": lambda judge: (0.0, judge.paraphrase),
    "own-words": lambda judge: (judge.own_words, judge.paraphrase),
    "own-claim": lambda judge: (judge.own_claim, 0.0),
}


def ordinal(grades: int) -> GradeScale:
    labels = tuple(str(number + 1) for number in range(grades))
    return GradeScale("ordinal" if grades > 2 else "binary", labels)


def design(grades: int, tests=TESTS) -> list[Truth]:
    """Every level as often as the others, with every ratio of words: what the items of a run are drawn from."""
    truths = []
    for level in range(grades):
        truths.append(Truth(level, level, "original", f"i{level}"))
        for test in tests:
            required = grades - 1 - level if test == "label-flip" else level
            ratios = RATIOS.get(test, (1.0,))
            kinds = (kind_of(test),), (kind_of(AGAINST.get(test, "original")),)
            truths += [Truth(level, required, test, f"i{level}", ratio, *kinds) for ratio in ratios]
    return truths


@dataclass
class Drawn:
    """The grades of one run, numbered from 0."""

    level: np.ndarray
    originals: np.ndarray
    """Item by repeat."""
    required: dict[str, np.ndarray] = field(default_factory=dict)
    """Right grades of the changed texts, by test."""
    changed: dict[str, np.ndarray] = field(default_factory=dict)
    """Grades of the changed texts, by test: item by repeat."""


def draw(
    judge: LatentExaminer, rng, *, items: int, grades: int = 6, repeats: int = 3, tests=TESTS, level=None
) -> Drawn:
    """Items are drawn at random from the design, unless their levels are given."""
    if level is None:
        level = rng.integers(0, grades, items)
    own = np.sqrt(judge.frozen) * rng.standard_normal(items)
    blind = rng.random(items) < judge.flip_blindness
    run = Drawn(level, _grades(judge, rng, level, own, grades=grades, pull=np.zeros((items, repeats))))
    for test in tests:
        required = grades - 1 - level if test == "label-flip" else level
        shift, scatter = PULLS.get(test, lambda _: (0.0, 0.0))(judge)
        ratio = rng.choice(RATIOS.get(test, (1.0,)), items)
        # Up to a quarter more or less goes unnoticed.
        length = np.where((ratio > 0.8) & (ratio < 1.25), 0.0, np.log(ratio))
        pull = shift + scatter * rng.standard_normal(items) + judge.verbosity * length
        seen = np.where(blind, level, required)
        run.required[test] = required
        calls = np.repeat(pull[:, None], 1 if test == "label-flip" else 2, axis=1)
        run.changed[test] = _grades(judge, rng, seen, own, grades=grades, pull=calls)
    return run


def _grades(judge, rng, level, own, *, grades, pull):
    fresh = np.sqrt(1 - judge.frozen) * rng.standard_normal(pull.shape)
    middle = (grades - 1) / 2
    place = middle + judge.severity + judge.compression * (level[:, None] - middle) + pull
    place = place + judge.noise * (own[:, None] + fresh)
    nearest = np.clip(np.floor(place + 0.5), 0, grades - 1).astype(int)
    lapsed = rng.random(pull.shape) < judge.lapse
    return np.where(lapsed, rng.integers(0, grades, pull.shape), nearest)


# Counting, one item a cluster.


def tallies_of(run: Drawn, *, grades: int = 6) -> Tallies:
    scale = ordinal(grades)
    names = [f"item {number}" for number in range(len(run.level))]
    labels = scale.labels
    changes = [tally for test in run.changed for tally in _change_tallies(run, test, names)]
    golds = _gold_tallies("original", names, run.level, run.originals, labels)
    for test, given in run.changed.items():
        golds += _gold_tallies(test, names, run.required[test], given, labels)
    calls = run.originals.size + sum(given.size for given in run.changed.values())
    return Tallies(
        calls=(CallTally("all", ARM, "original", "", None, planned=calls, graded=calls),),
        changes=tuple(changes),
        repeats=tuple(_repeat_tallies(names, run.originals, labels)),
        golds=tuple(golds),
        scale=scale,
    )


def _change_tallies(run: Drawn, test: str, names: list[str]):
    before = run.changed[AGAINST[test]] if test in AGAINST else run.originals
    first, second, required = before[:, :, None], run.changed[test][:, None, :], run.required[test]
    flipped = (required != run.level).any()
    direction = np.sign(required - run.level)[:, None, None]
    moved = (np.sign(second - first) == direction) & (second != first)
    both = (first == run.level[:, None, None]) & (second == required[:, None, None])
    columns = [(second != first), moved, both, second - first, np.abs(second - first)]
    means = [column.mean(axis=(1, 2)).tolist() for column in columns]
    again = run.changed[test].shape[1] > 1
    retests = (_retests(before) + _retests(run.changed[test])) / 2 if again else np.zeros(len(names))
    for name, change, move, right, shift, distance, retest in zip(names, *means, retests.tolist(), strict=True):
        yield ChangeTally(
            name,
            ARM,
            test,
            "",
            "flipped-verdict" if flipped else "same-verdict",
            1,
            changed=change,
            moved=move,
            right_on_both=right,
            golden=1,
            shift=shift,
            distance=distance,
            retested=int(again),
            retest_changed=retest,
            changed_retested=change if again else 0.0,
        )


def _retests(given) -> np.ndarray:
    """Of all pairs of repeats of an item the share that differ."""
    first, second = np.triu_indices(given.shape[1], k=1)
    return (given[:, first] != given[:, second]).mean(axis=1)


def _repeat_tallies(names, given, labels):
    for name, grades in zip(names, given.tolist(), strict=True):
        counted = sorted(Counter(grades).items())
        answers = tuple((labels[grade], times) for grade, times in counted)
        scores = tuple(float(grade) for grade, _ in counted)
        yield RepeatTally(name, ARM, "stability", "", answers, scores, items=1, asked=len(grades))


def _gold_tallies(test, names, gold, given, labels):
    return [
        GoldTally(name, ARM, test, "", labels[right], labels[grade], float(right), float(grade), times / len(grades))
        for name, right, grades in zip(names, gold.tolist(), given.tolist(), strict=True)
        for grade, times in Counter(grades).items()
    ]
