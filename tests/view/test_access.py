"""Who gets in and what is refused, on the wire."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from umpirical.domain.errors import UsageError
from umpirical.view import requests
from umpirical.web.guard import POLICY
from umpirical.web.server import listen

from .serving import viewing

PATHS = [
    "/",
    "{run}",
    "{run}/events",
    "{run}/gate",
    "{run}/trials",
    "{run}/trials/0",
    "/judges/0123",
    "/compare?run=a&run=b",
    "/documents/0123",
]


@pytest.mark.parametrize("path", PATHS)
def test_without_the_session_nothing_is_read(standing, path):
    answer = standing.get(path.format(run=standing.run), cookie=False)
    assert answer.status == 401
    assert "stub" not in answer.text


def test_a_cookie_at_another_address_is_nothing(standing):
    answer = standing.ask("GET", f"/s/{'0' * 32}/")
    assert answer.status == 401


@pytest.mark.parametrize("path", [*PATHS, "/static/view.css"])
@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "localhost", ""])
def test_a_page_that_was_rebound_to_this_machine_is_refused(standing, path, host):
    answer = standing.get(path.format(run=standing.run), headers={"Host": host})
    assert answer.status == 400
    assert "stub" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        {"Origin": "http://evil.example"},
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_other_sites_read_no_page_and_no_stream(standing, path, headers):
    answer = standing.get(path.format(run=standing.run), headers=headers)
    assert answer.status == 403
    assert "stub" not in answer.text


def test_the_link_works_again_and_no_other_token_does(standing):
    for _ in range(3):
        answer = standing.enter()
        assert answer.status == 303
        assert (standing.token in answer.headers["location"], answer.text) == (False, "")
        assert "HttpOnly; Max-Age=2592000; Path=/s/" in answer.headers["set-cookie"]
        assert "SameSite=lax" in answer.headers["set-cookie"]
        assert standing.get("/").status == 200
    for wrong in ("another", standing.token[:-1], f"{standing.token}a", "%00", standing.cookie.partition("=")[2]):
        answer = standing.enter(wrong)
        assert answer.status == 403
        assert "set-cookie" not in answer.headers


def test_the_link_of_another_start_opens_nothing(standing, measured):
    with viewing(measured.folder.parent.parent, enter=False) as other:
        assert standing.enter(other.token).status == 403
        other.home, other.cookie = standing.home, standing.cookie
        assert other.get("/").status == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty", "Origin": "http://evil.example"},
    ],
)
def test_another_site_cannot_use_the_link(standing, headers):
    assert standing.enter(**headers).status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_nothing_can_be_changed(standing, method):
    answer = standing.ask(method, f"{standing.home}{standing.run}", headers={"Origin": standing.url})
    assert answer.status == 405


def test_every_answer_keeps_content_inert(standing):
    for path in ("/", standing.run, f"{standing.run}/trials", "/nowhere"):
        headers = standing.get(path).headers
        assert headers["content-security-policy"] == POLICY
        assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-store", "nosniff")


def test_it_listens_on_this_machine_alone():
    with pytest.raises(UsageError, match="will not expose the view"):
        listen("0.0.0.0", what="view")  # noqa: S104  # refused


def test_twenty_people_at_once_are_all_served(standing):
    paths = ["/", standing.run, f"{standing.run}/trials?result=wrong", f"{standing.run}/trials/120"] * 3

    def look(_):
        return [standing.get(path).status for path in paths]

    with ThreadPoolExecutor(20) as people:
        answers = Counter(status for found in people.map(look, range(20)) for status in found)
    assert answers == {200: 240}


def test_a_flood_waits_up_to_a_bound_and_no_one_without_the_link_is_in_it(standing, monkeypatch):
    monkeypatch.setattr(requests, "MOST_WAITING", 0)
    assert standing.get("/").status == 503
    assert standing.get("/", cookie=False).status == 401


def test_too_many_streams_are_refused(standing):
    standing.view.streams._under_way.update({standing.cookie.partition("=")[2]: requests.MOST_WATCHERS})
    try:
        assert standing.get(f"{standing.run}/events").status == 429
    finally:
        standing.view.streams._under_way.clear()
