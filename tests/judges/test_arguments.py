"""How the user's function is called: by the names of its parameters, by what is said of them, or in order."""

# ruff: noqa: ARG005  # parameters are what is tested

import functools

import pytest

from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.trials import Presented
from umpirical.judges.arguments import arguments_of
from umpirical.judges.spec import JudgeSpec

PAIR = Presented("the task", "one", "two")
SINGLE = Presented("the task", "the response", None)
SCALE = GradeScale("interval", low=0, high=1)


def compare(**more):
    return JudgeSpec(name="j", callable="m:f", **more)


def grade(**more):
    return JudgeSpec(name="j", callable="m:f", kind="grade", scale=SCALE, **more)


def called(judge, spec, shown):
    by_position, by_name = arguments_of(judge, spec).of(shown)
    return judge(*by_position, **by_name)


class Judge:
    def __call__(self, question, answer_a, answer_b):
        return question, answer_a, answer_b

    def method(self, query, first, second):
        return query, first, second


@pytest.mark.parametrize(
    "judge",
    [
        lambda task, first, second: (task, first, second),
        lambda x, y, z: (x, y, z),
        lambda *all_of_it: all_of_it,
        lambda b, a, question: (question, a, b),
        lambda response_b, response_a, *, prompt: (prompt, response_a, response_b),
        lambda a, b, /, task: (task, a, b),
        lambda task, first, second, temperature=0.0: (task, first, second),
        lambda x, y, z, verbose=False: (x, y, z),
        Judge(),
        Judge().method,
        functools.partial(lambda rubric, task, first, second: (task, first, second), "rubric"),
    ],
)
def test_a_compare_judge_gets_each_text_where_it_belongs(judge):
    assert called(judge, compare(), PAIR) == ("the task", "one", "two")


@pytest.mark.parametrize(
    "judge",
    [
        lambda task, response: (task, response),
        lambda output, input: (input, output),  # noqa: A006  # as judges are written
        lambda x, y: (x, y),
        lambda *, inputs, outputs: (inputs, outputs),
    ],
)
def test_a_grade_judge_gets_each_text_where_it_belongs(judge):
    assert called(judge, grade(), SINGLE) == ("the task", "the response")


def test_a_judge_that_reads_only_the_response_gets_only_that():
    assert called(lambda output: output, grade(), SINGLE) == "the response"


def test_a_judge_of_conversations_gets_messages():
    turns = [{"role": "user", "content": "the task"}, {"role": "assistant", "content": "the response"}]
    assert called(lambda messages: messages, grade(), SINGLE) == turns
    assert called(lambda history: history, grade(inputs={"messages": "history"}), SINGLE) == turns


def test_what_is_said_of_the_parameters_counts():
    told = {"task": "z", "first": "y", "second": "x"}
    assert called(lambda x, y, z: (z, y, x), compare(inputs=told), PAIR) == ("the task", "one", "two")
    assert called(lambda **all_of_it: all_of_it, compare(inputs=told), PAIR) == {
        "z": "the task",
        "y": "one",
        "x": "two",
    }


@pytest.mark.parametrize(
    ("judge", "spec", "why"),
    [
        (lambda task: task, compare(), "is called with task, first, second"),
        (lambda a, b, c, d: a, compare(), "is called with task, first, second"),
        (lambda *, x, y, z: x, compare(), "is called with task, first, second"),
        (lambda task, response, reference: task, grade(), "is called with task, response"),
        (lambda a, b: a, compare(inputs={"winner": "a"}), "has no field winner"),
        (lambda a, b: a, compare(inputs={"first": "c"}), r"inputs contains c, but its parameters are \(a, b\)"),
        (lambda a, b: a, compare(inputs={"first": "a"}), "its parameter b has no value"),
        (lambda a: a, compare(inputs={"messages": "a"}), "has no field messages"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_asked(judge, spec, why):
    with pytest.raises(UsageError, match=why) as refused:
        arguments_of(judge, spec)
    assert refused.value.fix
