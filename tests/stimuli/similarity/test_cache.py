"""Results that are kept: the same as computed, bounded, and not forgotten all at once."""

from hypothesis import given
from hypothesis import strategies as st

from umpirical.stimuli.similarity import TextCache


class Counting:
    """Computes the length of a text, and counts how often it was asked to."""

    def __init__(self):
        self.asked = 0

    def __call__(self, text):
        self.asked += 1
        return len(text)


def kept(compute, *, most):
    return TextCache(compute, size=lambda result: result, most=most)


def test_what_fits_is_computed_once():
    compute = Counting()
    lengths = kept(compute, most=100)
    texts = ["a" * size for size in (1, 2, 3)]
    assert [lengths(text) for text in texts * 5] == [1, 2, 3] * 5
    assert (compute.asked, lengths.bytes) == (3, 6)


def test_what_does_not_fit_is_all_that_is_computed_again():
    compute = Counting()
    lengths = kept(compute, most=900)
    texts = [f"{number:010}" for number in range(100)]
    for _ in range(3):
        assert {lengths(text) for text in texts} == {10}
    # Of 100 results 90 fit. All are needed in each round, in the same order.
    assert compute.asked <= 100 + 2 * 12
    assert lengths.bytes == 900


def test_what_is_larger_than_all_the_room_drives_nothing_out():
    compute = Counting()
    lengths = kept(compute, most=10)
    assert [lengths("abc"), lengths("a" * 11), lengths("abc")] == [3, 11, 3]
    assert (compute.asked, lengths.bytes) == (2, 3)


@given(st.lists(st.text(max_size=8)), st.integers(0, 20))
def test_it_returns_what_it_computes_and_keeps_to_its_bound(texts, most):
    lengths = kept(len, most=most)
    for text in texts:
        assert lengths(text) == len(text)
        assert 0 <= lengths.bytes <= most
