"""What a reasoning states outright, on sentences written for this test: better to find nothing than the wrong thing."""

import pytest

from tests.cases import each
from umpirical.domain.scales import Choice, GradeScale
from umpirical.judges.reasoning import Statements

ONE, TWO, TIE = Choice.POSITION_1, Choice.POSITION_2, Choice.TIE

LETTERS = Statements(None, {"A": "1", "B": "2", "C": "tie"})
NUMBERS = Statements(None, {"1": "1", "2": "2", "tie": "tie"})
FIVE = Statements(GradeScale("ordinal", ("1", "2", "3", "4", "5")), {label: label for label in "12345"})
PASS = Statements(GradeScale("binary", ("fail", "pass")), {"FAIL": "fail", "PASS": "pass"})
NO = Statements(GradeScale("binary", ("no", "yes")), {"No": "no", "Yes": "yes"})
UNIT = Statements(GradeScale("interval", low=0, high=1), {"abstain": "abstain"})

PREFERENCES = [
    ("Assistant A is better.", ONE),
    ("Assistant B is better than Assistant A.", TWO),
    ("Overall, response B is clearly the better one.", TWO),
    ("A is better than B.", ONE),
    ("B is slightly better overall.", TWO),
    ("Both make mistakes, but B wins.", TWO),
    ("I prefer Answer A.", ONE),
    ("I would choose response B because it does not invent sources.", TWO),
    ("The winner is Assistant A.", ONE),
    ("My verdict is B.", TWO),
    ("Final verdict: [[B]]", TWO),
    ("A is worse than B.", TWO),
    ("Response A outperforms Response B.", ONE),
    ("Model A is outperformed by Model B.", TWO),
    ("A does not mention the date, so B is better.", TWO),
    ("Although A is longer, B is the stronger answer.", TWO),
    ("While B isn't wrong, A is better.", ONE),
    ("I decide in favour of B.", TWO),
    ("Assistant A's answer is better than Assistant B's answer.", ONE),
    ("The first response is better.", ONE),
    ("The second answer does a better job.", TWO),
    ("**Assistant B** is better.", TWO),
    ("At the end of the day A > B.", ONE),
    ("Both are equally good.", TIE),
    ("Both responses are equally helpful overall.", TIE),
    ("It is a tie.", TIE),
    ("Neither response is better.", TIE),
    ("There is no clear winner.", TIE),
    ("A and B are equally good.", TIE),
    ("I call it a tie.", TIE),
    ("[[C]]", TIE),
    ("<analysis>Response B is better.</analysis>", TWO),
    # The last statement counts.
    ("A is better on paper. Still, I prefer B.", TWO),
    ("Assistant B is better. Then I checked the sums. Assistant A is better.", ONE),
    ("Initially I thought that A is better, but B wins.", TWO),
    ("Some people say A is better, however B is the better answer.", TWO),
    # Negations, conditions, other people, one aspect: none of them is a statement.
    ("A is not better than B.", None),
    ("A isn't better than B.", None),
    ("I cannot say that A is better.", None),
    ("A is no better than B.", None),
    ("It is not the case, as one reads, that A is better.", None),
    ("It is not so that A is better.", None),
    ("B is never the winner.", None),
    ("A and B are not equally good.", None),
    ("B is better if A is wrong.", None),
    ("A is better unless the sum is checked.", None),
    ("If A is short but B is better, choose B.", None),
    ("I doubt that B is better.", None),
    ("Nobody would say that A is better.", None),
    ("A fails to show why it is better.", None),
    ("A is far from better.", None),
    ("A is hardly the winner.", None),
    ("That A is better is not clear.", None),
    ("It is not a tie.", None),
    ("If A is better, the verdict is A.", None),
    ("Output [[A]] if assistant A is better.", None),
    ("I have to decide whether A is better than B.", None),
    ("The question is which of A and B is better.", None),
    ("Is A better than B?", None),
    ("A would be better if it cited a source.", None),
    ("The author of A claims that A is better.", None),
    ("At first glance, A is better.", None),
    ("A is better at explaining.", None),
    ("B is better in tone.", None),
    ("A is better only in style.", None),
    ("A is better structured.", None),
    ("A response is better than none.", None),
    ("This is the answer a user wants.", None),
    ('The candidate writes "Assistant A is better than anyone" in its text.', None),
    ("Both are equally long.", None),
    ("Both answers discuss the topic.", None),
    ("A better explanation is needed.", None),
    ("Neither is better at citing.", None),
    ("B is better than it was before.", None),
    ("", None),
]

