"""The serving control: what differs when many calls are in flight is the serving, and not the judge."""

import hashlib
import json
import re

import pytest

from tests.runs.loopback import CALLS, REFUSED, responses, swayed_answer, write_study
from tests.servers.chat_server import ChatServer, Said
from umpirical.stats.intervals import wilson

QUESTIONS = 24
CONCURRENCY = 12
ASKED = 3 * QUESTIONS + 2 * CONCURRENCY
BUSY = 4
"""Calls in flight from which the test server answers otherwise, from then on: no test waits for two to meet."""


def control(umpirical, study, *options):
    code, out, err = umpirical("load-check", study, "--questions", QUESTIONS, "--json", *options)
    assert code == 0, err
    [found] = json.loads(out)
    return found, err


def serve(answer, **options):
    # Long enough that calls of one client overlap.
    return ChatServer(answer, latency=0.05, **options)


def study_of(tmp_path, server, **options):
    return write_study(tmp_path, server.base_url, **{"concurrency": CONCURRENCY} | options)


def marked(body):
    """Whether a question is one of those that the test server answers otherwise when it is busy: about a third."""
    return hashlib.sha256(body["messages"][-1]["content"].encode()).digest()[0] % 3 == 0


class TrueValues:
    """A server that drops to a tie when it is busy, on some questions."""

    def __init__(self):
        self.server = serve(self.answer)
        self.changed = set()

    def answer(self, body):
        if self.server.most_in_flight >= BUSY and marked(body):
            self.changed.add(body["messages"][-1]["content"])
            return '{"verdict": "tie", "why": "busy"}'
        return swayed_answer(body)


def test_what_a_server_changes_when_it_is_busy_is_counted(umpirical, tmp_path):
    true_value = TrueValues()
    with true_value.server as server:
        study = study_of(tmp_path, server)
        found, _ = control(umpirical, study)
        assert server.asked.total() == ASKED
        assert server.most_in_flight == CONCURRENCY
    amid, again = found["amid"], found["again"]
    # Every third question is marked, and every one asked amid others met a busy server.
    prompts = {body["messages"][-1]["content"]: body for body in server.bodies[:QUESTIONS]}
    expected = sum(marked(body) for body in prompts.values())
    assert len(prompts) == QUESTIONS
    assert 0 < expected < QUESTIONS
    assert (amid["pairs"], amid["texts"], amid["excluded"]) == (QUESTIONS, expected, 0)
    assert 0 < amid["readings"] <= expected
    assert amid["texts_interval"] == pytest.approx(list(wilson(expected, QUESTIONS)))
    assert (again["texts"], again["readings"]) == (0, 0)
    assert "The difference comes from the server, not the judge" in found["verdict"]


def test_a_server_that_keeps_to_its_answers_is_said_to(umpirical, tmp_path):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server)
        found, _ = control(umpirical, study)
    assert found["amid"]["texts"] == found["amid"]["readings"] == found["again"]["texts"] == 0
    high = wilson(0, QUESTIONS).high
    assert found["verdict"] == (
        f"no answer changed; up to {high:.0%} of answers may change without showing in so few questions"
    )
    assert found["amid"]["largest_shift"] is None
    assert found["cached"] == {"alone": None, "again": None, "amid": None}
    assert found["served_by"] == ["swayed fp_loopback"]


def test_answers_that_change_without_company_are_not_blamed_on_it(umpirical, tmp_path):
    turns = iter(range(10_000))
    with serve(lambda _: f'{{"verdict": "tie", "why": {next(turns)}}}') as server:
        found, _ = control(umpirical, study_of(tmp_path, server))
    assert found["again"]["texts"] == found["amid"]["texts"] == QUESTIONS
    assert "even if the same question is repeated without other calls" in found["verdict"]
    assert "The difference comes from the server" not in found["verdict"]


def test_log_probabilities_that_move_are_counted_with_how_far(umpirical, tmp_path):
    def answer(_):
        shift = 0.25 if server.most_in_flight >= BUSY else 0.0
        return Said((("tie", -0.5 - shift, {"tie": -0.5 - shift}),))

    server = serve(answer)
    with server:
        study = study_of(tmp_path, server)
        study.write_text(study.read_text().replace("    model:\n", "    decoding: {top_logprobs: 5}\n    model:\n"))
        found, _ = control(umpirical, study)
    amid = found["amid"]
    assert (amid["logprob_pairs"], amid["logprobs"], amid["texts"]) == (QUESTIONS, QUESTIONS, 0)
    assert amid["largest_shift"] == pytest.approx(0.25)
    assert found["again"]["logprobs"] == 0
    assert found["verdict"].startswith("no answer changed, although log-probabilities move")


