"""What is wrong with a judge is said after a few calls, with the address, the server's own words and what to do."""

import json
import socket
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import umpirical as api
from tests.runs.loopback import CALLS, REFUSED, STUDY, swayed_answer
from tests.servers.chat_server import ChatServer
from tests.stimuli.built import lend_stimuli
from umpirical.domain.errors import JudgeUnreadable, UmpiricalError, UsageError
from umpirical.store.budget import Budget

SETTINGS = {"repeats": 1, "concurrency": 8, "timeout": 30, "attempts": 5, "price": "{input: 1, output: 1}"}
BUDGET = ("--yes", "--max-cost", "5")


@contextmanager
def refusing(status, words, *, unless=None):
    """A server that answers every question with an error, but for those without `unless` in them."""
    asked = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body)
            refused = unless is None or unless in body
            reply = {"error": {"message": words}} if refused else _completion(body)
            raw = json.dumps(reply).encode()
            self.send_response(status if refused else 200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()


def _completion(body):
    choice = {"index": 0, "message": {"role": "assistant", "content": swayed_answer(body)}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 900, "completion_tokens": 9, "total_tokens": 909}
    return {"model": body["model"], "choices": [choice], "usage": usage}


@pytest.fixture
def closed():
    """An address at which nobody listens: the port is taken, and never opened."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def write(folder, base_url, more="", **changes):
    lend_stimuli(folder)
    text = STUDY.format(base_url=base_url, **SETTINGS | changes)
    (folder / "umpirical.yaml").write_text(text.replace("design:", f"{more}design:", 1))
    return folder


def booked(folder):
    return Budget(folder).booked(("judge loopback",)).total


def test_a_closed_port_is_said_after_one_call_and_nothing_is_booked(umpirical, tmp_path, closed):
    code, _, err = umpirical("run", write(tmp_path, closed), *BUDGET)
    assert code == 5
    assert f"judge loopback: 1 of 1 preflight calls got no answer from {closed} (connection: " in err
    assert f"fix: start the server, or correct base_url: {closed} cannot be reached" in err
    assert booked(tmp_path) == 0
    # The same for the command that measures one judge.
    judge = tmp_path / "one.yaml"
    judge.write_text(f"model: {{adapter: openai-compatible, name: m, base_url: '{closed}', price: free}}\n")
    code, _, err = umpirical("datasheet", "one.yaml", "--folder", tmp_path, "--size", "screen", "--yes")
    assert code == 5
    assert "1 of 1 preflight calls" in err


def test_an_endpoint_that_nobody_is_at_is_named(umpirical, tmp_path, closed):
    url = f"{closed}/judge"
    (tmp_path / "umpirical.yaml").write_text(
        "study: s\ndesign: {size: screen}\njudges:\n"
        f"  - {{name: mine, http: {{url: '{url}', attempts: 1, body: ['{{{{first}}}}', '{{{{second}}}}']}}}}\n"
    )
    code, _, err = umpirical("run", tmp_path, "--yes", "--trust")
    assert code == 5
    assert f"got no answer from {url}" in err
    assert f"start the endpoint, or correct url: {url} cannot be reached" in err


def test_a_wrong_key_is_said_with_the_words_of_the_server_and_the_variable(umpirical, tmp_path, monkeypatch):
    monkeypatch.setenv("JUDGE_KEY", "a-wrong-key-of-some-length")
    with refusing(401, "Incorrect API key provided") as (base_url, asked):
        study = write(tmp_path, f"{base_url}\n      api_key_env: JUDGE_KEY")
        code, _, err = umpirical("run", study, *BUDGET)
        assert (code, len(asked)) == (5, 2)
    assert f"got no answer from {base_url} (rejected: HTTP 401: " in err
    assert "Incorrect API key provided" in err
    assert f"fix: put a key that {base_url} accepts into JUDGE_KEY" in err
    assert booked(tmp_path) == 0


def test_a_key_that_nobody_named_is_asked_for(umpirical, tmp_path):
    with refusing(401, "You did not provide an API key") as (base_url, _):
        _, _, err = umpirical("run", write(tmp_path, base_url), *BUDGET)
    assert (
        f"{base_url} requires a key: put it in an environment variable, and set api_key_env to the name of the variable"
        in err
    )


def test_an_address_without_its_version_is_completed(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        address = server.base_url.removesuffix("/v1")
        code, _, err = umpirical("run", write(tmp_path, address), *BUDGET)
        assert code == 5
        assert "HTTP 404: " in err
        assert f"fix: most servers need /v1 at the end: base_url: {address}/v1" in err
        assert server.asked.total() == 0
        # With a version, it is the model that the server does not know.
        with refusing(404, "The model `swayed` does not exist") as (base_url, _):
            _, _, err = umpirical("run", write(tmp_path, base_url), *BUDGET)
        assert "The model `swayed` does not exist" in err
        assert f"check that {base_url} is right, and that the model is named swayed there" in err
        assert umpirical("run", write(tmp_path, server.base_url), *BUDGET)[0] == REFUSED


def test_a_server_that_cannot_hold_answers_to_a_schema_is_asked_without_one(umpirical, tmp_path):
    words = "'response_format' of type 'json_schema' is not supported with this model"
    with refusing(400, words, unless="response_format") as (base_url, asked):
        code, _, err = umpirical("run", write(tmp_path, base_url), *BUDGET)
        assert (code, len(asked)) == (5, 2)
        assert words in err
        assert "add  answer: {constrained: false}" in err
        # What the message says is a study file, and it works.
        study = write(tmp_path, base_url, "    answer: {constrained: false}\n", price="free")
        assert umpirical("run", study, "--yes")[0] == REFUSED
        assert len(asked) == 2 + CALLS


def test_a_function_of_other_arguments_is_refused_before_it_is_called(tmp_path):
    called = []

    def judge(task, first, second, house_style):
        called.append((task, first, second, house_style))
        return "1"

    lend_stimuli(tmp_path)
    with pytest.raises(
        UsageError, match=r"judge judge is called with task, first, second, but its parameters are \("
    ) as raised:
        api.datasheet(judge, size="screen", folder=tmp_path, progress=False)
    assert "inputs: {task: NAME, first: NAME, second: NAME}" in raised.value.fix
    assert called == []


KEYS = [
    "sk-proj-Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2",
    "sk_live_51HqT9b2eZvKYlo2C8xYzW",
    "AIzaSyD4x9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe",
    "9f8e7d6c5b4a39281706f5e4d3c2b1a0",
    "abcdef0123456789abcdef0123456789",
    "Bearer something-secret",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("place", ["api_key_env", "api_key", "model_args: {api_key"])
def test_a_key_in_the_wrong_place_is_never_shown_or_kept(umpirical, tmp_path, monkeypatch, key, place):
    monkeypatch.setenv("UMPIRICAL_DEBUG", "1")
    end = "}" if "{" in place else ""
    study = write(tmp_path, f"http://127.0.0.1:9/v1\n      {place}: '{key}'{end}")
    for command in (
        ("check", study),
        ("plan", study),
        ("run", study, *BUDGET),
        ("datasheet", "loopback", "--folder", study),
    ):
        code, out, err = umpirical(*command)
        assert code == 2
        assert key not in out + err
    assert "key" in err
    if place == "api_key_env":
        assert "looks like" in err
    (tmp_path / "umpirical.yaml").unlink()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


@pytest.mark.parametrize("key", KEYS)
def test_nor_is_it_from_python(tmp_path, key):
    lend_stimuli(tmp_path)
    model = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:9/v1", "api_key_env": key}
    with pytest.raises(UsageError, match="this looks like a key, not the name of a variable") as raised:
        api.datasheet({"name": "j", "model": model}, size="screen", folder=tmp_path, progress=False)
    import traceback

    assert key not in "".join(traceback.format_exception(raised.value))
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and key.encode() in path.read_bytes()]


@pytest.mark.parametrize(
    "name", ["OPENAI_API_KEY", "my_key", "HF_TOKEN_2", "key_of_the_house", "AZURE_OPENAI_KEY_EASTUS2_PRODUCTION", "K"]
)
def test_names_of_variables_are_no_keys(umpirical, tmp_path, name):
    code, _, err = umpirical("plan", write(tmp_path, f"http://127.0.0.1:9/v1\n      api_key_env: {name}"))
    assert code == 2
    assert f"the environment variable {name} is not set" in err


# Several judges.

OTHER = """\
  - name: {name}
    model: {{adapter: openai-compatible, name: m, base_url: '{base_url}', price: free, attempts: 1}}
"""


def test_a_judge_that_cannot_be_asked_does_not_stop_the_others(umpirical, tmp_path, closed):
    with ChatServer(swayed_answer) as server:
        more = OTHER.format(name="closed", base_url=closed) + OTHER.format(name="third", base_url=server.base_url)
        study = write(tmp_path, server.base_url, more, price="free")
        code, out, err = umpirical("run", study, "--yes", "--json")
        assert code == 5
        assert server.asked.total() == 2 * CALLS
        assert "error: judge closed: 1 of 1 preflight calls got no answer" in err
        assert "not tested: closed; tested: loopback, third" in err
        first, third, lost = json.loads(out)
        assert [row["decision"] for row in (first, third)] == ["do-not-use"] * 2
        assert (lost["judge"], lost["complete"]) == ("closed", False)
        assert closed in lost["error"]
        assert lost["fix"].startswith("start the server")
        # From Python, its error is raised once the others are measured, which asks nothing again.
        with pytest.raises(JudgeUnreadable, match="judge closed") as raised:
            api.run(study, progress=False)
        assert any("judges=['loopback', 'third']" in note for note in raised.value.__notes__)
        assert [report.judge for report in api.run(study, judges=["loopback", "third"], progress=False)] == [
            "loopback",
            "third",
        ]
        assert server.asked.total() == 2 * CALLS


def test_a_judge_that_fails_on_the_way_does_not_stop_the_others_either(umpirical, tmp_path, closed):
    with ChatServer(swayed_answer) as server:
        more = OTHER.format(name="third", base_url=server.base_url)
        study = write(tmp_path, closed, more, price="free", attempts=1)
        code, out, _ = umpirical("run", study, "--yes", "--no-preflight")
        assert code == 5
        assert "not tested: loopback; tested: third" in out
        assert server.asked.total() == CALLS


def test_if_none_can_be_asked_all_are_named(umpirical, tmp_path, closed):
    study = write(tmp_path, closed, OTHER.format(name="other", base_url=closed), price="free")
    code, out, err = umpirical("run", study, "--yes")
    assert (code, out) == (5, "not tested: loopback, other; tested: none\n")
    assert [err.count(f"error: judge {name}: ") for name in ("loopback", "other")] == [1, 1]


def test_a_budget_that_is_reached_stops_all(umpirical, tmp_path):
    with ChatServer(swayed_answer) as server:
        study = write(tmp_path, server.base_url, OTHER.format(name="other", base_url=server.base_url))
        code, out, err = umpirical("run", study, "--yes", "--max-cost", "0.02", "--no-preflight")
        assert code == UmpiricalError.exit_code + 5
        assert "not tested" not in out + err
