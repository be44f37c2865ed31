"""Who gets in and what is refused, on the wire."""

import asyncio
import logging
from http.cookies import SimpleCookie

import aiohttp
import pytest

from umpirical.domain.errors import UsageError
from umpirical.web.guard import LONGEST_FORM, POLICY
from umpirical.web.server import hosts_of, listen, url_of

from . import samples
from .asking import ask
from .serving import address, serving

READ = ["/", "/list", "/item/paraphrase-0", "/events", "/adjudicate", "/people"]
WRITTEN = ["/next", "/decide", "/undo", "/settle", "/revoke"]
DECISION = {"item": "paraphrase-0", "kind": "accept"}


@pytest.fixture(scope="module")
def standing(tmp_path_factory):
    """One review for all the requests that change nothing."""
    with serving(tmp_path_factory.mktemp("review"), [samples.paraphrase()]) as found:
        found.desk.next("ana")
        yield found


@pytest.fixture
def review(served):
    """A review with one item, which ana has open."""
    found = served(samples.paraphrase())
    found.desk.next("ana")
    return found


def decisions(review):
    return [each.kind for each in review.desk.decisions()]


async def decide(review, **options):
    return await ask(review, "POST", "/decide", session=review.session(), form=DECISION, **options)


async def test_a_decision_of_our_own_page_is_taken(review):
    answer = await decide(review)
    assert answer.status == 303
    assert answer.headers["Location"].endswith("/?said=accept")
    assert decisions(review) == ["accept"]


@pytest.mark.parametrize("path", READ)
async def test_without_a_session_nothing_is_read(standing, path):
    answer = await ask(standing, "GET", path)
    assert answer.status == 401
    assert "Parcel 0" not in answer.text


@pytest.mark.parametrize("path", WRITTEN)
async def test_without_a_session_nothing_is_written(standing, path):
    assert (await ask(standing, "POST", path, form=DECISION)).status == 401
    assert decisions(standing) == []


@pytest.mark.parametrize("path", [*READ, "/static/review.css", "/join/abc"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", ""])
async def test_a_foreign_host_is_refused(standing, path, host):
    answer = await ask(standing, "GET", path, session=standing.session(), headers={"Host": host})
    assert answer.status == 400


async def test_a_foreign_host_is_no_own_origin(standing):
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert (await decide(standing, headers=headers)).status == 400
    assert decisions(standing) == []


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://evil.example", "Sec-Fetch-Site": "none"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "none"},
        {},
    ],
)
@pytest.mark.parametrize("path", [*WRITTEN, "/join/abc"])
async def test_a_form_of_another_site_is_refused(standing, headers, path):
    session = standing.session("olga", "owner")
    answer = await ask(standing, "POST", path, session=session, form=DECISION, headers=headers, ours=False)
    assert answer.status == 403
    assert decisions(standing) == []


async def test_a_browser_that_says_nothing_of_itself_needs_the_mark_of_our_form(review):
    session = review.session()
    page = await ask(review, "GET", "/", session=session)
    mark = page.text.split('name="mark" value="')[1].split('"')[0]
    other = review.session("ben")
    for sent, status in ((mark[:-1], 403), ("", 403), (mark, 303)):
        form = DECISION | {"mark": sent}
        answer = await ask(
            review, "POST", "/decide", session=session, form=form, headers={"Origin": "null"}, ours=False
        )
        assert answer.status == status
    # The mark of one session is worthless in another.
    form = DECISION | {"mark": mark}
    assert (await ask(review, "POST", "/undo", session=other, form=form, ours=False)).status == 403
    assert decisions(review) == ["accept"]


@pytest.mark.parametrize("path", [*WRITTEN])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_nothing_is_changed_by_looking(standing, path, method):
    answer = await ask(standing, method, path, session=standing.session("olga", "owner"))
    assert answer.status == 405
    assert decisions(standing) == []


