"""Exchanges: what a server may send in whatever pieces, and that no question gets the answer to another."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager, closing, suppress

import pytest

from umpirical.models.adapters.exchanges import Exchanges
from umpirical.models.caller import CallFailed

MOST = 2**20


class Server:
    """Answers every question with what `answer(number, body)` returns: bytes, or pieces of them."""

    def __init__(self, answer):
        self.answer = answer
        self.heads, self.bodies, self.connections, self.port = [], [], 0, 0
        self.written = 0

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/v1/ask"

    async def connected(self, reader, writer):
        self.connections += 1
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                lines = [line.partition(": ") for line in head.strip().split("\r\n")]
                length = next(int(value) for name, _, value in lines if name == "Content-Length")
                self.heads.append(head)
                body = json.loads(await reader.readexactly(length))
                self.bodies.append(body.encode() if isinstance(body, str) else body)
                said = self.answer(len(self.bodies), self.bodies[-1])
                for piece in [said] if isinstance(said, bytes) else said:
                    if piece is None:
                        return
                    writer.write(piece)
                    await writer.drain()
                    self.written += len(piece)
                    # So that each piece is read by itself.
                    await asyncio.sleep(0)


@asynccontextmanager
async def serving(answer, **how):
    server = Server(answer)
    listening = await asyncio.start_server(server.connected, "127.0.0.1", 0, **how)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


OPEN = []


@pytest.fixture(autouse=True)
async def close_all():
    """Closes what a test has opened."""
    yield
    while OPEN:
        await OPEN.pop().close()


def opened(url, *, headers=(), timeout=20.0, tls=None):
    OPEN.append(Exchanges(url, headers=dict(headers), timeout=timeout, tls=tls))
    return OPEN[-1]


def asking(server, *, url="", **how):
    return opened(url or server.url, **how)


def whole(body, *more):
    return b"\r\n".join([b"HTTP/1.1 200 OK", *more, b"Content-Length: %d" % len(body), b"", body])


def chunked(*pieces, trailer=b""):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


REPLIES = {
    "with its length": [whole(b"an answer")],
    "in chunks": [chunked(b"an ", b"answer")],
    "in chunks of a byte": [chunked(*(b"an answer"[at : at + 1] for at in range(9)))],
    "with a trailer": [chunked(b"an answer", trailer=b"Took: 3\r\n")],
    "byte by byte": [bytes([byte]) for byte in whole(b"an answer")],
    "chunks byte by byte": [bytes([byte]) for byte in chunked(b"an ", b"answer")],
    "after an interim one": [b"HTTP/1.1 100 Continue\r\n\r\n", whole(b"an answer")],
    "after hints": [b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + whole(b"an answer")],
    "until the end": [b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nan an", b"swer", None],
    "of HTTP/1.0": [b"HTTP/1.0 200 OK\r\n\r\nan answer", None],
    "with bare line feeds": [b"HTTP/1.1 200 OK\nContent-Length: 9\n\nan answer"],
    "with many headers": [whole(b"an answer", *(b"X-%d: %s" % (number, b"y" * 160) for number in range(100)))],
    "without a reason": [b"HTTP/1.1 200\r\nContent-Length: 9\r\n\r\nan answer"],
}


@pytest.mark.parametrize("form", REPLIES)
async def test_an_answer_is_read_in_whatever_form_it_comes(form):
    async with serving(lambda *_: REPLIES[form]) as server:
        exchanges = asking(server)
        for _ in range(3):
            assert await exchanges.ask(b"{}", "t", most=MOST) == b"an answer"


BROKEN = {
    "nothing": ([None], "connection"),
    "half a head": ([b"HTTP/1.1 200 OK\r\nContent-", None], "connection"),
    "less than its length": ([whole(b"an answer")[:-1], None], "malformed"),
    "chunks without an end": ([chunked(b"an answer")[:-5], None], "malformed"),
    "another protocol": ([b"SSH-2.0-OpenSSH_9.6\r\n"], "malformed"),
    "two lengths": ([whole(b"an answer", b"Content-Length: 3")], "malformed"),
    "a length and chunks": (
        [b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"],
        "malformed",
    ),
    "another protocol to go on with": (
        [b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"],
        "malformed",
    ),
    "compressed": ([whole(b"an answer", b"Content-Encoding: gzip")], "malformed"),
    "compressed, said twice": (
        [whole(b"an answer", b"Content-Encoding: identity", b"Content-Encoding: gzip")],
        "malformed",
    ),
    "a longer one than allowed": ([whole(b"x" * (MOST + 1))], "malformed"),
    "chunks longer than allowed": ([chunked(*[b"x" * 65536] * 17)], "malformed"),
    "a redirect": ([b"HTTP/1.1 302 Found\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n"], "rejected"),
    "too many headers": ([whole(b"x", *(b"X-%d: 1" % number for number in range(200)))], "malformed"),
    "a long header": ([whole(b"x", b"X: " + b"y" * 9000)], "malformed"),
}


WHOLE = {"compressed", "compressed, said twice", "chunks longer than allowed", "a redirect"}
"""Refused, but whole: nothing of them can be taken for the next answer, and their connection may be used again."""


@pytest.mark.parametrize("form", BROKEN)
async def test_what_is_no_answer_is_a_failure_and_the_next_question_goes_over_another_connection(form):
    pieces, kind = BROKEN[form]
    async with serving(lambda number, _: pieces if number == 1 else whole(b"an answer")) as server:
        exchanges = asking(server)
        with pytest.raises(CallFailed) as failed:
            await exchanges.ask(b"{}", "t", most=MOST)
        assert failed.value.kind == kind
        assert not failed.value.turned_down
        assert await exchanges.ask(b"{}", "t", most=MOST) == b"an answer"
        assert server.connections == 2 or form in WHOLE


def endless(start, piece):
    def pieces(*_):
        yield start
        for _ in range(1000):
            yield piece

    return pieces


OK = b"HTTP/1.1 200 OK\r\n"
ENDLESS = {
    "a header": endless(OK + b"X: ", b"y" * 4096),
    "headers": endless(OK, b"X: y\r\n" * 700),
    "a reason": endless(b"HTTP/1.1 200 ", b"y" * 4096),
    "a trailer": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", b"y" * 4096),
    "a chunk's extension": endless(OK + b"Transfer-Encoding: chunked\r\n\r\n1;x=", b"y" * 4096),
    "interim answers": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 170),
    "blank lines": endless(b"", b"\r\n" * 2048),
}


@pytest.mark.parametrize("form", ENDLESS)
async def test_what_stands_around_an_answer_is_bounded(form):
    async with serving(ENDLESS[form]) as server:
        exchanges = asking(server)
        with pytest.raises(CallFailed) as failed:
            await exchanges.ask(b"{}", "t", most=MOST)
        assert failed.value.kind == "malformed"
        # What the buffers of two sockets hold may have been written, too.
        assert server.written < 1000 * 4096


async def test_a_reply_too_many_is_not_the_answer_to_the_next_question():
    def twice(_, body):
        return whole(b"to " + body) + whole(b"to " + body)

    async with serving(twice) as server:
        exchanges = asking(server)
        for question in (b"1", b"2", b"3"):
            assert await exchanges.ask(question, "t", most=MOST) == b"to " + question
        assert server.connections == 3


async def test_nor_is_one_that_comes_later():
    async with serving(lambda _, body: [whole(b"to " + body), whole(b"late")]) as server:
        exchanges = asking(server)
        for question in (b"1", b"2", b"3"):
            assert await exchanges.ask(question, "t", most=MOST) == b"to " + question
            await asyncio.sleep(0.05)
        assert server.connections == 3


async def test_a_connection_is_used_again_and_one_for_each_question_at_a_time():
    async with serving(lambda _, body: whole(b"to " + body)) as server:
        exchanges = asking(server)
        for _ in range(5):
            answers = await asyncio.gather(*(exchanges.ask(b"%d" % n, "t", most=MOST) for n in range(8)))
            assert answers == [b"to %d" % n for n in range(8)]
        assert server.connections == 8
        await exchanges.close()
        assert await exchanges.ask(b"again", "t", most=MOST) == b"to again"


async def test_a_connection_that_the_server_has_closed_is_not_used():
    async with serving(lambda _, body: [whole(body), None]) as server:
        exchanges = asking(server)
        for question in (b"1", b"2", b"3"):
            assert await exchanges.ask(question, "t", most=MOST) == question
            await asyncio.sleep(0.05)


async def test_nor_one_that_says_it_will_close():
    async with serving(lambda _, body: whole(body, b"Connection: close")) as server:
        exchanges = asking(server)
        for question in (b"1", b"2", b"3"):
            assert await exchanges.ask(question, "t", most=MOST) == question
        assert server.connections == 3


async def test_nor_one_that_lay_idle_for_long(monkeypatch):
    monkeypatch.setattr("umpirical.models.adapters.exchanges.KEPT_SECONDS", 0.0)
    async with serving(lambda _, body: whole(body)) as server:
        exchanges = asking(server)
        for _ in range(3):
            await exchanges.ask(b"1", "t", most=MOST)
        assert server.connections == 3


async def test_an_answer_that_comes_after_its_question_was_given_up_is_nobodys():
    released, connections = asyncio.Event(), []

    async def connected(reader, writer):
        connections.append(writer)
        await reader.readuntil(b"\r\n\r\n")
        await released.wait()
        writer.write(whole(b"late"))
        writer.close()

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    exchanges = opened(url, timeout=0.2)
    with pytest.raises(CallFailed, match=r"no reply within 0\.2 s") as failed:
        await exchanges.ask(b"", "t", most=MOST)
    assert failed.value.kind == "timeout"
    patient = opened(url)
    question = asyncio.create_task(patient.ask(b"", "t", most=MOST))
    await asyncio.sleep(0.1)
    question.cancel()
    with pytest.raises(asyncio.CancelledError):
        await question
    released.set()
    assert await patient.ask(b"", "t", most=MOST) == b"late"
    assert len(connections) == 3
    listening.close()


async def test_an_answer_before_the_whole_question_was_read_is_one_and_ends_the_connection():
    async def connected(reader, writer):
        nonlocal connections
        connections += 1
        await reader.readuntil(b"\r\n\r\n")
        writer.write(whole(b"too long").replace(b"200 OK", b"413 Too Large"))
        await writer.drain()
        await answered.wait()
        writer.close()

    answered, connections = asyncio.Event(), 0
    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    exchanges = opened(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/", timeout=10)
    for _ in range(2):
        with pytest.raises(CallFailed, match="HTTP 413: too long"):
            await exchanges.ask("x" * 2**26, "t", most=MOST)
    assert connections == 2
    answered.set()
    listening.close()


async def test_what_is_sent_is_one_request_with_its_headers():
    async with serving(lambda *_: whole(b"")) as server:
        url = f"http://name:pass%20word@127.0.0.1:{server.port}/a path/\u00e9?q=\u00fc#part"
        await asking(server, url=url, headers={"X-Own": "\u00e9", "accept": "application/json"}).ask(
            b"body", "abc", most=MOST
        )
    [head], [body] = server.heads, server.bodies
    first, *lines = head.strip().split("\r\n")
    assert first == "POST /a%20path/%C3%A9?q=%C3%BC HTTP/1.1"
    named = dict(line.split(": ", 1) for line in lines)
    assert named.pop("User-Agent").startswith("umpirical/")
    secret = base64.b64encode(b"name:pass word").decode()
    assert named == {
        "Host": f"127.0.0.1:{server.port}",
        "Authorization": f"Basic {secret}",
        "X-Own": "\u00e9",
        "accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "X-Client-Request-Id": "abc",
        "Content-Length": "6",
    }
    assert body == b"body"


@pytest.mark.parametrize(
    ("headers", "url", "trial_id"),
    [
        ({"Authorization": "Bearer a\r\nX-Evil: 1"}, "", "t"),
        ({"X\r\nEvil": "1"}, "", "t"),
        ({"X Y": "1"}, "", "t"),
        ({"X": "\udc80"}, "", "t"),
        ({}, "", "t\r\nX-Evil: 1"),
        ({}, "ftp://127.0.0.1/", "t"),
        ({}, "http:///path", "t"),
        ({}, "http://127.0.0.1:port/", "t"),
        ({"Authorization": "Bearer key"}, "http://name:word@127.0.0.1:1/", "t"),
    ],
)
async def test_what_cannot_be_one_request_is_never_sent(headers, url, trial_id):
    async with serving(lambda *_: whole(b"")) as server:
        with pytest.raises(CallFailed, match="never sent") as failed:
            await asking(server, headers=headers, url=url).ask(b"", trial_id, most=MOST)
        assert (failed.value.kind, failed.value.turned_down) == ("rejected", True)
        assert not server.heads


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
async def test_a_host_is_found_at_whichever_of_its_addresses_it_listens(host):
    async with serving(lambda *_: whole(b"here")) as server:
        exchanges = asking(server, url=f"http://{host}:{server.port}/")
        assert await exchanges.ask(b"", "t", most=MOST) == b"here"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "http://no-such-host.invalid/"])
async def test_no_connection_is_a_failure_that_nobody_bills(url):
    with pytest.raises(CallFailed, match="cannot connect to") as failed:
        await opened(url).ask(b"", "t", most=MOST)
    assert (failed.value.kind, failed.value.turned_down) == ("connection", True)


async def test_a_server_that_closes_at_once_is_a_failed_connection():
    listening = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    for _ in range(20):
        with pytest.raises(CallFailed) as failed:
            await opened(url).ask(b"", "t", most=MOST)
        assert failed.value.kind == "connection"
    listening.close()
