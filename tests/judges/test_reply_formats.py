"""Common reply formats are guessed from replies, and named on the command line; what is guessed can be typed."""

import json

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Verdict
from umpirical.domain.scales import Choice
from umpirical.judges.answers import AnswerReader
from umpirical.judges.reply_formats import format_words, guessed_format, parsed_format
from umpirical.judges.shapes import AnswerSpec, shape_of

REPLIES = {
    "letters": ("A", "B"),
    "in brackets": ("Both are fine, but [[A]]", "[[B]]"),
    "a field": ('{"winner": "1"}', '{"winner": "2"}'),
    "letters in a field": ('{"preference": "A", "why": "x"}', '{"preference": "B", "why": "y"}'),
    "words": ("first", "Second"),
    "booleans": ("true", "false"),
    "a tag": ("I think <verdict>A</verdict>", "<verdict>B</verdict>"),
    "a last line": ("The second is worse.\n\nA", "Hm.\nB"),
    "names": ("model_a", "model_b"),
}


@pytest.mark.parametrize("replies", REPLIES.values(), ids=REPLIES)
def test_a_common_format_is_guessed_and_its_options_read_the_replies(replies):
    guess = guessed_format(replies)
    options = format_words(guess).replace("--answer ", "").split(" ")
    typed = AnswerSpec.model_validate(parsed_format(options))
    reader = AnswerReader(None, labels=typed.labels, shape=shape_of(typed))
    assert [reader.read(reply) for reply in replies] == [Verdict(Choice.POSITION_1), Verdict(Choice.POSITION_2)]


@pytest.mark.parametrize(
    "replies",
    [(), ("",), ("A", "no idea"), ("7", "3"), ("[[A]] or [[B]]",), (json.dumps({"score_a": 7, "score_b": 5}),)],
)
def test_what_could_mean_anything_is_not_guessed(replies):
    assert guessed_format(replies) is None


@pytest.mark.parametrize("word", ["A", "A=", "=1", "A=1,B", "field=", "bracket"])
def test_an_option_that_names_no_format_is_refused_with_the_ones_there_are(word):
    with pytest.raises(UsageError, match="cannot read --answer") as refused:
        parsed_format([word])
    assert "field=NAME" in refused.value.fix
