"""Responses that a model writes to the tasks of a dataset, where the dataset has tasks only.

A protocol without I/O, as for every other text that a model writes. What came back is an outcome: a text as the model
wrote it, a refusal in its own words included, or the reason why the row has no response. It is asked for once.
"""

from collections.abc import Generator
from dataclasses import dataclass
from functools import cached_property

from umpirical.domain.digests import digest
from umpirical.domain.responses import Response
from umpirical.domain.stimuli import Attempt, SameVerdict, Stimulus
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.generation.attempt import LONGEST_TEXT, UNFINISHED
from umpirical.stimuli.generation.commissions import Writer
from umpirical.text.templates import fill

RESPONDER = "responder"
"""The role of the model that writes responses."""

RESPONSES = "responses"
"""What its attempts are recorded under, in place of a test."""

MAKER = "response/1"


@dataclass(frozen=True)
class WantedResponse:
    """A response that is wanted to one task. Rows with the same task share it."""

    task: str
    template: str
    """What the model is asked, with {{task}} in it."""
    writer: Writer
    temperature: float

    @cached_property
    def request(self) -> ChatRequest:
        prompt = fill(self.template, {"task": self.task})
        decoding = Decoding(self.temperature, max_tokens=self.writer.max_tokens)
        return ChatRequest(self.writer.model, (Message("user", prompt),), decoding)

    @cached_property
    def id(self) -> str:
        return digest("wanted response", [MAKER, self.writer.endpoint, self.request.payload()])


def respond(wanted: WantedResponse) -> Generator[Ask, Response, Attempt]:
    """Asks once. A failure that may pass must not be sent in: the row then stays open."""
    said = yield Ask(digest("response call", wanted.id), RESPONDER, wanted.request)
    problem, text = _problem(said), said.text or ""
    made = None
    if not problem:
        made = Stimulus(
            task_id=wanted.id,
            task=wanted.task,
            candidates=(text,),
            expectation=SameVerdict(),
            maker=MAKER,
            family=RESPONSES,
            evidence={"written by": wanted.writer.words},
        )
    return Attempt(wanted.id, RESPONSES, 0, wanted.temperature, text, (), (), problem, made)


def _problem(said: Response) -> str:
    """Returns why there is no response, in words that are the same for the same cause; empty if there is one."""
    if said.text is None:
        return "the model refused" if said.failure == "refused" else "the server did not take the request"
    if said.ending != "whole":
        return UNFINISHED[said.ending].replace("the generator", "the model", 1)
    if not said.text.strip():
        return "the model answered nothing"
    return "the response is too long" if len(said.text) > LONGEST_TEXT else ""
