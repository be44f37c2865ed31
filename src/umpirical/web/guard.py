"""Checks between a browser and the pages: limits, sessions, request checks and forms."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from hmac import compare_digest
from importlib.resources import files
from typing import Literal
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LONGEST_FORM = 4_000_000
"""Bytes of a request's body: ample for the longest transcript that anyone edits by hand."""

LONGEST_SHORT_FORM = 4_000
"""Bytes of a body from someone who is not signed in, who has nothing to send but a click."""

LONGEST_HEAD = 32_000
"""Bytes of a request's address and headers."""

HEAD_SECONDS = 20.0
"""Until the head of a request has to be complete."""

BODY_SECONDS = 120.0
"""Until the whole of a request has to be there."""

MOST_CONNECTIONS = 2_000
"""Open connections. One more takes the place of the one that has waited longest for its client to go on."""

MOST_ACCEPTED = 64
"""Connections that are accepted in one go, so that a request which came with one is seen before many more are."""

MOST_KNOCKING = 1024
"""Connections that the system keeps for us until we accept them."""

MOST_STREAMS = 12
"""Event streams of one session. A browser opens one for each tab, and no more than six."""

MOST_AT_ONCE = 8
"""Requests of one session that are being answered. A page sends one at a time."""


class AtOnce:
    """Counts what each session has under way, so that nobody takes it all."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._under_way: Counter[str] = Counter()

    def is_full(self, session: str) -> bool:
        """Whether the session has as many as it may."""
        return bool(session) and self._under_way[session] >= self.most

    @contextmanager
    def one_more(self, session: str) -> Iterator[bool]:
        """Whether the session may have one more; if so, it is counted until this is left. Nobody's are not counted."""
        if self.is_full(session):
            yield False
            return
        self._under_way[session] += 1
        try:
            yield True
        finally:
            self._under_way[session] -= 1
            if not self._under_way[session]:
                del self._under_way[session]


# The style sheets and scripts of an application: those that it names, read from its packages, and no others.


PAGE_STYLES = ("umpirical.reports", "templates/page.css", "text/css")
"""The style sheet of the reports, so that all pages look alike."""


def static_files(known: Mapping[str, tuple[str, str, str]]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for files by name, each with its package, its path there and its media type."""

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in known:
            raise HTTPException(404)
        package, path, kind = known[name]
        return Response(_read(package, path), media_type=kind)

    return asset


@cache
def _read(package: str, path: str) -> bytes:
    """A file, read from disk once."""
    return files(package).joinpath(path).read_bytes()


# Sessions as a browser keeps them: a cookie that goes to one address alone.


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


def sign_in(response: Response, session: str, cookie: str, *, samesite: Literal["strict", "lax"] = "strict") -> str:
    """Gives the browser its session, and returns the address of its pages."""
    address = address_of(_place_of(session))
    secure = session.startswith(OVER_TLS)
    response.set_cookie(
        cookie, session, max_age=SESSION_SECONDS, path=f"{address}/", httponly=True, samesite=samesite, secure=secure
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


# What is checked in every request before anything else, and the headers of every answer.


POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}

SAFE = frozenset({"GET", "HEAD"})
PRIVATE = ("/s/", "/join/")
OWN_SITE = frozenset({"same-origin", "none"})


class Guard:
    """Refuses unknown host names, other origins and large bodies; sets the headers that keep content inert."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], unknown: str = "") -> None:
        """`unknown` says what to do about a host name that is not among `hosts`."""
        self.app = app
        self.unknown = unknown
        self.hosts = frozenset(host.lower() for host in hosts)
        self.origins = frozenset(f"{scheme}://{host}" for host in self.hosts for scheme in ("http", "https"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refused = self._refused(scope["method"], Headers(scope=scope), scope["path"])
        if refused is not None:
            await refused(scope, receive, _with_headers(send))
            return
        scope["umpirical.origins"] = self.origins
        await self.app(scope, receive, _with_headers(send))

    def _refused(self, method: str, headers: Headers, path: str) -> PlainTextResponse | None:
        names = headers.getlist("host")
        if len(names) != 1 or names[0].lower() not in self.hosts:
            return PlainTextResponse(f"This server does not have that name. {self.unknown}\n", status_code=400)
        if not self._may_come(method, headers, path):
            return PlainTextResponse("Refused: the request comes from another site.\n", status_code=403)
        if _declared(headers) > LONGEST_FORM:
            return PlainTextResponse("Refused: the request is too large.\n", status_code=413)
        return None

    def _may_come(self, method: str, headers: Headers, path: str) -> bool:
        """Other sites may lead a person to a page of ours, and no more: no change, no stream, no frame, no image."""
        if method in SAFE and (not path.startswith(PRIVATE) or _is_visit(headers)):
            return True
        return self._is_own(headers)

    def _is_own(self, headers: Headers) -> bool:
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None and site not in OWN_SITE:
            return False
        # Browsers send "null" for forms of pages without a referrer, and none of our pages has one. It proves nothing
        # either way, so it counts as if the header were missing.
        return origin is None or origin == "null" or origin.lower() in self.origins


def is_of_our_origin(headers: Headers, *, origins: frozenset[str]) -> bool:
    """Whether the browser itself confirms that one of our pages sent the request."""
    return headers.get("sec-fetch-site") == "same-origin" or headers.get("origin", "").lower() in origins


def _is_visit(headers: Headers) -> bool:
    """Whether the browser goes to the page itself, by a link or by its address."""
    return (headers.get("sec-fetch-mode"), headers.get("sec-fetch-dest")) == ("navigate", "document")


def _declared(headers: Headers) -> int:
    """The declared size of the body; one without a declared size is counted as it is read."""
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() else LONGEST_FORM + 1


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                # An answer that sets one itself is stricter: a document that others may have written.
                headers.setdefault(name, value)
        await send(message)

    return sending


# Forms as a browser sends them, read within limits.


MOST_FIELDS = 5_000
"""How many fields a form may have: two for each message of a long transcript."""


@dataclass(frozen=True, slots=True)
class Form:
    """Fields and their values. Lines end with a line feed, whatever the browser sends."""

    fields: dict[str, str]
    is_of_our_origin: bool
    """The browser says that one of our pages sent it."""

    def get(self, name: str, otherwise: str = "") -> str:
        return self.fields.get(name, otherwise)


EMPTY = Form({}, is_of_our_origin=False)


async def read_form(request: Request, *, most: int) -> Form:
    """The form of a POST, of so many bytes at most. Raises HTTPException if it is not a form, or too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "Expected a form.")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise HTTPException(413, "The form is too large.")
    except ClientDisconnect:
        raise HTTPException(400, "The form was not received.") from None
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, encoding="utf-8", errors="strict"
        )
    except ValueError:
        raise HTTPException(400, "The form could not be read.") from None
    fields = {name: value.replace("\r\n", "\n") for name, value in pairs}
    origins = request.scope["umpirical.origins"]
    return Form(fields, is_of_our_origin=is_of_our_origin(request.headers, origins=origins))
