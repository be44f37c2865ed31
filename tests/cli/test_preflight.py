"""A few calls before the whole: no run is paid for whose answers cannot be read."""

import re

import pytest

from tests.runs.loopback import CALLS, REFUSED, responses, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.study.preflight import CALLS as FEW

PRICE = "{input: 1, output: 1}"


def off_scale(_):
    return "I would rather not commit myself."


def test_answers_off_the_scale_stop_the_run_after_a_few_calls(umpirical, tmp_path):
    with ChatServer(off_scale) as server:
        study = write_study(tmp_path, server.base_url)
        code, out, err = umpirical("run", study, "--yes")
        assert (code, out) == (5, "")
        assert 3 <= server.asked.total() == FEW <= 5
        # Prompt, raw answer, how it was read, and the remedy.
        assert err.count("  prompt:\n") == 1
        assert err.count("  reply:\n") == FEW
        assert "I would rather not commit myself." in err
        assert "parsed as: nothing" in err
        assert f"{FEW} of {FEW} preflight calls got an answer that is not on its scale" in err
        assert "fix: " in err
        assert "ends with exactly one answer on its scale" in err
        # The same command reads the same answers again, and asks nothing.
        assert umpirical("run", study, "--yes")[0] == 5
        assert server.asked.total() == FEW


def test_a_function_is_told_what_to_return(umpirical, tmp_path):
    lend_stimuli(tmp_path)
    (tmp_path / "talker.py").write_text("def judge(task, first, second):\n    return 'The first, I think'\n")
    code, _, err = umpirical("datasheet", "talker.py:judge", "--size", "screen", "--yes", "--folder", tmp_path)
    assert code == 5
    assert "fix: have talker.py:judge return one of 1, 2, tie, abstain" in err


def test_it_can_be_measured_all_the_same(umpirical, tmp_path):
    with ChatServer(off_scale) as server:
        study = write_study(tmp_path, server.base_url)
        assert umpirical("run", study, "--yes")[0] == 5
        code, _, _ = umpirical("run", study, "--yes", "--no-preflight")
        assert code == REFUSED
        assert server.asked.total() == CALLS


def test_a_judge_that_can_be_read_is_measured_and_no_call_is_wasted(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        code, _, err = umpirical("run", study)
        assert code == REFUSED
        assert f"preflight: {FEW} calls to check that replies can be parsed" in err
        assert err.count("parsed as: ") == FEW
        assert server.asked.total() == CALLS
        assert set(server.asked.values()) == {1}
        # What was tried is counted as answered when the whole is shown.
        assert f"{FEW} already answered" in err
        code, _, err = umpirical("run", study)
        assert code == REFUSED
        assert "preflight" not in err
        assert server.asked.total() == CALLS


def test_a_server_that_refuses_is_said_after_two_calls(umpirical, tmp_path):
    with ChatServer(swayed_answer, misbehave=lambda _id, _n: "server-error") as server:
        study = write_study(tmp_path, server.base_url, attempts=1)
        code, _, err = umpirical("run", study)
        assert code == 5
        assert server.asked.total() == 2
        assert "2 of 2 preflight calls got no answer" in err
        assert "check that the judge answers and that its key is right" in err
        # Once it answers, the same command goes on.
        server.misbehave = lambda _id, _n: None
        assert umpirical("run", study)[0] == REFUSED
        assert server.answered.total() == CALLS


def test_a_preflight_needs_the_same_consent(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price=PRICE)
        code, _, err = umpirical("run", study)
        assert (code, server.asked.total()) == (6, 0)
        (bound,) = re.findall(r"add --yes --max-cost (\S+)", err)
        code, _, err = umpirical("run", study, "--yes", "--max-cost", bound)
        assert code == REFUSED
        # What the preflight took counts in the same budget.
        spent, booked, cap = re.findall(r"spent: \$(\S+); \$(\S+) of the budget of \$(\S+) is spent or", err)[0]
        assert float(spent) == float(booked) <= float(cap) == pytest.approx(float(bound))


def test_a_person_agrees_to_the_preflight_and_then_to_the_rest(umpirical, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("click.confirm", lambda question, **_: asked.append(question) or len(asked) == 1)
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url, price=PRICE)
        code, _, err = umpirical("run", study)
        assert code == 6
        assert server.asked.total() == FEW
        assert "nothing more was sent; the preflight replies are kept" in err
    amounts = [float(re.search(r"\$(\S+?)\?", question)[1]) for question in asked]
    assert len(amounts) == 2
    assert amounts[0] < amounts[1] / 10


def test_a_simulated_judge_has_none(umpirical, tmp_path):
    umpirical("init", tmp_path)
    file = tmp_path / "umpirical.yaml"
    file.write_text(file.read_text().replace("design:\n", "design:\n  size: screen\n"))
    lend_stimuli(tmp_path)
    code, _, err = umpirical("run", tmp_path)
    assert code == REFUSED
    assert "preflight" not in err


def test_the_answers_are_in_the_journal(umpirical, tmp_path):
    with ChatServer(off_scale) as server:
        umpirical("run", write_study(tmp_path, server.base_url), "--yes")
    [run] = (tmp_path / "runs").iterdir()
    assert [response.text for response in responses(run)] == [off_scale({})] * FEW
