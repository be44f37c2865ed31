"""Replies made by construction, so that it is known of each whether it is whole and what it says.

    what is said  x  how much of it came  x  how it is said to have ended  x  what is around it

An answer counts if the server sent all of it and says that the model ended it. One that ran into a limit counts only
if it shows by itself that it is whole: a JSON object that is closed, with nothing behind it.
"""

import json
from dataclasses import dataclass
from itertools import product

from tests.attack.raw_server import completion, http

CLEAN = (
    "stop",
    "STOP",
    "end_turn",
    "stop_sequence",
    "STOP_SEQUENCE",
    "eos",
    "eos_token",
    "COMPLETE",
    "endoftext",
    None,
)
"""How servers say that the model itself ended its answer; some say nothing."""

CUT = (
    "length", "max_tokens", "MAX_TOKENS", "model_length", "max_output_tokens", "max_new_tokens", "LENGTH",
    "model_context_window_exceeded", "context_length_exceeded", "ERROR_LIMIT",
)  # fmt: skip
"""How they say that a limit ended it."""

FAILED = (
    "error", "ERROR", "abort", "aborted", "cancelled", "SAFETY", "safety", "RECITATION", "BLOCKLIST", "OTHER",
    "PROHIBITED_CONTENT", "SPII", "content_filter", "content_filtered", "guardrail_intervened", "refusal", "tool_calls",
    "tool_use", "function_call", "pause_turn", "MALFORMED_FUNCTION_CALL", "insufficient_system_resource", "timeout",
    "network_error", "load", "unknown", "FINISH_REASON_UNSPECIFIED", "stopped", "not stop", "stop!", "null", "None",
    "\x00stop", "🙂", 0, 1, True, ["stop"], {"reason": "stop"}, "x" * 5000,
)  # fmt: skip
"""Everything else that stands there: no server says by it that the answer is whole."""

WORDS = ("1", "2", "tie", "A", "B", "yes", "No", "true", "false", "9", "10", "9.5", "95", "good", "abstain", "same")
"""Answers of one judge or another."""


@dataclass(frozen=True)
class OddReply:
    name: str
    raw: bytes
    """The whole HTTP reply."""
    whole: bool
    """Whether there is an answer that counts, by construction."""
    closed: bool = False
    """Whether it is an object that is closed: whole for whoever reads JSON, even if a limit ended it."""
    said: str = ""
    """The word that was said, if anything was."""


def odd_replies():
    """All of them, each with a name of its own."""
    found = [*_ended(), *_around()]
    assert len({reply.name for reply in found}) == len(found)
    return found


def _forms(word):
    """How a word is said, and whether that is an object which is closed."""
    quoted = json.dumps(word)
    for field in ("verdict", "grade"):
        whole = f'{{"{field}": {quoted}}}'
        yield f"json {field}", whole, True
        yield f"block {field}", f"```json\n{whole}\n```", True
        yield f"reason {field}", f'{{"reason": "1. it is short", "{field}": {quoted}}}', True
        yield f"open {field}", whole[:-1], False
        yield f"open block {field}", f"```json\n{whole}", False
        yield f"two {field}", f"{whole}\n{whole}", False
    yield "number", f'{{"grade": {word}}}' if word.replace(".", "").isdigit() else f'{{"grade": {quoted}}}', True
    yield "bare", word, False
    yield "stop", f"{word}.", False
    yield "quoted", quoted, False
    yield "padded", f"  {word}\n", False
    yield "pattern", f"I compared both.\nFinal: {word}", False
    yield "score", f"Score: {word}", False


def _ended():
    for word in WORDS:
        forms = list(_forms(word))
        for (form, text, closed), reason in product(forms, CUT[:4]):
            yield _reply(f"{word} {form} cut by {reason}", completion(text, finish=reason), False, closed, word)
        for number, reason in enumerate((*CLEAN, *CUT, *FAILED)):
            form, text, closed = forms[number % len(forms)]
            whole, limit = reason in CLEAN and reason is not True, reason in CUT
            name = f"{word} {form} ended by {str(reason)[:20]!r} {number}"
            yield _reply(name, completion(text, finish=reason), whole, closed and (whole or limit), word)


def _reply(name, body, whole, closed, word):
    return OddReply(name, http(body), whole, closed, word)


