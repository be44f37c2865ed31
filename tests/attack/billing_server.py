"""A server that bills: it keeps a true bill of its own, whatever it tells its client."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from aiohttp import web

from tests.runs.loopback import swayed_answer
from tests.servers.chat_server import ChatServer

PRICE = Decimal("0.001")
"""Dollars per token, in and out: a few calls matter."""

REASONING = 150
"""Tokens that a model thinks before it answers, where it does; below the judge's max_tokens of 256."""

RAMBLING = "so it may well be said of the first one that " * 600
"""What a server sends that ignores max_tokens: 6,000 words."""

Ending = Literal["sent", "reset", "truncated", "hang"]


@dataclass(frozen=True)
class Call:
    """One request, and the work that it takes by the server's own count."""

    body: dict[str, Any]
    times: int
    """How many requests came before this one."""

    @property
    def input_tokens(self) -> int:
        return sum(len(message["content"].encode()) for message in self.body["messages"]) // 4 + 8

    @property
    def text(self) -> str:
        return swayed_answer(self.body)

    @property
    def output_tokens(self) -> int:
        return tokens_of(self.text)


def tokens_of(text: str) -> int:
    return -(-len(text.encode()) // 4)


@dataclass(frozen=True)
class Answer:
    """What is sent back, and what is put on the bill."""

    body: object = None
    status: int = 200
    output_tokens: int = 0
    billed: bool = True
    ending: Ending = "sent"


def price_of(tokens: int) -> Decimal:
    return PRICE * tokens


def said(call: Call, usage: object = ..., *, text: str | None = None, thinks: int = 0, **message: object) -> Answer:
    """Returns a completion with any usage; without one, with the true counts."""
    text = call.text if text is None else text
    true = tokens_of(text) + thinks
    if usage is ...:
        usage = counts(call.input_tokens, true)
    body = {
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": "stop"}
        ],
    }
    return Answer(body if usage is MISSING else {**body, "usage": usage}, output_tokens=true)


MISSING = object()


def counts(prompt: object, completion: object, **more: object) -> dict[str, object]:
    known = isinstance(prompt, int) and isinstance(completion, int) and not isinstance(prompt, bool)
    total = {"total_tokens": prompt + completion} if known else {}
    return {"prompt_tokens": prompt, "completion_tokens": completion, **total, **more}


def worked(status: int) -> Callable[[Call], Answer]:
    """The work is done and billed, and then the reply is lost behind an error."""
    return lambda call: Answer({"error": {"message": "gone"}}, status, call.output_tokens)


def unfinished(ending: Ending) -> Callable[[Call], Answer]:
    return lambda call: Answer(said(call).body, output_tokens=call.output_tokens, ending=ending)


def unreadable(body: object) -> Callable[[Call], Answer]:
    return lambda call: Answer(body, output_tokens=call.output_tokens)


def refuses(status: int) -> Callable[[Call], Answer]:
    """Turned down, and honestly not billed; every other request is answered."""
    return lambda call: said(call) if call.times % 2 else Answer({"error": {"message": "no"}}, status, billed=False)


def hidden(call: Call) -> dict[str, object]:
    """Counts in which the reasoning is in the total alone."""
    out = call.output_tokens
    total = call.input_tokens + out + REASONING
    return {"prompt_tokens": call.input_tokens, "completion_tokens": out, "total_tokens": total}


def detailed(call: Call) -> dict[str, object]:
    """Counts in which the reasoning is in the details alone."""
    out = call.output_tokens
    details = {"reasoning_tokens": REASONING}
    return {
        "prompt_tokens": call.input_tokens,
        "completion_tokens": out,
        "completion_tokens_details": details,
    }


@dataclass(frozen=True)
class Behaviour:
    """How a server bills and what it says of it."""

    answer: Callable[[Call], Answer]
    honest: bool = False
    """Whether what it says is what it bills, so that not a cent may be lost."""
    breaks_bound: bool = False
    """Whether one call costs more than its request allows: a lie that is seen, and named."""
    named: str = ""
    """What the command has to say of it."""


LOW = "report fewer tokens than were sent and received"
NONE = "without usable token counts"
LOST = "that the server may have processed"
OVER = "more tokens than max_tokens allows"


