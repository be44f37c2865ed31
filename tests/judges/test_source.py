"""What tells one Python judge from another: answers of one are never taken for answers of the other."""

import functools
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests.cases import each
from umpirical.judges.adapters.source import source_digest


def ask(model, *_):
    return model


def closing_over(model):
    return lambda *shown: ask(model, *shown)


def nested(model):
    def judge(*shown):
        return ask(model, *shown)

    return judge


def with_default(model):
    def judge(*shown, chosen=model):
        return ask(chosen, *shown)

    return judge


@dataclass(frozen=True)
class Config:
    model: str


class Judge:
    def __init__(self, model):
        self.model, self.calls = model, 0

    def __call__(self, *_):
        self.calls += 1
        return self.model

    def compare(self, *_):
        return self.model


class Slotted:
    __slots__ = ("model",)

    def __init__(self, model):
        self.model = model

    def __call__(self, *_):
        return self.model


WAYS = {
    "a lambda": closing_over,
    "a nested function": nested,
    "a default": with_default,
    "a partial": lambda model: functools.partial(ask, model),
    "a partial by name": lambda model: functools.partial(ask, model=model),
    "an object": Judge,
    "an object with slots": Slotted,
    "a bound method": lambda model: Judge(model).compare,
    "an object that holds a dataclass": lambda model: Judge(Config(model)),
    "an object that holds an object of its own": lambda model: Judge(Slotted(model)),
    "an object that holds a mapping": lambda model: Judge({"models": [model]}),
    "a closure over a function": lambda model: nested(closing_over(model)),
}


@each("way", WAYS)
def test_judges_of_one_file_that_hold_other_values_are_other_judges_and_the_same_values_the_same(way):
    make = WAYS[way]
    assert source_digest(make("a")) == source_digest(make("a"))
    assert source_digest(make("a")) != source_digest(make("b"))


def test_two_lambdas_of_one_line_are_two_judges():
    one, other = (lambda *_: "1"), (lambda *_: "2")
    assert source_digest(one) != source_digest(other)


def test_two_methods_of_one_object_are_two_judges():
    judge = Judge("a")
    assert source_digest(judge.compare) != source_digest(judge)


def test_what_a_judge_counts_does_not_make_it_another_judge():
    judge = Judge("a")
    before = source_digest(judge)
    judge("t", "a", "b")
    assert (judge.calls, source_digest(judge)) == (1, before)


def test_a_variable_that_a_judge_assigns_is_what_it_remembers():
    calls = 0

    def judge(*_):
        nonlocal calls
        calls += 1
        return "tie"

    before = source_digest(judge)
    judge()
    assert (calls, source_digest(judge)) == (1, before)


def test_a_function_of_a_module_is_its_file_whatever_is_around_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "filed_judge.py").write_text("MODEL = 'a'\n\n\ndef judge(*shown):\n    return MODEL\n")
    import filed_judge

    before = source_digest(filed_judge.judge)
    filed_judge.MODEL = "b"
    assert source_digest(filed_judge.judge) == before
    sys.modules.pop("filed_judge")


SCRIPT = """
from umpirical.judges.adapters.source import source_digest

def judge(*shown):
    return model

for model in ("a", "b", "a"):
    print(source_digest(judge))
"""


@pytest.mark.parametrize("typed", [False, True])
def test_a_loop_over_models_in_a_script_or_a_shell_makes_as_many_judges(tmp_path, typed):
    (tmp_path / "script.py").write_text(SCRIPT)
    command = ["-c", SCRIPT] if typed else [str(tmp_path / "script.py")]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True)
    one, other, again = done.stdout.split()
    assert one == again != other


@pytest.mark.parametrize("body", ["return '2'", "return (lambda: '2')()"])
def test_code_without_a_source_is_known_by_what_it_was_compiled_to(body):
    def typed(body):
        names = {"__name__": "__main__"}
        exec(compile(f"def judge(*shown):\n    {body}\n", "<typed>", "exec"), names)  # noqa: S102  # as a shell does
        return names["judge"]

    assert source_digest(typed(body)) == source_digest(typed(body))
    assert source_digest(typed(body)) != source_digest(typed(body.replace("2", "1")))


@pytest.mark.parametrize("held", [float("nan"), {1: 2, "a": 3}, {"a", "b"}, object(), print, [Judge("x")]])
def test_whatever_a_judge_holds_it_has_an_identity(held):
    assert source_digest(closing_over(held)) == source_digest(closing_over(held))


def test_a_judge_that_holds_itself_has_one_too():
    judge = Judge("a")
    judge.model = judge
    assert source_digest(judge) == source_digest(judge)
