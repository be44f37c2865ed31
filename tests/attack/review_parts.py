"""What attacks on a review have in common: a look at every table, a server of its own, and a client on the wire."""

import http.client
import re
import subprocess
import sys
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from urllib.parse import urlencode

from sqlalchemy import inspect, text

PROGRAM = """
import sys
from tests.review.web.samples import paraphrase
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.people import People
from umpirical.review.records import Settings
from umpirical.review.web.app import create_app
from umpirical.web.server import hosts_of, listen, serve, url_of

database = open_database(f"sqlite:///{sys.argv[1]}")
desk, people = Desk(database, Settings()), People(database)
desk.add([paraphrase(number) for number in range(int(sys.argv[2]))])
with listen() as listening:
    links = [people.invite(name, "reviewer") for name in ("ana", "mallory")]
    app = create_app(desk, people, hosts=hosts_of(listening))
    serve(app, listening, ready=lambda: print(url_of(listening), *links, flush=True))
database.close()
"""


def tables(database):
    """Every row of every table, those that we do not know included."""
    with database.read() as connection:
        names = sorted(inspect(connection).get_table_names())
        return {name: sorted(map(repr, connection.execute(text(f'select * from "{name}"')).all())) for name in names}  # noqa: S608


@contextmanager
def process(folder, items):
    """A server in a process of its own. Gives its address, and the links of ana and mallory."""
    command = [sys.executable, "-c", PROGRAM, str(folder / "review.sqlite"), str(items)]
    with (folder / "log").open("w") as log:
        started = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=Path(__file__).parents[2]
        )
    try:
        yield started.stdout.readline().split()
    finally:
        started.terminate()
        started.communicate(timeout=60)


class Client:
    """A browser without script, as far as the wire shows: follows no redirect, and keeps one cookie with its path."""

    def __init__(self, url, *, timeout=120):
        self.url, self.host, self.timeout = url, url.removeprefix("http://"), timeout
        self.cookie = self.home = ""

    def join(self, token):
        status, headers, _ = self.send("POST", f"/join/{token}", form={})
        assert status == 303
        self.cookie, _, rest = headers["set-cookie"].partition(";")
        self.home = re.search(r"Path=([^;]*)/", rest)[1]
        return self

    def ask(self, method, path, form=None, **headers):
        return self.send(method, self.home + path, form=form, Cookie=self.cookie, **headers)

    def send(self, method, path, form=None, **headers):
        sent = {"Host": self.host} | headers
        body = None
        if form is not None:
            body = urlencode(form)
            sent = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.url} | sent
        connection = http.client.HTTPConnection(self.host, timeout=self.timeout)
        try:
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read().decode()
        finally:
            connection.close()

    def decide(self):
        """Accepts the item at hand. Returns its id; None if there is none."""
        _, _, page = self.ask("GET", "/")
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page))
        if "item" not in form:
            return None
        status, _, _ = self.ask(
            "POST", "/decide", {name: unescape(held) for name, held in form.items()} | {"kind": "accept"}
        )
        assert status == 303
        return form["item"]
