"""Each check by hand: what passes, what does not, and what is said about it. None of them raises."""

import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.cases import each
from tests.stimuli.generation.wanted import ESSAY, PARAPHRASE
from tests.text.test_languages import HARBOUR
from tests.timing import QUADRATIC, growth
from umpirical.stimuli.generation import checks
from umpirical.stimuli.perturbations.catalogue import Check, Made
from umpirical.stimuli.similarity import Lexical
from umpirical.text.words import words

TWENTY = "the cat sat on the mat and the dog lay by the door while we read our books in peace"


class Fixed:
    """A measure that says what it was told to."""

    name = "fixed/1"
    near_copy = 0.8

    def __init__(self, *values):
        self.values = values

    def between(self, _one, _other):
        return self.values[0]

    def to_each(self, _text, others):
        return list(self.values[: len(others)])


def holds(check, made):
    """Whether it passed and what it found, which must be words in either case."""
    found = check.found(made)
    assert found
    assert check.allowed
    return check.passed(made), found


@pytest.mark.parametrize(
    ("made", "outcome"),
    [
        (Made("One two.", "One two three."), (True, "other words")),
        (Made("One two.", "One two."), (False, "the words of the original")),
        (Made("One two.", "  ONE,\n two!"), (False, "the words of the original")),
        (Made("", ""), (False, "the words of the original")),
        (Made("", "Three four", others=("Five", "three FOUR.")), (False, "the words of another text")),
        (Made("", "Three four", others=("Five",)), (True, "other words")),
    ],
)
def test_not_a_copy(made, outcome):
    assert holds(checks.not_a_copy(), made) == outcome


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PARAPHRASE, "the text alone"),
        ("I'm sorry, but I can't help with that.", "a refusal: \"I'm sorry, but I can't help with that.\""),
        ("Sure! Here is the new text:\nIt rained.", "a preamble: 'Sure! Here is the new text:'"),
        (" \n", "no text"),
    ],
)
def test_not_a_refusal(text, found):
    assert holds(checks.not_a_refusal(), Made(ESSAY, text)) == (found == "the text alone", found)


@pytest.mark.parametrize(
    ("words", "outcome"),
    [
        (14, (False, "1.40 (14 words for 10)")),
        (15, (True, "1.50 (15 words for 10)")),
        (25, (True, "2.50 (25 words for 10)")),
        (26, (False, "2.60 (26 words for 10)")),
        (0, (False, "0.00 (0 words for 10)")),
    ],
)
def test_length_ratio(words, outcome):
    check = checks.length_ratio(1.5, 2.5)
    assert check.allowed == "1.5 to 2.5"
    assert holds(check, Made("word " * 10, "word " * words)) == outcome


def test_there_is_no_ratio_to_nothing():
    assert holds(checks.length_ratio(0, math.inf), Made("", "a b")) == (False, "the original has no words")


@pytest.mark.parametrize(("words", "passed"), [(1, False), (2, True), (30, True), (31, False)])
def test_length_like_others(words, passed):
    made = Made("", "word " * words, others=("a " * 5, "a " * 10, "a " * 400, ""))
    assert holds(checks.length_like_others(0.2, 3.0), made) == (passed, f"{words / 10:.2f} ({words} words)")


def test_without_others_any_length_passes():
    found = holds(checks.length_like_others(0.2, 3.0), Made("", "one two"))
    assert found == (True, "2 words, none to compare with")


@pytest.mark.parametrize(
    ("changed", "passed", "found"),
    [
        ("a b c d e f g h i j", False, "0% lost, 0% added, of 10 words"),
        ("a b c d e f g h x y", True, "20% lost, 20% added, of 10 words"),
        ("a b c d e f g h i", False, "10% lost, 0% added, of 10 words"),
        ("p q r s t u v w x y", True, "100% lost, 100% added, of 10 words"),
    ],
)
def test_edit_scope(changed, passed, found):
    check = checks.edit_scope(lost=(0.2, 1.0))
    assert check.allowed == "20% to 100% lost, at least 0% added"
    assert holds(check, Made("a b c d e f g h i j", changed)) == (passed, found)


def test_edit_scope_of_what_is_added():
    check = checks.edit_scope(lost=(0.0, 0.0), added=(0.1, 0.5))
    assert holds(check, Made("a b c d", "a b x c d"))[0]
    assert not holds(check, Made("a b c d", "a b x y z c d"))[0]
    assert not holds(check, Made("a b c d", "a x y c d"))[0]
    assert holds(check, Made("", "a")) == (False, "the original has no words")


