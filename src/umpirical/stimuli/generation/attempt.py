"""One attempt at a stimulus: what the generator and the validators are asked, and what follows from their answers."""

import json
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from umpirical.domain.digests import canonical_json, digest
from umpirical.domain.responses import Ending, Response
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Attempt, CheckResult, GoldSource, SameVerdict, Stimulus
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.stimuli.asks import Ask
from umpirical.stimuli.generation.commissions import Commission, Writer
from umpirical.stimuli.perturbations.catalogue import Made
from umpirical.text.json_texts import unfenced, without_doubles
from umpirical.text.templates import fill, shipped_template

# What validators are asked, and how their answer is read.


Validation = Literal["same-grade", "target-grade", "none"]

SAME, DIFFERENT = "same", "different"

UNREAD, REFUSED = "unread", "refused"
"""What stands for an opinion that could not be read, and for one that was refused. They agree with nothing."""

FALLBACK = f"{REFUSED}, fallback: "
"""Stands before an opinion of the fallback validator, who was asked because the validator refused."""

# A longer answer is not an opinion, and not worth parsing.
LONGEST_OPINION = 20_000


def validator_prompt(commission: Commission, text: str, *, swapped: bool = False) -> str:
    """Shows the judge's own instruction and rubric, and never which grade is hoped for or which text is the user's.

    `swapped` shows the new text before its original, so that a validator's preference for either place evens out.
    """
    source, terms = commission.source, commission.terms
    shown = (text, source.candidates[0]) if swapped else (source.candidates[0], text)
    values = {
        "instruction": terms.instruction,
        "rubric": commission.rubric,
        "task": source.task,
        "first": shown[0],
        "second": shown[1],
        "response": text,
        "scale": _scale_words(terms.scale),
        "fence": _question_fence(commission, text),
    }
    name = "validate-same" if commission.perturbation.validation == "same-grade" else "validate-grade"
    return fill(shipped_template("umpirical.stimuli.generation", name), values)


def opinion_schema(kind: Validation, scale: GradeScale) -> str:
    answer: dict[str, Any] = {"type": "string", "enum": [SAME, DIFFERENT]}
    if kind == "target-grade":
        answer = {"type": "string", "enum": list(scale.labels)}
    field = _field(kind)
    return canonical_json(
        {"type": "object", "properties": {field: answer}, "required": [field], "additionalProperties": False}
    )


def read_opinion(kind: Validation, scale: GradeScale, text: str) -> str:
    """`same` or `different`, or a label of the scale; `unread` for anything else.

    An answer is JSON of the schema, perhaps in a code block and with a reason beside it, or the bare word. A label of
    figures may be a JSON number.
    """
    allowed = (SAME, DIFFERENT) if kind == "same-grade" else scale.labels
    stripped = text[:LONGEST_OPINION].strip()
    inner = unfenced(stripped)
    try:
        found = json.loads(inner, object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):
        found = stripped.removesuffix(".").strip("\"'")
    if isinstance(found, dict):
        said = _as_text(found.get(_field(kind))) if found.keys() <= {_field(kind), "reason", "reasoning"} else None
    else:
        # A bare `3` is read by JSON as a number.
        said = stripped if isinstance(found, int) and inner == stripped else found
    if not isinstance(said, str) or said in allowed:
        return said if isinstance(said, str) else UNREAD
    alike = [label for label in allowed if label.casefold() == said.casefold()]
    return alike[0] if len(alike) == 1 else UNREAD


def _as_text(found: object) -> str | None:
    """A label that was given as text, or as a number spelled like it; None for anything else. 3.0 is not `3`."""
    if isinstance(found, int | float) and not isinstance(found, bool) and str(found)[-1].isdigit():
        return str(found)
    return found if isinstance(found, str) else None


def _question_fence(commission: Commission, text: str) -> str:
    """A mark that none of the texts could have foreseen; it is the same in both orders and for every target."""
    shown = sorted([commission.source.candidates[0], text])
    return digest("fence", [commission.terms.instruction, commission.rubric, commission.source.task, *shown])[:8]


def _field(kind: Validation) -> str:
    return "verdict" if kind == "same-grade" else "grade"


def _scale_words(scale: GradeScale) -> str:
    if scale.kind == "interval":
        return f"a number from {scale.low:g} to {scale.high:g}"
    return ", ".join(f'"{label}"' for label in scale.labels)


# One attempt at a stimulus: the generator writes, a program checks, and validators who see the rubric agree or not.
#
# A protocol without I/O: it yields what is to be asked and is sent what came back. Its driver takes care of money,
# records and repetition. An attempt that fails anywhere is kept with the reason, and never becomes a stimulus.

WriterRole = Literal["generator", "own-generator", "validator", "fallback"]

LONGEST_TEXT = 200_000
"""The most characters of a generated text; anything longer is a model that did not stop."""

