"""A server in a process of its own: it starts, stops when told to, and is not held up by open pages."""

import asyncio
import signal
import sys
from pathlib import Path

import aiohttp
import pytest

from umpirical.review.web.requests import COOKIE

from .serving import address

PROGRAM = """
import sys
from pathlib import Path
from tests.review.web.samples import paraphrase
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import Settings
from umpirical.review.people import People
from umpirical.review.web.app import create_app
from umpirical.web.server import hosts_of, listen, serve, url_of

database = open_database(f"sqlite:///{sys.argv[1]}")
desk, people = Desk(database, Settings()), People(database)
desk.add([paraphrase()])
with listen() as listening:
    print(url_of(listening), people.session_for("ana", "reviewer"), flush=True)
    serve(create_app(desk, people, hosts=hosts_of(listening)), listening)
database.close()
print("closed", flush=True)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_an_open_page_does_not_hold_up_the_end(tmp_path, number):
    program = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PROGRAM, str(tmp_path / "review.sqlite"),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    url, session = (await program.stdout.readline()).decode().split()
    path = address({COOKIE: session})
    cookie = f"{COOKIE}={session}"
    async with (
        aiohttp.ClientSession() as client,
        client.get(f"{url}{path}/events", headers={"Cookie": cookie}) as events,
    ):
        assert await events.content.readline() == b": here\n"
        program.send_signal(number)
        # Unless the server closes the stream, the page keeps it running for as long as it is open.
        out, err = await asyncio.wait_for(program.communicate(), 30)
    # It returned from serving, did what comes after that, and reported no error.
    assert (program.returncode, out, err) == (0, b"closed\n", b"")
