"""Answer reading: only a text that is an answer as a whole is read as one."""

import json
import time
from dataclasses import replace

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each
from umpirical.domain.judgments import Abstained, Failed, Unparsed, Verdict
from umpirical.domain.responses import Response, Usage
from umpirical.domain.scales import Choice, GradeScale
from umpirical.domain.trials import Presentation
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.shapes import AnswerSpec, shape_of


def by_pattern(scale, pattern):
    return AnswerReader(scale, shape=shape_of(AnswerSpec(pattern=pattern)))


COMPARE = AnswerReader(None)
NOMINAL = AnswerReader(GradeScale("nominal", ("yes", "no", "not sure")))
ORDINAL = AnswerReader(GradeScale("ordinal", ("1", "2", "3")))
BINARY = AnswerReader(GradeScale("binary", ("true", "false")))
INTERVAL = AnswerReader(GradeScale("interval", low=0, high=10))
CONFIDENT = AnswerReader(None, confidence=True)

READ = [
    (COMPARE, '{"verdict": "1"}', Choice.POSITION_1),
    (COMPARE, ' \n{"verdict":"2"}\n ', Choice.POSITION_2),
    (COMPARE, '{"verdict": "tie", "reason": "both are fine, 1 and 2"}', Choice.TIE),
    (COMPARE, '{"reasoning": "\\u201c1\\u201d", "verdict": "2"}', Choice.POSITION_2),
    (COMPARE, '```json\n{"verdict": "1"}\n```', Choice.POSITION_1),
    (COMPARE, '```\n{"verdict": "1"}\n```', Choice.POSITION_1),
    (COMPARE, "1", Choice.POSITION_1),
    (COMPARE, "2.", Choice.POSITION_2),
    (COMPARE, '"tie"', Choice.TIE),
    (COMPARE, "'tie'.", Choice.TIE),
    (COMPARE, "TIE", Choice.TIE),
    (NOMINAL, '{"grade": "not sure"}', "not sure"),
    (NOMINAL, "Yes.", "yes"),
    (ORDINAL, '{"grade": "3"}', "3"),
    (ORDINAL, '{"grade": 3}', "3"),
    (ORDINAL, '{"reason": "fine", "grade": 3}', "3"),
    (AnswerReader(GradeScale("binary", ("0", "1"))), '{"grade": 0}', "0"),
    (AnswerReader(GradeScale("nominal", ("10", "20"))), '{"grade": 20}', "20"),
    (AnswerReader(GradeScale("ordinal", ("1.0", "1.5"))), '{"grade": 1.5}', "1.5"),
    (AnswerReader(GradeScale("ordinal", ("good", "bad")), labels={"1": "good", "2": "bad"}), '{"grade": 2}', "bad"),
    (ORDINAL, "3", "3"),
    (BINARY, "true", "true"),
    (BINARY, '{"grade": "false"}', "false"),
    (BINARY, '{"grade": true}', "true"),
    (ORDINAL, '{"grade": 3.0}', "3"),
    (ORDINAL, "3.0", "3"),
    (INTERVAL, '{"grade": 7}', 7.0),
    (INTERVAL, '{"grade": 1e1}', 10.0),
    (INTERVAL, '{"grade": 0}', 0.0),
    (INTERVAL, "7.5", 7.5),
    (INTERVAL, "+7.", 7.0),
    (INTERVAL, '"7"', 7.0),
]

