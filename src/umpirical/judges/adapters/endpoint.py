"""A judge behind any HTTP endpoint: what is shown goes into a JSON body, and the answer is taken from the reply.

Texts are filled into the values of the body, which is written as JSON only then: no candidate can add a field to it.
It is sent by the code that sends to models, with the same caps, pace, deadline and retries, and with no redirect.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import Json, digest
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.answers import AnswerReader, read_response
from umpirical.judges.arguments import shown_values
from umpirical.judges.judge import Capabilities
from umpirical.judges.prompt import columns_of
from umpirical.models.adapters.exchanges import BEARER, Exchanges, quoted
from umpirical.models.caller import Caller, CallFailed, Connection, Reply, Retrying
from umpirical.models.prices import UNPRICED
from umpirical.models.recording import largest_body
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, headers_of, key_of
from umpirical.text.json_texts import without_doubles
from umpirical.text.templates import fill

if TYPE_CHECKING:
    from umpirical.judges.endpoint_spec import HttpSpec
    from umpirical.judges.spec import JudgeSpec

ANY_ANSWER = Decoding(temperature=None, max_tokens=4096)
"""How an endpoint draws its answer is its own affair, and none of this is sent. It bounds what a reply may be."""


@dataclass(frozen=True)
class EndpointJudge:
    """Fills the body, sends it and reads the answer."""

    name: str
    kind: JudgeKind
    http: "HttpSpec"
    model: Caller
    reader: AnswerReader
    capabilities: Capabilities
    fingerprint: str
    columns: tuple[str, ...]
    variants: tuple[str, ...] = ("baseline",)

    @property
    def question_fingerprint(self) -> str:
        return digest("questions", self.http.model_dump(mode="json", exclude={"attempts"}))

    def request(self, shown: Presented, presentation: Presentation) -> ChatRequest:  # noqa: ARG002
        # An endpoint renders its own prompt: it has one variant, and no seed that could be set. The message is the
        # body.
        values = {role: text for role, text in shown_values(shown).items() if isinstance(text, str)}
        body = _filled(self.http.body, values)
        return ChatRequest(self.http.url, (Message("user", json.dumps(body)),), ANY_ANSWER)

    async def ask(self, request: ChatRequest, *, trial_id: str) -> Response:
        return await self.model.generate(request, trial_id=trial_id)

    def read(self, response: Response, presentation: Presentation) -> Outcome:
        return read_response(self.reader, response, presentation)

    async def close(self) -> None:
        await self.model.close()


def endpoint_judge(
    spec: "JudgeSpec", http: "HttpSpec", reader: AnswerReader, fingerprint: str, calling: Calling
) -> EndpointJudge:
    """Opens the endpoint of a spec. Its price is unknown: no call counts towards a budget."""
    caller = Caller(
        _EndpointConnection(http, timeout=spec.deadline),
        retrying=Retrying(attempts=http.attempts),
        pace=calling.pace(),
        meter=replace(calling.meter, pricer=UNPRICED),
        outages=calling.outages,
    )
    return EndpointJudge(spec.name, spec.kind, http, caller, reader, spec.capabilities, fingerprint, columns_of(spec))


class _EndpointConnection(Connection):
    """One endpoint, over persistent connections."""

    def __init__(self, http: "HttpSpec", *, timeout: float) -> None:
        key = key_of(http)
        self._path = http.answer
        self._exchanges = Exchanges(http.url, headers=headers_of(http, BEARER), timeout=timeout, tls=http.tls)
        self.secrets = (key,) if key else ()

    async def send(self, request: ChatRequest, *, trial_id: str) -> Reply:
        body = json.loads(request.messages[0].content)
        raw = await self._exchanges.ask(body, trial_id, most=largest_body(request.decoding))
        return Reply(_answer(raw, self._path))

    def parameters(self, request: ChatRequest) -> str:  # noqa: ARG002  # all of it is in the body
        return ""

    async def close(self) -> None:
        await self._exchanges.close()


def _filled(part: Any, values: Mapping[str, str]) -> Any:  # noqa: ANN401  # JSON
    """Returns the body with its texts filled in. What has been filled in is never looked at again."""
    if isinstance(part, str):
        return fill(part, values)
    if isinstance(part, dict):
        return {name: _filled(each, values) for name, each in part.items()}
    return [_filled(each, values) for each in part] if isinstance(part, list) else part


def _answer(raw: bytes, path: str) -> str:
    """Returns the answer in a reply, for the answer reader. Raises CallFailed if there is no such place in it."""
    try:
        found: Json = json.loads(raw, object_pairs_hook=without_doubles)
        for step in path.split(".") if path else ():
            found = found[int(step)] if isinstance(found, list) else found[step]  # type: ignore[index,call-overload]
        return found if isinstance(found, str) else json.dumps(found)
    except (ValueError, TypeError, LookupError, RecursionError):
        where = f"without {path}" if path else "that is not JSON"
        raise CallFailed("malformed", f"a reply {where}: {quoted(raw)}") from None
