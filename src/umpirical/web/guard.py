"""What is checked in every request before anything else, and the headers of every answer."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from umpirical.web.limits import LONGEST_FORM

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
            return PlainTextResponse(f"This server is not known by that name. {self.unknown}\n", status_code=400)
        if not self._may_come(method, headers, path):
            return PlainTextResponse("Refused: the request comes from another site.\n", status_code=403)
        if _declared(headers) > LONGEST_FORM:
            return PlainTextResponse("Refused: the request is too large.\n", status_code=413)
        return None

    def _may_come(self, method: str, headers: Headers, path: str) -> bool:
        """Other sites may lead a person to a page of ours, and no more: no change, no stream, no frame, no image."""
        if method in SAFE and (not path.startswith("/s/") or _is_visit(headers)):
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
