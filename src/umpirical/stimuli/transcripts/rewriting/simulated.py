"""Simulated planner, editor, summariser and verifier: a rehearsal of rewriting without a key or a server.

They read the prompts as models would, by their marks. What a transcript deserves is built in in it: a sentence for the
record says it, and the editor writes that sentence. Where there is none, it is drawn from what the system and the user
said, which no edit changes. Rates of wrong verdicts, refusals, nonsense and failures are built in, too.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.domain.policies import figures_in
from umpirical.domain.responses import Response, Usage
from umpirical.domain.scales import JudgeKind
from umpirical.domain.transcripts import Message, Transcript, transcript_from_text
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import Calling, ModelAdapter, ModelSpec
from umpirical.stats.seeds import uniform
from umpirical.stimuli.transcripts.rewriting.commissions import mark_of

NONSENSE = "There is much to be said for and against."


@dataclass(frozen=True, slots=True)
class TrueRates:
    """How often a simulated model fails, as shares of its calls."""

    error: float = 0.0
    """A verifier's verdicts that are wrong."""
    refusal: float = 0.0
    nonsense: float = 0.0
    """Answers that are no JSON."""
    failure: float = 0.0
    """Calls that end in an error of the server."""

    def __post_init__(self) -> None:
        rates = [getattr(self, field.name) for field in fields(self)]
        if not all(isinstance(rate, int | float) and 0 <= rate <= 1 for rate in rates):
            raise ValueError("the rates of a simulated model are numbers from 0 to 1")
        if self.refusal + self.nonsense + self.failure > 1:
            raise ValueError("refusal, nonsense and failure together can be at most 1")


