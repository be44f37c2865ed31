"""Answers in the shapes that judges are told to answer in: which one counts, and when a text is no answer."""

import json
import re
import sys
import time
from types import SimpleNamespace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.domain.judgments import Abstained, Unparsed, Verdict
from umpirical.domain.scales import Choice, GradeScale
from umpirical.judges.factory import build_reader
from umpirical.judges.shapes import SIZE, AnswerPattern, AnswerSpec
from umpirical.judges.spec import JudgeSpec

ONE, TWO, TIE = Choice.POSITION_1, Choice.POSITION_2, Choice.TIE
LETTERS = {"A": "1", "B": "2", "C": "tie"}
FIVE = GradeScale("ordinal", ("1", "2", "3", "4", "5"))
YES = GradeScale("binary", ("no", "yes"))
UNIT = GradeScale("interval", low=0, high=1)


def reader(scale=None, **answer):
    kind = {"kind": "compare"} if scale is None else {"kind": "grade", "scale": scale}
    return build_reader(JudgeSpec(name="j", callable="m:f", answer=AnswerSpec(**answer), **kind))


WINNER = reader(field="winner", labels=LETTERS)
NESTED = reader(FIVE, field="result.score")
TAG = reader(tag="verdict", labels=LETTERS)
BRACKETS = reader(brackets=True, labels=LETTERS)
LINE = reader(last_line=True, labels=LETTERS)
BOOLEAN = reader(YES, field="ok", labels={True: "yes", False: "no"})
SHARE = reader(UNIT, field="score")

READ = [
    (WINNER, '{"winner": "A"}', ONE),
    (WINNER, '{"why": "x", "winner": "b", "scores": [1, 2]}', TWO),
    (WINNER, 'I compared them.\n```json\n{"winner": "C"}\n```\nDone.', TIE),
    (WINNER, 'So {it} goes: {"winner": "A"}', ONE),
    (WINNER, '{"winner": "A"} or again {"winner": "A"}', ONE),
    (WINNER, '{"note": {"winner": "B"}} {"winner": "A"}', ONE),
    (reader(field="winner"), '{"winner": 1}', ONE),
    (NESTED, '{"result": {"score": 4}}', "4"),
    (NESTED, '{"result": {"score": 4.0, "max": 5}}', "4"),
    (NESTED, '{"result": {"score": "4"}}', "4"),
    (TAG, "<analysis>x</analysis><verdict>A</verdict>", ONE),
    (TAG, "<verdict>\n b \n</verdict>", TWO),
    (TAG, "<verdict>A</verdict> <verdict>a</verdict>", ONE),
    (BRACKETS, "Because of that: [[A]]", ONE),
    (BRACKETS, "[[ B ]]", TWO),
    (reader(FIVE, brackets=True), "Rating: [[4.0]]", "4"),
    (reader(UNIT, brackets=True), "Rating: [[0.25]]", 0.25),
    (LINE, "Some thoughts.\n\nB\n\n", TWO),
    (LINE, "Some thoughts.\n**B.**", TWO),
    (LINE, "A", ONE),
    (BOOLEAN, '{"ok": true}', "yes"),
    (BOOLEAN, '{"ok": false, "reason": "x"}', "no"),
    (BOOLEAN, '{"ok": "True"}', "yes"),
    (SHARE, '{"score": 0.7}', 0.7),
    (SHARE, '{"score": 1}', 1.0),
    (SHARE, '{"score": "0.7"}', 0.7),
    (reader(brackets=True, labels=LETTERS, occurrence="last"), "[[A]] no, [[B]]", TWO),
    (reader(brackets=True, labels=LETTERS, occurrence="first"), "[[A]] no, [[B]]", ONE),
    (reader(pattern="V: (?P<answer>[ABC])", labels=LETTERS, occurrence="last"), "V: A\nV: B", TWO),
    (reader(pattern="V: (?P<answer>[ABC])", labels=LETTERS, occurrence="first"), "V: A\nV: B", ONE),
    (reader(field="winner", labels=LETTERS, occurrence="last"), '{"winner": "A"} {"winner": "B"}', TWO),
    (reader(tag="v", labels=LETTERS, occurrence="first"), "<v>A</v><v>B</v>", ONE),
]

