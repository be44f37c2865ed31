"""Requests that would read, change or take over a review: from nobody, from another port, from another person."""

import http.server
import re
import socket
import threading
from contextlib import contextmanager

import pytest

from tests.review.web import samples
from tests.review.web.browsing import home_of, signed_in
from tests.review.web.serving import serving
from umpirical.review.records import ReviewChoice
from umpirical.web.guard import LONGEST_HEAD

from .review_parts import Client, tables

SEEN = ["/", "/item/paraphrase-0", "/adjudicate", "/people", "/events"]
SENT = ["/next", "/decide", "/undo", "/settle", "/revoke"]
FORM = {"item": "paraphrase-0", "kind": "reject:other", "name": "ben"}
REFUSED = {400, 401, 403, 404, 405, 413, 415, 429, 501}

FOREIGN = [
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "websocket", "Upgrade": "websocket", "Connection": "Upgrade"},
    {"Host": "evil.example"},
    {"Host": "127.0.0.1"},
    {"Host": "localhost.evil.example:{port}"},
    {"Host": "evil.example", "X-Forwarded-Host": "127.0.0.1:{port}", "X-Forwarded-For": "127.0.0.1"},
    {"Host": "evil.example", "Forwarded": "host=127.0.0.1:{port}"},
]
UNMARKED = [
    {},
    {"mark": ""},
    {"mark": "0" * 64},
    {"mark": "{others}"},
]
BODIES = [
    ("application/json", b'{"item": "paraphrase-0", "kind": "accept"}'),
    ("text/plain", b"item=paraphrase-0&kind=accept"),
    ("multipart/form-data; boundary=x", b"--x\r\n\r\n--x--"),
    ("application/x-www-form-urlencoded", b"kind=accept&" * 6_000),
    ("application/x-www-form-urlencoded", b"item=%ff%fe"),
]
HEADS = [
    b"GET {path} HTTP/1.1\r\nHost: {host}\r\nHost: evil.example\r\n\r\n",
    b"GET http://evil.example{path} HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    b"GET {path} HTTP/1.1\r\n\r\n",
    b"GET {path} HTTP/9.9\r\nHost: {host}\r\n\r\n",
    b"GET {path}\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET {path} HTTP/1.1\r\nHost: {host}\r\nX: " + b"x" * LONGEST_HEAD + b"\r\n\r\n",
    b"GET {path}?" + b"x" * LONGEST_HEAD + b" HTTP/1.1\r\nHost: {host}\r\n\r\n",
    b"POST {path}decide HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
    b"POST {path}decide HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1e9\r\n\r\n",
    b"POST {path}decide HTTP/1.1\r\nHost: {host}\r\nContent-Length: 99999999999\r\n\r\n",
    b"POST {path}decide HTTP/1.1\r\nHost: {host}\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST {path}decide HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"GET {path}\x00 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    b"GET {path}../../../etc/passwd HTTP/1.1\r\nHost: {host}\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
    b"GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: " + b"umpirical-review=x; " * 1_000 + b"\r\n\r\n",
]


@pytest.fixture
def review(tmp_path):
    """Three items: ana has one open, and ben has decided on one."""
    with serving(tmp_path, [samples.paraphrase(number) for number in range(3)]) as found:
        found.desk.next("ben")
        found.desk.decide("ben", "paraphrase-0", ReviewChoice("accept"))
        found.desk.next("ana")
        yield found


class Person(Client):
    """Someone with a session, as the wire shows it."""

    def __init__(self, review, name, role):
        super().__init__(review.url)
        session = review.session(name, role)
        [(cookie, token)] = session.items()
        self.cookie, self.home = f"{cookie}={token}", review.home(session).removeprefix(review.url)
        self.mark = review.people.mark(token)


def attacks(review, person, other):
    """Requests as (method, path, form, headers), none of which a page of the person would send."""
    port = review.host.rpartition(":")[2]
    own, mark = {"Origin": review.url, "Cookie": person.cookie}, {"mark": person.mark}
    for path in SEEN + SENT:
        method, form = ("GET", None) if path in SEEN else ("POST", FORM | mark)
        # The address without the session, the session without its address, and each with that of another.
        yield method, person.home + path, form, {"Origin": review.url}
        yield method, path, form, own
        yield method, f"/s/{'0' * 32}{path}", form, own
        yield method, other.home + path, form, own
        yield method, person.home + path, form, own | {"Cookie": f"{person.cookie[:-1]}x"}
        for foreign in FOREIGN:
            yield (
                method,
                person.home + path,
                form,
                own | {name: held.format(port=port) for name, held in foreign.items()},
            )
        for odd in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"):
            yield odd, person.home + path, None, own
    for path in SENT:
        for mark_sent in UNMARKED:
            sent = {name: held.format(others=other.mark) for name, held in mark_sent.items()}
            yield "POST", person.home + path, FORM | sent, own
            yield "POST", person.home + path, FORM | sent, {"Cookie": person.cookie, "Origin": "null"}
        yield "GET", f"{person.home}{path}?item=paraphrase-0&kind=accept", None, own
        yield "HEAD", person.home + path, None, own
    for token in ("", "x", "../people", "%2e%2e", person.mark, person.cookie.partition("=")[2], "x" * 5_000):
        yield "POST", f"/join/{token}", {}, {"Origin": review.url}
        yield "POST", f"/join/{token}", {"x": "x" * 5_000}, {"Origin": review.url}


def spoken(host, words):
    """How the answer to raw bytes begins; empty if the connection is closed without a word."""
    address, _, port = host.partition(":")
    with socket.create_connection((address, int(port)), timeout=60) as line:
        line.sendall(words)
        try:
            return line.recv(65536)
        except ConnectionResetError:
            return b""


