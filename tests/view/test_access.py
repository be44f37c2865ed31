"""Who gets in and what is refused, on the wire."""

import pytest

from umpirical.domain.errors import UsageError
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


def test_the_link_works_once_and_a_second_tab_has_the_session(measured):
    with viewing(measured.folder.parent.parent, enter=False) as found:
        first = found.ask("GET", f"/join/{found.token}", cookie=False)
        assert "Open the view" in first.text
        # Looking at it, as the preview of a program does, does not use it up.
        assert found.enter("another").status == 403
        assert found.enter().status == 303
        assert found.ask("POST", f"/join/{found.token}", headers={"Origin": found.url}).status == 415
        home, cookie = found.home, found.cookie
        assert found.enter().status == 403
        found.home, found.cookie = home, cookie
        assert [found.get("/").status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}])
def test_another_site_cannot_use_the_link(measured, headers):
    with viewing(measured.folder.parent.parent, enter=False) as found:
        assert found.enter(**headers).status == 403
        assert found.enter().status == 303


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


def test_too_many_streams_of_one_session_are_refused(standing):
    standing.view.streams._under_way.update({standing.cookie.partition("=")[2]: 12})
    try:
        assert standing.get(f"{standing.run}/events").status == 429
    finally:
        standing.view.streams._under_way.clear()