@pytest.mark.parametrize(
    ("path", "status", "title"), [("/nowhere", 404, "Page not found"), ("/decide", 405, "Method not allowed")]
)
async def test_an_address_that_leads_nowhere_says_so(standing, path, status, title):
    answer = await ask(standing, "GET", path, session=standing.session())
    assert (answer.status, f'<h1 tabindex="-1">{title}</h1>' in answer.text) == (status, True)


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
async def test_other_methods_are_refused(standing, method):
    headers = {"Origin": standing.url, "Sec-Fetch-Site": "same-origin"}
    answer = await ask(standing, method, "/decide", session=standing.session(), headers=headers)
    assert answer.status in (400, 405)


@pytest.mark.parametrize(
    ("role", "path", "status"),
    [
        ("reviewer", "/adjudicate", 403),
        ("adjudicator", "/adjudicate", 200),
        ("owner", "/adjudicate", 200),
        ("reviewer", "/people", 403),
        ("adjudicator", "/people", 403),
        ("owner", "/people", 200),
    ],
)
async def test_pages_are_for_their_roles(standing, role, path, status):
    answer = await ask(standing, "GET", path, session=standing.session("rolf", role))
    assert answer.status == status


@pytest.mark.parametrize(
    ("role", "path"), [("reviewer", "/settle"), ("reviewer", "/revoke"), ("adjudicator", "/revoke")]
)
async def test_forms_are_for_their_roles(review, role, path):
    review.people.invite("ben", "reviewer")
    answer = await ask(review, "POST", path, session=review.session("rolf", role), form={"name": "ben", **DECISION})
    assert answer.status == 403
    assert not any(person.revoked for person in review.people.all())


async def test_a_link_opens_the_review_once(review):
    token = review.people.invite("cleo", "reviewer")
    path = f"/join/{token}"
    for _ in range(3):
        looked = await ask(review, "GET", path)
        assert (looked.status, "Set-Cookie" in looked.headers) == (200, False)
    joined = await ask(review, "POST", path, form={})
    [cookie] = SimpleCookie(joined.headers["Set-Cookie"]).values()
    home = address({review.cookie: cookie.value})
    assert (joined.status, joined.headers["Location"]) == (303, f"{home}/")
    assert (cookie.key, cookie["path"], cookie["samesite"]) == (review.cookie, f"{home}/", "strict")
    assert cookie["httponly"]
    assert not cookie["secure"]
    assert cookie.value != token
    assert (await ask(review, "GET", "/", session={review.cookie: cookie.value})).status == 200
    assert (await ask(review, "POST", path, form={})).status == 403
    # The link itself is not a session.
    assert (await ask(review, "GET", "/", session={review.cookie: token})).status == 401


async def test_over_https_the_cookie_is_for_https_alone(review):
    headers = {"Origin": f"https://{review.host}"}
    path = f"/join/{review.people.invite('cleo', 'reviewer')}"
    joined = await ask(review, "POST", path, form={}, headers=headers)
    [cookie] = SimpleCookie(joined.headers["Set-Cookie"]).values()
    assert cookie["secure"]


async def test_an_unknown_link_opens_nothing(standing):
    answer = await ask(standing, "POST", "/join/abc", form={})
    assert (answer.status, "Set-Cookie" in answer.headers) == (403, False)


async def test_a_stolen_session_ends_when_it_is_revoked(review):
    stolen = review.session("ana")
    assert (await ask(review, "GET", "/", session=stolen)).status == 200
    owner = review.session("olga", "owner")
    assert (await ask(review, "POST", "/revoke", session=owner, form={"name": "ana"})).status == 303
    assert (await ask(review, "GET", "/", session=stolen)).status == 401
    assert (await ask(review, "POST", "/decide", session=stolen, form=DECISION)).status == 401
    assert (await ask(review, "GET", "/events", session=stolen)).status == 401
    assert decisions(review) == []