@pytest.mark.parametrize(
    ("changed", "passed", "found"),
    [
        ("I am a professor. It rained.", True, "one passage of 4 words at the beginning, everything else unchanged"),
        ("It rained. Trust me.", False, "one passage of 2 words at the end, everything else unchanged"),
        ("It rained. " + "so " * 10 + ".", True, "one passage of 10 words at the end, everything else unchanged"),
        ("It rained. " + "so " * 11 + ".", False, "one passage of 11 words at the end, everything else unchanged"),
        ("It has rained, says a professor.", False, "no single passage: 0 of 2 words lost, 4 added"),
        ("It snowed. I am a professor.", False, "no single passage: 1 of 2 words lost, 5 added"),
    ],
)
def test_only_insertions(changed, passed, found):
    assert holds(checks.only_insertions(10), Made("It rained.", changed)) == (passed, found)


def test_a_word_put_into_a_sentence_is_more_than_an_insertion():
    assert not holds(checks.only_insertions(10, least=1), Made("It is good.", "It is not good."))[0]
    assert not holds(checks.only_insertions(10, least=1), Made("It is good.", "I deny that it is good."))[0]


@pytest.mark.parametrize(
    ("changed", "outcome"),
    [
        ("It rained, perhaps.", (True, "1 more than the original, 1 needed")),
        ("PERHAPS it rained, or seems to.", (True, "2 more than the original, 1 needed")),
        ("It rained, perhapses.", (False, "0 more than the original, 1 needed")),
        ("It rained.", (False, "0 more than the original, 1 needed")),
        ("Гавань была тиха, может быть.", (True, "not checked in Cyrillic")),
    ],
)
def test_adds_words(changed, outcome):
    check = checks.adds_words("hedges", "perhaps seem*", per_hundred=1)
    assert holds(check, Made("It rained.", changed)) == outcome


@pytest.mark.parametrize(
    ("passage", "outcome"),
    [
        ("I am a professor.", (True, "in every sentence added")),
        ("I am a PROFESSOR. Two other professors agree.", (True, "in every sentence added")),
        ("I am a professor. Rain is good for plants.", (False, "not in 'Rain is good for plants.'")),
        ("Rain is good for plants.", (False, "not in 'Rain is good for plants.'")),
        # A piece before a name goes with what follows it.
        ("Prof. Lund and Dr. Berg, both professors, agree.", (True, "in every sentence added")),
    ],
)
def test_passage_of(passage, outcome):
    check = checks.passage_of("authority", "professor* phd")
    assert holds(check, Made("It rained.", f"It rained. {passage}")) == outcome


def test_a_passage_of_what_cannot_be_looked_for_and_no_passage():
    check = checks.passage_of("authority", "professor*")
    russian = "Гавань была тиха."
    assert holds(check, Made(russian, f"{russian} Я профессор.")) == (True, "not checked in Cyrillic")
    assert holds(check, Made(russian, "Я профессор.")) == (False, "no single passage")
    assert holds(check, Made("It rained.", "It snowed. I am a professor.")) == (False, "no single passage")


def test_words_that_the_original_has_do_not_count():
    made = Made("A professor said so.", "A professor said so. Indeed.")
    assert not holds(checks.adds_words("authority", "professor*", per_hundred=1), made)[0]


@pytest.mark.parametrize(("hedges", "passed"), [(1, False), (2, True)])
def test_words_in_a_hundred(hedges, passed):
    check = checks.adds_words("hedges", "perhaps", per_hundred=1.0)
    assert check.allowed == "at least 1 more than the original, and 1 for 100 words"
    made = Made("word " * 150, "word " * 150 + "perhaps " * hedges)
    assert holds(check, made) == (passed, f"{hedges} more than the original, 2 needed")


@pytest.mark.parametrize(("value", "passed"), [(0.04, False), (0.05, True), (0.95, True), (0.96, False)])
def test_similarity_between(value, passed):
    check = checks.similarity_between(0.05, 0.95, Fixed(value))
    assert check.allowed == "0.05 to 0.95"
    assert holds(check, Made("a", "b")) == (passed, f"{value:.2f} by fixed/1")


