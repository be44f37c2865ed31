"""Servers that misbehave on the wire, each by what it writes. An honest answer to a question is the question itself."""

import asyncio
import gzip
import json
import socket
import struct
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tests.attack.raw_server import completion, http

ELSEWHERE = "http://ELSEWHERE/v1/chat/completions"
"""Stands for a server that nobody named; a test puts its address there."""

FAILS = frozenset({"malformed", "connection", "server-error", "rejected", "timeout"})
BROKEN = frozenset({"malformed", "connection", "server-error"})
REJECTED, MALFORMED, TIMEOUT = frozenset({"rejected"}), frozenset({"malformed"}), frozenset({"timeout"})
ANSWER: frozenset[str] = frozenset()

PIECE = b"x" * 65_536


@dataclass(frozen=True)
class OddServer:
    name: str
    write: Callable[..., Awaitable[None]]
    """Answers a question, badly."""
    fails_as: frozenset[str]
    """The kinds of failure that fit; empty if the answer must come through."""
    slow: bool = False
    """Whether it never comes to an end, so that the deadline has to."""


def honest(asked):
    return completion(asked.text)


def odd_servers():
    return [
        *_redirects(), *_compressed(), *_sizes(), *_frames(), *_heads(), *_statuses(), *_endings(), *_waits(),
        *_mixed_up(), *_forms(),
    ]  # fmt: skip


def _says(name, reply, fails_as):
    async def write(asked, writer):
        writer.write(reply(asked) if callable(reply) else reply)

    return OddServer(name, write, fails_as)


def _redirects():
    for status in ("301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"):
        yield _says(f"redirect {status}", http(b"", status=status, headers=[f"Location: {ELSEWHERE}"]), REJECTED)
    for name, location in {
        "with a password": ELSEWHERE.replace("//", "//user:password@"),
        "to a path": "/v1/elsewhere",
        "to itself": "/v1/chat/completions",
        "to a script": "javascript:alert(1)",
        "to a file": "file:///etc/passwd",
        "to no address": "http://[::1",
        "to a long one": ELSEWHERE + "?" + "x" * 4000,
        "to nowhere": "",
    }.items():
        reply = http(b"", status="307 Temporary Redirect", headers=[f"Location: {location}"])
        yield _says(f"redirect {name}", reply, REJECTED)
    yield _says("redirect without a place", http(b"", status="307 Temporary Redirect"), REJECTED)
    yield _says("redirect beside an answer", _with_status("302 Found", f"Location: {ELSEWHERE}"), REJECTED)
    yield _says("not modified", http(b"", status="304 Not Modified"), REJECTED)


def _with_status(status, *headers):
    return lambda asked: http(honest(asked), status=status, headers=headers)


def _compressed():
    # 64 megabytes of zeros, packed and packed again.
    bomb = gzip.compress(bytes(2**26), 1)
    for encoding, body in {
        "gzip": gzip.compress(json.dumps(completion("odd")).encode()),
        "gzip, a bomb": bomb,
        "deflate": zlib.compress(json.dumps(completion("odd")).encode()),
        "deflate, a bomb": zlib.compress(bytes(2**26), 1),
        "gzip, gzip": gzip.compress(bomb),
        "br": b"\x0b\x02\x80odd\x03",
        "zstd": b"\x28\xb5\x2f\xfd",
        "unheard-of": b"odd",
    }.items():
        header = f"Content-Encoding: {encoding.partition(', a')[0]}"
        yield _says(f"encoded as {encoding}", http(body, headers=[header]), BROKEN)
    yield _says("encoded as it is", _with_status("200 OK", "Content-Encoding: identity"), ANSWER)