BEHAVIOURS: dict[str, Behaviour] = {
    # Honest servers.
    "honest": Behaviour(said, honest=True),
    "honest, cached": Behaviour(
        lambda call: said(
            call, counts(call.input_tokens, call.output_tokens, prompt_tokens_details={"cached_tokens": 16})
        ),
        honest=True,
    ),
    "honest, reasoning in the count": Behaviour(lambda call: said(call, thinks=REASONING), honest=True),
    "honest, reasoning in the total": Behaviour(lambda call: said(call, hidden(call), thinks=REASONING), honest=True),
    "honest, reasoning in the details": Behaviour(
        lambda call: said(call, detailed(call), thinks=REASONING), honest=True
    ),
    "honest, without a total": Behaviour(
        lambda call: said(call, {"prompt_tokens": call.input_tokens, "completion_tokens": call.output_tokens}),
        honest=True,
    ),
    "honest, busy": Behaviour(refuses(429), honest=True),
    "honest, refuses": Behaviour(lambda call: said(call, text="", refusal="I cannot."), honest=True),
    # Counts that cannot be true.
    "no usage": Behaviour(lambda call: said(call, MISSING), named=NONE),
    "usage null": Behaviour(lambda call: said(call, None), named=NONE),
    "usage empty": Behaviour(lambda call: said(call, {}), named=NONE),
    "usage a list": Behaviour(lambda call: said(call, [1, 2]), named=NONE),
    "usage 0/0": Behaviour(lambda call: said(call, counts(0, 0)), named=LOW),
    "usage 1/1": Behaviour(lambda call: said(call, counts(1, 1)), named=LOW),
    "usage true": Behaviour(lambda call: said(call, counts(True, True)), named=NONE),
    "usage negative": Behaviour(lambda call: said(call, counts(-500, -5)), named=NONE),
    "usage in fractions": Behaviour(lambda call: said(call, counts(1.0, 1.0)), named=NONE),
    "usage in words": Behaviour(lambda call: said(call, counts("500", "5")), named=NONE),
    "usage beyond any file": Behaviour(lambda call: said(call, counts(2**70, 2**70)), named=NONE),
    "input only": Behaviour(lambda call: said(call, {"prompt_tokens": call.input_tokens}), named=NONE),
    "output only": Behaviour(lambda call: said(call, {"completion_tokens": call.output_tokens}), named=NONE),
    "total only": Behaviour(lambda call: said(call, {"total_tokens": 1}), named=NONE),
    "input of 1": Behaviour(lambda call: said(call, counts(1, call.output_tokens)), named=LOW),
    "output of 0": Behaviour(lambda call: said(call, counts(call.input_tokens, 0)), named=LOW),
    "total below its parts": Behaviour(
        lambda call: said(call, counts(call.input_tokens, call.output_tokens) | {"total_tokens": 3}), named=NONE
    ),
    "cached more than sent": Behaviour(
        lambda call: said(
            call, counts(call.input_tokens, call.output_tokens, prompt_tokens_details={"cached_tokens": 10**6})
        ),
        named=NONE,
    ),
    "reasoning shown and not counted": Behaviour(
        lambda call: said(
            call,
            counts(call.input_tokens, call.output_tokens),
            thinks=REASONING,
            reasoning_content="well then " * (REASONING // 2),
        ),
        named=LOW,
    ),
    "every second count is 1/1": Behaviour(
        lambda call: said(call, counts(1, 1)) if call.times % 2 else said(call), named=LOW
    ),
    # The work is done, and the reply is lost.
    "worked, then 307": Behaviour(worked(307), named=LOST),
    "worked, then 500": Behaviour(worked(500), named=LOST),
    "worked, then 502": Behaviour(worked(502), named=LOST),
    "worked, then 503": Behaviour(worked(503), named=LOST),
    "worked, then 504": Behaviour(worked(504), named=LOST),
    "worked, then 529": Behaviour(worked(529), named=LOST),
    "worked, then 408": Behaviour(worked(408), named=LOST),
    "worked, then reset": Behaviour(unfinished("reset"), named=LOST),
    "worked, then cut": Behaviour(unfinished("truncated"), named=LOST),
    "worked, then silent": Behaviour(unfinished("hang"), named=LOST),
    "not JSON": Behaviour(unreadable(b'{"choices": [{"mess'), named=LOST),
    "empty": Behaviour(unreadable(b""), named=LOST),
    "no choices": Behaviour(unreadable({"choices": []}), named=NONE),
    "an error with status 200": Behaviour(unreadable({"error": {"message": "gone"}}), named=NONE),
    # More than the request allowed.
    "ignores max_tokens": Behaviour(lambda call: said(call, text=RAMBLING), breaks_bound=True, named=OVER),
    "ignores max_tokens, and says 1/1": Behaviour(
        lambda call: said(call, counts(1, 1), text=RAMBLING), breaks_bound=True, named=OVER
    ),
    "ignores max_tokens, and says nothing": Behaviour(
        lambda call: said(call, MISSING, text=RAMBLING), breaks_bound=True, named=OVER
    ),
    "thinks without end": Behaviour(lambda call: said(call, thinks=50_000), breaks_bound=True, named=OVER),
    "thinks without end, in the total": Behaviour(
        lambda call: said(
            call,
            {**counts(call.input_tokens, call.output_tokens), "total_tokens": call.input_tokens + 50_000},
            thinks=50_000 - call.output_tokens,
        ),
        breaks_bound=True,
        named=OVER,
    ),
    "ignores max_tokens now and then": Behaviour(
        lambda call: said(call, text=RAMBLING) if call.times % 5 == 4 else said(call), breaks_bound=True, named=OVER
    ),
}


class BillingServer(ChatServer):
    """Behaves as it is told, and keeps its bill."""

    def __init__(self, behaviour: Behaviour, *, latency: float = 0.0) -> None:
        super().__init__(swayed_answer, latency=latency)
        self.behaviour = behaviour
        self.bill = Decimal(0)
        """What it charges, by its own count."""
        self.requests = 0
        self.dearest = Decimal(0)
        """The most that it charged for one call."""

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        call = Call(await request.json(), self.requests)
        self.requests += 1
        self.asked[request.headers.get("X-Client-Request-Id", "")] += 1
        if self.latency:
            await asyncio.sleep(self.latency)
        answer = self.behaviour.answer(call)
        if answer.billed:
            # On the bill before a byte is sent back: whoever hangs up has been worked for.
            cost = price_of(call.input_tokens + answer.output_tokens)
            self.bill += cost
            self.dearest = max(self.dearest, cost)
        return await self._send(request, answer)

    @staticmethod
    async def _send(request: web.Request, answer: Answer) -> web.StreamResponse:
        raw = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        if answer.ending == "hang":
            await asyncio.sleep(30)
        if answer.ending == "sent":
            headers = {"Retry-After": "0"} if answer.status == 429 else {}
            return web.Response(body=raw, status=answer.status, headers=headers, content_type="application/json")
        reply = web.StreamResponse(headers={"Content-Length": str(len(raw))})
        if answer.ending == "truncated":
            await reply.prepare(request)
            await reply.write(raw[: len(raw) // 2])
        if request.transport is not None:
            request.transport.abort()
        return reply
