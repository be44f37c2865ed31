"""The commands, as a person uses them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.runs.loopback import CALLS, REFUSED, swayed_answer, write_study
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.cli import COMMANDS
from umpirical.cli.plan import _shown_gate
from umpirical.domain.stimuli import GateResult
from umpirical.stimuli.controlled.datasheet_set import RECIPES

STANDARD = RECIPES["standard"].calls
"""Of a study that says nothing of its size."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(umpirical, command):
    code, out, _ = umpirical(command, "--help")
    assert code == 0
    assert "Usage:" in out


def test_a_misspelt_command_is_met_with_the_right_one(umpirical):
    code, _, err = umpirical("rapport")
    assert code == 2
    assert "did you mean `umpirical report`?" in err


def test_init_check_run_report_runs_in_that_order(umpirical, tmp_path):
    study = tmp_path / "mine"
    assert umpirical("init", study)[0] == 0
    lend_stimuli(study, size="decided")
    code, out, _ = umpirical("check", study)
    assert (code, out.splitlines()[-1]) == (0, "ok")
    code, out, _ = umpirical("run", study)
    assert code == REFUSED
    sound, locked = out.split("datasheet.html")[:2]
    assert sound.splitlines()[0] == "  Use (policy ranking): All 17 checks passed."
    assert "  Do not use (policy ranking): It fails on " in locked
    assert "blank-input preference" in locked
    code, out, _ = umpirical("list", study, "--json")
    for state in json.loads(out):
        assert state["trials"] == state["answered"] < STANDARD
        assert state["document"] == "datasheet.json"
    [run] = (study / "runs").glob("sound-*")
    (run / "datasheet.html").unlink()
    code, out, _ = umpirical("report", run)
    assert code == 0
    assert str(run / "datasheet.html") in out
    assert (run / "datasheet.html").exists()
    code, out, _ = umpirical("report", run, "--json")
    assert json.loads(out)["format"] == "judge-datasheet/2"


def test_init_never_overwrites(umpirical, tmp_path):
    umpirical("init", tmp_path)
    code, _, err = umpirical("init", tmp_path)
    assert code == 2
    assert "already exists" in err


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("study: s\njudges:\n  - name: a\n    modle: {}\n", 4, "did you mean 'model'"),
        ("study: s\njudges:\n  - name: a\n    model: {adapter: simulated, name: careful}\n    kind: rank\n", 5, "kind"),
        ("study: s\nstudy: t\n", 2, "duplicate"),
        ("study: s\njudges: [*a]\n", 2, "aliases"),
        ("study: s\njudges:\n  - name: a\n    callable: 'sk-abcdefghijklmnopqrstuvwx'\n", 4, "API key"),
        ("study: s\njudges: []\n", 2, "judges"),
        ("- 1\n", 1, "mapping"),
    ],
)
def test_a_wrong_study_file_is_answered_with_its_line_and_a_fix(umpirical, tmp_path, text, line, words):
    (tmp_path / "umpirical.yaml").write_text(text)
    code, _, err = umpirical("check", tmp_path)
    assert code == 2
    assert f"umpirical.yaml:{line}" in err
    assert words in err
    assert "Traceback" not in err


def test_a_missing_study_is_answered_with_what_to_do(umpirical, tmp_path):
    code, _, err = umpirical("run", tmp_path)
    assert code == 2
    assert "umpirical init" in err


def test_an_unknown_simulated_judge_is_named(umpirical, tmp_path):
    (tmp_path / "umpirical.yaml").write_text("study: s\njudges:\n  - {name: a, model: {adapter: simulated, name: x}}\n")
    lend_stimuli(tmp_path, size="decided")
    code, _, err = umpirical("run", tmp_path)
    assert code == 2
    assert "unknown simulated judge 'x'" in err