def _sizes():
    yield _says("fifty megabytes", http(b'{"choices": "' + b"x" * 50_000_000 + b'"}'), BROKEN)
    yield _says("an answer of three megabytes", lambda _: http(completion("x" * 3_000_000)), BROKEN)
    yield _says("an answer of half a megabyte", lambda _: http(completion("x" * 500_000)), BROKEN)
    yield _says("said to be a terabyte", http(b'{"choices"', length=10**12), BROKEN)
    yield _says("said to be beyond all numbers", http(b'{"choices"', length="9" * 400), BROKEN)

    async def endless(_asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            writer.write(PIECE)
            await writer.drain()

    async def endless_pieces(_asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
            await writer.drain()

    async def endless_error(_asked, writer):
        writer.write(b"HTTP/1.1 500 Odd\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
            await writer.drain()

    async def crumbs(asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        raw = json.dumps(honest(asked)).encode() + b" " * 20_000
        writer.write(b"".join(b"1\r\n%c\r\n" % code for code in raw) + b"0\r\n\r\n")

    yield OddServer("an endless body", endless, BROKEN)
    yield OddServer("endless pieces", endless_pieces, BROKEN)
    yield OddServer("an endless error", endless_error, BROKEN)
    yield OddServer("pieces of one byte", crumbs, ANSWER)


def _frames():
    whole = json.dumps(completion("odd")).encode()
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for name, raw in {
        "a piece of no size": chunked + b"zz\r\n" + whole + b"\r\n0\r\n\r\n",
        "a piece of negative size": chunked + b"-5\r\n" + whole + b"\r\n0\r\n\r\n",
        "a piece of endless size": chunked + b"f" * 40 + b"\r\n" + whole,
        "a piece larger than said": chunked + b"3\r\n" + whole + b"\r\n0\r\n\r\n",
        "no length in figures": http(whole).replace(b"Content-Length: ", b"Content-Length: x"),
        "a negative length": http(whole).replace(b"Content-Length: ", b"Content-Length: -"),
        "two lengths": http(whole, headers=["Content-Length: 5"]),
        "a length and pieces": http(whole, headers=["Transfer-Encoding: chunked"]),
    }.items():
        yield OddServer(name, _then_close(raw), FAILS)
    yield OddServer("longer than it says it is", _then_close(http(whole, length=20)), FAILS)


def _then_close(raw):
    async def write(_asked, writer):
        writer.write(raw)
        await writer.drain()
        writer.close()

    return write


def _heads():
    body = json.dumps(completion("odd")).encode()
    for name, raw in {
        "ten thousand headers": http(body, headers=[f"X-{number}: 1" for number in range(10_000)]),
        "a header of a megabyte": http(body, headers=["X: " + "x" * 1_000_000]),
        "a status of a megabyte": http(body, status="200 " + "x" * 1_000_000),
        "a name of a megabyte": http(body, headers=["x" * 1_000_000 + ": 1"]),
        "a null in a header": http(body, headers=["X: a\0b"]),
        "a header without a colon": http(body, headers=["odd"]),
        "no status": b"HTTP/1.1\r\n\r\n" + body,
        "a status of letters": http(body, status="abc OK"),
        "a status of five figures": http(body, status="20000 OK"),
        "another protocol": b"SSH-2.0-OpenSSH_9.6\r\n" + body,
        "no head at all": body,
        "TLS": b"\x15\x03\x03\x00\x02\x02\x28",
    }.items():
        yield OddServer(name, _then_close(raw), FAILS)

    async def endless_head(_asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            writer.write(b"X: " + PIECE[:1000] + b"\r\n")
            await writer.drain()

    async def endless_line(_asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            writer.write(PIECE)
            await writer.drain()

    async def endless_trailer(_asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
        while True:
            writer.write(b"X: " + PIECE[:1000] + b"\r\n")
            await writer.drain()

    yield OddServer("an endless head", endless_head, FAILS)
    yield OddServer("an endless header", endless_line, FAILS)
    yield OddServer("an endless trailer", endless_trailer, FAILS)


def _statuses():
    for status in ("201 Created", "202 Accepted", "206 Partial Content"):
        yield _says(f"status {status}", _with_status(status), MALFORMED)
    for status in ("204 No Content", "205 Reset Content"):
        yield _says(f"status {status}", f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode(), BROKEN)
    for status in ("400 Bad Request", "401 Unauthorized", "451 Unavailable"):
        yield _says(f"status {status}", _with_status(status), REJECTED)
    yield _says("status 504", _with_status("504 Gateway Timeout"), frozenset({"server-error"}))
    yield _says("continue, then the answer", lambda asked: _CONTINUE + http(honest(asked)), ANSWER)
    yield _says("hints, then the answer", lambda asked: _HINTS + http(honest(asked)), ANSWER)
    yield OddServer(
        "switching protocols", _then_close(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"), FAILS
    )

    async def forever(_asked, writer):
        while True:
            writer.write(_CONTINUE * 100)
            await writer.drain()
            await asyncio.sleep(0.01)

    yield OddServer("continue for ever", forever, FAILS, slow=True)
    for wait in ("inf", "nan", "1e309", "999999999", "9" * 400, "61"):
        reply = http(b"{}", status="429 Too Many Requests", headers=[f"Retry-After: {wait}"])
        yield _says(f"wait {wait[:12]}", reply, frozenset({"rate-limited"}))


_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


def _endings():
    whole = http(completion("odd"))
    for name, raw in {
        "closed at once": b"",
        "closed in its head": whole[:30],
        "closed after its head": whole[: whole.index(b"\r\n\r\n") + 4],
        "closed in its body": whole[:-20],
        "closed before its last byte": whole[:-1],
        "pieces without an end": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{}   \r\n",
    }.items():
        yield OddServer(name, _then_close(raw), FAILS)

    async def reset(_asked, writer):
        writer.write(whole[:-20])
        await writer.drain()
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    yield OddServer("reset in its body", reset, FAILS)


def _waits():
    whole = http(completion("odd"))

    async def silent(_asked, _writer):
        await asyncio.sleep(120)

    def drips(raw):
        async def write(_asked, writer):
            for code in raw:
                writer.write(bytes([code]))
                await writer.drain()
                await asyncio.sleep(0.1)

        return write

    async def drips_pieces(_asked, writer):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(0.05)

    yield OddServer("silent", silent, TIMEOUT, slow=True)
    yield OddServer("a head in drops", drips(whole), TIMEOUT, slow=True)
    yield OddServer("a body in drops", drips(whole[: whole.index(b"\r\n\r\n") + 4] + b" " * 10_000), TIMEOUT, slow=True)
    yield OddServer("pieces in drops", drips_pieces, TIMEOUT, slow=True)


def _mixed_up():
    another = http(completion("the answer to another question"))

    async def late(asked, writer):
        writer.write(http(honest(asked)))
        await writer.drain()
        await asyncio.sleep(0.1)
        writer.write(another)

    async def longer(asked, writer):
        writer.write(http(honest(asked)) + b'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{"ch')

    yield _says("two answers at once", lambda asked: http(honest(asked)) + another, ANSWER)
    yield OddServer("another answer later", late, ANSWER)
    yield OddServer("the beginning of another answer", longer, ANSWER)


def _forms():
    yield _says("a byte order mark", lambda asked: http(b"\xef\xbb\xbf" + json.dumps(honest(asked)).encode()), ANSWER)
    yield _says("said to be a page", _with_status("200 OK", "Content-Type: text/html"), ANSWER)
    yield _says("a lone surrogate", lambda _: http(completion("\ud800")), MALFORMED_OR_ANSWER)
    events = b'data: {"choices": [{"index": 0, "delta": {"content": "odd"}}]}\n\ndata: [DONE]\n\n'
    yield _says("a stream of events", http(events, headers=["Content-Type: text/event-stream"]), BROKEN)
    yield _says("not a number", lambda asked: http(json.dumps(honest(asked)).replace("9", "NaN", 1).encode()), ANSWER)
    yield _says("in Latin 1", http(json.dumps(completion("é"), ensure_ascii=False).encode("latin-1")), BROKEN)


MALFORMED_OR_ANSWER = frozenset({"malformed", "server-error", ""})
"""Text that is not Unicode is passed on as it is, or refused: what it says is for the reader."""
