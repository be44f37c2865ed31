"""The memory of a whole run and its report, against servers that send as much as they can."""

import asyncio
import gzip
import json
from functools import cache

import pytest

from tests.attack.commands import umpirical
from tests.attack.raw_server import RawServer, completion, http
from umpirical.models.recording import longest_text
from umpirical.models.requests import Decoding

MOST_MB = 500

STUDY = """\
study: large
tasks: [jam-batch.plums, tool-hire.mower]
judges:
  - name: large
    model: {adapter: ADAPTER, name: NAME, base_url: "URL", price: free, attempts: 1, timeout: 60}
design: {size: screen, repeats: REPEATS}
concurrency: 8
"""

PIECE = b"x" * 65_536


@cache
def packed_twice() -> bytes:
    return gzip.compress(gzip.compress(bytes(2**30)))


NESTED = http((json.dumps(completion("1"))[:-1] + ', "x": [' + ",".join(['{"a":{}}'] * 110_000) + "]}").encode())
LONGEST = longest_text(Decoding())


async def bomb(_asked, writer):
    """A kilobyte that would be a megabyte, and then a gigabyte."""
    writer.write(http(packed_twice(), headers=["Content-Encoding: gzip, gzip"]))


async def endless(_asked, writer):
    writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
        await writer.drain()


class Together:
    """Fifty megabytes to each of eight calls, all at the same time."""

    def __init__(self):
        self._waiting, self._all = 0, asyncio.Event()

    async def __call__(self, _asked, writer):
        self._waiting += 1
        if self._waiting >= 8:
            self._all.set()
        await asyncio.wait_for(self._all.wait(), 30)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 50000100\r\n\r\n" + b'{"choices": [{"message": {"content": "')
        for _ in range(763):
            writer.write(PIECE)
            await writer.drain()


async def nested(_asked, writer):
    """As many small objects as fit into a reply that is allowed."""
    writer.write(NESTED)


async def longest(_asked, writer):
    """The longest answer that is recorded, in signs that take the most memory."""
    writer.write(http(completion("🙂" + "x" * (LONGEST - 1))))


def names():
    """Two hundred kilobytes of name in every reply, another one each time."""
    number = 0

    async def write(_asked, writer):
        nonlocal number
        number += 1
        writer.write(http(completion("1", model=f"{number}-" + "m" * 200_000)))

    return write


SERVERS = {
    "bomb": lambda: bomb,
    "endless": lambda: endless,
    "together": Together,
    "nested": lambda: nested,
    "longest": lambda: longest,
    "names": names,
}


def every_other(answer):
    """Lets calls come through in between, so that the run goes on to its end."""
    turn = 0

    async def write(asked, writer):
        nonlocal turn
        turn += 1
        if turn % 16 < 8:
            await answer(asked, writer)
        else:
            writer.write(http(completion("1")))

    return write


def measured(answer, tmp_path, *, repeats, adapter="openai-compatible", name="judge"):
    """The most memory of a run and of its report, in MB, and the size of what they left behind."""
    with RawServer(answer) as server:
        study = STUDY.replace("URL", server.base_url).replace("ADAPTER", adapter).replace("NAME", name)
        (tmp_path / "study.yaml").write_text(study.replace("REPEATS", str(repeats)))
        options = ("--yes", "--no-preflight", "--json")
        run = umpirical("run", "study.yaml", *options, folder=tmp_path, LOCAL_API_KEY="none")
        asked = len(server.asked)
    [folder] = [path.parent for path in (tmp_path / "runs").rglob("run.json")]
    report = umpirical("report", folder, folder=tmp_path)
    # A run in which every call fails is given up before it is through.
    assert asked >= 16
    page = max(path.stat().st_size for path in folder.rglob("datasheet*"))
    return max(run.peak, report.peak), page


def test_a_run_against_the_worst_of_servers_stays_small(tmp_path):
    """All of them at once: each call meets another one."""
    written, turn = [bomb, endless, nested, longest, names(), endless, bomb, longest], 0

    async def answer(asked, writer):
        nonlocal turn
        turn += 1
        await written[turn % len(written)](asked, writer)

    peak, page = measured(answer, tmp_path, repeats=2)
    assert peak < MOST_MB
    assert page < 2**20


@pytest.mark.attack
@pytest.mark.parametrize("server", SERVERS)
def test_a_long_run_against_each_of_them_stays_small(server, tmp_path):
    peak, page = measured(every_other(SERVERS[server]()), tmp_path, repeats=20)
    print(f"{server}: {peak} MB, page {page:,} bytes")  # noqa: T201  # the figure is of interest even if it is fine
    assert peak < MOST_MB
    assert page < 2**20


@pytest.mark.attack
@pytest.mark.parametrize("server", ["bomb", "endless", "together"])
def test_the_clients_of_inspect_stay_small_too(server, tmp_path):
    peak, _ = measured(SERVERS[server](), tmp_path, repeats=4, adapter="inspect", name="openai-api/local/judge")
    print(f"{server}: {peak} MB")  # noqa: T201
    assert peak < MOST_MB