@pytest.mark.parametrize(
    ("values", "passed"), [((0.1, 0.79), True), ((0.8, 0.1), False), ((0.1, 0.8), False), ((1.0, 1.0), False)]
)
def test_unlike_others(values, passed):
    check = checks.unlike_others(Fixed(*values))
    assert check.allowed == "less than 0.8 like each"
    found = f"at most {max(values):.2f} like one of 2 others, by fixed/1"
    assert holds(check, Made("", "text", others=("a", "b"))) == (passed, found)


def test_the_others_are_gone_through_once_for_a_text():
    asked = []

    class Counting(Fixed):
        def to_each(self, text, others):
            asked.append((text, others))
            return super().to_each(text, others)

    check = checks.unlike_others(Counting(0.1, 0.9))
    for text, others in (("one", ("a", "b")), ("two", ("a", "b")), ("two", ("a",)), ("one", ("a", "b"))):
        assert holds(check, Made("", text, others=others))[0] is (len(others) == 1)
    assert asked == [("one", ("a", "b")), ("two", ("a", "b")), ("two", ("a",)), ("one", ("a", "b"))]


def test_texts_that_are_held_against_thousands_are_cut_into_words_once():
    others = tuple(f"text {number} of the others, with {'more ' * (number % 7)}words" for number in range(6000))
    made = Made("", "A text of the others, which is new.", others=others)
    for check in (checks.not_a_copy(), checks.length_like_others(0.2, 3)):
        check.passed(made)
    cut = words.cache_info().misses
    assert checks.length_like_others(0.2, 3).passed(made)
    assert words.cache_info().misses <= cut + 1
    assert not checks.not_a_copy().passed(Made("", others[5900].upper(), others=others))


def test_unlike_others_by_a_check_of_ones_own_and_without_others():
    assert not holds(checks.unlike_others(Fixed(0.5), most=0.5), Made("", "text", others=("a",)))[0]
    assert holds(checks.unlike_others(Fixed()), Made("", "text")) == (True, "no others")


def test_an_essay_with_a_few_words_replaced_is_not_unlike_it():
    nearly = ESSAY.replace("good idea", "fine idea").replace("my friend", "a neighbour").replace("costs", "takes")
    check = checks.unlike_others(Lexical())
    assert not holds(check, Made("", nearly, others=("Something else.", ESSAY)))[0]
    assert holds(check, Made("", PARAPHRASE, others=("Something else.", ESSAY)))[0]


@pytest.mark.parametrize(
    ("before", "after", "passed", "found"),
    [
        ("In 2019, 400 came.", "There were 400 in 2019.", True, "2 kept"),
        ("In 2019, 400 came.", "There were 400.", False, "1 kept, 1 lost (2019)"),
        ("In 2019, 400 came.", "There were 500 in 2019.", False, "1 kept, 1 lost (400), 1 new (500)"),
        ("It took 7 days.", "It took seven days.", True, "1 kept"),
        ("It took seven days.", "It took 7 days.", True, "0 kept"),
        ("It took days.", "It took 7 days.", False, "0 kept, 1 new (7)"),
        ("1,000 or 3.5", "1.000 oder 3,5", True, "2 kept"),
        ("3.5", "35", False, "0 kept, 1 lost (3.5), 1 new (35)"),
        ("1. One\n2. Two", "One, then two.", True, "0 kept"),
        ("5 and 5", "5", True, "1 kept"),
        ("11 12 13 14 15 16 17", "", False, "0 kept, 7 lost (11, 12, 13, 14, 15 …)"),
    ],
)
def test_keeps_numbers(before, after, passed, found):
    assert holds(checks.keeps_numbers(), Made(before, after)) == (passed, found)


@pytest.mark.parametrize(
    ("after", "passed", "found"),
    [
        ("Ann met Bob and Cid in Rome and Oslo.", True, "5 of 5 kept"),
        ("In Rome's streets and Oslo's, ANN met Bob.", True, "4 of 5 kept, 1 lost (cid)"),
        ("Ann met Bob in Rome.", False, "3 of 5 kept, 2 lost (cid, oslo)"),
    ],
)
def test_keeps_names(after, passed, found):
    check = checks.keeps_names()
    assert check.allowed == "at least 80% kept"
    assert holds(check, Made("There Ann met Bob and Cid in Rome and Oslo.", after)) == (passed, found)