NOT_READ = [
    (WINNER, ""),
    (WINNER, '{"Winner": "A"}'),
    (WINNER, '{"winner": "A", "winner": "B"}'),
    (WINNER, '{"winner": "A"} {"winner": "B"}'),
    (WINNER, '{"winner": "A"} {"winner": "x"}'),
    (WINNER, '{"winner": null}'),
    (WINNER, '{"winner": ["A"]}'),
    (WINNER, '{"winner": "A"'),
    (WINNER, '{"outer": {"winner": "A"}}'),
    (WINNER, "A"),
    (NESTED, '{"result": 4}'),
    (NESTED, '{"result.score": 4}'),
    (NESTED, '{"result": {"score": 4.5}}'),
    (NESTED, '{"result": {"score": true}}'),
    (NESTED, '{"result": {"score": 6}}'),
    (TAG, "<verdict>A"),
    (TAG, "<VERDICT>A</VERDICT>"),
    (TAG, "<verdict>A</verdict><verdict>B</verdict>"),
    (TAG, "<verdict>A or B</verdict>"),
    (TAG, "<verdict></verdict>"),
    (BRACKETS, "[A]"),
    (BRACKETS, "[[A]] and [[B]]"),
    (BRACKETS, "[[note]] [[A]]"),
    (BRACKETS, "[[A"),
    (BRACKETS, "[[A\n]]"),
    (LINE, ""),
    (LINE, " \n "),
    (LINE, "Verdict: B"),
    (LINE, "B\nas I said"),
    (BOOLEAN, '{"ok": 1}'),
    (SHARE, '{"score": 1.1}'),
    (SHARE, '{"score": true}'),
    (SHARE, '{"score": NaN}'),
]


@each(("by", "text", "value"), READ)
def test_an_answer_in_its_shape_is_a_verdict(by, text, value):
    assert by.read(text) == Verdict(value)
    assert type(by.read(text).value) is type(value)


@each(("by", "text"), NOT_READ)
def test_anything_else_is_unparsed_with_its_text_kept(by, text):
    outcome = by.read(text)
    assert isinstance(outcome, Unparsed)
    assert outcome.raw == text
    assert outcome.why


def test_words_for_abstaining_leave_the_scale_as_it_is():
    declining = reader(FIVE, tag="score", labels={"N/A": "abstain"})
    assert declining.read("<score>n/a</score>") == Abstained()
    assert declining.read("<score>4</score>") == Verdict("4")
    assert reader(UNIT, field="s", labels={"N/A": "abstain"}).read('{"s": "N/A"}') == Abstained()


CUT = [
    (WINNER, '{"winner": "A", "why": "x"}', True),
    (WINNER, 'So: {"winner": "A"}', False),
    (TAG, "<verdict>A</verdict>", False),
    (BRACKETS, "[[A]]", False),
    (LINE, "A", False),
    (reader(tag="v", labels=LETTERS, occurrence="first"), "<v>A</v> and <v", True),
    (reader(brackets=True, labels=LETTERS, occurrence="first"), "[[A]] and", True),
    (reader(field="winner", labels=LETTERS, occurrence="first"), 'x {"winner": "A"} y', True),
    (reader(brackets=True, labels=LETTERS, occurrence="last"), "[[A]] and [[B]]", False),
    (reader(pattern="V: (?P<answer>[ABC])", labels=LETTERS, occurrence="first"), "V: A", False),
]


@pytest.mark.parametrize(("by", "text", "whole"), CUT)
def test_an_answer_that_was_cut_counts_only_if_more_of_it_would_change_nothing(by, text, whole):
    assert isinstance(by.read(text), Verdict)
    assert isinstance(by.read(text, cut=True), Verdict) == whole


@given(st.text(alphabet='AB[]{}<>/"verdictwinner:\\\n ', max_size=60))
def test_any_text_has_an_outcome_in_every_shape(text):
    for by in (WINNER, NESTED, TAG, BRACKETS, LINE, BOOLEAN, SHARE):
        assert by.read(text) == by.read(text)
        assert isinstance(by.reasoning(text), str)


@pytest.mark.parametrize(
    "unit", ['{"a":', '{"winner": "A"}', "{", "}", '"', "<verdict>", "<verdict>A</verdict>", "[[", "[[A]] ", "\n", "\\"]
)
@pytest.mark.parametrize("by", [WINNER, TAG, BRACKETS, LINE], ids=["field", "tag", "brackets", "last_line"])
def test_the_time_of_reading_grows_with_the_length(by, unit):
    def took(times):
        text = unit * times
        start = time.process_time()
        by.read(text)
        by.reasoning(text)
        return time.process_time() - start

    took(100)
    small, large = max(took(2_000), 1e-3), took(16_000)
    # Eight times the text; a quadratic step would take 64 times as long.
    assert large / small < 32