def test_its_answers_enter_no_measure(umpirical, tmp_path):
    true_value = TrueValues()
    with true_value.server as server:
        study = study_of(tmp_path, server)
        control(umpirical, study)
        [run] = (tmp_path / "runs").iterdir()
        assert responses(run) == []
        server.answer = swayed_answer
        assert umpirical("run", study, "--yes")[0] == REFUSED
        # Every question of the run was asked for the run, those of the control as well.
        assert server.asked.total() == ASKED + CALLS
        assert not [each for each in responses(run) if "busy" in (each.text or "")]
        before = (run / "datasheet.json").read_bytes()
        server.answer = true_value.answer
        control(umpirical, study)
        umpirical("report", run)
        assert (run / "datasheet.json").read_bytes() == before
    kept = json.loads((run / "serving.json").read_text())
    assert len(kept["answers"]) == QUESTIONS
    assert umpirical("verify", run)[0] == 0


def test_questions_without_an_answer_are_excluded_and_counted(umpirical, tmp_path):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server, attempts=1)
        # The second time that a question is asked, one in six fails.
        server.misbehave = lambda name, times: "server-error" if times == 2 and int(name[:4], 16) % 6 == 0 else None
        found, _ = control(umpirical, study)
    failed = sum(each["again"] is None for each in found["answers"])
    assert 0 < failed < QUESTIONS
    assert (found["again"]["pairs"], found["again"]["excluded"]) == (QUESTIONS - failed, failed)
    assert found["again"]["texts"] == 0


def test_a_server_that_is_down_is_not_asked_for_all(umpirical, tmp_path):
    with serve(swayed_answer, misbehave=lambda _id, _n: "server-error") as server:
        code, out, err = umpirical("load-check", study_of(tmp_path, server, attempts=1))
        assert (code, out) == (5, "")
        assert "calls in a row failed" in err
        assert server.asked.total() < 10


@pytest.mark.parametrize("options", [(), ("--yes",), ("--max-cost", "5")])
def test_nothing_is_sent_before_the_price_is_agreed_to(umpirical, tmp_path, options):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server, price="{input: 1, output: 1}")
        code, _, err = umpirical("load-check", study, "--questions", QUESTIONS, *options)
        assert code == 6
        assert re.search(rf"{ASKED} calls, {QUESTIONS} questions three times and 24 as load, at most \$0\.\d+", err)
        assert server.asked.total() == 0


def test_what_it_costs_is_booked_in_the_budget_of_the_study(umpirical, tmp_path):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server, price="{input: 1, output: 1}")
        _, err = control(umpirical, study, "--yes", "--max-cost", "5")
        assert re.search(r"spent: \$0\.0\d+", err)
        # A later command sees it: a budget of nothing more is refused.
        spent = re.search(r"spent: \$(0\.\d+)", err)[1]
        code, _, err = umpirical("run", study, "--yes", "--max-cost", spent, "--no-preflight")
        assert code == 6, err


def test_a_budget_that_is_too_small_stops_it(umpirical, tmp_path):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server, price="{input: 1, output: 1}")
        code, _, _ = umpirical("load-check", study, "--questions", QUESTIONS, "--yes", "--max-cost", "0.005")
        assert code == 6
        assert server.asked.total() < ASKED


def test_an_unknown_price_is_refused_unless_that_is_agreed_to(umpirical, tmp_path):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server, price="null")
        assert umpirical("load-check", study)[0] == 6
        assert server.asked.total() == 0
        control(umpirical, study, "--yes", "--allow-unpriced")
        assert server.asked.total() == ASKED


def test_a_simulated_judge_and_one_call_at_a_time_have_nothing_to_show(umpirical, tmp_path):
    with serve(swayed_answer) as server:
        study = study_of(tmp_path, server, concurrency=1)
        code, _, err = umpirical("load-check", study)
        assert code == 2
        assert "there is no server load" in err
        study.write_text(study.read_text().replace("openai-compatible", "simulated").replace("swayed", "careful"))
        study.write_text(re.sub(r"base_url: \S+\n\s*", "", study.read_text()))
        code, _, err = umpirical("load-check", study)
        assert code == 2
        assert "it is simulated" in err
        assert server.asked.total() == 0


def test_the_text_says_both_figures_with_their_intervals(umpirical, tmp_path):
    true_value = TrueValues()
    with true_value.server as server:
        code, out, _ = umpirical("load-check", study_of(tmp_path, server), "--questions", QUESTIONS)
    assert code == 0
    assert "judge loopback\n  served by swayed fp_loopback\n" in out
    assert f"asked alone again: texts changed 0 of {QUESTIONS} (95% 0% to " in out
    assert re.search(rf"with up to 12 other calls: texts changed \d+ of {QUESTIONS} \(95% ", out)
    assert "not the judge" in out