NOT_READ = [
    (COMPARE, ""),
    (COMPARE, " \n\t"),
    (COMPARE, "null"),
    (COMPARE, "[]"),
    (COMPARE, "{}"),
    (COMPARE, '["1"]'),
    (COMPARE, '[{"verdict": "1"}]'),
    (COMPARE, '{"verdict": 1}'),
    (COMPARE, '{"verdict": true}'),
    (COMPARE, '{"verdict": null}'),
    (COMPARE, '{"verdict": ["1"]}'),
    (COMPARE, '{"verdict": {"1": 1}}'),
    (COMPARE, '{"verdict": "3"}'),
    (COMPARE, '{"verdict": "Tie"}'),
    (COMPARE, '{"verdict": "1 or 2"}'),
    (COMPARE, '{"Verdict": "1"}'),
    (COMPARE, '{"grade": "1"}'),
    (COMPARE, '{"verdict": "1", "winner": "2"}'),
    (COMPARE, '{"verdict": "1", "verdict": "2"}'),
    (COMPARE, '{"verdict": "1"} {"verdict": "2"}'),
    (COMPARE, '{"verdict": "1"'),
    (COMPARE, 'The answer is {"verdict": "1"}'),
    (COMPARE, '```json\n{"verdict": "1"}\n```\nHope this helps!'),
    (COMPARE, '```json\n{"verdict": "1"}\n```\n```json\n{"verdict": "2"}\n```'),
    (COMPARE, "candidate 1"),
    (COMPARE, "1 or 2"),
    (COMPARE, "1.5"),
    (COMPARE, "12"),
    (COMPARE, "-1"),
    (NOMINAL, "no, not sure"),
    (NOMINAL, '{"grade": "NO"}'),
    (ORDINAL, '{"grade": 2.5}'),
    (ORDINAL, '{"grade": 4}'),
    (ORDINAL, '{"grade": [3]}'),
    (ORDINAL, '{"grade": ' + "9" * 4000 + "}"),
    (AnswerReader(GradeScale("binary", ("0", "1"))), '{"grade": true}'),
    (AnswerReader(GradeScale("nominal", ("inf", "nan"))), '{"grade": Infinity}'),
    (AnswerReader(GradeScale("nominal", ("inf", "nan"))), '{"grade": NaN}'),
    (ORDINAL, "4"),
    (INTERVAL, '{"grade": "7"}'),
    (INTERVAL, '{"grade": true}'),
    (INTERVAL, '{"grade": 10.01}'),
    (INTERVAL, '{"grade": -1}'),
    (INTERVAL, '{"grade": NaN}'),
    (INTERVAL, '{"grade": Infinity}'),
    (INTERVAL, '{"grade": 1e999}'),
    (INTERVAL, "11"),
    (INTERVAL, "7/10"),
    (INTERVAL, "7 of 10"),
    (INTERVAL, "nan"),
    (INTERVAL, "9" * 5000),
    (INTERVAL, '{"grade": ' + "9" * 4000 + "}"),
    (CONFIDENT, '{"verdict": "1", "confidence": "high"}'),
    (CONFIDENT, '{"verdict": "1", "confidence": 1.01}'),
    (CONFIDENT, '{"verdict": "1", "confidence": true}'),
    (CONFIDENT, '{"verdict": "1", "confidence": NaN}'),
    (COMPARE, "[" * 100_000),
    (COMPARE, '{"verdict":' * 100_000),
    (COMPARE, '{"verdict": "1"}' * 100_000),
    (COMPARE, "\ud800"),
    (COMPARE, "1\0"),
]


@each(("reader", "text", "value"), READ)
def test_an_answer_on_the_scale_is_a_verdict(reader, text, value):
    assert reader.read(text) == Verdict(value)
    assert type(reader.read(text).value) is type(value)


@each(("reader", "text"), NOT_READ)
def test_anything_else_is_unparsed_with_its_text_kept(reader, text):
    outcome = reader.read(text)
    assert isinstance(outcome, Unparsed)
    assert outcome.raw == text
    assert outcome.why


@pytest.mark.parametrize("reader", [COMPARE, NOMINAL, ORDINAL, BINARY, INTERVAL])
def test_abstaining_is_neither_a_verdict_nor_unparsed(reader):
    for text in (f'{{"{reader.field}": "abstain"}}', "abstain", "Abstain."):
        assert reader.read(text) == Abstained()


PROSE = st.lists(
    st.sampled_from(
        ["1", "2", "tie", "abstain", "the", "better", "candidate", "is", "verdict:", "**1**", "I", "think"]
    ),
    min_size=2,
    max_size=12,
)


@given(PROSE, st.sampled_from([" ", "\n", ", "]))
def test_a_label_inside_prose_is_never_a_verdict(words, between):
    assert isinstance(COMPARE.read(between.join(words)), Unparsed)


@given(st.text())
def test_any_text_has_an_outcome_and_a_verdict_only_if_it_is_the_label(text):
    outcome = COMPARE.read(text)
    if isinstance(outcome, Verdict):
        assert text.strip().removesuffix(".").strip("\"'").casefold() == outcome.value.value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_a_verdict_exactly_if_the_scale_holds_it(number):
    outcome = INTERVAL.read(json.dumps({"grade": number}))
    assert outcome == Verdict(number) if 0 <= number <= 10 else isinstance(outcome, Unparsed)


