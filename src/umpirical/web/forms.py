"""Forms as a browser sends them, read within limits."""

from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from umpirical.web.guard import is_of_our_origin

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
        raise HTTPException(415, "A form was expected.")
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > most:
                raise HTTPException(413, "The form is too large.")
    except ClientDisconnect:
        raise HTTPException(400, "The form did not arrive.") from None
    try:
        pairs = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS, encoding="utf-8", errors="strict"
        )
    except ValueError:
        raise HTTPException(400, "The form could not be read.") from None
    fields = {name: value.replace("\r\n", "\n") for name, value in pairs}
    origins = request.scope["umpirical.origins"]
    return Form(fields, is_of_our_origin=is_of_our_origin(request.headers, origins=origins))
