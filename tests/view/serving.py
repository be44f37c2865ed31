"""A view that is really served: a server on loopback, and a session that came in by the link."""

import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlsplit

from umpirical.view.app import create_app
from umpirical.web.server import WebServer, hosts_of, listen, url_of

VISIT = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "none"}


@dataclass(frozen=True)
class Looked:
    status: int
    headers: dict
    text: str

    @property
    def links(self):
        return [each.replace("&amp;", "&") for each in re.findall(r'href="([^"]*)"', self.text)]


@dataclass
class Viewed:
    """A view that is being served, and the session that looks at it."""

    url: str
    view: object
    server: WebServer
    token: str
    home: str = ""
    cookie: str = ""

    @property
    def host(self):
        return urlsplit(self.url).netloc

    def ask(self, method, path, *, headers=None, cookie=True):
        """One request, with exactly these headers besides the session's cookie."""
        connection = HTTPConnection(self.host, timeout=60)
        sent = dict(VISIT if headers is None else headers)
        if cookie and self.cookie:
            sent["Cookie"] = self.cookie
        connection.request(method, path, headers=sent)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return Looked(answer.status, dict(answer.getheaders()), text)

    def get(self, path, **options):
        """A page of the session."""
        return self.ask("GET", f"{self.home}{path}", **options)

    def enter(self, token=None, **headers):
        answer = self.ask("GET", f"/join/{token or self.token}", headers={**VISIT, **headers}, cookie=False)
        if answer.status == 303:
            self.home = answer.headers["location"].rstrip("/")
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    @property
    def run(self):
        """The address of the only run, within the session."""
        [study] = self.view.catalogue.studies()
        return f"/runs/{study.runs[0].key}"


@contextmanager
def viewing(folder, *, enter=True):
    listening = listen(what="view")
    app = create_app(folder, hosts=hosts_of(listening))
    server = WebServer(app)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    found = Viewed(url_of(listening), app.state.view, server, app.state.view.door.token)
    try:
        while not server.started:
            thread.join(0.01)
        if enter:
            assert found.enter().status == 303
        yield found
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()
    assert not thread.is_alive()
