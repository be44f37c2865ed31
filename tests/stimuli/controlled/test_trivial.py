"""Judges that read nothing, by hand."""

import pytest

from tests.cases import each
from umpirical.stimuli.controlled.gates import trivial_score
from umpirical.stimuli.controlled.trivial import (
    REPORTED,
    TRIVIAL,
    alphabetical,
    capitals,
    first_slot,
    gzip_size,
    longer,
    prompt_overlap,
    readability,
    shorter,
)

EVERY = TRIVIAL | REPORTED
TASK = "Name a blue bird."


@each(
    ("judge", "first", "second", "verdict"),
    [
        (longer, "aaa", "bb", "1"),
        (longer, "aa", "bbb", "2"),
        (longer, "aa", "bb", "tie"),
        (shorter, "aaa", "bb", "2"),
        (shorter, "a", "bb", "1"),
        (shorter, "", "", "tie"),
        (first_slot, "anything", "else", "1"),
        (first_slot, "", "", "1"),
        (alphabetical, "Bee", "ant", "2"),
        (alphabetical, "ant", "Bee", "1"),
        (alphabetical, "ant", "ant", "tie"),
        # Two words in one sentence, 2 syllables against 7.
        (readability, "Dogs bark.", "Canines vocalise emphatically.", "1"),
        # The same words in two sentences: 206.8 - 1.0 · 2 less 84.6 is more than with 4 words in one.
        (readability, "Dogs bark cats nap.", "Dogs bark. Cats nap.", "2"),
        (readability, "Dogs bark.", "Cats nap.", "tie"),
        (readability, "", "Cats nap.", "2"),
        (gzip_size, "abababababababababababab", "the quick brown fox jump", "2"),
        (gzip_size, "a", "a", "tie"),
        # 2 of 3 words from the task against 1 of 3.
        (prompt_overlap, "A blue sky.", "The blue sky.", "1"),
        (prompt_overlap, "Bird.", "A BIRD!", "tie"),
        (prompt_overlap, "", "Sky.", "tie"),
        (capitals, "NASA in 69", "nasa in sixty-nine", "1"),
        (capitals, "A b", "B A", "2"),
        (capitals, "A", "B", "tie"),
    ],
)
def test_by_hand(judge, first, second, verdict):
    assert judge(TASK, first, second) == verdict


@pytest.mark.parametrize("name", [name for name in EVERY if name != "first-slot"])
def test_turned_round_the_verdict_turns_round(name):
    turned = {"1": "2", "2": "1", "tie": "tie"}
    texts = ["", "A bird.", "It is blue. It sings.", "BLUE", "An emphatically blue bird in 1969."]
    for one in texts:
        for other in texts:
            assert EVERY[name](TASK, one, other) == turned[EVERY[name](TASK, other, one)]
        assert EVERY[name](TASK, one, one) == "tie"


def test_the_names_are_those_that_the_method_lists():
    assert list(TRIVIAL) == ["longer", "shorter", "first-slot", "alphabetical", "readability", "gzip-size"]
    assert list(REPORTED) == ["prompt-overlap", "capitals"]


PAIRS = [("t", "longest", "short", 1.0), ("t", "long", "longer", 1.0), ("t", "same", "same", 1.0)]
"""Better candidate, then lesser: `longer` is right, wrong, and half right."""


@pytest.mark.parametrize(
    ("judge", "pairs", "score"),
    [
        (longer, PAIRS, 0.5),
        (longer, PAIRS[:1], 1.0),
        (shorter, PAIRS[:1], 0.0),
        (longer, PAIRS[::2], 0.75),
        (first_slot, PAIRS, 0.5),
        (longer, [], 0.5),
    ],
)
def test_a_score_is_the_share_of_calls_in_both_orders_that_are_right(judge, pairs, score):
    assert trivial_score(judge, pairs) == score