def attack(review, *, every):
    ana, owner = Person(review, "ana", "reviewer"), Person(review, "olga", "owner")
    before, tried = tables(review.desk.database), 0
    requests = [*attacks(review, ana, owner), *attacks(review, owner, ana)]
    for method, path, form, headers in requests[::every]:
        status, _, page = ana.send(method, path, form=form, **headers)
        assert status in REFUSED, (method, path, form, headers)
        assert "warehouse" not in page, (method, path)
        tried += 1
    for kind, body in BODIES:
        sent = {"Content-Type": kind, "X-Umpirical": ana.mark, "Origin": review.url, "Cookie": ana.cookie}
        for path in SENT:
            answer = spoken(review.host, _raw("POST", ana.home + path, {"Host": review.host, **sent}, body))
            assert int(answer.split()[1]) in REFUSED, (kind, path)
            tried += 1
    for head in HEADS:
        words = head.replace(b"{path}", f"{ana.home}/".encode()).replace(b"{host}", review.host.encode())
        answer = spoken(review.host, words)
        assert not answer or int(answer.split()[1]) in REFUSED, head[:60]
        assert b"warehouse" not in answer
        tried += 1
    assert tables(review.desk.database) == before
    # And the server is as it was.
    assert ana.decide() == "paraphrase-1"
    return tried


def _raw(method, path, headers, body):
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {held}" for name, held in headers.items())]
    lines.append(f"Content-Length: {len(body)}")
    return "".join(f"{line}\r\n" for line in [*lines, ""]).encode() + body


def test_a_request_that_is_none_of_a_page_is_refused(review):
    attack(review, every=8)


@pytest.mark.attack
def test_every_request_that_is_none_of_a_page_is_refused(review):
    assert attack(review, every=1) >= 300


@pytest.mark.parametrize("role", ["reviewer", "adjudicator", "owner"])
def test_looking_changes_nothing(review, role):
    """Any page can have a browser look: at an image, in a frame, by a link."""
    carl = Person(review, "carl", role)
    before = tables(review.desk.database)
    for method in ("GET", "HEAD"):
        for path in SEEN[:-1]:
            assert carl.ask(method, path)[0] in (200, 303, 403)
    assert tables(review.desk.database) == before
    assert carl.ask("POST", "/next", {"mark": carl.mark})[0] == 303
    assert carl.decide() == "paraphrase-2"


def test_the_hands_of_one_person_are_counted(review):
    """A body that does not end keeps a request under way; a few do not keep others out, and many are refused."""
    ana, ben = Person(review, "ana", "reviewer"), Person(review, "ben", "reviewer")
    lines = []
    try:
        for _ in range(20):
            line = socket.create_connection(tuple(review.host.split(":")), timeout=60)
            sent = {"Host": review.host, "Cookie": ana.cookie, "Origin": review.url, "Content-Length": "100000"}
            line.sendall(_raw("POST", f"{ana.home}/decide", sent, b"").replace(b"Content-Length: 0\r\n", b""))
            lines.append(line)
        refused = [line for line in lines[8:] if b" 4" in line.recv(15)]
        assert refused
        assert ben.ask("GET", "/")[0] == 200
    finally:
        for line in lines:
            line.close()


def test_an_edit_has_a_length(review):
    ana = Person(review, "ana", "reviewer")
    form = {"item": "paraphrase-1", "kind": "edit", "mark": ana.mark}
    status, _, page = ana.ask("POST", "/decide", form | {"text": "x" * 200_001})
    assert (status, "200,001 characters; the limit is 200,000" in page) == (422, True)
    assert ana.ask("POST", "/decide", form | {"text": "x" * 200_000})[0] == 303


@contextmanager
def another_port(page):
    """A server of somebody else on this machine. Gives its port, and the cookies that browsers bring it."""
    brought = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            brought.append((self.path, self.headers.get("Cookie", "")))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            # It can set cookies for us, too.
            self.send_header("Set-Cookie", "umpirical-review=true_value; Path=/")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1], brought
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.browser
def test_another_port_gets_no_cookie_and_its_images_hand_out_nothing(browser, review):
    """Whoever joins by link gets the cookie as the server sets it; then their browser visits another port."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{review.url}/join/{review.people.invite('cleo', 'reviewer')}")
    page.get_by_role("button", name="Start reviewing").click()
    page.locator('#screen[data-item="paraphrase-2"]').wait_for(state="attached")
    review.desk.add([samples.paraphrase(3)])
    review.desk.decide("cleo", "paraphrase-2", ReviewChoice("accept"))
    home = re.match(r"http://[^/]+(/s/[^/]+)?", page.url)[0]
    before = tables(review.desk.database)
    images = f'<img src="{home}/"><img src="{review.url}/"><img src="{home}/item/paraphrase-3">'
    with another_port(images) as (port, brought):
        hostile = context.new_page()
        for path in ("", "s/", "join/x", "people"):
            hostile.goto(f"http://127.0.0.1:{port}/{path}")
            hostile.wait_for_load_state("load")
    assert len(brought) >= 4
    assert {cookie for _, cookie in brought} <= {"", "umpirical-review=true_value"}
    assert tables(review.desk.database) == before
    # The cookie that the other port has set does not put her out.
    assert page.goto(f"{home}/").status == 200
    page.get_by_role("button", name="Show the next item").click()
    page.locator('#screen[data-item="paraphrase-3"]').wait_for(state="attached")
    context.close()


@pytest.mark.browser
def test_the_bare_address_leads_a_browser_home(browser, review):
    with signed_in(browser, review) as page:
        home = home_of(page)
        page.goto(f"{review.url}/")
        page.wait_for_url(f"{home}/")
        page.locator('#screen[data-item="paraphrase-1"]').wait_for(state="attached")
