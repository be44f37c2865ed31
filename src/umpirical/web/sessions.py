"""Sessions as a browser keeps them: a cookie that goes to one address alone.

Browsers send a cookie to every port of a machine, and take one from any. So each session has an address of its own that
nobody else knows, its cookie goes to that address alone, and a cookie that does not belong to the address is nothing.
"""

from hashlib import sha256
from hmac import compare_digest

from starlette.requests import Request
from starlette.responses import Response

SESSION_SECONDS = 30 * 24 * 3600
"""How long a browser keeps a session."""

OVER_TLS = "tls-"
"""How a session begins that was opened over TLS."""


def address_of(place: str) -> str:
    """Where the pages of a session are."""
    return f"/s/{place}"


def session_of(http: Request, cookie: str) -> str:
    """The session whose cookie came, if the request is to its own address; empty if there is none."""
    place = http.path_params.get("place", "")
    cookies: dict[str, list[str]] = {}
    for header in http.headers.getlist("cookie"):
        for part in header.split(";"):
            name, _, value = part.strip().partition("=")
            cookies.setdefault(name, []).append(value)
    for session in cookies.get(cookie, ()):
        if compare_digest(_place_of(session).encode(), place.encode("utf-8", "surrogatepass")):
            anchor, value = _anchor_of(session)
            # Only this very host, over TLS, can have set it: a session from a neighbouring host is not taken.
            return session if not session.startswith(OVER_TLS) or value in cookies.get(anchor, ()) else ""
    return ""


def sign_in(response: Response, session: str, cookie: str) -> str:
    """Gives the browser its session, and returns the address of its pages."""
    address = address_of(_place_of(session))
    secure = session.startswith(OVER_TLS)
    response.set_cookie(
        cookie, session, max_age=SESSION_SECONDS, path=f"{address}/", httponly=True, samesite="strict", secure=secure
    )
    if secure:
        name, value = _anchor_of(session)
        response.set_cookie(
            name, value, max_age=SESSION_SECONDS, path="/", httponly=True, samesite="strict", secure=True
        )
    return address


def _place_of(session: str) -> str:
    return sha256(f"umpirical place {session}".encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _anchor_of(session: str) -> tuple[str, str]:
    """A second cookie of a session over TLS, by name and value. To whoever else it is sent, it says nothing."""
    found = sha256(f"umpirical anchor {session}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"__Host-umpirical-{found[:8]}", found[8:]
