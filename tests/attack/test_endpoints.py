"""Judges behind HTTP endpoints: no candidate changes what is sent, and no reply becomes a verdict that it is not."""

import asyncio
import json

import pytest
from pydantic import ValidationError

from tests.attack.odd_servers import odd_servers
from tests.attack.raw_server import RawServer, completion, http
from umpirical.domain.errors import UsageError
from umpirical.domain.judgments import Failed, Unparsed, Verdict
from umpirical.domain.scales import Choice
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import Calling

KEY = "a-key-that-must-stay-here-4711"
BODY = {"question": "{{task}}", "answers": ["{{first}}", "{{second}}"], "n": 1}
CHAT = {"messages": [{"role": "user", "content": "{{first}}"}], "second": "{{second}}"}

ENDLESS = 120.0
"""Seconds after which something is considered to hang."""

SERVERS = {odd.name: odd for odd in odd_servers()}


def endpoint(server, *, deadline=30.0, keys=None, **http_keys):
    where = {"url": f"http://127.0.0.1:{server.port}/judge", "body": BODY, "answer": "result.verdict", "attempts": 1}
    spec = JudgeSpec(name="e", deadline=deadline, http=where | http_keys, **(keys or {}))
    return build_judge(spec, folder=None, calling=Calling(concurrency=8))


async def asked(judge, first="a", second="b", task="t"):
    """Asks once; returns the response and its outcome."""
    shown = Presented(task, first, second)
    response = await asyncio.wait_for(judge.ask(judge.request(shown, Presentation()), trial_id="trial"), ENDLESS)
    return response, judge.read(response, Presentation())


def saying(reply):
    async def answer(seen, writer):
        writer.write(http(reply(json.loads(seen.body)) if callable(reply) else reply))

    return RawServer(answer)


def longer(body):
    lengths = [len(text) for text in body["answers"]]
    verdict = "tie" if lengths[0] == lengths[1] else str(1 + lengths.index(max(lengths)))
    return {"result": {"verdict": verdict, "model": "m"}}


async def test_an_endpoint_is_asked_and_its_answers_are_read():
    with saying(longer) as server:
        judge = endpoint(server)
        found = await asyncio.gather(*(asked(judge, "a" * (n % 3), "b") for n in range(30)))
        await judge.close()
    wanted = [Verdict(c) for c in (Choice.POSITION_2, Choice.TIE, Choice.POSITION_1)] * 10
    assert [outcome for _, outcome in found] == wanted
    # Nobody knows what it costs: that is no zero.
    assert {response.cost for response, _ in found} == {None}


INJECTIONS = (
    '", "answers": ["x", "y"], "n": "',
    "{{second}} {{first}} {{task}} {{key}}",
    "\\",
    '"}',
    "\ud800 \0 \x1b 漢字 🙂 \u2028",
    "line\r\nX-Header: 1",
    "",
    "$HOME ${HOME} %(task)s {task}",
)


@pytest.mark.parametrize("text", INJECTIONS)
async def test_no_candidate_changes_what_is_sent_around_it(text):
    with saying(longer) as server:
        judge = endpoint(server, api_key_env=None)
        await asked(judge, first=text, second="b", task=f"why {text}")
        await judge.close()
    sent = json.loads(server.asked[0].body)
    assert sent == {"question": f"why {text}", "answers": [text, "b"], "n": 1}


async def test_texts_around_a_placeholder_stay_and_other_values_are_sent_as_they_are():
    body = {"prompt": "Q: {{ task }}\nA: {{first}}\nB: {{second}}", "options": {"t": 0.5, "none": None, "yes": True}}
    with saying({"result": {"verdict": "1"}}) as server:
        judge = endpoint(server, body=body)
        await asked(judge)
        await judge.close()
    assert json.loads(server.asked[0].body) == body | {"prompt": "Q: t\nA: a\nB: b"}


