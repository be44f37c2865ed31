"""Long work counts its steps aloud, and a command prints the count once in a while."""

from contextvars import copy_context

from umpirical.cli import terminal
from umpirical.domain.long_work import LISTENER, counted


def test_whoever_listens_is_told_of_each_step():
    heard = []

    def listening():
        LISTENER.set(heard.append)
        return list(counted(["a", "b"], "steps"))

    assert copy_context().run(listening) == ["a", "b"]
    assert heard == ["steps: 1", "steps: 2"]
    assert list(counted(["a"], "steps")) == ["a"]
    assert len(heard) == 2


def test_a_command_prints_a_step_only_once_in_a_while(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    steps = terminal.Steps()
    for number in range(25):
        now[0] = number / 10
        steps(f"test cases made: {number}")
    assert capsys.readouterr().err.splitlines() == ["test cases made: 10", "test cases made: 20"]
