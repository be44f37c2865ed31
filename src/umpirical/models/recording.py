"""Takes secrets out of texts, however a server has written them down.

A secret and a text are compared by their letters and digits alone, in lower case. So it does not matter where the text
breaks lines, puts blanks or colons, or escapes signs; escaped letters are compared as what they stand for, too. A
secret that was itself encoded is searched for in that form. A server that wants to hide a key in its reply can do so,
and it has the key already: this is for those that quote what they were sent.
"""

import base64
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from umpirical.domain.responses import Response
from umpirical.models.requests import Decoding

MARK = "[key]"

SHORTEST_SECRET = 8
"""Letters and digits. Servers of one's own take `none` or `EMPTY` for a key: words that an answer may well contain."""

SHORTEST_PIECE = 12
"""Letters and digits. A server may cut what it quotes; a shorter one is a prefix that all keys of a provider share."""

KEY_SHAPES = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf|r8|key)[-_][A-Za-z0-9_\-*.]{6,}|\bAIza[\w-]{10,}|\bAKIA[A-Z0-9]{12,}|\bBearer\s+\S{6,}"
)
"""What keys of known providers look like. A provider's error often quotes a wrong key, at least in part."""

LEAST_UNASKED = 16
"""Letters and digits of a secret that no spec names."""

SECRET_NAMES = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)(?:_ID)?$", re.IGNORECASE)

HEX = "([0-9a-fA-F]{2})"
# Every branch begins with a sign of its own, by which the engine skips all other text.
ESCAPED = re.compile(
    rf"%(?:25)*{HEX}|\\\\{{0,7}}(?:u|U0000)([0-9a-fA-F]{{4}})|\\\\{{0,7}}u\{{0*{HEX}\}}|\\\\{{0,7}}x{HEX}|={HEX}"
    rf"|&\#[xX]0*{HEX};?|&\#0*(\d{{2,3}});?|\\\\{{0,7}}[nrtbf]"
)
"""A sign written as in an address, in JSON, in a source, in a mail or in a page; the last but one in decimal."""


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
"""The name of an environment variable, as shells allow it."""

RANDOM_WORD = 16
"""Letters and digits, mixed: words of names are shorter, or have no digits in them."""

RANDOM_LETTERS = 32
"""Letters alone, in lower or mixed case."""


def looks_like_key(name: str) -> bool:
    """Whether a text is rather a key than the name of a variable. It must not be shown then: it may be one."""
    if not VARIABLE.fullmatch(name):
        return True
    if KEY_SHAPES.match(name) and len(name) >= 20 and any(sign.isdigit() for sign in name):
        return True
    return any(_is_random(word) for word in name.split("_"))


def _is_random(word: str) -> bool:
    if word.isalpha():
        return len(word) >= RANDOM_LETTERS and not word.isupper()
    return len(word) >= RANDOM_WORD and not word.isdigit()


class Redaction:
    """Takes given secrets out of texts."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms = tuple(dict.fromkeys(form for secret in secrets for form in _forms(secret)))
        self._shortest = min(map(_shortest_piece, self._forms), default=0)
        # A piece of 2n - 1 signs has n in a row that begin at a multiple of n, wherever it begins.
        self._size = (self._shortest + 1) // 2
        self._runs = frozenset(
            form[at : at + self._size] for form in self._forms for at in range(len(form) - self._size + 1)
        )

    def holds(self, text: str) -> bool:
        """Whether there is a secret in a text, or a piece of one."""
        # Nearly every answer is shorter than any secret.
        if not self._forms or len(text) < self._shortest:
            return False
        return self._is_in(_compared(text)) or (
            ESCAPED.search(text) is not None and self._is_in(_compared(ESCAPED.sub(_stands_for, text)))
        )

    def _is_in(self, view: str) -> bool:
        if self._runs.isdisjoint([view[at : at + self._size] for at in range(0, len(view), self._size)]):
            return False
        return any(True for form in self._forms for _ in _pieces(view, form, self._size))

    def __call__(self, text: str) -> str:
        """Returns the text with every secret in it replaced."""
        if not self.holds(text):
            return text
        parts, end = [], 0
        for start, stop in _merged(self._places(text)):
            parts += [text[end:start], MARK]
            end = stop
        return "".join([*parts, text[end:]])

    def of_error(self, text: str) -> str:
        """Returns what an error says, without secrets and without anything that looks like a key."""
        return KEY_SHAPES.sub(MARK, self(text))

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Returns where in the text secrets begin and end."""
        places = []
        for units in (_plain_units(text), _unescaped_units(text)):
            view = "".join(sign for sign, _, _ in units)
            for form in self._forms:
                places += [(units[start][1], units[stop - 1][2]) for start, stop in _pieces(view, form, self._size)]
        return places


def environment_secrets(environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """Returns the keys that the environment holds, by the names of their variables: clients read them by themselves."""
    named = (value for name, value in environment.items() if SECRET_NAMES.search(name))
    # A short one may be a word, which must not be taken out of answers because of a variable that nobody asked for.
    return tuple(value for value in named if len(_compared(value)) >= LEAST_UNASKED)


def _forms(secret: str) -> Iterator[str]:
    """Yields how a secret may be written, each by its letters and digits in lower case."""
    raw = secret.encode("utf-8", "surrogatepass")
    # In base64 a sign depends on its neighbours, so the ends depend on what stands before and behind the secret.
    shifted = [base64.b64encode(bytes(shift) + raw).decode() for shift in range(3)]
    encoded = [form[shift and shift + 1 :].rstrip("=")[:-1] for shift, form in enumerate(shifted)]
    for written in (secret, secret[::-1], raw.hex(), *encoded):
        form = _compared(written)
        if len(form) >= SHORTEST_SECRET:
            yield form


def _compared(text: str) -> str:
    """Returns the letters and digits of a text, in lower case."""
    if text.isascii():
        return text.encode().translate(LOWER, NO_SIGNS).decode()
    return "".join(sign for sign, _, _ in _plain_units(text))


LOWER = bytes(range(256)).lower()
NO_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())


