"""What Umpirical asks of a judge, whatever it is made of."""

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from pydantic import ConfigDict

from umpirical.domain.digests import Json, digest
from umpirical.domain.judgments import Outcome
from umpirical.domain.responses import Response
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presentation, Presented

__all__ = ["Capabilities", "Judge", "Request", "prompt_id", "trial_id"]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What can be asked of a judge. The design leaves out what cannot, and the measures say so."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    accepts_empty: bool = True
    """Empty and blank candidates can be shown."""
    order_controllable: bool = True
    """Both orders can be shown; else nothing that compares orders is measured."""
    stateful: bool = False
    """Earlier calls may change later answers; such a judge is asked one call at a time."""
    gives_confidence: bool = False

    def as_dict(self) -> dict[str, bool]:
        return asdict(self)


class Request(Protocol):
    """What will be sent for one trial."""

    def payload(self) -> Json:
        """Everything that decides the answer, so that equal payloads are the same question."""
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
    def arms(self) -> tuple[str, ...]:
        """The criterion arms it has an instruction for."""
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
        """Renders a trial. It sees the task and the candidates in their slots, how to show them, and nothing else."""
        ...

    async def ask(self, request: Any, *, trial_id: str) -> Response:  # noqa: ANN401  # its own kind of request
        """Asks, and never raises for a call: what went wrong is in the response."""
        ...

    def read(self, response: Response, presentation: Presentation) -> Outcome:
        """Reads the response to a trial that was presented so. Pure, so a better reader re-reads and never re-asks."""
        ...

    async def close(self) -> None:
        """Releases what asking needed."""
        ...


def prompt_id(request: Request) -> str:
    """Equal for equal questions."""
    return digest("prompt", request.payload())


def trial_id(prompt: str, *, repeat: int) -> str:
    """Equal for equal questions asked for the same time."""
    return digest("trial", [prompt, repeat])
