"""Our own count of tokens: bounds that every honest tokenizer keeps, and counts that no server is believed."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.domain.responses import Usage
from umpirical.models.money import counted_usage, fewest_input_tokens, fewest_tokens, most_tokens
from umpirical.models.requests import ChatRequest, Decoding, Message

PROSE = (
    "The better answer names the month, the room and the price; the other one leaves out the room. "
    "Which of the two would a person choose who has to be there on time?"
)
CHINESE = "较好的答案写明了月份、房间和价格;另一个答案没有提到房间。需要准时到达的人会选择哪一个?"


def words_and_marks(text: str) -> int:
    """A tokenizer that never joins two words, as most are, with a vocabulary so large that it holds every word."""
    return len(re.findall(r"\s*\S+", text))


def joined_words(text: str) -> int:
    """A tokenizer that joins words in pairs wherever it can, which is more than any is known to do."""
    return -(-len(text.split()) // 2)


def long_runs(text: str) -> int:
    """A tokenizer that has a token for every run of one letter, however long."""
    return len(re.findall(r"(.)\1*", text, re.DOTALL))


@given(text=st.text(max_size=300) | st.lists(st.sampled_from([*PROSE.split(), "----", " ", "\n\n"])).map(" ".join))
def test_the_bounds_hold_for_every_tokenizer(text):
    assert 0 <= fewest_tokens(text) <= most_tokens(text)
    for tokenizer in (words_and_marks, joined_words):
        if not re.search(r"\S{13,}", text) and len(text) <= 12 * len(text.split()):
            assert fewest_tokens(text) <= tokenizer(text)
    assert fewest_tokens(text) <= max(joined_words(text), long_runs(text))


@pytest.mark.parametrize(
    ("text", "fewest"),
    [
        ("", 0),
        (" \n ", 0),
        ("1", 1),
        ('{"verdict": "tie"}', 1),
        (PROSE, 17),
        ("-" * 5000, 1),
        (" " * 5000 + "x", 1),
        (CHINESE, 2),
        (CHINESE * 10, 27),
    ],
)
def test_the_lower_bound_by_hand(text, fewest):
    assert fewest_tokens(text) == fewest


def test_a_request_is_at_least_what_its_messages_are():
    request = ChatRequest("m", (Message("system", PROSE), Message("user", PROSE)), Decoding())
    assert fewest_input_tokens(request) == 2 * fewest_tokens(PROSE)


@each(
    ("counts", "usage"),
    [
        ((300, 6), Usage(300, 6)),
        ((300, 6, 200), Usage(300, 6, 200)),
        ((300, 6, None, 306), Usage(300, 6)),
        # Reasoning in the total alone, in the details alone, in both, and as part of the output.
        ((300, 6, None, 456), Usage(300, 156)),
        ((300, 6, None, None, 150), Usage(300, 156)),
        ((300, 6, None, 456, 150), Usage(300, 156)),
        ((300, 156, None, 456, 150), Usage(300, 156)),
        # A server that has no total says 0.
        ((300, 6, None, 0), Usage(300, 6)),
        # Contradictions.
        ((300, 6, 301), Usage()),
        ((300, 6, None, 305), Usage()),
        # What is no count.
        ((True, True), Usage()),
        ((-1, 6), Usage(None, 6)),
        ((300, 6.0), Usage(300, None)),
        (("300", "6"), Usage()),
        ((2**63, 6), Usage(None, 6)),
        ((None, 6), Usage(None, 6)),
        ((300, 6, True, True, True), Usage(300, 6)),
    ],
)
def test_a_servers_counts(counts, usage):
    read, written, *more = counts
    assert counted_usage(read, written, **dict(zip(("cached", "total", "reasoning"), more, strict=False))) == usage


@given(
    counts=st.lists(st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.floats()), min_size=5, max_size=5)
)
def test_whatever_a_server_says_is_read_as_counts_or_as_nothing(counts):
    read, written, cached, total, reasoning = counts
    usage = counted_usage(read, written, cached=cached, total=total, reasoning=reasoning)
    for count in (usage.input_tokens, usage.output_tokens, usage.cached_tokens):
        assert count is None or type(count) is int
    if usage.input_tokens is not None and usage.output_tokens is not None:
        assert (usage.cached_tokens or 0) <= usage.input_tokens == read
        assert usage.output_tokens >= written