def test_a_huge_text_is_read_in_little_time():
    start = time.process_time()
    assert isinstance(COMPARE.read("```json\n" * 50_000), Unparsed)
    assert isinstance(COMPARE.read("1" + " " * 1_000_000 + "x"), Unparsed)
    assert time.process_time() - start < 5


def test_the_judges_own_words_are_mapped_to_labels_and_the_labels_are_then_no_answers():
    reader = AnswerReader(None, labels={"A": "1", "B": "2", "C": "tie", "skip": "abstain"})
    assert [reader.read(f'{{"verdict": "{word}"}}') for word in "ABC"] == [Verdict(choice) for choice in Choice]
    assert reader.read("a") == Verdict(Choice.POSITION_1)
    assert reader.read("skip") == Abstained()
    assert isinstance(reader.read("1"), Unparsed)


def test_labels_that_differ_in_case_only_are_told_apart():
    reader = AnswerReader(GradeScale("nominal", ("Yes", "yes")))
    assert (reader.read("Yes"), reader.read("yes")) == (Verdict("Yes"), Verdict("yes"))
    assert isinstance(reader.read("YES"), Unparsed)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("I compared them.\nFinal: 1", Verdict(Choice.POSITION_1)),
        ("Final: abstain", Abstained()),
        ("1", None),
        ("Final: 1\nFinal: 1", Verdict(Choice.POSITION_1)),
        ("Final: 1\nFinal: 2", None),
        ("Final: 3", None),
        ('{"verdict": "1"}', None),
    ],
)
def test_a_pattern_of_the_users_must_find_one_answer(text, outcome):
    found = by_pattern(None, r"Final: (?P<answer>\w+)").read(text)
    assert found == outcome if outcome else isinstance(found, Unparsed)


def test_a_pattern_for_numbers_and_one_whose_group_took_no_part():
    reader = by_pattern(GradeScale("interval", low=0, high=10), r"Score(?:: (?P<answer>[\d.]+))?")
    assert reader.read("Score: 7.5") == Verdict(7.5)
    assert isinstance(reader.read("Score: 11"), Unparsed)
    assert isinstance(reader.read("Score"), Unparsed)


def test_confidence_is_kept_where_it_is_given():
    assert CONFIDENT.read('{"verdict": "tie", "confidence": 1}') == Verdict(Choice.TIE, 1.0)
    assert COMPARE.read('{"verdict": "tie", "confidence": 0.25}') == Verdict(Choice.TIE, 0.25)


# The schema sent along, and the reading of what comes back.

CONFIDENCE = jsonschema.Draft202012Validator(
    {"properties": {"confidence": {"type": "number", "minimum": 0, "maximum": 1}}}
)
READERS = [COMPARE, NOMINAL, ORDINAL, BINARY, INTERVAL, CONFIDENT, AnswerReader(None, labels={"A": "1", "B": "2"})]
ANSWERS = [
    "1",
    "2",
    "tie",
    "abstain",
    "yes",
    "no",
    "true",
    "A",
    "B",
    "x",
    "",
    0,
    1,
    7,
    10,
    10.5,
    -1,
    True,
    None,
    [],
    {},
]


@pytest.mark.parametrize("reader", READERS)
def test_the_schema_is_a_json_schema_every_part_of_which_has_a_type(reader):
    schema = json.loads(reader.schema())
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert set(schema["required"]) == set(schema["properties"])
    # OpenAI's strict mode answers 400 to a property without one.
    for part in schema["properties"].values():
        assert all("type" in branch for branch in part.get("anyOf", [part]))


