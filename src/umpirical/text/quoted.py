"""Texts that a record quotes, of the user's data or the judge's replies, and their digests."""

import hashlib
import re
from collections.abc import Mapping
from typing import Annotated, Final


class _Mark:
    """Stands on the fields of records whose text is quoted from elsewhere."""


QUOTED: Final = _Mark()

Quoted = Annotated[str, QUOTED]

DIGEST = re.compile(r"\[sha256 [0-9a-f]{32}\]")


def text_digest(text: str) -> str:
    """Returns what stands for a text that is not to be shown; a blank text, or a digest, stands for itself.

    >>> text_digest("hello")
    '[sha256 2cf24dba5fb0a30e26e83b2ac5b9e29e]'
    """
    if not text.strip() or DIGEST.fullmatch(text):
        return text
    return f"[sha256 {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}]"


def digests_of(value: object) -> object:
    """Returns a value with every text in it replaced by its digest; the names in a mapping stay."""
    if isinstance(value, str):
        return text_digest(value)
    if isinstance(value, Mapping):
        return {name: digests_of(each) for name, each in value.items()}
    return [digests_of(each) for each in value] if isinstance(value, list | tuple) else value