UNFINISHED: Mapping[Ending, str] = {
    "cut": "the generator was cut off at max_tokens",
    "refused": "the generator was stopped by a content filter",
    "broken": "the generator's server stopped the text",
    "unread": "the generator's server stopped the text",
    "unknown": "the generator's server does not report whether the text is complete",
}
"""Why a text is not used that did not end by itself."""


def attempt(commission: Commission, number: int, *, others: Sequence[str] = ()) -> Generator[Ask, Response, Attempt]:
    """Attempt `number` at a commission, counted from 0. `others` are texts that the new one must not repeat.

    A failure that may pass must not be sent in: the attempt is then abandoned, and made again another time.
    """
    temperature = commission.terms.temperature(number)
    settled = Attempt(commission.id, commission.perturbation.name, number, temperature, "", (), (), "-", None)
    if commission.given:
        written = Response(commission.id, commission.given, finish_reason="stop")
    else:
        written = yield _ask(
            commission, number, commission.perturbation.writer, 0, _generator_request(commission, number)
        )
    if written.text is None:
        who = "refused" if written.failure == "refused" else "had its request rejected"
        return replace(settled, rejected=f"the generator {who}: {written.failure_detail}"[:300])
    text = written.text.strip("\r\n")
    settled = replace(settled, text=text[:LONGEST_TEXT])
    if problem := _unusable(written, text, fence=_fence(commission, number)):
        return replace(settled, rejected=problem)
    results = _results(commission, text, others)
    settled = replace(settled, checks=results)
    if reasons := _reasons(results):
        return replace(settled, rejected=reasons)
    votes = yield from _votes(commission, number, text)
    opinions = tuple(vote.words for vote in votes)
    settled = replace(settled, opinions=opinions)
    agreeing = sum(vote.opinion == _wanted(commission) for vote in votes)
    if commission.perturbation.validation != "none" and agreeing < commission.terms.agree:
        said = ", ".join(opinions)
        return replace(
            settled, rejected=f"validators: {agreeing} agree, {commission.terms.agree} needed; they said: {said}"
        )
    return replace(settled, rejected="", stimulus=_stimulus(commission, settled, agreeing))


def check_again(commission: Commission, settled: Attempt, *, others: Sequence[str]) -> Attempt:
    """The attempt, now rejected if it repeats one of `others` that was taken since its checks were made."""
    results = _results(commission, settled.text, others)
    if all(result.passed for result in results):
        return settled
    return replace(settled, checks=results, rejected=_reasons(results), stimulus=None)


def _reasons(results: Sequence[CheckResult]) -> str:
    failed = (result for result in results if not result.passed)
    return "; ".join(f"{f.check}: {f.found}, allowed: {f.allowed}" for f in failed)[:1000]


def _generator_request(commission: Commission, number: int) -> ChatRequest:
    terms, source, fence = commission.terms, commission.source, _fence(commission, number)
    values = {
        "instruction": terms.instruction,
        "rubric": commission.rubric,
        "task": source.task,
        "response": source.candidates[0],
        "label": source.gold,
        "target": commission.target,
        "scale": ", ".join(terms.scale.labels) or f"{terms.scale.low:g} to {terms.scale.high:g}",
        "examples": "\n\n".join(_example(commission, text, fence) for text in commission.examples)
        or "(There is none.)",
        "fence": fence,
    }
    # Every attempt has its own seed, so that a second one at the same temperature does not repeat the first.
    decoding = Decoding(
        terms.temperature(number), max_tokens=commission.generator.max_tokens, seed=_seed(commission, number, 0)
    )
    return ChatRequest(
        commission.generator.model, (Message("user", fill(commission.perturbation.prompt, values)),), decoding
    )


def _example(commission: Commission, text: str, fence: str) -> str:
    graded = f" graded {commission.example_label}" if commission.example_label else ""
    return f"[example{graded}, {fence}]\n{text}\n[end of example, {fence}]"


def _fence(commission: Commission, number: int) -> str:
    """A mark that none of the texts could have foreseen, since it depends on all of them; each attempt has another."""
    texts = [
        commission.terms.instruction,
        commission.rubric,
        commission.source.task,
        commission.source.candidates[0],
        *commission.examples,
    ]
    return digest("fence", [*texts, commission.target, number])[:8]


@dataclass(frozen=True, slots=True)
class _Vote:
    """One opinion on a text, and what is kept of how it came about."""

    opinion: str
    words: str


def _votes(commission: Commission, number: int, text: str) -> Generator[Ask, Response, list[_Vote]]:
    """Asks validators one after the other, until their answers decide."""
    terms, votes = commission.terms, list[_Vote]()
    if commission.perturbation.validation == "none":
        return votes
    wanted = _wanted(commission)
    for place in range(terms.votes):
        agreeing = sum(vote.opinion == wanted for vote in votes)
        if agreeing >= terms.agree or agreeing + terms.votes - place < terms.agree:
            break
        votes.append((yield from _vote(commission, number, text, place)))
    return votes