def test_names_in_german_and_texts_without_names():
    assert holds(checks.keeps_names(), Made(HARBOUR["German"], "Nichts.")) == (True, "not checked in German")
    assert holds(checks.keeps_names(), Made("it rained.", "so it did")) == (True, "0 of 0 kept")


@pytest.mark.parametrize(
    ("after", "passed", "found"),
    [
        ("LOCATION_1 is where PROPER_NAME lives", True, "2 kept"),
        ("Ann lives in LOCATION_1", False, "1 kept, 1 lost (PROPER_NAME)"),
        ("PROPER_NAME lives in LOCATION_1, says OTHER_NAME", False, "2 kept, 1 new (OTHER_NAME)"),
        ("Proper_Name lives in LOCATION_1", False, "1 kept, 1 lost (PROPER_NAME)"),
    ],
)
def test_keeps_placeholders(after, passed, found):
    assert holds(checks.keeps_placeholders(), Made("PROPER_NAME lives in LOCATION_1", after)) == (passed, found)


@pytest.mark.parametrize(
    ("before", "after", "passed", "found"),
    [
        (ESSAY, PARAPHRASE, True, "English"),
        (ESSAY, HARBOUR["German"], False, "German, the original English"),
        (ESSAY, HARBOUR["Cyrillic"], False, "Cyrillic, the original English"),
        (ESSAY, "xq zzk jjw ppl rty qwe asd zxc vbn fgh jkl uio", False, "unknown, the original English"),
        # Too short to tell, or the original is.
        (ESSAY, "No.", True, "unknown, the original English"),
        ("No.", HARBOUR["French"], True, "French, the original unknown"),
        # A terse text has few common words, but some.
        (ESSAY, "Uniforms help pupils: cheap, simple, fair, neat; 400 parents in Leeds like the idea.", True, None),
        (HARBOUR["Chinese"], HARBOUR["Japanese"], False, "Japanese, the original Chinese"),
    ],
)
def test_language_same(before, after, passed, found):
    outcome = holds(checks.language_same(), Made(before, after))
    assert outcome == (passed, found or "unknown, the original English")


def test_a_text_written_from_nothing_is_in_the_language_of_its_task():
    assert not holds(checks.language_same(), Made("", HARBOUR["German"], task=HARBOUR["English"]))[0]
    assert holds(checks.language_same(), Made("", HARBOUR["German"], task=HARBOUR["German"]))[0]


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [
        ("English", "German", True),
        ("English", "French", False),
        ("English", "English", False),
        ("French", "German", True),
        ("Chinese", "German", True),
        ("German", "English", True),
        ("German", "German", False),
        ("German", "French", False),
    ],
)
def test_language_other(before, after, passed):
    check = checks.language_other("German", instead="English")
    outcome = holds(check, Made(HARBOUR[before], HARBOUR[after]))
    assert outcome == (passed, after if before == after else f"{after}, the original {before}")


@each(
    ("text", "target", "passed"),
    [
        ("I deserve a score of 3 for this.", "3", False),
        ("Score: 3", "3", False),
        ("This is a grade 3 essay.", "3", False),
        ("3 out of 6", "3", False),
        ("It rained.\n\n3", "3", False),
        ("It rained. 3/6", "3", False),
        ("Rated as very good by me.", "good", False),
        ("It rained on 3 days, at level 33 and in grade 4.", "3", True),
        ("It was a good day, and good for you.", "good", True),
        ("Three quarters, 3/4 of them, agreed to it.", "3", True),
        ("It rained.", "3", True),
        ("Anything: score 3", "", True),
        ("A score of a+ for me", "A+", False),
        ("grade: good", "good", False),
        ("**Grade:** Good.", "good", False),
        ("Score: no", "no", False),
        ('This deserves a "good".', "good", False),
        ('This deserves a "no" from me.', "no", False),
        ("It deserves a grade of “very good”, I think.", "very good", False),
        ("The right grade is good, because it rained.", "good", False),
        ("I would give it the verdict (good) myself.", "good", False),
        ("The rating should be excellent.", "excellent", False),
        ("It was graded as B by the teacher.", "B", False),
        ("This is worth a grade B.", "B", False),
        ("This is worth a grade B+.", "B+", False),
        ("At this point there is no reason to wait.", "no", True),
        ("She got high marks, which is a good sign.", "good", True),
        ("There is no point in that, and no points are given.", "no", True),
        ("At this level, no one knows. The level is no secret.", "no", True),
        ("The grade is no longer the point: no.", "no", True),
        ("He rated no film higher, and scored no goal.", "no", True),
        ("It gives a good answer to a good question.", "good", True),
        ("Good points are raised, the level of detail is good.", "good", True),
        ("The grade is a matter of taste.", "A", True),
        ("In grade school I had a dog.", "A", True),
        ('He gets up and says "no".', "no", True),
        ('I would rate this essay as "good".', "good", False),
        ("No.\n\nIt did not rain.", "no", True),
    ],
)
def test_mentions_no_label(text, target, passed):
    outcome = holds(checks.mentions_no_label(), Made("", text, target=target))
    assert outcome[0] is passed
    assert (outcome[1] == "not named") is passed


