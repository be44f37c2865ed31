"""Questions that a protocol without I/O yields; its driver sends them and returns what came back."""

from dataclasses import dataclass

from umpirical.models.requests import ChatRequest


@dataclass(frozen=True, slots=True)
class Ask:
    """A question to a model."""

    id: str
    role: str
    """Which of the study's models is asked: the generator, a validator, a planner."""
    request: ChatRequest
