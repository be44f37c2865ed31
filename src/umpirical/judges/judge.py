"""The interface of a judge, whatever it is made of."""

import hashlib
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Protocol

from pydantic import ConfigDict, Field

from umpirical.domain.digests import Json, digest
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presentation, Presented


@dataclass(frozen=True, slots=True)
class Capabilities:
    """A judge's capabilities. The design skips everything else, and the measures give the reason."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    accepts_empty: Annotated[bool, Field(description="Whether the judge accepts empty and blank candidates.")] = True
    order_controllable: Annotated[
        bool,
        Field(
            description="Whether the judge accepts both orders; if not, no measure that compares orders is computed."
        ),
    ] = True
    stateful: Annotated[
        bool, Field(description="Whether earlier calls may change later answers; if so, calls are made one at a time.")
    ] = False
    gives_confidence: Annotated[
        bool, Field(description="Whether the judge reports its confidence with each verdict.")
    ] = False

    def as_dict(self) -> dict[str, bool]:
        return asdict(self)


class Request(Protocol):
    """What will be sent for one trial."""

    def payload(self) -> Json:
        """Returns everything that decides the answer, so that equal payloads are the same question."""
        ...


class Judge(Protocol):
    """The whole configuration under test: model, prompt, parser and decoding, or the user's own function."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> JudgeKind: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def variants(self) -> tuple[str, ...]:
        """The criterion variants that it has an instruction for."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the user's data that it is to be shown besides the task and the candidates."""
        ...

    @property
    def fingerprint(self) -> str:
        """Digest of the whole configuration, parser included."""
        ...

    @property
    def question_fingerprint(self) -> str:
        """Digest of what decides the questions: the configuration without the parser."""
        ...

    def request(self, shown: Presented, presentation: Presentation) -> Request:
        """Renders a trial. It sees the task, the candidates in place, columns that it names, and nothing else."""
        ...

    async def ask(self, request: Any, *, trial_id: str) -> Response:  # noqa: ANN401  # its own kind of request
        """Asks, and never raises because of a call: the response says what went wrong."""
        ...

    def read(self, response: Response, presentation: Presentation) -> Outcome:
        """Reads the response, given how the trial was presented. Pure, so a better reader need not ask again."""
        ...

    async def close(self) -> None: ...


def prompt_id(request: Request) -> str:
    return digest("prompt", request.payload())


def trial_id(prompt: str, *, repeat: int) -> str:
    """Returns an id that is equal for the same repeat of equal questions."""
    if prompt.isalnum():
        # The same digest: letters and digits are spelled as they are. There is one of these for every trial.
        return hashlib.sha256(f'trial\n["{prompt}",{repeat}]'.encode()).hexdigest()[:32]
    return digest("trial", [prompt, repeat])
