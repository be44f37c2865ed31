"""Requests on the wire, with exactly the headers that a test sets."""

from dataclasses import dataclass
from urllib.parse import urlencode

import aiohttp

from .serving import address

NOBODYS = "/s/0123456789abcdef0123456789abcdef"
"""The address of no session."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str


async def ask(served, method, path, *, session=None, headers=(), form=None, body=None, ours=True):
    """One request, as a page of the review would send it unless `ours` is false.

    The path is one of a session's pages, and what they send has the mark that they have.
    """
    mark = served.people.mark(*session.values()) if session and ours and method == "POST" else None
    if not path.startswith(("/static", "/join")):
        path = (address(session) if session else NOBODYS) + path
    if mark and form is not None:
        form = {"mark": mark, **form}
    sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in (session or {}).items())} if session else {}
    if method == "POST" and ours:
        sent |= {"Origin": served.url, "Sec-Fetch-Site": "same-origin"}
    if form is not None:
        body = urlencode(form)
        sent["Content-Type"] = "application/x-www-form-urlencoded"
    elif mark:
        sent["X-Umpirical"] = mark
    sent |= dict(headers)
    async with (
        aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client,
        client.request(method, served.url + path, headers=sent, data=body, allow_redirects=False) as response,
    ):
        return Answer(response.status, dict(response.headers), await response.text())
