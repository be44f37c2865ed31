"""What the chat protocols of providers have in common: a question and an answer, alone or in batches."""

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from umpirical.models.adapters.exchanges import BEARER, Exchanges, read_json, under
from umpirical.models.batches import BatchForm, BatchResult, checked_id
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.recording import largest_body
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import Calling, ModelAdapter, ModelSpec, headers_of, key_of

PAGE = 100
"""Batches on one page of a list."""

MOST_PAGES = 200
"""After so many, a list has no end: nobody makes 20,000 batches between the record of one and its creation."""

SKEW = timedelta(hours=1)
"""By how much the provider's clock may be behind ours."""


@dataclass(frozen=True, slots=True)
class ChatProtocol:
    """How a protocol says a question and reads an answer."""

    body: Callable[[ChatRequest], Mapping[str, Any]]
    """Returns the body of a request, or raises CallFailed for what the protocol has no words for."""
    parameters: Callable[[ChatRequest], str]
    """Returns the decoding parameters that are sent with a request, as JSON."""
    reply: Callable[[Mapping[str, Any]], Reply]
    """Returns what the body of a reply says, or raises CallFailed."""

    def read(self, body: Mapping[str, Any]) -> Reply:
        try:
            return self.reply(body)
        except RecursionError:
            # What could just be read may be too deep to be written again.
            raise CallFailed("malformed", "the reply is nested too deeply") from None


class ChatConnection(Connection):
    """One model behind one server, over persistent connections."""

    def __init__(self, protocol: ChatProtocol, exchanges: Exchanges, api_key: str | None) -> None:
        self._protocol, self._exchanges = protocol, exchanges
        self.secrets = (api_key,) if api_key else ()

    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        raw = await self._exchanges.ask(self._protocol.body(request), trial_id, most=largest_body(request.decoding))
        return self._protocol.read(read_json(raw))

    def parameters(self, request: ChatRequest) -> str:
        return self._protocol.parameters(request)

    async def close(self) -> None:
        await self._exchanges.close()


class ChatAdapter(ModelAdapter):
    """Any server that speaks a chat protocol, by its address."""

    takes_tls = True
    protocol: ChatProtocol
    path: str
    """Where a server is asked, below its address."""
    example: str
    """An address."""
    key_header: Mapping[str, str] = BEARER
    headers: Mapping[str, str] = {}
    """What the protocol wants with every request."""

    def check(self, spec: ModelSpec) -> None:
        super().check(spec)
        if not spec.base_url:
            raise ValueError(f"an {spec.adapter} model needs base_url, such as {self.example}")

    def exchanges(self, spec: ModelSpec, path: str) -> Exchanges:
        assert spec.base_url is not None  # noqa: S101  # checked with the spec
        headers = {**self.headers, **headers_of(spec, self.key_header)}
        return Exchanges(under(spec.base_url, path), headers=headers, timeout=spec.timeout, tls=spec.tls)

    def connect(self, spec: ModelSpec, calling: Calling) -> Connection:  # noqa: ARG002  # left to the caller
        return ChatConnection(self.protocol, self.exchanges(spec, self.path), key_of(spec))


class ListedBatches(BatchForm):
    """Batches that a server lists, and whose results are lines of JSON."""

    place: str
    """The path of the list."""
    cursor: str
    """The name of the parameter that asks for what comes after a batch."""

    def __init__(self, protocol: ChatProtocol, exchanges: Exchanges, api_key: str | None) -> None:
        self.protocol, self.exchanges = protocol, exchanges
        self.secrets = (api_key,) if api_key else ()

    @abstractmethod
    def made_at(self, batch: Mapping[str, Any]) -> datetime | None:
        """Returns when a batch was created, if that is said."""

    @abstractmethod
    def read_line(self, said: Mapping[str, Any]) -> Reply:
        """Returns the answer that a line of results has, or raises CallFailed."""

    def is_before(self, batch: Mapping[str, Any], moment: datetime) -> bool:
        """Whether a batch was surely created before a moment of our clock."""
        made_at = self.made_at(batch)
        return made_at is not None and made_at < moment - SKEW

    def parameters(self, request: ChatRequest) -> str:
        return self.protocol.parameters(request)

    async def check(self) -> None:
        await self.exchanges.get(self.place, {"limit": "1"})

    async def close(self) -> None:
        await self.exchanges.close()

    async def listed(self, since: datetime) -> AsyncIterator[Mapping[str, Any]]:
        """Yields batches, the newest first: all that were created at that time or later, and perhaps some more."""
        after: dict[str, str] = {}
        for _ in range(MOST_PAGES):
            page = await self.exchanges.get(self.place, {"limit": str(PAGE), **after})
            batches = page.get("data")
            if not isinstance(batches, list) or not all(isinstance(batch, dict) for batch in batches):
                raise CallFailed("malformed", "the list of batches is not a list")
            for batch in batches:
                yield batch
            if not batches or page.get("has_more") is not True or self.is_before(batches[-1], since):
                return
            last = checked_id(batches[-1].get("id"))
            if after.get(self.cursor) == last:
                raise CallFailed("malformed", "the list of batches contains duplicates")
            after = {self.cursor: last}
        raise CallFailed("malformed", "the list of batches is endless")

    async def results_at(self, path: str, *, most: int, entries: int) -> AsyncIterator[BatchResult]:
        async for line in self.exchanges.lines(path, most=most, most_lines=2 * entries + PAGE):
            try:
                said = read_json(line)
            except CallFailed:
                continue
            name = said.get("custom_id")
            if isinstance(name, str):
                yield BatchResult(name, self._found(said))

    def _found(self, said: Mapping[str, Any]) -> Reply | CallFailed:
        try:
            return self.read_line(said)
        except CallFailed as failed:
            return failed
