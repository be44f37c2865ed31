"""What is not text, described by kind, size and digest, so that a judge knows of it and nothing is hidden in it."""

import base64
import hashlib
import json
from urllib.parse import unquote_to_bytes

from umpirical.text.inert import inert

LONGEST_ADDRESS = 200


def described(kind: str, address: str) -> str:
    """Returns a description of what an address stands for: one that holds its data, or one that points elsewhere.

    >>> described("image", "data:image/png;base64,aGVsbG8=")
    'image/png, 5 bytes, sha256 2cf24dba5fb0a30e'
    """
    if address[:5].casefold() != "data:":
        shown = inert(address[:LONGEST_ADDRESS]).replace("\n", " ")
        return f"{kind} at {shown}{'…' if len(address) > LONGEST_ADDRESS else ''}"
    head, _, data = address[5:].partition(",")
    kinds, *marks = head.split(";")
    return described_data(inert(kinds[:100]) or kind, data, is_base64="base64" in marks)


def described_data(kind: str, data: object, *, is_base64: bool = False) -> str:
    """Returns a description of data. What says it is base64 and is not, is described as the text that it is."""
    if not isinstance(data, str):
        data = json.dumps(data, ensure_ascii=False, sort_keys=True, default=str)
    found = _from_base64(data) if is_base64 else unquote_to_bytes(data.encode("utf-8", "replace"))
    return f"{kind}, {len(found):,} bytes, sha256 {hashlib.sha256(found).hexdigest()[:16]}"


def _from_base64(data: str) -> bytes:
    try:
        return base64.b64decode(data.encode("ascii"), validate=False)
    except ValueError:
        return data.encode("utf-8", "replace")