def _around():
    """A whole answer in a reply that is none, or not of the protocol."""
    text = '{"verdict": "1"}'
    choice = completion(text)["choices"][0]
    message = choice["message"]
    bodies = {
        "an error beside the choices": completion(text, error={"message": "overloaded", "code": 503}),
        "an error that is text": completion(text, error="overloaded"),
        "an error that is a number": completion(text, error=1),
        "an error in the choice": completion(text, choices=[choice | {"error": {"code": 502, "message": "upstream"}}]),
        "an error beside no choices": {"error": {"code": 429, "message": "busy"}},
        "two choices": completion(text, choices=[choice, choice | {"index": 1}]),
        "two choices that differ": completion(
            text, choices=[choice, choice | {"index": 1, "message": {"content": "2"}}]
        ),
        "another choice only": completion(text, choices=[choice | {"index": 1}]),
        "a choice of index -1": completion(text, choices=[choice | {"index": -1}]),
        "a choice of index true": completion(text, choices=[choice | {"index": True}]),
        "choices as an object": completion(text, choices={"0": choice}),
        "a refusal beside": completion(text, choices=[choice | {"message": message | {"refusal": "I will not."}}]),
        "tool calls beside": completion(
            text, choices=[choice | {"message": message | {"tool_calls": [{"id": "t", "type": "function"}]}}]
        ),
        "content as parts": completion([{"type": "text", "text": text}]),
        "content as an object": completion({"verdict": "1"}),
        "content as a number": completion(1),
        "content true": completion(True),
        "content null": completion(None),
        "message as a list": completion(text, choices=[choice | {"message": [message]}]),
        "message null": completion(text, choices=[choice | {"message": None}]),
        "a message of the user": completion(text, choices=[choice | {"message": message | {"role": "user"}}]),
        "a delta": {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]},
        "a text completion": {"choices": [{"index": 0, "text": text, "finish_reason": "stop"}]},
        "a list of completions": [completion(text)],
        "a string": json.dumps(text),
        "in a data field": {"data": completion(text)},
        "used to the limit and no reason": completion(
            "1", finish=None, usage={"prompt_tokens": 9, "completion_tokens": 64}
        ),
        "used beyond the limit and no reason": completion(
            "1", finish=None, usage={"prompt_tokens": 9, "completion_tokens": 6400}
        ),
        "used to the limit and an empty reason": completion(
            "9", finish="", usage={"prompt_tokens": 9, "completion_tokens": 64}
        ),
        "far longer than asked": completion("1" + " " * 900_000),
    }
    for name, body in bodies.items():
        yield OddReply(name, http(body), whole=False)
    whole = json.dumps(completion(text)).encode()
    twice = whole[:-1] + b', "choices": ' + json.dumps(completion('{"verdict": "2"}')["choices"]).encode() + b"}"
    stream = b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"
    raws = {
        "a field there twice": http(twice),
        "the content there twice": http(whole.replace(b'"role":', b'"content": "2", "role":')),
        "the reason there twice": http(
            whole.replace(b'"finish_reason":', b'"finish_reason": "length", "finish_reason":')
        ),
        "two replies in one body": http(whole + whole),
        "something behind it": http(whole + b" and so on"),
        "half of it": http(whole[: len(whole) // 2]),
        "all but its end": http(whole[:-1]),
        "a stream of events": http(stream + b"data: [DONE]\n\n"),
        "a stream, whole as one event": http(b"data: " + whole + b"\n\ndata: [DONE]\n\n"),
        "not UTF-8": http(whole.replace(b'"m"', b'"\xff\xfe\xfd"')),
        "UTF-16 said to be JSON, cut": http(json.dumps(completion(text)).encode("utf-16")[:-3]),
        "a number too long": http(whole.replace(b'"prompt_tokens": 9', b'"prompt_tokens": ' + b"9" * 10_000)),
        "too deep": http(whole[:-1] + b', "x": ' + b"[" * 200_000 + b"]" * 200_000 + b"}"),
        "an endless depth": http(b"[" * 500_000),
        "nothing": http(b""),
        "a page": http(b"<html><body>1</body></html>"),
        "status 201": http(whole, status="201 Created"),
        "status 202": http(whole, status="202 Accepted"),
        "status 203": http(whole, status="203 Non-Authoritative Information"),
        "status 206": http(whole, status="206 Partial Content", headers=["Content-Range: bytes 0-9/99"]),
        "status 299": http(whole, status="299 Odd"),
        "status 300": http(whole, status="300 Multiple Choices"),
        "status 401": http(whole, status="401 Unauthorized"),
        "status 404": http(whole, status="404 Not Found"),
        "status 418": http(whole, status="418 I'm a teapot"),
        "status 500": http(whole, status="500 Internal Server Error"),
        "status 504": http(whole, status="504 Gateway Timeout"),
        "status 599": http(whole, status="599 Odd"),
    }
    for name, raw in raws.items():
        yield OddReply(name, raw, whole=False)
