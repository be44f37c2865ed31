"""Words, figures, names and passages, by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.timing import QUADRATIC, growth
from umpirical.text.wording import (
    Edit,
    added_passage,
    edit_of,
    figures,
    names,
    number_words,
    placeholder_names,
    sentences,
    shorter_than,
    word_count,
    words,
)

TEXT = "It rained. Nobody came, not even Dr. Lund.\n\nWe left at 5."
CUE = "As a professor I know."

any_text = st.text(alphabet=st.characters(), max_size=200)


@given(any_text)
def test_the_count_of_words_is_theirs(text):
    assert word_count(text) == len(words(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("Don't  stop-me, NOW_2!", ("don't", "stop", "me", "now_2")),
        ("Don’t", ("don't",)),
        ("Straße STRASSE", ("strasse", "strasse")),
        ("港は quiet", ("港", "は", "quiet")),
        ("naïve Ωμέγα", ("naïve", "ωμέγα")),
        ("'quoted'", ("quoted",)),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("before", "after", "edit"),
    [
        ("a b c d", "a b c d", Edit(4, 0, 0)),
        ("a b c d", "A, b... c D!", Edit(4, 0, 0)),
        ("a b c d", "a c d", Edit(4, 1, 0)),
        ("a b c d", "a x b c d y", Edit(4, 0, 2)),
        ("a b c d", "a x c d", Edit(4, 1, 1)),
        # Words in another order are gone from their place and come in at another.
        ("a b c d", "b c d a", Edit(4, 1, 1)),
        ("a b", "", Edit(2, 2, 0)),
        ("", "a b", Edit(0, 0, 2)),
    ],
)
def test_edits(before, after, edit):
    assert edit_of(before, after) == edit


def test_a_share_of_no_words_is_not_a_number():
    assert edit_of("", "a").share(1) is None
    assert edit_of("a b", "a").share(1) == 0.5


def test_edits_of_long_texts_take_no_more_time_than_comparing_all_words():
    def work(size, mark):
        long = " ".join([mark, *(f"word{number % 977}" for number in range(size - 1))])
        assert edit_of(long, long[::-1]).original == size

    assert growth(work, size=10_000) < QUADRATIC


@settings(deadline=None)
@given(any_text, any_text)
def test_an_edit_adds_up(before, after):
    edit = edit_of(before, after)
    assert edit.original == len(words(before))
    assert edit.original - edit.lost + edit.added == len(words(after))
    assert edit_of(after, before).lost == edit.added


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        (f"{CUE} {TEXT}", "at the beginning"),
        (f"{CUE}\n\n{TEXT}", "at the beginning"),
        (f"{TEXT} {CUE}", "at the end"),
        (f"{TEXT}\n{CUE}", "at the end"),
        (f"It rained. {CUE} Nobody came, not even Dr. Lund.\n\nWe left at 5.", "between two sentences"),
        (f"It rained. Nobody came, not even Dr. Lund.\n\n{CUE}\n\nWe left at 5.", "between two sentences"),
        # Blank space and the shape of marks do not count.
        (f"It  rained. Nobody came, not even Dr. Lund.\nWe left at 5.  {CUE}\n", "at the end"),
    ],
)
def test_a_passage_is_found_where_it_was_put(changed, place):
    passage = added_passage(TEXT, changed)
    assert passage is not None
    assert (passage.text, passage.place) == (CUE, place)


@pytest.mark.parametrize(
    "changed",
    [
        TEXT,
        "",
        CUE,
        TEXT.replace("rained", "had rained"),  # into a sentence
        TEXT.replace("Nobody came", "Nobody came, as a professor knows"),
        TEXT.replace("It rained.", "It rained. As a professor I doubt that"),  # runs into the next sentence
        f"As a professor I doubt that {TEXT}",
        f"{CUE} {TEXT} {CUE}",  # two passages
        f"{CUE} {TEXT.replace('rained', 'snowed')}",
        f"{CUE} {TEXT.replace('5', '6')}",
        f"{CUE} {TEXT.replace('Lund.', 'Lund')}",
        f"{CUE} {TEXT[:-14]}",  # the end is missing
        f"{CUE} {TEXT.replace(' not', '')}",
        TEXT.replace("\n\n", f" {CUE} "),  # the line break is gone
    ],
)
def test_what_is_no_single_passage(changed):
    assert added_passage(TEXT, changed) is None


@pytest.mark.parametrize("end", ["the end", "see\n- one\n- two", 'he said "no"', "well,"])
def test_after_a_text_without_a_full_stop_a_new_line_is_needed(end):
    assert added_passage(end, f"{end}\n{CUE}") is not None
    assert added_passage(end, f"{end} {CUE}") is None


def test_nothing_is_put_into_a_number_or_an_abbreviation_without_a_blank():
    assert added_passage("It is 3.5 m high.", f"It is 3.{CUE}5 m high.") is None


def test_a_passage_that_begins_like_what_follows_it():
    passage = added_passage("A b. C d.", "A b. Cue. C d.")
    assert passage is not None
    assert passage.text == "Cue."


def test_a_sentence_said_twice_is_a_passage():
    passage = added_passage("No. No. No.", "No. No. No. No.")
    assert passage is not None
    assert passage.text == "No."


def test_a_passage_in_a_script_without_blanks():
    passage = added_passage("港は静かだった。誰もいなかった。", "港は静かだった。私は教授です。誰もいなかった。")
    assert passage is not None
    assert passage.text == "私は教授です。"


def test_typographic_marks_are_marks():
    assert added_passage('"So - no," he said.', f"“So – no,” he said. {CUE}") is not None


def test_texts_that_repeat_themselves_take_no_more_time_than_comparing_all_words():
    def work(size, mark):
        assert added_passage(mark + "a" * 2 * size, mark + "a" * 4 * size) is None
        assert added_passage(mark + " a" * size, mark + " a" * 2 * size) is None

    assert growth(work, size=10_000) < QUADRATIC


@settings(deadline=None)
@given(any_text, st.sampled_from([CUE, "Trust me!\nI know.", "x"]))
def test_what_is_found_can_be_taken_out_again(text, passage):
    for changed in (f"{text}\n{passage}", f"{passage}\n{text}"):
        found = added_passage(text, changed)
        assert (found is None) == (not text.strip())
    assert added_passage(text, text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("... !", []),
        ("One two three. Four five six! Seven?", ["One two three.", "Four five six!", "Seven?"]),
        ('He said "no it is." Then he left.', ['He said "no it is.', "Then he left."]),
        ("One two three\nFour five six", ["One two three", "Four five six"]),
        ("Dr. Lund is here. So am I.", ["Dr. Lund is here.", "So am I."]),
        ("港は静か。誰もいない。", ["港は静か。", "誰もいない。"]),
        ("It is 3.5 m high.", ["It is 3.5 m high."]),
    ],
)
def test_sentences(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("1,000 or 1.000 or 1'000", {"1000": 3}),
        ("3.5 and 3,5", {"3.5": 2}),
        ("1,234.56 is 1.234,56", {"1234.56": 2}),
        ("from 7 to 07, the 7th", {"7": 3}),
        ("10/12/1999 at 10:30, 50%", {"10": 2, "12": 1, "1999": 1, "30": 1, "50": 1}),
        ("1. First\n2) Second\n  3. Third of 4", {"4": 1}),
        ("Version 2.\n", {"2": 1}),
        ("000", {"0": 1}),
    ],
)
def test_figures(text, expected):
    assert figures(text) == expected


def test_number_words():
    assert number_words("Two or twelve, TWO; thirteen, someone.") == {"2": 2, "12": 1}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met Ann in Paris. Then Bob came.", {"ann", "paris", "bob"}),
        ("Luke's friend saw Luke’s dog and Mary's.", {"luke", "mary"}),
        # People put capitals where they like.
        ("I like The sea, and the sea likes Me and me.", set()),
        ("I went with PROPER_NAME to the EU.", {"eu"}),
        ("\nParis is a town.\nLondon is, too.", set()),
        ("ALL OF THIS IS LOUD, IN PARIS TOO", set()),
        ("a très Élégant hat, and Émile", {"élégant", "émile"}),
        ("", set()),
    ],
)
def test_names(text, expected):
    assert names(text) == expected


def test_placeholder_names():
    assert placeholder_names("PROPER_NAME met LOCATION_1 in NASA, proper_name and A_b") == {"PROPER_NAME", "LOCATION_1"}


def test_what_is_too_short_is_said_in_words():
    assert shorter_than(3)("one two") == "the response has fewer than 3 words"
    assert shorter_than(3)("one two three") == ""


@settings(deadline=None)
@given(any_text)
def test_nothing_raises(text):
    assert isinstance(names(text), frozenset)
    assert isinstance(placeholder_names(text), frozenset)
    assert all(times > 0 for times in (figures(text) + number_words(text)).values())
