"""What is recorded of a reply: as much as an answer needs, and no secret.

A reply is the word of a server that may send anything. The caller passes every response through here, whichever adapter
it came through, so that what is written to disk is bounded by what was asked for.
"""

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from umpirical.domain.responses import Response
from umpirical.models.redaction import Redaction
from umpirical.models.requests import Decoding

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
            said = f"an answer of {len(response.text):,} characters, allowed: {most:,} for the tokens asked for"
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
    """Returns the most characters of an answer."""
    return SLACK + CHARACTERS_PER_TOKEN * _tokens(decoding)


def largest_body(decoding: Decoding) -> int:
    """Returns the most bytes of a reply."""
    listed = 1 + (decoding.top_logprobs or 0)
    return min(LARGEST, ENVELOPE + BYTES_PER_TOKEN * listed * _tokens(decoding))


def _tokens(decoding: Decoding) -> int:
    return UNSAID_TOKENS if decoding.max_tokens is None else decoding.max_tokens
