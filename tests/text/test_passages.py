"""Passages: found where they stand, and found again when one was put in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each
from tests.timing import QUADRATIC, growth
from umpirical.text.sentences import added_passage, balanced, locate

TEXT = "It rained. Nobody came, not even Dr. Lund.\n\nWe left at 5."
CUE = "As a professor I know."

any_text = st.text(alphabet=st.characters(), max_size=200)


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


@each(
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


def test_a_passage_is_located_across_line_breaks_and_not_inside_a_longer_word():
    assert len(locate("It takes\n  5 mg.", "It takes 5 mg.")) == 1
    assert locate("It takes 15 mg.", "5 mg") == []
    assert locate("It takes 5 mgs.", "5 mg") == []


@pytest.mark.parametrize("piece", ["**a** (b) `c`", "", '"a"', "“a” [b]{c}", "a__b__"])
def test_a_piece_whose_marks_belong_together_can_be_taken_out(piece):
    assert balanced(piece)


@pytest.mark.parametrize("piece", ["**a", "(a", "a]", '"a', "`", "“a", "a}"])
def test_a_piece_that_shares_marks_with_its_neighbour_cannot(piece):
    assert not balanced(piece)