@pytest.mark.parametrize(
    ("headers", "sent"),
    [
        ({}, {"authorization": f"Bearer {KEY}"}),
        ({"X-Api-Key": "{{key}}"}, {"x-api-key": KEY}),
        ({"X-Version": "3"}, {"authorization": f"Bearer {KEY}", "x-version": "3"}),
    ],
)
async def test_a_key_is_sent_as_told_and_recorded_nowhere(headers, sent, monkeypatch):
    monkeypatch.setenv("ENDPOINT_KEY", KEY)
    with saying({"result": {"verdict": f"1 {KEY}"}}) as server:
        judge = endpoint(server, headers=headers, api_key_env="ENDPOINT_KEY")
        response, _ = await asked(judge)
        await judge.close()
    assert sent.items() <= server.asked[0].headers.items()
    assert ("authorization" in sent) == ("authorization" in server.asked[0].headers)
    assert KEY not in f"{response}"
    assert KEY not in json.dumps(judge.request(Presented("t", "a", "b"), Presentation()).payload())


def test_a_key_that_is_not_set_is_named(monkeypatch):
    monkeypatch.delenv("ENDPOINT_KEY", raising=False)
    with saying({}) as server, pytest.raises(UsageError, match="ENDPOINT_KEY is not set"):
        endpoint(server, api_key_env="ENDPOINT_KEY")


@pytest.mark.parametrize(
    ("path", "reply", "verdict"),
    [
        ("", {"verdict": "2"}, Choice.POSITION_2),
        ("", "2", Choice.POSITION_2),
        ("", 1, Choice.POSITION_1),
        ("winner", {"winner": 1, "more": {}}, Choice.POSITION_1),
        ("a.0.b", {"a": [{"b": "tie"}]}, Choice.TIE),
        ("a", {"a": {"verdict": "1", "confidence": 0.5}}, Choice.POSITION_1),
        ("a", {"a": '{"verdict": "1"}'}, Choice.POSITION_1),
    ],
)
async def test_the_answer_is_where_the_path_says(path, reply, verdict):
    with saying(reply) as server:
        judge = endpoint(server, answer=path)
        _, outcome = await asked(judge)
        await judge.close()
    assert (type(outcome), outcome.value) == (Verdict, verdict)


@pytest.mark.parametrize("value", [None, True, 3, 0.5, "", "candidate 1", [], ["1"], {}, {"verdict": "1", "x": 1}])
async def test_an_answer_off_the_scale_is_unparsed(value):
    with saying({"result": {"verdict": value}}) as server:
        judge = endpoint(server)
        _, outcome = await asked(judge)
        await judge.close()
    assert isinstance(outcome, Unparsed)


@pytest.mark.parametrize(
    "reply",
    [
        b"",
        b"1",
        b"<html>1</html>",
        b'{"result": {}}',
        b'{"result": "1"}',
        b'{"result": ["1"]}',
        b'{"error": "1", "verdict": "1"}',
        b'{"result": {"verdict": "1", "verdict": "2"}}',
        b'{"result": {"verdict": "1"}',
        b'{"result": {"verdict": "1"}}{"result": {"verdict": "1"}}',
        b"\xff\xfe",
        b"[" * 200_000,
    ],
)
async def test_a_reply_without_the_answer_is_malformed(reply):
    with saying(lambda _: reply) as server:
        judge = endpoint(server)
        _, outcome = await asked(judge)
        await judge.close()
    assert (type(outcome), outcome.kind) == (Failed, "malformed")


async def test_a_failure_is_tried_again_as_often_as_told():
    async def answer(_seen, writer):
        busy = http({}, status="503 Busy", headers=["Retry-After: 0"])
        writer.write(http({"result": {"verdict": "1"}}) if len(server.asked) > 2 else busy)

    with RawServer(answer) as server:
        judge = endpoint(server, attempts=3)
        response, outcome = await asked(judge)
        await judge.close()
    assert (outcome, response.attempts, len(server.asked)) == (Verdict(Choice.POSITION_1), 3, 3)


@pytest.mark.parametrize(("status", "kind"), [("400 No", "rejected"), ("500 No", "server-error")])
async def test_a_status_that_is_no_answer_is_none_whatever_is_in_its_body(status, kind):
    async def answer(_seen, writer):
        writer.write(http({"result": {"verdict": "1"}}, status=status))

    with RawServer(answer) as server:
        judge = endpoint(server)
        _, outcome = await asked(judge)
        await judge.close()
    assert (type(outcome), outcome.kind) == (Failed, kind)


async def test_no_cookie_is_kept():
    async def answer(_seen, writer):
        writer.write(http({"result": {"verdict": "1"}}, headers=["Set-Cookie: seen=1; Path=/"]))

    with RawServer(answer) as server:
        judge = endpoint(server, url=f"http://localhost:{server.port}/judge")
        for _ in range(2):
            await asked(judge)
        await judge.close()
    assert [seen.headers.get("cookie") for seen in server.asked] == [None, None]


