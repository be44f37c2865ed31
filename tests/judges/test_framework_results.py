"""What frameworks return, read as what they mean: their own classes are measured by `just frameworks`."""

import json
from types import SimpleNamespace

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Unparsed, Verdict
from umpirical.domain.scales import Choice, GradeScale
from umpirical.integrations.frameworks import evaluators, metrics
from umpirical.integrations.inspect import scorer as inspect_scorer
from umpirical.judges.adapters.catalogue import judge_adapter_of
from umpirical.judges.factory import build_reader
from umpirical.judges.failures import Unreadable
from umpirical.judges.spec import JudgeSpec

COMPARE = JudgeSpec(name="j", callable="m:f")
UNIT = JudgeSpec(name="j", callable="m:f", kind="grade", scale=GradeScale("interval", low=0.0, high=1.0))
YES_NO = JudgeSpec(name="j", callable="m:f", kind="grade", scale=GradeScale("binary", labels=("false", "true")))
CRITERION = JudgeSpec(name="j", callable="m:f", kind="grade", scale=GradeScale("binary", labels=("N", "Y")))


def outcome(text, spec):
    return build_reader(spec).read(text)


def result(**parts):
    usual = {"invalid_result": False, "pairwise_source": None, "feedback": "", "passing": None, "score": None}
    return SimpleNamespace(**usual | parts)


@pytest.mark.parametrize(
    ("score", "source", "winner"),
    [
        (1.0, "original", Choice.POSITION_1),
        (0.0, "original", Choice.POSITION_2),
        (0.5, "neither", Choice.TIE),
        # The answers were exchanged: a vote for the second shown is one for the first.
        (0.0, "flipped", Choice.POSITION_1),
        (1.0, "flipped", Choice.POSITION_2),
    ],
)
def test_a_score_of_llama_index_names_the_answer_and_not_the_place(score, source, winner):
    text = evaluators._llama_index_text(result(score=score, pairwise_source=source), COMPARE)
    assert outcome(text, COMPARE) == Verdict(winner)


@pytest.mark.parametrize("score", [None, 0.7, float("nan"), 99])
def test_any_other_score_of_a_pair_is_no_verdict(score):
    assert isinstance(outcome(evaluators._llama_index_text(result(score=score), COMPARE), COMPARE), Unparsed)


def test_an_invalid_result_of_llama_index_is_unread_even_with_a_score():
    with pytest.raises(Unreadable, match="cannot be parsed"):
        evaluators._llama_index_text(result(score=1.0, invalid_result=True, invalid_reason="it cannot be parsed"), UNIT)


def test_a_guideline_of_llama_index_is_met_or_not():
    assert outcome(evaluators._llama_index_text(result(score=0.0, passing=False), YES_NO), YES_NO) == Verdict("false")


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"value": "A", "score": 1}, Verdict(Choice.POSITION_1)),
        ({"value": "B", "score": 0}, Verdict(Choice.POSITION_2)),
        ({"value": None, "score": 0.5}, Verdict(Choice.TIE)),
        ({"value": None, "score": None}, Unparsed),
        ({"value": "C", "score": 0.5}, Unparsed),
        ({"value": 1, "score": 1}, Unparsed),
    ],
)
def test_a_choice_of_langchain(said, read):
    found = outcome(json.dumps({"verdict": evaluators._langchain_choice(said)}), COMPARE)
    assert found == read or (read is Unparsed and isinstance(found, Unparsed))


@pytest.mark.parametrize(
    ("said", "read"),
    [
        ({"value": "Y", "score": 1}, Verdict("Y")),
        ({"value": "n", "score": 0}, Verdict("N")),
        ({"value": "perhaps", "score": None}, Unparsed),
        ({}, Unparsed),
    ],
)
def test_a_criterion_of_langchain(said, read):
    found = outcome(json.dumps({"grade": evaluators._langchain_grade(said, CRITERION)}), CRITERION)
    assert found == read or (read is Unparsed and isinstance(found, Unparsed))


def scored(value, **parts):
    usual = {"value": value, "reason": "so", "scoring_failed": False, "category_name": None}
    return SimpleNamespace(**usual | parts)


def test_a_failed_score_of_opik_is_unread_whatever_its_value():
    with pytest.raises(Unreadable, match="scoring failed"):
        metrics._opik_text(scored(0.0, scoring_failed=True), UNIT)
    with pytest.raises(Unreadable, match="2 results"):
        metrics._opik_text([scored(0.1), scored(0.9)], UNIT)
    assert outcome(metrics._opik_text([scored(0.9)], UNIT), UNIT) == Verdict(0.9)


def test_a_score_of_inspect_that_is_none_or_not_a_number_is_unread():
    unscored = SimpleNamespace(value=float("nan"), explanation="no grade", reason="grader_failed")
    with pytest.raises(Unreadable, match="grader_failed: no grade"):
        inspect_scorer._text(unscored, UNIT)
    with pytest.raises(Unreadable, match="no score"):
        inspect_scorer._text(None, UNIT)


def test_the_users_own_scorer_is_known_by_the_mark_of_inspect():
    from inspect_ai.scorer import Score, includes, mean, scorer

    @scorer(metrics=[mean()])
    def mine():
        async def score(_state, _target):
            return Score(value=1.0)

        return score

    adapter = judge_adapter_of(mine())
    assert adapter is inspect_scorer.ADAPTER
    assert adapter.describe(mine()) == {"kind": "grade", "name": "mine"}
    for refused in (mine, includes()):
        with pytest.raises(UsageError, match=r"which cannot be used as a judge|the right answer"):
            adapter.adapt(refused, UNIT)


def test_a_metric_of_ragas_without_a_model_or_with_a_cache_is_refused_with_what_to_do():
    with pytest.raises(UsageError, match="has no model") as refused:
        metrics._ragas_llm(SimpleNamespace(), UNIT)
    assert "metric.llm" in refused.value.fix
    with pytest.raises(UsageError, match="has a cache"):
        metrics._ragas_llm(SimpleNamespace(llm=SimpleNamespace(cache={})), UNIT)


@pytest.mark.parametrize(
    ("allowed", "scale"),
    [
        ((0, 5), {"kind": "interval", "low": 0.0, "high": 5.0}),
        (range(1, 6), {"kind": "interval", "low": 1.0, "high": 6.0}),
        (["3", "1", "2"], {"kind": "ordinal", "labels": ["1", "2", "3"]}),
        (["good", "bad"], None),
        (None, None),
    ],
)
def test_the_scale_of_a_metric_of_ragas(allowed, scale):
    assert metrics._ragas_scale(allowed) == scale