async def test_an_owner_does_not_lock_themself_out(review):
    owner = review.session("olga", "owner")
    assert (await ask(review, "POST", "/revoke", session=owner, form={"name": "olga"})).status == 422
    assert (await ask(review, "GET", "/people", session=owner)).status == 200


async def test_a_blind_reviewer_reads_nothing_of_others_before_deciding(served):
    item = samples.labelled(target="TARGET", opinions=("OPINION",))
    review = served(item, overlap=2)
    from umpirical.review.records import ReviewChoice

    review.desk.next("ben")
    review.desk.decide("ben", item.id, ReviewChoice("reject", reason="harmful", comment="REMARK"))
    session = review.session("ana")
    review.desk.next("ana")
    for path in ("/", f"/item/{item.id}", "/list", "/list?q=TARGET"):
        page = await ask(review, "GET", path, session=session)
        assert page.status == 200
        said = page.text.replace('value="TARGET"', "")  # what was searched for
        assert not any(word in said for word in ("TARGET", "OPINION", "REMARK", "ben"))
    await ask(review, "POST", "/decide", session=session, form={"item": item.id, "kind": "accept", "label": "0"})
    page = await ask(review, "GET", f"/item/{item.id}", session=session)
    assert all(word in page.text for word in ("TARGET", "OPINION", "REMARK", "ben"))


async def test_a_list_has_only_what_the_person_was_given(served):
    from umpirical.review.records import ReviewChoice

    review = served(*(samples.paraphrase(number) for number in range(3)), samples.sensitive(after="HARM"))
    for number in range(2):
        review.desk.next("ana")
        review.desk.decide("ana", f"paraphrase-{number}", ReviewChoice("reject", reason="unnatural"))
    review.desk.next("ben")
    page = await ask(review, "GET", "/list", session=review.session("ana"))
    assert page.text.count("rejected: unnatural") == 2
    assert "Parcel 2" not in page.text
    found = await ask(review, "GET", "/list?q=PARCEL+1", session=review.session("ana"))
    assert ("1 of 2 items match" in found.text, "Parcel 1" in found.text, "Parcel 0" in found.text) == (
        True,
        True,
        False,
    )
    review.desk.next("ana")
    assert "HARM" not in (await ask(review, "GET", "/list", session=review.session("ana"))).text


async def test_an_item_that_was_not_given_is_not_shown(standing):
    other = standing.session("ben")
    answer = await ask(standing, "GET", "/item/paraphrase-0", session=other)
    assert answer.status == 303
    answer = await ask(standing, "POST", "/decide", session=other, form=DECISION)
    assert answer.status == 409
    assert "Parcel 0" not in answer.text
    assert decisions(standing) == []


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.example"}])
async def test_a_foreign_page_hears_no_events(standing, headers):
    answer = await ask(standing, "GET", "/events", session=standing.session(), headers=headers)
    assert answer.status == 403


async def test_the_live_line_ends_with_the_session(review):
    session = review.session("ana")
    [(name, value)] = session.items()
    async with (
        aiohttp.ClientSession() as client,
        client.get(f"{review.home(session)}/events", headers={"Cookie": f"{name}={value}"}) as response,
    ):
        assert response.headers["Content-Type"].startswith("text/event-stream")
        assert b"here" in await response.content.readline()
        review.people.revoke("ana")
        await asyncio.wait_for(response.content.read(), 20)


