"""Content digests: the same work has the same id everywhere."""

import hashlib
import json
from collections.abc import Mapping, Sequence

Json = Mapping[str, "Json"] | Sequence["Json"] | str | int | float | bool | None


# Made once: `json.dumps` would make one for every value.
_SPELLER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(payload: Json) -> str:
    """Returns the only spelling of a value: sorted keys, no spaces, no NaN."""
    return _SPELLER.encode(payload)


def digest(kind: str, payload: Json) -> str:
    """Returns 128 bits of SHA-256, in hex, over the kind of record and its canonical JSON.

    The kind is part of the digest, so records of different kinds never share an id.
    """
    text = f"{kind}\n{canonical_json(payload)}"
    # surrogatepass: text from a model may contain lone surrogates, and it needs an id all the same.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