class SimulatedRewriter:
    """Answers the prompts of one role. Every draw depends on the seed, the text and the call, not on the time."""

    def __init__(self, role: str, rates: TrueRates | None = None, *, seed: int = 1) -> None:
        self._answer = _ANSWERS[role]
        self._rates = rates or TrueRates()
        self._seed = seed

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        return self.respond(request, trial_id=trial_id)

    def respond(self, request: ChatRequest, *, trial_id: str) -> Response:
        """Returns the answer at once, for whoever has no event loop."""
        prompt, rates = request.messages[-1].content, self._rates
        made = Response(trial_id, NONSENSE, finish_reason="stop", sent=json.dumps(request.decoding.sent()))
        made = replace(made, served_by="simulated", usage=Usage(len(prompt) // 4, len(NONSENSE) // 4))
        fate = uniform(self._seed, "fate", trial_id)
        if fate < rates.failure:
            return replace(made, text=None, failure="server-error", failure_detail="simulated failure")
        if fate < rates.failure + rates.refusal:
            return replace(made, text=None, failure="refused", failure_detail="simulated refusal")
        if fate < rates.failure + rates.refusal + rates.nonsense:
            return made
        text = self._answer(_Prompt(prompt, self._seed, trial_id, rates))
        return replace(made, text=text, usage=Usage(len(prompt) // 4, len(text) // 4))

    async def close(self) -> None:
        """Releases nothing."""


def sentence_for(item: str, label: str) -> str:
    """Returns the sentence by which a transcript deserves a verdict, to a simulated verifier."""
    return f"For the record, {item}: {label}."


def true_verdict(transcript: Transcript, item: str, labels: Sequence[str], *, seed: int) -> str:
    """Returns the verdict that a transcript deserves: as its last sentence for the record says, or else by a draw."""
    said = [(found, label) for message in transcript.messages for found, label in _recorded(message, item, labels)]
    if said:
        return said[-1][1]
    fixed = Transcript(tuple(message for message in transcript.messages if message.role in ("system", "user")))
    return labels[int(uniform(seed, "planted verdict", item, fixed.text) * len(labels))]


def _recorded(message: Message, item: str, labels: Sequence[str]) -> list[tuple[int, str]]:
    """Returns where a message has such sentences, and what they say, in order."""
    found = [(message.text.rfind(sentence_for(item, label)), label) for label in labels]
    return sorted((place, label) for place, label in found if place >= 0)


@dataclass(frozen=True, slots=True)
class _Prompt:
    text: str
    seed: int
    trial_id: str
    rates: TrueRates

    def part(self, name: str) -> str:
        mark = mark_of(self.text)
        _, _, rest = self.text.partition(f"[{name}, {mark}]\n")
        return rest.partition(f"\n[end of {name}, {mark}]")[0]

    @property
    def own(self) -> str:
        """What stands after the last mark, which is the prompt's own."""
        return self.text.rpartition(f", {mark_of(self.text)}]\n")[2]

    @property
    def item(self) -> str:
        return self.part("item").partition("\n")[0]

    @property
    def labels(self) -> list[str]:
        listed = _LABELS.search(self.own)
        assert listed is not None  # noqa: S101  # the prompts that list labels are ours
        found: list[str] = json.loads(f"[{listed[1]}]")
        return found

    @property
    def target(self) -> str:
        named = _TARGET.search(self.own)
        assert named is not None  # noqa: S101  # likewise
        found: str = json.loads(named[1])
        return found


_LABELS = re.compile(r'from worst to best: ("(?:[^"\\]|\\.)*"(?:, "(?:[^"\\]|\\.)*")*)\.')

_TARGET = re.compile(r'the verdict on (?:this|the) item is to be ("(?:[^"\\]|\\.)*")')


def _planned(prompt: _Prompt) -> str:
    """Names the message that is on record about the item; if there is none, any that may be changed."""
    messages = dict(map(_numbered, prompt.part("transcript").splitlines()))
    listed = re.search(r"Only these may be changed: ([\d, ]+)\.", prompt.own)
    may_change = [int(number) for number in listed[1].split(", ")] if listed else []
    on_record = [number for number in may_change if _recorded(messages[number], prompt.item, prompt.labels)]
    draw = uniform(prompt.seed, "message", prompt.item, prompt.part("transcript"))
    number = on_record[-1] if on_record else may_change[int(draw * len(may_change))]
    return json.dumps({"steps": [{"message": number, "change": f"Put on record: {prompt.target}"}]})


def _edited(prompt: _Prompt) -> str:
    """Puts the target on record, and changes a figure in a tool's result; or brings a message up to date."""
    number, message = _numbered(prompt.part("message"))
    outdated = re.search(r"no longer say: (\[.*\])\. Change it", prompt.part("change"))
    if outdated is not None:
        return _answer(number, _updated(message, json.loads(outdated[1])))
    text = message.text
    for _, label in _recorded(message, prompt.item, prompt.labels):
        text = text.replace(sentence_for(prompt.item, label), "").rstrip()
    if message.role == "tool" and (figure := next(figures_in(text), None)) is not None:
        text = f"{text[: figure.start()]}{_next(figure.group())}{text[figure.end() :]}"
    said = sentence_for(prompt.item, prompt.target)
    return _answer(number, replace(message, text=f"{text} {said}".lstrip()))


def _summarised(prompt: _Prompt) -> str:
    """Keeps the ends of what it was shown."""
    return f"So far: {prompt.part('summary')[-500:]} {prompt.part('messages')[-500:]}"


def _verified(prompt: _Prompt) -> str:
    labels, item = prompt.labels, prompt.item
    status = true_verdict(transcript_from_text(prompt.part("transcript")), item, labels, seed=prompt.seed)
    if uniform(prompt.seed, "error", prompt.trial_id) < prompt.rates.error:
        others = [label for label in labels if label != status]
        status = others[int(uniform(prompt.seed, "wrong", prompt.trial_id) * len(others))]
    return json.dumps({"item": item, "status": status, "why": "It is on record."}, ensure_ascii=False)


_ANSWERS: Mapping[str, Callable[[_Prompt], str]] = {
    "planner": _planned,
    "editor": _edited,
    "summariser": _summarised,
    "verifier": _verified,
}


def _numbered(line: str) -> tuple[int, Message]:
    number, _, written = line.removeprefix("message ").partition(": ")
    return int(number), transcript_from_text(f"[{written}]").messages[0]


def _updated(message: Message, outdated: Sequence[str]) -> Message:
    """Returns a message with other values: the next number, or a word in place of a name."""

    def up_to_date(text: str) -> str:
        for value in outdated:
            other = _next(value) if value.isdecimal() else "that one"
            text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", other, text, flags=re.IGNORECASE)
        return text

    calls = tuple(replace(call, arguments=up_to_date(call.arguments)) for call in message.calls)
    return replace(
        message,
        text=up_to_date(message.text),
        reasoning=up_to_date(message.reasoning),
        error=up_to_date(message.error),
        calls=calls,
    )


def _next(figure: str) -> str:
    return str(int(figure) + 1) if figure.isdecimal() else f"{figure}1"


def _answer(number: int, message: Message) -> str:
    answer: dict[str, Any] = {"message": number, "content": message.text}
    answer |= {"reasoning": message.reasoning} if message.reasoning else {}
    answer |= {"error": message.error} if message.error else {}
    if message.calls:
        answer["tool_calls"] = [
            {"id": call.id, "function": call.tool, "arguments": call.arguments} for call in message.calls
        ]
    return json.dumps(answer, ensure_ascii=False)


class _Simulated(ModelAdapter):
    """Models that rewrite, by the name of their role; what is built in in them is in `model_args`."""

    simulated = True

    def reads(self, prompt: str, kind: JudgeKind) -> bool:  # noqa: ARG002  # it is no judge
        return False

    def check(self, spec: ModelSpec) -> None:
        if spec.batch or spec.base_url:
            raise ValueError("a simulated model does not support batch or base_url")
        _rates(spec)

    def open(self, spec: ModelSpec, calling: Calling) -> SimulatedRewriter:
        if spec.name not in _ANSWERS:
            raise UsageError(f"unknown simulated rewriter {spec.name!r}", fix=f"choose one of: {', '.join(_ANSWERS)}")
        return SimulatedRewriter(spec.name, _rates(spec), seed=calling.seed)


def _rates(spec: ModelSpec) -> TrueRates:
    known = {field.name for field in fields(TrueRates)}
    if unknown := spec.model_args.keys() - known:
        raise ValueError(f"unknown rate {min(unknown)}; choose one of: {', '.join(sorted(known))}")
    rates: dict[str, Any] = dict(spec.model_args)
    return TrueRates(**rates)


ADAPTER = _Simulated()