def test_nothing_is_sent_before_somebody_agrees(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        code, _, err = umpirical("run", write_study(tmp_path, server.base_url, price="{input: 1, output: 1}"))
    assert code == 6
    assert re.search(r"up to \$\d\.\d\d would be spent", err)
    assert "add --yes --max-cost" in err
    assert server.asked.total() == 0


def test_a_server_declared_free_is_asked_without_a_question(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        code, _, err = umpirical("run", write_study(tmp_path, server.base_url))
    assert (code, server.asked.total()) == (REFUSED, CALLS)
    assert "$0.0000" in err


def test_a_finished_run_asks_nothing_when_run_again(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        assert umpirical("run", study, "--yes")[0] == REFUSED
        asked = server.asked.total()
        assert umpirical("run", study)[0] == REFUSED
        assert server.asked.total() == asked == CALLS


def test_a_report_needs_no_key(umpirical, tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "canary-key-value")
    with ChatServer(swayed_answer) as server:
        study = write_study(tmp_path, server.base_url)
        text = study.read_text().replace("      timeout:", "      api_key_env: LOOPBACK_KEY\n      timeout:")
        study.write_text(text)
        assert umpirical("run", study, "--yes")[0] == REFUSED
    monkeypatch.delenv("LOOPBACK_KEY")
    run = next((tmp_path / "runs").iterdir())
    assert umpirical("report", run)[0] == REFUSED
    code, _, err = umpirical("run", study, "--yes")
    assert code == 2
    assert "LOOPBACK_KEY" in err
    # The key is in nothing that was written.
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"canary-key-value" not in path.read_bytes()


def test_check_says_which_key_is_missing(umpirical, tmp_path):
    study = write_study(tmp_path, "http://127.0.0.1:9/v1")
    study.write_text(study.read_text().replace("      timeout:", "      api_key_env: NO_SUCH_KEY\n      timeout:"))
    code, out, _ = umpirical("check", study)
    assert code == 2
    assert "NO_SUCH_KEY is not set" in out


def test_ctrl_c_keeps_what_was_answered_and_the_same_command_goes_on(tmp_path):
    with ChatServer(swayed_answer, latency=0.02) as server:
        study = write_study(tmp_path, server.base_url, concurrency=8)
        command = [sys.executable, "-m", "umpirical", "run", str(study), "--trust", "--yes", "--json"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while server.answered.total() < 100 and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "Traceback" not in err
        assert f"run the same command again to resume:  umpirical run {study} --trust --yes" in err
        before = server.asked.total()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == REFUSED
        assert json.loads(done.stdout)[0]["complete"]
        # Only what was in flight when it stopped is asked again.
        assert server.asked.total() <= CALLS + 8
        assert before >= 100


def test_progress_goes_to_standard_error_and_results_to_standard_output(umpirical, tmp_path):
    umpirical("init", tmp_path)
    lend_stimuli(tmp_path, size="decided")
    _, out, err = umpirical("run", tmp_path, "--json")
    trials = json.loads(out)[0]["trials"]
    assert 0 < trials < STANDARD
    assert f"{trials:,}/{trials:,}" in err


RECORDS = (
    *("datasheet", "stress", "pairs", "agent", "comparison", "stress-comparison", "pairs-comparison"),
    *("jury", "correction", "claim"),
)


@pytest.mark.parametrize("what", ["config", *RECORDS])
def test_schemas_are_json_schemas(umpirical, what):
    code, out, _ = umpirical("schema", what)
    assert code == 0
    assert json.loads(out)["type"] == "object"


def test_a_schema_that_there_is_not_is_answered_with_all_that_there_are(umpirical):
    code, _, err = umpirical("schema", "comparisons")
    assert code == 2
    known = err.split("choose one of ")[1].strip().split(", ")
    assert {"config", "policy", *RECORDS} <= set(known)


def test_doctor_shows_that_a_key_is_set_and_never_the_key(umpirical, tmp_path, monkeypatch):
    monkeypatch.setenv("LOOPBACK_KEY", "canary-key-value")
    study = write_study(tmp_path, "http://127.0.0.1:9/v1")
    study.write_text(study.read_text().replace("      timeout:", "      api_key_env: LOOPBACK_KEY\n      timeout:"))
    code, out, _ = umpirical("doctor", tmp_path)
    assert code == 0
    assert "LOOPBACK_KEY" in out
    assert "canary" not in out


def test_doctor_shows_how_each_server_is_reached_and_no_password(umpirical, tmp_path, monkeypatch):
    tls = "{ca: /no/ca.pem, certificate: ~/me.pem, key: ~/me.key}"
    (tmp_path / "me.pem").touch()
    (tmp_path / "umpirical.yaml").write_text(f"""\
study: networks
judges:
  - {{name: far, model: {{adapter: openai-compatible, name: m, base_url: "https://judge.example/v1", tls: {tls}}}}}
  - {{name: near, model: {{adapter: anthropic, name: m, base_url: "https://127.0.0.1:9"}}}}
  - {{name: plain, http: {{url: "http://judge.example/x?v=1", body: ["{{{{first}}}}{{{{second}}}}"]}}}}
  - {{name: hosted, model: {{adapter: inspect, name: openai/gpt-4o}}}}
  - {{name: here, model: {{adapter: simulated, name: careful}}}}
""")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "me.pem"))
    monkeypatch.setenv("HTTPS_PROXY", "http://somebody:4711%2F4712@proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name in ("https_proxy", "http_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)

    def ways():
        code, out, _ = umpirical("doctor", tmp_path, "--json")
        assert code == 0
        assert "somebody" not in out
        assert "471" not in out
        return {name.removeprefix("way to "): way for name, way in json.loads(out).items() if "way to" in name}

    own = "through the provider's client, which has its own proxy settings"
    assert ways() == {
        "far": "through the proxy proxy.example:3128; trusts /no/ca.pem (not found); shows ~/me.pem",
        "near": f"directly, because of NO_PROXY; trusts {tmp_path / 'me.pem'}",
        "plain": "directly",
        "hosted": own,
    }
    monkeypatch.setenv("ALL_PROXY", "socks5://somebody:4711@proxy.example")
    monkeypatch.setenv("HTTPS_PROXY", "http://somebody:4711/4712@proxy.example:3128")
    assert ways()["far"].startswith("HTTPS_PROXY must be http://HOST:PORT or ")
    assert ways()["plain"].startswith("ALL_PROXY must be http://HOST:PORT or ")


def test_foreign_text_cannot_drive_the_terminal(umpirical, tmp_path):
    (tmp_path / "umpirical.yaml").write_text('study: s\njudges:\n  - {name: "a\\e]52;c;x\\a", callable: "m:f"}\n')
    code, out, err = umpirical("check", tmp_path)
    assert code == 2
    assert "\x1b" not in out + err


def test_a_bug_is_called_a_bug_without_a_traceback(umpirical, monkeypatch):
    monkeypatch.setattr("umpirical.protocols.catalogue.start_study", lambda _: 1 / 0)
    code, _, err = umpirical("init")
    assert code == 1
    assert "this is a bug" in err
    assert "Traceback" not in err


def test_the_module_runs_as_a_program():
    done = subprocess.run(
        [sys.executable, "-m", "umpirical", "--version"], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.startswith("umpirical, version")


def test_a_judge_that_prints_does_not_spoil_the_result(umpirical, tmp_path):
    (tmp_path / "chatty_judge.py").write_text(
        "def judge(task, first, second):\n    print('thinking')\n    return 'tie'\n"
    )
    (tmp_path / "umpirical.yaml").write_text(
        "study: s\ndesign: {size: screen}\njudges:\n  - {name: a, callable: 'chatty_judge:judge'}\n"
    )
    lend_stimuli(tmp_path)
    code, out, err = umpirical("run", tmp_path, "--yes", "--json")
    assert code == REFUSED
    assert json.loads(out)[0]["trials"] == 336
    assert "thinking" in err


def test_a_long_list_of_figures_is_cut_where_a_gate_passes_and_nowhere_else():
    figures = ", ".join(f"judge-{number} 0.500 on ladder" for number in range(100))
    passed, failed = (
        GateResult("trivial-judges", passed=each, found=figures, allowed="0.45 to 0.55") for each in (True, False)
    )
    assert len(_shown_gate(passed)) < 300
    assert _shown_gate(passed).endswith(" on ladder, ... (--json prints all of it)")
    assert _shown_gate(failed) == figures


def test_what_is_open_names_the_command_that_settles_it(umpirical, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lend_stimuli(tmp_path)
    code, out, _ = umpirical("datasheet", "simulated:careful", "--size", "screen")
    [run] = Path("runs").iterdir()
    assert (code, out.splitlines()[-1]) == (4, f"  next:  umpirical extend {run}  to collect the data that is missing")
    assert f"  {run}/datasheet.html\n" in out
    code, out, _ = umpirical("datasheet", "simulated:coin", "--size", "screen")
    assert (code, "umpirical extend" in out) == (3, False), "what is refused is settled"
