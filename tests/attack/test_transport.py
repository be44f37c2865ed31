"""Servers that misbehave on the wire: every call ends, as a failure that fits, and nothing goes elsewhere."""

import asyncio

import pytest

from tests.attack.odd_servers import ELSEWHERE, honest, odd_servers
from tests.attack.raw_server import RawServer, completion, http
from tests.models.inspect_opening import OLD_NAME
from umpirical.models.recording import LONGEST_DETAIL
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, ModelSpec, open_model

KEY = "a-key-that-must-stay-here-4711"
SERVERS = {odd.name: odd for odd in odd_servers()}
NAMES = {"openai-compatible": "judge", "inspect": "openai-api/local/judge"}

ENDLESS = 120.0
"""Seconds after which something is considered to hang: far longer than any deadline here."""


def request(text):
    return ChatRequest("judge", (Message("user", text),), Decoding(max_tokens=64))


async def ask(odd, adapter, monkeypatch):
    """Asks a server once while it is odd, and twice afterwards. Returns the responses and who was asked elsewhere."""
    monkeypatch.setenv("ODD_KEY", KEY)

    async def elsewhere(_asked, writer):
        writer.write(http(completion("from elsewhere")))

    with RawServer(elsewhere) as other:

        async def answer(asked, writer):
            if asked.text != "odd":
                writer.write(http(honest(asked)))
                return
            place = f"127.0.0.1:{other.port}".encode()
            await odd.write(asked, _Placing(writer, place))

        with RawServer(answer) as server:
            spec = ModelSpec(
                adapter=adapter,
                name=NAMES[adapter],
                base_url=server.base_url,
                api_key_env="ODD_KEY",
                attempts=1,
                timeout=2 if odd.slow else 30,
            )
            model = open_model(spec, Calling(concurrency=4))
            try:
                first = await asyncio.wait_for(model.generate(request("odd"), trial_id="odd"), ENDLESS)
                await asyncio.sleep(0.2)
                later = [await _again(model, f"plain {number}") for number in range(2)]
            finally:
                await model.close()
        return first, later, other.asked


class _Placing:
    """A writer that puts the address of the other server in its place."""

    def __init__(self, writer, place):
        self._writer, self._place = writer, place

    def write(self, raw):
        self._writer.write(raw.replace(b"ELSEWHERE", self._place) if len(raw) < 100_000 else raw)

    def __getattr__(self, name):
        return getattr(self._writer, name)


async def _again(model, text):
    """Asks until there is an answer: a connection that was left in disorder may have to be given up first."""
    for _ in range(3):
        response = await asyncio.wait_for(model.generate(request(text), trial_id=text), ENDLESS)
        if response.failure != "connection":
            break
    return text, response


async def check(odd, adapter, monkeypatch):
    first, later, elsewhere = await ask(odd, adapter, monkeypatch)
    assert elsewhere == []
    assert KEY not in f"{first}"
    if odd.fails_as:
        assert (first.failure or "") in odd.fails_as, first
    else:
        assert first.text == "odd", first
    assert len(first.failure_detail) <= LONGEST_DETAIL
    # Whatever it did, the next questions get their own answers.
    assert [response.text for _, response in later] == [text for text, _ in later]
    return first


def test_there_are_enough_of_them():
    assert len(SERVERS) == len(odd_servers()) >= 60


@pytest.mark.parametrize("name", [name for name, odd in SERVERS.items() if not odd.slow])
async def test_a_server_that_misbehaves_gets_a_failure_that_fits(name, monkeypatch):
    await check(SERVERS[name], "openai-compatible", monkeypatch)


async def test_no_server_extends_its_deadline_by_sending_a_little_at_a_time(monkeypatch):
    slow = [odd for odd in SERVERS.values() if odd.slow]
    found = await asyncio.gather(*(check(odd, "openai-compatible", monkeypatch) for odd in slow))
    # One that never comes to its answer, without waiting in between, is given up before.
    failures = {odd.name: response.failure for odd, response in zip(slow, found, strict=True)}
    assert failures.pop("continue for ever") == "malformed"
    assert set(failures.values()) == {"timeout"}


async def test_a_redirect_names_its_host_and_is_not_followed(monkeypatch):
    first = await check(SERVERS["redirect with a password"], "openai-compatible", monkeypatch)
    assert "redirects to 127.0.0.1:" in first.failure_detail
    assert "password" not in first.failure_detail
    assert "ELSEWHERE" in ELSEWHERE


async def test_encryption_to_a_server_that_has_none_is_a_failed_connection():
    async def answer(asked, writer):
        writer.write(http(honest(asked)))

    with RawServer(answer) as server:
        url = server.base_url.replace("http:", "https:")
        spec = ModelSpec(adapter="openai-compatible", name="judge", base_url=url, attempts=1, timeout=5)
        model = open_model(spec, Calling())
        response = await asyncio.wait_for(model.generate(request("x"), trial_id="x"), ENDLESS)
        await model.close()
    assert response.failure in ("connection", "timeout")


SOME = [
    "redirect 307 Temporary",
    "encoded as gzip, a bomb",
    "endless pieces",
    "a body in drops",
    "another answer later",
]


@OLD_NAME
@pytest.mark.parametrize("name", SOME)
async def test_the_clients_of_inspect_are_bounded_too(name, monkeypatch):
    await check(SERVERS[name], "inspect", monkeypatch)


LEFT_TO_THE_CLIENT = {
    "ten thousand headers",
    "status 201 Created",
    "status 202 Accepted",
    "status 206 Partial Content",
    "two answers at once",
    "the beginning of another answer",
    *list(SERVERS)[list(SERVERS).index("a byte order mark") :],
}
"""What Inspect's clients decide by themselves: how many headers they take, which statuses are an answer, what becomes
of a connection with something left on it, and how a body is spelled."""


@pytest.mark.attack
@pytest.mark.parametrize("name", SERVERS)
async def test_every_call_ends(name, monkeypatch):
    await check(SERVERS[name], "openai-compatible", monkeypatch)


@OLD_NAME
@pytest.mark.attack
@pytest.mark.parametrize("name", [name for name in SERVERS if name not in LEFT_TO_THE_CLIENT])
async def test_every_call_through_inspect_ends(name, monkeypatch):
    await check(SERVERS[name], "inspect", monkeypatch)
