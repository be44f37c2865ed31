"""Judges that try to tell the better text without reading what is asked: none of them can, whatever it has learnt.

They are written anew here, and share nothing with the gates but the stimuli.
"""

import math
import re
import zlib
from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest

from tests.stimuli.built import built, tasks_of
from umpirical.stimuli.controlled.family_files import filler_tasks
from umpirical.stimuli.controlled.trivial import REPORTED, TRIVIAL

pytestmark = pytest.mark.heavy

SIZES = ["standard", pytest.param("full", marks=pytest.mark.slow)]
LADDERS = ["graded", "figures"]


def on(size, family, kind="crossed"):
    return [stimulus for stimulus in built(size, ladder=kind) if stimulus.family == family]


def points(score, stimulus):
    """1 for the better text, 0 for the lesser one, a half for neither. `score` is of one text."""
    u, v = map(score, stimulus.candidates)
    named = 0 if u > v else 1
    return 0.5 if u == v else float(named == stimulus.expectation.candidate)


def accuracy(score, stimuli):
    return float(np.mean([points(score, stimulus) for stimulus in stimuli]))


def steps(stimuli):
    found = defaultdict(list)
    for stimulus in stimuli:
        found[stimulus.delta].append(stimulus)
    return found


# Judges that see a text alone.


@cache
def words(text):
    return tuple(re.findall(r"\w+", text.casefold()))


VAGUE = set(
    words(
        "really very quite rather some many much often sometimes always never perhaps maybe nice good fine great lovely"
    )
    + words("thing things people everyone somebody something usually generally of course indeed simply just")
)
IDLE = {text.casefold().rstrip(".") for task in filler_tasks() for fact in task.facts for text in fact.fillers}


@cache
def sentences(text):
    return tuple(part.removeprefix("- ") for part in re.split(r"(?<=[.!?])\s+|\n+", text) if part)


@cache
def frequencies():
    """How often each word comes in any answer of the set."""
    texts = {text for stimulus in built("standard") for text in stimulus.candidates}
    return Counter(word for text in texts for word in words(text))


BLIND = {
    "fewer idle sentences": lambda text: -sum(part.casefold().rstrip(".") in IDLE for part in sentences(text)),
    "fewer vague words": lambda text: -sum(word in VAGUE for word in words(text)),
    "more digits": lambda text: sum(mark.isdigit() for mark in text),
    "more numbers": lambda text: len(re.findall(r"\d+(?:[.,:]\d+)*", text)),
    "more capitals": lambda text: sum(mark.isupper() for mark in text),
    "rarer words": lambda text: -np.mean([math.log1p(frequencies()[word]) for word in words(text)]),
    "more kinds of words": lambda text: len(set(words(text))),
    "longer words": lambda text: np.mean([len(word) for word in words(text)]),
    "more after compression": lambda text: len(zlib.compress(text.encode(), 9)),
    "more words": lambda text: len(words(text)),
    "fewer sentences": lambda text: -len(sentences(text)),
    "longer first sentence": lambda text: len(sentences(text)[0]),
    "earlier in the dictionary": lambda text: [-ord(mark) for mark in text.casefold()],
}