GRADES = [
    (FIVE, "The answer deserves a 4.", "4"),
    (FIVE, "I give it a score of 3.", "3"),
    (FIVE, "I would rate this response a 2 out of 5.", "2"),
    (FIVE, "Overall score: 5", "5"),
    (FIVE, "Final score: 4/5.", "4"),
    (FIVE, "The final rating is 3.0.", "3"),
    (FIVE, "Rating: [[2]]", "2"),
    (FIVE, "The response gets most of it right, so I give it a 4.", "4"),
    (FIVE, "It deserves a score of 3 because it is not complete.", "3"),
    (FIVE, "It earns a 2. On reflection, it deserves a 3.", "3"),
    (FIVE, "It does not deserve a 5.", None),
    (FIVE, "A score of 5 would be too generous.", None),
    (FIVE, "A score of 5 is too high.", None),
    (FIVE, "A score of 3 means that half is right.", None),
    (FIVE, "To receive a score of 5 it has to be complete.", None),
    (FIVE, "If it cited a source I would give it a 5.", None),
    (FIVE, "It deserves a score of 3 or 4.", None),
    (FIVE, "It deserves a score of 3-4.", None),
    (FIVE, "It deserves a 3.5.", None),
    (FIVE, "It deserves a score of 4 for clarity.", None),
    (FIVE, "Clarity score: 4", None),
    (FIVE, "Clarity deserves a 4.", None),
    (FIVE, "The score is 8.", None),
    (FIVE, "There are 4 errors in the answer.", None),
    (PASS, "Verdict: FAIL", "fail"),
    (NO, "My conclusion is: No.", "no"),
    (NO, "It is not so that my conclusion is: No.", None),
    (PASS, "My conclusion is: PASS.", "pass"),
    (PASS, "I grade this answer as FAIL.", "fail"),
    (PASS, "I do not grade this answer as FAIL.", None),
    (PASS, "The answer passes over the date.", None),
    (UNIT, "I assign it a score of 0.75.", 0.75),
    (UNIT, "The score is 1.5.", None),
]


@each(("text", "stated"), PREFERENCES)
def test_a_preference_is_found_only_where_it_is_stated(text, stated):
    assert LETTERS.last(text) == stated


@each(("statements", "text", "stated"), GRADES)
def test_a_grade_is_found_only_where_it_is_stated(statements, text, stated):
    assert statements.last(text) == stated


def test_candidates_that_are_called_by_numbers_need_a_noun():
    assert NUMBERS.last("Candidate 2 is better.") is TWO
    assert NUMBERS.last("Answer #1 wins.") is ONE
    assert NUMBERS.last("1 is better than nothing, and 2 is a crowd.") is None
    assert NUMBERS.last("Response A is better.") is None


def test_the_words_of_a_layout_are_used_and_ordinals_only_where_they_say_the_slot():
    swapped = Statements(None, {"second": "1", "first": "2", "tie": "tie"}, ordinals=False)
    assert swapped.last("The first candidate is better.") is TWO
    assert swapped.last("Candidate first is better.") is TWO
    lettered = Statements(None, {"B": "1", "A": "2"}, ordinals=False)
    assert lettered.last("Candidate A is better.") is TWO
    assert lettered.last("The first candidate is better.") is None


def test_answers_that_name_no_candidate_alone_are_about_a_and_b():
    five_way = Statements(None, {"A>>B": "1", "A>B": "1", "A=B": "tie", "B>A": "2", "B>>A": "2"})
    assert five_way.last("Assistant B is better.") is TWO
    assert five_way.last("My verdict: [[A>>B]]") is ONE


@pytest.mark.parametrize(
    "unit",
    ["A is better and ", "score of 3 on the ", "not A is better ", "i give it a ", '"', "[[", "§1 the ", "(", "\n"],
)
def test_the_time_grows_with_the_length(unit):
    import time

    def took(times):
        start = time.process_time()
        for statements in (LETTERS, FIVE):
            statements.last(unit * times)
        return time.process_time() - start

    took(200)
    small, large = max(took(500), 1e-4), took(4000)
    # Eight times the text; a quadratic step would take 64 times as long.
    assert large / small < 32