@pytest.mark.parametrize("reader", READERS)
def test_what_is_read_is_what_the_schema_accepts_but_for_four_things_forgiven(reader):
    """Forgiven: a reason beside the answer, a confidence not asked for or left out, a label as a number or boolean."""
    validator = jsonschema.Draft202012Validator(json.loads(reader.schema()))
    extras = [{}, {"confidence": 0.5}, {"confidence": 2}, {"confidence": "x"}, {"reason": "r"}, {"other": 1}]
    records = [{field: answer} | extra for field in ("verdict", "grade") for answer in ANSWERS for extra in extras]
    assert any(map(validator.is_valid, records))
    asked_for = {reader.field, "confidence"} if reader is CONFIDENT else {reader.field}
    for record in records:
        confidence = {"confidence": record.get("confidence", 1)}
        forgiven = {name: value for name, value in ({"confidence": 1} | record).items() if name in asked_for}
        if reader.field == "grade" and reader is not INTERVAL and type(record.get("grade")) in (int, float):
            forgiven["grade"] = str(record["grade"])
        if reader.field == "grade" and type(record.get("grade")) is bool:
            forgiven["grade"] = str(record["grade"]).lower()
        fine = not set(record) - {reader.field, "reason", "confidence"} and CONFIDENCE.is_valid(confidence)
        expected = validator.is_valid(record) or (fine and validator.is_valid(forgiven))
        assert (not isinstance(reader.read(json.dumps(record)), Unparsed)) == expected, record


CUT = [
    (INTERVAL, "9", True),
    (INTERVAL, "9.5", True),
    (INTERVAL, "9.", True),
    (INTERVAL, '"9"', True),
    (INTERVAL, '{"grade": 9}', False),
    (ORDINAL, "2", True),
    (ORDINAL, "2.", True),
    (ORDINAL, '```json\n{"grade": "1"}\n```', False),
    (ORDINAL, ' {"grade": 1, "reason": "1."}\n', False),
    (AnswerReader(GradeScale("ordinal", ("a}", "b"))), "a}", True),
    (by_pattern(GradeScale("interval", low=0, high=100), r"Score: (?P<answer>\d+)"), "Score: 9", True),
    (by_pattern(GradeScale("interval", low=0, high=100), r"Score: (?P<answer>\d+)"), "Score: 9, as", True),
    (by_pattern(GradeScale("interval", low=0, high=9), r'"grade": (?P<answer>\d)'), '{"grade": 9}', True),
    (COMPARE, "1", True),
    (COMPARE, '"tie"', True),
    (COMPARE, '{"verdict": "1"}', False),
]


@each(("reader", "text", "unfinished"), CUT)
def test_an_answer_that_was_cut_is_a_verdict_only_if_it_shows_that_nothing_is_missing(reader, text, unfinished):
    whole = reader.read(text)
    assert isinstance(whole, Verdict)
    expected = Unparsed(text, "the answer was cut off at max_tokens and may be incomplete") if unfinished else whole
    assert reader.read(text, cut=True) == expected


def test_an_abstention_that_was_cut_is_none():
    assert isinstance(COMPARE.read("abstain", cut=True), Unparsed)
    assert COMPARE.read('{"verdict": "abstain"}', cut=True) == Abstained()


@pytest.mark.parametrize(
    ("finish", "outcome"),
    [
        ("stop", Verdict(9.0)),
        ("END_TURN", Verdict(9.0)),
        ("", Verdict(9.0)),
        ("length", Unparsed("9", "the answer was cut off at max_tokens and may be incomplete")),
        ("MAX_TOKENS", Unparsed("9", "the answer was cut off at max_tokens and may be incomplete")),
        ("SAFETY", Failed("refused", "stopped by a filter: SAFETY")),
        ("abort", Failed("server-error", "the server stopped the answer: abort")),
        ("tool_calls", Unparsed("9", "the server does not report whether the answer is complete")),
        ("a new word", Unparsed("9", "the server does not report whether the answer is complete")),
    ],
)
def test_only_an_answer_that_ended_by_itself_is_read(finish, outcome):
    assert read_response(INTERVAL, Response("t", "9", finish_reason=finish), Presentation()) == outcome


@pytest.mark.parametrize(
    ("used", "sent", "ending"),
    [
        (64, '{"max_tokens": 64}', "cut"),
        (65, '{"max_completion_tokens": 64}', "cut"),
        (63, '{"max_tokens": 64}', "whole"),
        (None, '{"max_tokens": 64}', "whole"),
        (64, '{"max_tokens": true}', "whole"),
        (64, "[]", "whole"),
        (64, "", "whole"),
    ],
)
def test_an_answer_without_a_reason_is_whole_unless_it_used_all_of_its_tokens(used, sent, ending):
    response = Response("t", "9", usage=Usage(output_tokens=used), sent=sent)
    assert response.ending == ending
    # A server that gives a reason knows better: the last token may have been the end.
    assert replace(response, finish_reason="stop").ending == "whole"