@pytest.mark.parametrize("family", LADDERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", BLIND)
def test_a_judge_that_sees_the_texts_alone_is_right_in_exactly_one_half_at_every_step(name, size, family):
    stimuli = on(size, family)
    assert accuracy(BLIND[name], stimuli) == 0.5
    assert all(accuracy(BLIND[name], own) == 0.5 for own in steps(stimuli).values())


def test_on_the_ladder_of_fillers_idle_sentences_tell_the_better_text():
    """What the crossed ladder is there to prevent."""
    assert accuracy(BLIND["fewer idle sentences"], on("standard", "graded", "filler")) > 0.9


@pytest.mark.parametrize("family", LADDERS)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", sorted((TRIVIAL | REPORTED).keys() - {"prompt-overlap"}))
def test_a_trivial_judge_is_right_in_exactly_one_half_in_either_order(name, size, family):
    judge = (TRIVIAL | REPORTED)[name]
    worth = {"1": 1.0, "2": 0.0, "tie": 0.5}
    found = []
    for stimulus in on(size, family):
        u, v = stimulus.candidates
        for first, second, slot in ((u, v, 0), (v, u, 1)):
            right = worth[judge(stimulus.task, first, second)]
            found.append(right if stimulus.expectation.candidate == slot else 1 - right)
    assert np.mean(found) == 0.5


# Judges that have learnt.

WIDTH = 1 << 12
"""How many features there are: a part of a text is hashed to one of them."""


def grams(text):
    """Three to five characters in a row, blanks and marks among them."""
    folded = " ".join(text.casefold().split())
    return [folded[place : place + size] for size in (3, 4, 5) for place in range(len(folded) - size + 1)]


@cache
def features(text, cut):
    found = np.zeros(WIDTH)
    np.add.at(found, [zlib.crc32(part.encode()) % WIDTH for part in cut(text)], 1.0)
    return found / np.linalg.norm(found)


def learnt(cut, train, test):
    """How often logistic regression is right on `test`. It learns which of two texts is better from `train`.

    By steepest ascent of the penalised likelihood, in terms of the products of training pairs.
    """

    def gaps(stimuli):
        return np.array([features(s.candidates[0], cut) - features(s.candidates[1], cut) for s in stimuli])

    known, labels = gaps(train), np.array([1.0 - 2 * s.expectation.candidate for s in train])
    products, weights = known @ known.T, np.zeros(len(train))
    for _ in range(300):
        margin = labels * (products @ weights)
        weights += 0.5 * (labels / (1 + np.exp(margin)) - 0.01 * weights)
    said = gaps(test) @ (known.T @ weights)
    right = [
        0.5 if lead == 0 else float((lead > 0) == (s.expectation.candidate == 0))
        for lead, s in zip(said, test, strict=True)
    ]
    return float(np.mean(right))


CUTS = pytest.mark.parametrize("cut", [words, grams], ids=["words", "characters"])


@CUTS
@pytest.mark.parametrize("family", LADDERS)
@pytest.mark.parametrize("size", SIZES)
def test_what_is_learnt_on_other_families_is_right_in_exactly_one_half(cut, family, size):
    stimuli = on(size, family)
    names = sorted({stimulus.task_family for stimulus in stimuli})
    # Each fold is tried by a judge that has seen every family but those of the fold.
    for fold in range(8):
        held_out = set(names[fold::8])
        train = [stimulus for stimulus in stimuli if stimulus.task_family not in held_out]
        assert learnt(cut, train, [s for s in stimuli if s.task_family in held_out]) == 0.5


@CUTS
@pytest.mark.parametrize("family", LADDERS)
@pytest.mark.parametrize("size", SIZES)
def test_what_is_learnt_on_the_set_itself_is_right_in_exactly_one_half(cut, family, size):
    stimuli = on(size, family)
    assert learnt(cut, stimuli, stimuli) == 0.5
    # From one version alone every answer can be learnt by heart, and is as often wrong under the other.
    one = [stimulus for stimulus in stimuli if stimulus.version in ("A", "P")]
    assert learnt(cut, one, one) > 0.9
    assert learnt(cut, one, stimuli) == 0.5


@CUTS
@pytest.mark.parametrize("family", LADDERS)
def test_what_tells_the_better_text_on_the_ladder_of_fillers_is_of_no_use_on_the_crossed_ones(cut, family):
    fillers = on("standard", "graded", "filler")
    names = sorted({stimulus.task_family for stimulus in fillers})
    train = [stimulus for stimulus in fillers if stimulus.task_family in names[::2]]
    assert learnt(cut, train, [s for s in fillers if s.task_family not in names[::2]]) > 0.7
    assert learnt(cut, fillers, on("standard", family)) == 0.5


# Judges that match a text with the request.


def stems(text):
    return tuple(re.sub(r"(?:ing|ings|ed|es|s|ly|er|en)$", "", word) if len(word) > 4 else word for word in words(text))


def letters(text):
    plain = " ".join(words(text))
    return tuple(plain[place : place + 3] for place in range(len(plain) - 2))


def characters(text):
    """Three characters in a row, whatever they are."""
    folded = " ".join(text.casefold().split())
    return tuple(folded[place : place + 3] for place in range(len(folded) - 2))


@cache
def counted(cut, text):
    return Counter(cut(text))


def share(found, wanted):
    return sum(count for part, count in found.items() if part in wanted) / found.total()


def cosine(found, wanted):
    dot = sum(count * wanted[part] for part, count in found.items())
    return dot / math.sqrt(sum(n * n for n in found.values()) * sum(n * n for n in wanted.values()))


def coverage(found, wanted):
    return len(found.keys() & wanted.keys())


MATCHING = {
    "words": (share, words),
    "stems": (share, stems),
    "letters": (share, letters),
    "cosine of words": (cosine, words),
    "cosine of letters": (cosine, letters),
    "cosine of characters": (cosine, characters),
    "coverage by words": (coverage, words),
    "coverage by stems": (coverage, stems),
    "coverage by characters": (coverage, characters),
}


def matched(name, part, stimuli, tasks):
    measure, cut = MATCHING[name]
    found = []
    for stimulus in stimuli:
        wanted = counted(cut, getattr(tasks[stimulus.task_id], part))
        found.append(points(lambda text, wanted=wanted: round(measure(counted(cut, text), wanted), 9), stimulus))
    return float(np.mean(found))


@pytest.mark.parametrize("part", ["request", "prompt"])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", MATCHING)
def test_matching_with_what_is_asked_does_not_tell_the_better_text(name, size, part):
    stimuli, tasks = on(size, "graded"), tasks_of(size)
    assert 0.45 <= matched(name, part, stimuli, tasks) <= 0.55
    for step, own in steps(stimuli).items():
        if len(own) >= 60:
            assert 0.45 <= matched(name, part, own, tasks) <= 0.55, step


@pytest.mark.parametrize("size", SIZES)
def test_where_figures_are_exchanged_the_request_tells_nothing_and_the_task_little(size, record_property):
    stimuli, tasks = on(size, "figures"), tasks_of(size)
    for name in MATCHING:
        assert matched(name, "request", stimuli, tasks) == 0.5
        told = matched(name, "prompt", stimuli, tasks)
        record_property(f"{name} with the task, of {len(stimuli)}", round(told, 3))
        assert 0.4 <= told <= 0.65