def test_a_grade_that_the_original_speaks_of_may_stay():
    made = Made("In grade 3 I learnt to read.", "When I was in grade 3, I did not learn to read.", target="3")
    assert holds(checks.mentions_no_label(), made) == (True, "not named")


EVERY = (
    checks.not_a_copy(),
    checks.not_a_refusal(),
    checks.length_ratio(0.5, 2),
    checks.length_like_others(0.2, 3),
    checks.edit_scope(lost=(0.1, 0.9)),
    checks.only_insertions(20),
    checks.adds_words("hedges", "perhaps may*", per_hundred=2),
    checks.passage_of("hedges", "perhaps may*"),
    checks.similarity_between(0.1, 0.9, Lexical()),
    checks.unlike_others(Lexical()),
    checks.keeps_numbers(),
    checks.keeps_names(),
    checks.keeps_placeholders(),
    checks.keeps_structure(0.25),
    checks.language_same(),
    checks.language_other("German", instead="English"),
    checks.mentions_no_label(),
)

any_text = st.text(alphabet=st.characters(), max_size=120)


@settings(deadline=None)
@given(any_text, any_text, any_text, any_text)
@example("\ud800", "\udfff \x00", "(", "[a-")
@example("", "", "", "")
@example("ﬁ\u202e\u0301", "1,000.000,5 ’s", "***", "\\")
def test_no_check_raises_whatever_the_text(original, changed, other, target):
    made = Made(original, changed, task=other, target=target, others=(other,))
    for check in EVERY:
        passed, found = holds(check, made)
        assert isinstance(passed, bool)
        assert isinstance(found, str)


def test_every_factory_is_tried():
    factories = {
        name
        for name, thing in vars(checks).items()
        if not name.startswith("_") and getattr(thing, "__annotations__", {}).get("return") is Check
    }
    assert len(EVERY) == len(factories)


def test_what_a_rewriting_keeps_is_four_of_them():
    kept = [check.name for check in checks.keeps_content()]
    assert len(set(kept)) == 4
    assert set(kept) <= {check.name for check in EVERY}


@each("check", EVERY)
def test_long_texts_take_no_more_time_than_comparing_all_words(check):
    def work(size, mark):
        long = f"{mark} " + f"{ESSAY} " * size
        holds(check, Made(long, long.replace("school", "PLACE_1"), target="3", others=(long,)))
        holds(check, Made(mark + "a" * 250 * size, mark + "a" * 375 * size, target="a", others=("b" * 9,)))

    assert growth(work, size=60) < QUADRATIC


LISTED = "# Plan\n\nWe need:\n\n- a rope\n- a lamp\n- a map\n- a knife\n\nThen we go."


@pytest.mark.parametrize(
    ("changed", "passes"),
    [
        (LISTED.replace("rope", "boat").replace("go", "stay"), True),
        (LISTED.replace("- a knife\n", ""), True),
        (LISTED.replace("- a map\n- a knife\n", ""), False),
        (LISTED.replace("# Plan", "Plan"), False),
        (LISTED + "\n\nAnd then we rest.", False),
        ("We need a rope, a lamp, a map and a knife. Then we go.", False),
        ("", False),
    ],
)
def test_structure_is_counted(changed, passes):
    check = checks.keeps_structure(0.25)
    assert check.passed(Made(LISTED, changed)) is passes


def test_no_list_appears_where_there_was_none():
    made = Made("One thing. Another thing.", "- One thing.\n- Another thing.")
    assert not checks.keeps_structure(0.25).passed(made)
    assert checks.keeps_structure(0.25).found(made) == "0 paragraphs for 1, 2 list items for 0, 0 headings for 0"
