"""Forms as a browser sends them, read within limits."""

from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

from umpirical.review.web.guard import MOST_BYTES, is_confirmed_as_ours

__all__ = ["EMPTY", "Form", "own_mark", "read_form"]

MOST_FIELDS = 5_000
"""How many fields a form may have: two for each message of a long transcript."""


@dataclass(frozen=True, slots=True)
class Form:
    """Fields and their values. Lines end with a line feed, whatever the browser sends."""

    fields: dict[str, str]
    is_ours: bool
    """One of our pages sent it, as the browser says or as the mark shows that only our pages carry."""

    def get(self, name: str, otherwise: str = "") -> str:
        return self.fields.get(name, otherwise)


EMPTY = Form({}, is_ours=False)


def own_mark(session: str) -> str:
    """The mark that the forms of a session carry. It is derived from the session and does not reveal it."""
    return sha256(f"umpirical form {session}".encode()).hexdigest()


async def read_form(request: Request, *, session: str) -> Form:
    """The form of a POST. Raises HTTPException if it is not a form, or too large."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(415, "A form was expected.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_BYTES:
            raise HTTPException(413, "The form is too large.")
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, encoding="utf-8", errors="strict"
        )
    except ValueError:
        raise HTTPException(400, "The form could not be read.") from None
    fields = {name: value.replace("\r\n", "\n") for name, value in pairs}
    is_marked = bool(session) and compare_digest(fields.get("mark", "").encode(), own_mark(session).encode())
    is_ours = is_marked or is_confirmed_as_ours(request.headers, origins=request.scope["umpirical.origins"])
    return Form(fields, is_ours=is_ours)
