"""The conformance kit for model adapters: one call in a test checks everything that an adapter promises.

An adapter only sends. This is what the kit requires of it, against a backend that the test can make fail:

- an answer: the exact text, and the tokens that the server counted;
- its own: with many requests at a time, each gets the answer to its own question;
- parameters: what is sent with a request is announced as JSON, and follows the request's decoding;
- failures: whatever the server does, `send` raises CallFailed, and no other error, with a kind that fits;
- one attempt: a failure is not retried without the caller's knowledge;
- cancelled: an abandoned request stops at once;
- closed: it can be closed twice;
- secrets: the key is in no parameter and, once the caller has recorded a reply that quotes it, nowhere in the record;
- money: the caller around it charges every call, and sends nothing that might exceed a cap.
"""

import asyncio
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, NoReturn, Protocol

from umpirical.domain.responses import FailureKind
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.money import CapReached, Ledger, Meter
from umpirical.models.prices import RatePricer, TokenPrices
from umpirical.models.recording import Redaction
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, ModelAdapter, ModelSpec

Behaviour = Literal["answer", "busy", "broken", "nonsense", "silent", "closed", "quoting"]
"""Answers with the text of the last message; too many requests; an internal error; a reply outside its protocol; no
reply; a closed connection; a refusal that quotes the request's headers, with the key in them."""

Promise = Literal[
    "answer", "usage", "its own answer", "parameters", "failures", "one attempt", "cancelled", "closed", "secrets",
    "money",
]  # fmt: skip
"""What the message of a failed check can name."""

FITTING: Mapping[Behaviour, frozenset[FailureKind]] = {
    "busy": frozenset({"rate-limited"}),
    "broken": frozenset({"server-error"}),
    "nonsense": frozenset({"malformed", "server-error"}),
    "silent": frozenset({"timeout"}),
    "closed": frozenset({"connection", "server-error"}),
}
"""The kinds of failure that may be reported for each behaviour."""

MANY = 24
"""Number of requests at a time."""

PATIENCE = 60.0
"""Seconds after which something is considered to hang: far longer than a loopback server takes."""

TIMEOUT = 1.0
"""Seconds to wait for a silent server."""

TEXTS = ("plain", "  padded \n", "café 漢字 🙂", '{"verdict": "1"}', "a\r\nb\tc", "</s> <|end|> {{x}}")
"""Texts that a client might trim, escape or misread."""


class Backend(Protocol):
    """The server behind the adapter in a test: it speaks the adapter's protocol on loopback."""

    spec: ModelSpec
    """How the adapter reaches it."""
    key: str
    """The secret that the spec's variable holds; empty if there is none."""

    def behave(self, how: Behaviour) -> None:
        """Sets how it behaves from now on."""
        ...

    def requests(self) -> int: ...


def check_model_adapter(adapter: ModelAdapter, backend: Backend) -> None:
    """Raises AssertionError, naming the promise, for the first one that does not hold."""
    asyncio.run(_Checks(adapter, backend).all())