def _shortest_piece(form: str) -> int:
    return min(SHORTEST_PIECE, len(form))


def _pieces(view: str, form: str, size: int) -> Iterator[tuple[int, int]]:
    """Yields where pieces of a form are in a text, the longest that there are."""
    for start in range(0, len(form) - size + 1, size):
        run, at = form[start : start + size], -1
        while (at := view.find(run, at + 1)) >= 0:
            first, last = 0, size
            while start > first < at and view[at - first - 1] == form[start - first - 1]:
                first += 1
            while start + last < len(form) and at + last < len(view) and view[at + last] == form[start + last]:
                last += 1
            if first + last >= _shortest_piece(form):
                yield at - first, at + last


def _plain_units(text: str) -> list[tuple[str, int, int]]:
    """Returns the letters and digits of a text, in lower case, each with its place."""
    return [(low, at, at + 1) for at, sign in enumerate(text) if sign.isalnum() for low in sign.lower()]


def _unescaped_units(text: str) -> list[tuple[str, int, int]]:
    """As `_plain_units`, with escaped signs as what they stand for."""
    units, end = [], 0
    for found in ESCAPED.finditer(text):
        units += [(sign, end + at, end + stop) for sign, at, stop in _plain_units(text[end : found.start()])]
        sign = _stands_for(found)
        units += [(low, found.start(), found.end()) for low in sign.lower() if sign.isalnum()]
        end = found.end()
    return [*units, *((sign, end + at, end + stop) for sign, at, stop in _plain_units(text[end:]))]


def _stands_for(found: re.Match[str]) -> str:
    *hexadecimal, decimal = found.groups()
    return chr(int(decimal) if decimal else next((int(digits, 16) for digits in hexadecimal if digits), 0))


def _merged(places: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the places in order, those that overlap or touch as one."""
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(places):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


# What is recorded of a reply: as much as an answer needs, and no secret.


LONGEST_DETAIL = 300
"""Characters of what a failure says: enough for the reason, too little for a page."""

LONGEST_QUOTE = 65_536
"""Characters that are searched for secrets in what is recorded only in short."""

LONGEST_NAME = 256
"""Characters of what a server says of itself. Paths of models are the longest that are sensible."""

LONGEST_REASON = 64
"""Characters of a finish reason, which is one word."""

UNSAID_TOKENS = 16_384
"""Tokens that an answer may have if the request sets no limit."""

CHARACTERS_PER_TOKEN = 32
"""Far above the average of any text: four in English. A long run of blanks may be one token, but is no answer."""

SLACK = 8_192
"""Characters beyond that, for servers that overlook a limit by a little or count it without the reasoning."""

BYTES_PER_TOKEN = 256
"""In a reply as JSON: a token with its log-probability and its bytes, or all of its characters escaped."""

ENVELOPE = 2**20
"""Bytes of a reply besides its answer: usage, filters, timings, reasoning that is sent apart. Servers send a few kB."""

LARGEST = 2**26
"""Bytes of a reply, whatever was asked for."""


class Recording:
    """Decides what is recorded of the responses over one connection."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._redaction = Redaction(secrets)
        self.repeated = lru_cache(maxsize=64)(self._redaction)
        """Takes secrets out of what is the same for most responses: parameters, a model's name, a reason."""

    def keep(self, response: Response, decoding: Decoding | None = None) -> Response:
        """Returns the response without secrets and within bounds; `decoding` is how the answer was asked for."""
        if response.text is None:
            return replace(response, failure_detail=self.detail(response.failure_detail))
        if decoding is not None and len(response.text) > (most := longest_text(decoding)):
            said = f"an answer of {len(response.text):,} characters; the limit for the requested tokens is {most:,}"
            return replace(response, text=None, failure="malformed", failure_detail=said, finish_reason="", logprobs="")
        text = self._redaction(response.text)
        logprobs = response.logprobs if decoding is None or decoding.top_logprobs is not None else ""
        # The tokens spell the text, each by itself.
        if logprobs and (text != response.text or self._redaction.holds(logprobs)):
            logprobs = ""
        reason = self.repeated(response.finish_reason[:LONGEST_QUOTE])[:LONGEST_REASON]
        served_by = self.repeated(response.served_by[:LONGEST_QUOTE])[:LONGEST_NAME]
        kept = (text, logprobs, reason, served_by)
        # Nearly every response is kept as it is.
        if kept == (response.text, response.logprobs, response.finish_reason, response.served_by):
            return response
        return replace(response, text=text, logprobs=logprobs, finish_reason=reason, served_by=served_by)

    def detail(self, said: str) -> str:
        """Returns what a failure says, in short. Cut only after it was searched: half a secret is hard to recognize."""
        return self._redaction.of_error(said[:LONGEST_QUOTE])[:LONGEST_DETAIL]


def longest_text(decoding: Decoding) -> int:
    return SLACK + CHARACTERS_PER_TOKEN * _tokens(decoding)


def largest_body(decoding: Decoding) -> int:
    listed = 1 + (decoding.top_logprobs or 0)
    return min(LARGEST, ENVELOPE + BYTES_PER_TOKEN * listed * _tokens(decoding))


def _tokens(decoding: Decoding) -> int:
    return UNSAID_TOKENS if decoding.max_tokens is None else decoding.max_tokens