@pytest.mark.parametrize("path", ["/", "/static/review.js", "/join/abc", "/nowhere", "/decide"])
async def test_every_answer_carries_the_headers(standing, path):
    answer = await ask(standing, "GET", path, session=standing.session())
    assert answer.headers["Content-Security-Policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["X-Frame-Options"] == "DENY"
    assert answer.headers["Referrer-Policy"] == "no-referrer"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Server" not in answer.headers


async def test_a_large_body_is_refused_before_it_is_read(review):
    reader, writer = await begin(review, f"Content-Length: {LONGEST_FORM + 1}")
    assert b"413" in await reader.readline()
    writer.close()


async def test_a_large_body_of_no_declared_size_is_refused_while_it_is_read(review):
    reader, writer = await begin(review, "Transfer-Encoding: chunked")
    for _ in range(LONGEST_FORM // 100_000 + 1):
        writer.write(b"%x\r\n" % 100_000 + b"x" * 100_000 + b"\r\n")
        await writer.drain()
    assert b"413" in await reader.readline()
    writer.close()
    assert (await decide(review)).status == 303


async def begin(review, size):
    """Sends the head of a request, whose body is still to come."""
    machine, port = review.host.split(":")
    [(name, value)] = (session := review.session()).items()
    reader, writer = await asyncio.open_connection(machine, int(port))
    lines = [
        f"POST {address(session)}/decide HTTP/1.1",
        f"Host: {review.host}",
        f"Origin: {review.url}",
        f"Cookie: {name}={value}",
        "Content-Type: application/x-www-form-urlencoded",
        size,
    ]
    writer.write("".join(f"{line}\r\n" for line in [*lines, ""]).encode())
    await writer.drain()
    return reader, writer


@pytest.mark.parametrize(
    ("kind", "body", "status"),
    [
        ("application/json", b'{"item": "paraphrase-0", "kind": "accept"}', 415),
        ("multipart/form-data; boundary=x", b"--x--", 415),
        ("text/plain", b"item=paraphrase-0&kind=accept", 415),
        ("application/x-www-form-urlencoded", b"item=%ff", 400),
        ("application/x-www-form-urlencoded", b"item=\xff", 400),
        ("application/x-www-form-urlencoded", b"&a=" * 9_000, 400),
        ("application/x-www-form-urlencoded", b"kind=accept", 409),
        ("application/x-www-form-urlencoded", b"item=paraphrase-0&kind=finalize", 422),
        ("application/x-www-form-urlencoded", b"item=paraphrase-0&kind=reject:because", 422),
    ],
)
async def test_what_is_no_form_of_ours_is_refused(standing, kind, body, status):
    answer = await ask(
        standing, "POST", "/decide", session=standing.session(), body=body, headers={"Content-Type": kind}
    )
    assert answer.status == status
    assert decisions(standing) == []


async def test_tokens_are_in_no_log(review, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    token = review.people.invite("cleo", "reviewer")
    await ask(review, "GET", f"/join/{token}")
    await ask(review, "POST", f"/join/{token}", form={}, headers={"Host": "evil.example"})
    joined = await ask(review, "POST", f"/join/{token}", form={})
    [cookie] = SimpleCookie(joined.headers["Set-Cookie"]).values()
    # Only the server's records: a client that logs everything would log what it sends.
    said = "".join(record.getMessage() for record in caplog.records) + "".join(capfd.readouterr())
    assert token not in said
    assert cookie.value not in said


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.com"])  # noqa: S104
def test_nothing_is_exposed_unasked(host):
    with pytest.raises(UsageError, match="will not expose") as refused:
        listen(host)
    assert refused.value.exit_code == 2


def test_asked_to_the_server_listens_everywhere_and_knows_its_names():
    with listen("0.0.0.0", expose=True) as listening:  # noqa: S104
        port = listening.getsockname()[1]
        assert url_of(listening) == f"http://127.0.0.1:{port}"
        names = hosts_of(listening, names=frozenset({"Review.Example:443", "box"}))
        own = {f"127.0.0.1:{port}", f"localhost:{port}", f"box:{port}"}
        # Browsers leave out the default port in Host and in Origin.
        assert names == own | {"review.example:443", "review.example"}


def test_a_port_in_use_is_said():
    with listen() as first, pytest.raises(UsageError, match="cannot listen"):
        listen(port=first.getsockname()[1])