def _vote(commission: Commission, number: int, text: str, place: int) -> Generator[Ask, Response, _Vote]:
    """Asks the validator and, if that refuses, the fallback. The refusal is kept beside what the fallback says."""
    kind, terms = commission.perturbation.validation, commission.terms

    def asked(role: WriterRole, writer: Writer) -> Ask:
        prompt = validator_prompt(commission, text, swapped=place % 2 == 1)
        seed = _seed(commission, number, place + 1)
        decoding = Decoding(terms.validator_temperature, max_tokens=writer.max_tokens, seed=seed)
        schema = opinion_schema(kind, terms.scale)
        request = ChatRequest(writer.model, (Message("user", prompt),), decoding, schema)
        return _ask(commission, number, role, place, request)

    opinion = _opinion((yield asked("validator", terms.validator)), kind, terms.scale)
    if opinion != REFUSED or terms.fallback is None:
        return _Vote(opinion, opinion)
    instead = _opinion((yield asked("fallback", terms.fallback)), kind, terms.scale)
    return _Vote(instead, f"{FALLBACK}{instead}")


def _opinion(said: Response, kind: Validation, scale: GradeScale) -> str:
    """Returns what a validator said. An answer that did not end by itself is none."""
    if said.text is None or said.ending == "refused":
        return REFUSED
    return read_opinion(kind, scale, said.text) if said.ending == "whole" else UNREAD


def _ask(commission: Commission, number: int, role: WriterRole, place: int, request: ChatRequest) -> Ask:
    return Ask(digest("generation call", [commission.id, number, role, place, request.payload()]), role, request)


def _seed(commission: Commission, number: int, place: int) -> int:
    return int(digest("generation seed", [commission.id, number, place])[:7], 16)


def _unusable(written: Response, text: str, *, fence: str) -> str:
    if not text.strip():
        return "the generator wrote nothing"
    if written.ending != "whole":
        return UNFINISHED[written.ending]
    if len(text) > LONGEST_TEXT:
        return f"the generator did not stop: {len(text):,} characters; the limit is {LONGEST_TEXT:,}"
    if fence in text:
        return "the generator repeated marks of its prompt"
    return ""


def _results(commission: Commission, text: str, others: Sequence[str]) -> tuple[CheckResult, ...]:
    written_anew = commission.perturbation.expectation == "given-label"
    original = "" if written_anew else commission.source.candidates[0]
    # The driver may know more texts; what the generator was shown, it must not repeat in any case.
    known = (commission.source.candidates[0], *commission.examples) if written_anew else ()
    made = Made(original, text, commission.source.task, commission.target, tuple(dict.fromkeys((*known, *others))))
    return tuple(
        CheckResult(check.name, check.passed(made), check.found(made), check.allowed)
        for check in commission.perturbation.checks
    )


def _wanted(commission: Commission) -> str:
    return SAME if commission.perturbation.validation == "same-grade" else commission.target


GIVEN = "none: the text was written elsewhere"
"""What a record calls the generator of a text that no model has written here."""


def _stimulus(commission: Commission, settled: Attempt, agreeing: int) -> Stimulus:
    source = commission.source
    kept = commission.perturbation.expectation == "same-verdict"
    gold, gold_from = (source.gold, source.gold_from) if kept else (commission.target, _CONSTRUCTED)
    evidence = {f"check {result.check}": result.found for result in settled.checks}
    model = commission.generator.words
    asked = f"{model}, temperature {settled.temperature:g}, attempt {settled.number + 1}"
    evidence |= {"generator": GIVEN if commission.given else asked, "commission": commission.id}
    if commission.examples:
        evidence["examples"] = f"{len(commission.examples)} shown to the generator, graded {commission.example_label}"
    if commission.perturbation.validation != "none":
        said = ", ".join(settled.opinions)
        terms = commission.terms
        whom = terms.validator.words + (f", else {terms.fallback.words}" if terms.fallback else "")
        evidence["validators"] = f"{whom}: {agreeing} of {len(settled.opinions)} agree ({said})"
    return Stimulus(
        task_id=source.task_id,
        task=source.task,
        candidates=(settled.text,),
        expectation=commission.expectation,
        maker=commission.perturbation.maker,
        family=commission.perturbation.name,
        parent=source.id,
        gold=gold,
        gold_from=gold_from,
        evidence=evidence,
        strata=source.strata,
        columns=source.columns,
    )


_CONSTRUCTED: GoldSource = "construction"


# Responses that a model writes to the tasks of a dataset, where the dataset has tasks only.
#
# A protocol without I/O, as for every other text that a model writes. What came back is an outcome: a text as the model
# wrote it, a refusal in its own words included, or the reason why the row has no response. It is asked for once.

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