class _Checks:
    def __init__(self, adapter: ModelAdapter, backend: Backend) -> None:
        self._adapter, self._backend = adapter, backend

    async def all(self) -> None:
        self._adapter.check(self._backend.spec)
        connection = self._connect()
        try:
            await self._answers(connection)
            await self._many_at_a_time(connection)
            self._parameters(connection)
            for how in FITTING:
                await self._fails(how)
            await self._cancelled(connection)
        finally:
            await _close(connection)
        await _close(connection)
        await self._quoted()
        await self._money()

    def _connect(self, timeout: float = PATIENCE) -> Connection:
        spec = self._backend.spec.model_copy(update={"timeout": timeout})
        return self._adapter.connect(spec, Calling(concurrency=MANY))

    async def _answers(self, connection: Connection) -> None:
        self._backend.behave("answer")
        for place, text in enumerate(TEXTS):
            reply = await self._answered(connection, _request(text), f"a{place}")
            if reply.text != text:
                _broken("answer", f"the server sent {text!r}, but the reply contains {reply.text!r}")
            if reply.usage is None or not reply.usage.output_tokens:
                _broken("usage", "the server reported token counts, but the reply has none")

    async def _many_at_a_time(self, connection: Connection) -> None:
        asked = [f"question {number}" for number in range(MANY)]
        replies = await asyncio.gather(*(self._answered(connection, _request(text), text) for text in asked))
        if [reply.text for reply in replies] != asked:
            _broken("its own answer", f"of {MANY} simultaneous requests, some got the answer to a different one")

    def _parameters(self, connection: Connection) -> None:
        said = [connection.parameters(_request("x", temperature=each)) for each in (0.0, 0.7)]
        for text in said:
            if not isinstance(json.loads(text), dict):
                _broken("parameters", f"{text!r} is not a JSON object")
        if said[0] == said[1]:
            _broken("parameters", "requests with different temperatures are described identically")
        self._no_secret("parameters", "".join(said))

    async def _fails(self, how: Behaviour) -> None:
        self._backend.behave(how)
        before, connection = self._backend.requests(), self._connect(TIMEOUT if how == "silent" else PATIENCE)
        try:
            reply = await self._sent(connection, _request("x"), how)
        except CallFailed as failed:
            if failed.kind not in FITTING[how]:
                _broken("failures", f"a server that is {how} is reported as {failed.kind}")
        else:
            _broken("failures", f"a server that is {how} returned {reply.text!r}")
        finally:
            await _close(connection)
        if self._backend.requests() - before > connection.requests_per_attempt:
            _broken("one attempt", f"a server that is {how} received {self._backend.requests() - before} requests")

    async def _cancelled(self, connection: Connection) -> None:
        self._backend.behave("silent")
        task = asyncio.ensure_future(connection.send(_request("x"), trial_id="cancelled"))
        await asyncio.sleep(0.1)
        task.cancel()
        done, _ = await asyncio.wait([task], timeout=PATIENCE)
        if not done or not task.cancelled():
            _broken("cancelled", "a canceled request continued, or ended as something else")

    async def _quoted(self) -> None:
        """Checks what is recorded of a server that quotes the key. A caller records it, not the connection."""
        self._backend.behave("quoting")
        model = self._adapter.open(self._backend.spec, Calling(concurrency=1))
        try:
            response = await model.generate(_request("x"), trial_id="quoted")
        finally:
            await model.close()
        if response.failure is None:
            _broken("failures", f"a server that is quoting returned {response.text!r}")
        self._no_secret("record", str(response))

    async def _money(self) -> None:
        """Checks that a caller around the adapter charges what is asked, and stops before a cap could be exceeded."""
        self._backend.behave("answer")
        pricer = RatePricer(TokenPrices(Decimal(1), Decimal(1)), "kit")
        for cap, answered in ((None, True), (Decimal("0.000001"), False)):
            ledger = Ledger(cap)
            model = self._adapter.open(self._backend.spec, Calling(concurrency=1, meter=Meter(pricer, ledger)))
            before = self._backend.requests()
            try:
                response = await model.generate(_request("x"), trial_id="money")
            except CapReached:
                if answered or self._backend.requests() != before:
                    _broken("money", "it sent a request that might exceed the cap")
            else:
                if not answered or response.failure is not None or response.cost != ledger.spent or not ledger.spent:
                    _broken("money", f"a call was not recorded at its price: {response.cost}, {ledger.spent}")
            finally:
                await model.close()

    async def _answered(self, connection: Connection, request: ChatRequest, name: str) -> Reply:
        try:
            return await self._sent(connection, request, name)
        except CallFailed as failed:
            _broken("answer", f"a server that answers is reported as failed: {failed}")

    async def _sent(self, connection: Connection, request: ChatRequest, name: str) -> Reply:
        try:
            return await asyncio.wait_for(connection.send(request, trial_id=name), PATIENCE)
        except CallFailed:
            raise
        except Exception as error:  # noqa: BLE001  # whatever it is, it is not CallFailed
            _broken("failures", f"send raised {type(error).__name__}: {error}")

    def _no_secret(self, where: str, text: str) -> None:
        if self._backend.key and Redaction([self._backend.key]).holds(text):
            _broken("secrets", f"the key is in the {where}")


def _request(text: str, *, temperature: float = 0.0) -> ChatRequest:
    return ChatRequest("model", (Message("user", text),), Decoding(temperature=temperature, max_tokens=64))


async def _close(connection: Connection) -> None:
    try:
        await connection.close()
    except Exception as error:  # noqa: BLE001  # whatever it is, it is one too many
        _broken("closed", f"close raised {type(error).__name__}: {error}")


def _broken(promise: Promise, why: str) -> NoReturn:
    raise AssertionError(f"{promise}: {why}")
