"""What of an HTTP reply is read, under caps: a server may send any amount, in any form, for any time.

Replies are asked for uncompressed, and one that is compressed all the same is refused. A judge's reply is a few kB, so
nothing is lost, and no decompressor has to be bounded. The time is bounded by the deadline of an exchange, which
a server cannot extend by sending a little at a time. That, and the headers, are bounded where replies are received.
"""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from umpirical.models.caller import CallFailed
from umpirical.models.recording import LONGEST_QUOTE
from umpirical.text.json_texts import without_doubles

IDENTITY = {"Accept-Encoding": "identity"}
"""The header that asks for a reply as it is."""

# Made once: json.loads would make another one for every reply.
_DECODER = json.JSONDecoder(object_pairs_hook=without_doubles)


def check_head(status: int, headers: Mapping[str, str], most: int) -> None:
    """Raises CallFailed if the body of a reply is not to be read: a redirect, compressed, or said to be too large."""
    if 300 <= status < 400:
        # Whoever points elsewhere may have done the work first.
        raise CallFailed("rejected", f"HTTP {status}: {_redirect(headers)}")
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise CallFailed("malformed", f"HTTP {status}: a reply in {encoding[:40]}, although it was asked for as it is")
    length = headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 18 or int(length) > most):
        raise too_large(most)


def too_large(most: int) -> CallFailed:
    return CallFailed("malformed", f"a reply of more than {most:,} bytes, the most for what was asked", lasting=True)


def read_json(raw: bytes) -> dict[str, Any]:
    """Returns the JSON object that a body is. Raises CallFailed for any other, and for one that contradicts itself."""
    try:
        reply = _DECODER.decode(raw.decode(json.detect_encoding(raw), "surrogatepass"))
    except (ValueError, RecursionError):
        reply = None
    if not isinstance(reply, dict):
        raise CallFailed("malformed", f"not a chat completion: {quoted(raw)}")
    return reply


def quoted(raw: bytes) -> str:
    """Returns as much of a body as is of use in a message."""
    return raw[:LONGEST_QUOTE].decode("utf-8", "backslashreplace")


def _redirect(headers: Mapping[str, str]) -> str:
    """Names the host that the server points to. Nothing is sent there: whoever it is, the study does not name it."""
    try:
        host = urlsplit(headers.get("location", "")).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    where = host[:100] or "another address of its own"
    return f"the server points to {where}, which is not followed; if it is right, make it the base_url"