# What is sent, and what can be set.


@pytest.mark.parametrize(
    ("answer", "sends"),
    [
        ({}, True),
        ({"reasoning": True}, True),
        ({"labels": LETTERS}, True),
        ({"constrained": False}, False),
        ({"field": "winner"}, False),
        ({"field": "winner", "constrained": True}, True),
        ({"tag": "v"}, False),
        ({"brackets": True}, False),
        ({"last_line": True}, False),
        ({"pattern": "(?P<answer>x)"}, False),
        # As manifests of earlier versions have it, where it was the default.
        ({"pattern": "(?P<answer>x)", "constrained": True}, False),
    ],
)
def test_a_schema_is_sent_only_if_it_asks_for_what_the_prompt_asks_for(answer, sends):
    assert AnswerSpec(**answer).sends_schema == sends


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"tag": "v", "brackets": True}, "one answer format"),
        ({"field": "a", "pattern": "(?P<answer>x)"}, "one answer format"),
        ({"occurrence": "last"}, "occurrence requires"),
        ({"last_line": True, "occurrence": "first"}, "occurrence requires"),
        ({"tag": "v", "reasoning": True}, "remove one of them"),
        ({"field": "a", "reasoning": "a"}, "the same field"),
        ({"reasoning": " "}, "name of a JSON field"),
        ({"tag": "a b"}, "pattern"),
        ({"field": "a..b"}, "pattern"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(answer, message):
    with pytest.raises(ValueError, match=message):
        AnswerSpec(**answer)


@pytest.mark.parametrize(
    ("by", "first", "answer"),
    [
        (reader(reasoning=True), "reasoning", {"reasoning": "r", "verdict": "1"}),
        (reader(FIVE, reasoning="a_critique"), "a_critique", {"a_critique": "r", "grade": "4"}),
        (reader(FIVE, reasoning="why"), "why", {"why": "r", "grade": "4"}),
        (reader(FIVE, field="result.score", reasoning=True), "reasoning", {"reasoning": "r", "result": {"score": "4"}}),
        (BOOLEAN, "ok", {"ok": True}),
    ],
)
def test_the_schema_has_the_reasoning_first_and_accepts_what_is_read(by, first, answer):
    schema = json.loads(by.schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert next(iter(schema["properties"])) == first
    assert jsonschema.Draft202012Validator(schema).is_valid(answer)
    assert isinstance(by.read(json.dumps(answer)), Verdict)


@each(
    ("by", "text", "reasoning"),
    [
        (reader(), '{"verdict": "1", "reason": "r"}', "r"),
        (reader(), "1", ""),
        (reader(reasoning="why"), '{"why": "r", "verdict": "1"}', "r"),
        (WINNER, '{"explanation": "r", "winner": "A"}', "r"),
        (WINNER, 'Before.\n{"winner": "A"} After.', "Before."),
        (reader(field="winner", reasoning="why"), '{"why": "r", "rationale": "x", "winner": "1"}', "r"),
        (BRACKETS, "Before. [[A]] After.", "Before."),
        (reader(brackets=True, labels=LETTERS, occurrence="last"), "a [[A]] b [[B]]", "a [[A]] b"),
        (TAG, "<analysis>r</analysis><verdict>A</verdict>", "<analysis>r</analysis>"),
        (LINE, "Before.\nB", "Before."),
        (LINE, "B", ""),
        (BRACKETS, "nothing", ""),
    ],
)
def test_the_reasoning_is_what_stands_before_the_answer_or_in_a_field_beside_it(by, text, reasoning):
    assert by.reasoning(text) == reasoning


def test_the_package_for_python_3_15_may_not_leave_a_pattern_to_re(monkeypatch):
    """A stand-in for pyre2, whose module has the name of google-re2's: no environment has both."""
    told = []

    def compiled(pattern, flags, *, max_mem):
        told.append((flags, max_mem))
        return re.compile(pattern, flags)

    monkeypatch.setitem(
        sys.modules,
        "re2",
        SimpleNamespace(
            error=re.error,
            ASCII=re.ASCII,
            FALLBACK_EXCEPTION="exception",
            set_fallback_notification=told.append,
            compile=compiled,
        ),
    )
    # The digits are those that google-re2 knows.
    assert list(AnswerPattern(r"(?P<answer>\d)").found("3 and \u0663")) == [("3", 0)]
    assert told == ["exception", (re.ASCII, SIZE)]