async def odd_one(odd):
    """Asks a server that speaks the chat protocol, as if it were any endpoint."""

    async def elsewhere(_seen, writer):
        writer.write(http(completion("1")))

    with RawServer(elsewhere) as other:

        async def answer(seen, writer):
            class Placing:
                def write(self, raw):
                    place = f"127.0.0.1:{other.port}".encode()
                    writer.write(raw.replace(b"ELSEWHERE", place) if len(raw) < 100_000 else raw)

                def __getattr__(self, name):
                    return getattr(writer, name)

            await odd.write(seen, Placing())

        with RawServer(answer) as server:
            judge = endpoint(server, body=CHAT, answer="choices.0.message.content", deadline=2 if odd.slow else 30)
            response, _ = await asked(judge, first="odd")
            await judge.close()
        return response, other.asked


@pytest.mark.parametrize("name", [name for name, odd in SERVERS.items() if not odd.slow])
async def test_what_misbehaves_on_the_wire_gets_a_failure_that_fits(name):
    response, elsewhere = await odd_one(SERVERS[name])
    assert elsewhere == []
    if SERVERS[name].fails_as:
        assert (response.failure or "") in SERVERS[name].fails_as, response
    else:
        assert response.text == "odd"


async def test_no_server_extends_its_deadline():
    slow = [odd for odd in SERVERS.values() if odd.slow]
    found = await asyncio.gather(*(odd_one(odd) for odd in slow))
    failures = {odd.name: response.failure for odd, (response, _) in zip(slow, found, strict=True)}
    assert failures.pop("continue for ever") == "malformed"
    assert set(failures.values()) == {"timeout"}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"url": "ftp://h/x"}, "url"),
        ({"url": "http://user:secret@h/x"}, "url"),
        ({"url": "http://h\\@evil/x"}, "url"),
        ({"url": "http://h/x#y"}, "url"),
        ({"url": "http://h?x=1"}, "url"),
        ({"url": "http://h/\nx"}, "url"),
        ({"body": {"a": "{{first}}"}}, "second}} is missing"),
        ({"body": {"a": "{{first}} {{second}} {{label}}"}}, "has no field {{label}}"),
        ({"body": {"a": "{{first}} {{second}}", "b": float("nan")}}, "must be valid JSON"),
        ({"body": {"{{first}}": "{{second}}"}}, "first}} is missing"),
        ({"headers": {"Host": "h"}}, "cannot be set"),
        ({"headers": {"Content-Length": "0"}}, "cannot be set"),
        ({"headers": {"X: 1\r\nY": "h"}}, "cannot be set"),
        ({"headers": {"X": "1\r\nY: 2"}}, "one line"),
        ({"headers": {"X": "{{key}}"}}, "requires api_key_env"),
        ({"headers": {"X": "{{task}}"}}, "one line"),
        ({"headers": {"Authorization": "Bearer sk-abcdefghijk"}}, "looks like a key"),
        ({"answer": "a..b"}, "answer"),
    ],
)
def test_what_cannot_be_meant_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message.replace("{", r"\{").replace("}", r"\}")):
        JudgeSpec(name="e", http={"url": "http://h/x", "body": BODY} | changes)


def test_a_grader_is_sent_a_response():
    scale = {"kind": "interval", "low": 0, "high": 1}
    spec = JudgeSpec(name="e", kind="grade", scale=scale, http={"url": "http://h/x?v=1", "body": ["{{response}}"]})
    judge = build_judge(spec, folder=None, calling=Calling())
    sent = judge.request(Presented("t", "said", None), Presentation()).messages[0].content
    assert json.loads(sent) == ["said"]


def test_another_body_or_address_is_another_judge():
    def prints(**changes):
        spec = JudgeSpec(name="e", http={"url": "http://h/x", "body": BODY} | changes)
        judge = build_judge(spec, folder=None, calling=Calling())
        return judge.fingerprint, judge.question_fingerprint

    assert prints() == prints(attempts=2)
    others = [prints(url="http://h/y"), prints(body=BODY | {"n": 2}), prints(headers={"X": "1"}), prints(answer="a")]
    assert len({prints(), *others}) == 5
