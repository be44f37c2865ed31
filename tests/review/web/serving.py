"""A review that is really served: a database file, a server on loopback, and sessions for people."""

import threading
from contextlib import contextmanager
from dataclasses import dataclass

from starlette.responses import Response

from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.people import People
from umpirical.review.records import Settings
from umpirical.review.web.app import create_app
from umpirical.review.web.requests import COOKIE, sign_in
from umpirical.web.server import WebServer, hosts_of, listen, url_of


@dataclass(frozen=True)
class Served:
    """A review that is being served."""

    desk: Desk
    people: People
    url: str
    server: WebServer

    @property
    def host(self):
        return self.url.removeprefix("http://")

    cookie = COOKIE

    def session(self, name="ana", role="reviewer"):
        return {self.cookie: self.people.session_for(name, role)}

    def home(self, session):
        """Where the pages of a session are."""
        return self.url + address(session)


def address(session):
    """The path of a session's pages, as the browser is told it."""
    [token] = session.values()
    return sign_in(Response(), token)


@contextmanager
def serving(folder, items=(), *, overlap=1, mode="blind", feed=None, title="Parcels"):
    database = open_database(f"sqlite:///{folder / 'review.sqlite'}")
    desk, people = Desk(database, Settings(overlap=overlap, mode=mode)), People(database)
    desk.add(items)
    listening = listen()
    bring = None if feed is None else lambda: feed(desk)
    app = create_app(desk, people, hosts=hosts_of(listening), feed=bring, title=title)
    server = WebServer(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield Served(desk, people, url_of(listening), server)
    finally:
        server.should_exit = True
        thread.join(20)
        listening.close()
        database.close()
    assert not thread.is_alive()
