"""Drafts a family of tasks from a rubric with a model. A program lists the problems; a person must review the draft."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import ConfigError, UmpiricalError, UsageError
from umpirical.domain.responses import Ending, Response
from umpirical.models.money import CapReached, Meter, Pricer, most_input_tokens
from umpirical.models.prices import UNPRICED, WorstCase
from umpirical.models.requests import ChatRequest, Decoding, Message, Model
from umpirical.models.spec import Calling, ModelSpec, adapter_for, open_model
from umpirical.runs.loop import run_on_loop
from umpirical.stimuli.controlled.drafts import DRAFT_COUNTS, draft_data, draft_problems, read_draft
from umpirical.stimuli.controlled.family_files import Family
from umpirical.store.files import read_named_text, write_text
from umpirical.store.yaml_files import dump_yaml
from umpirical.text.problems import plain_problem
from umpirical.text.templates import fill

ROUNDS = 3
"""Most calls: one for the draft, and two for corrections."""

MAX_TOKENS = 12_000
"""Limit for one reply. Five requirements take some 4,000; a model that reasons before it writes needs the rest."""

MAX_RUBRIC = 50_000
"""Most bytes of a rubric."""

BYTES_PER_TOKEN = 6
"""Most bytes per token of a reply, if it is to be sent back for correction."""

MAX_PROBLEMS = 4_000
"""Most bytes of problems that are sent back at a time."""

TIMEOUT = 600.0
"""Seconds: a whole family takes a while to write."""

UNFINISHED: Mapping[Ending, str] = {
    "cut": "the reply was cut off: raise --max-tokens",
    "refused": "the reply was stopped by a content filter",
    "broken": "the server stopped before the reply was complete",
    "unread": "the server stopped before the reply was complete",
    "unknown": "the server does not say whether the reply is complete",
}
"""What is wrong with a reply that did not end by itself."""


class DraftFailed(UmpiricalError):
    """Raised if no reply could be read as a family. The replies are kept."""

    exit_code = 5


@dataclass(frozen=True, slots=True)
class Draft:
    """A family as a model wrote it, and what a program finds wrong with it."""

    family: Family
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply of the model, as it came."""

    response: Response
    problems: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        response = self.response
        return {
            "text": response.text,
            "failure": response.failure,
            "failure_detail": response.failure_detail,
            "finish_reason": response.finish_reason,
            "served_by": response.served_by,
            "sent": response.sent,
            "cost": None if response.cost is None else str(response.cost),
            "price_table": response.price_table,
            "asked_at": response.asked_at,
            "problems": list(self.problems),
        }


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """What drafting may take."""

    calls: int
    input_tokens: int
    """Most input tokens of the first call."""
    at_most: Decimal | None
    """US dollars; None if no price is known."""


def read_rubric(path: Path) -> str:
    return read_named_text(path, name=f"rubric {path}", most=MAX_RUBRIC)


def drafting_model(name: str, *, base_url: str | None = None, api_key_env: str | None = None) -> ModelSpec:
    """Returns a model, named as for a judge: on an OpenAI-compatible server, or provider/model through Inspect."""
    if name.startswith("simulated:"):
        raise UsageError(
            "a simulated judge cannot draft tasks", fix="name a model, as provider/model or with --base-url"
        )
    if base_url is None and "/" not in name:
        raise UsageError(f"no provider for model {name}", fix=f"use --model provider/{name} or --base-url URL")
    adapter = adapter_for(base_url=base_url)
    where = {"base_url": base_url, "api_key_env": api_key_env, "timeout": TIMEOUT}
    try:
        return ModelSpec.model_validate({"adapter": adapter, "name": name, **where})
    except ValidationError as error:
        problem = error.errors()[0]
        raise UsageError(f"--model {name}: {plain_problem(problem)}") from None


def plan_draft(spec: ModelSpec, rubric: str, pricer: Pricer, *, rounds: int, max_tokens: int) -> DraftPlan:
    """Returns the most that drafting may take: every round at its worst."""
    first = _request(spec, rubric, None, max_tokens)
    longest = ("x" * (max_tokens * BYTES_PER_TOKEN), "x" * (MAX_PROBLEMS + 100))
    again = _request(spec, rubric, longest, max_tokens)
    worst = WorstCase()
    for request, times in ((first, 1), (again, rounds - 1)):
        worst.add(None if pricer is UNPRICED else pricer.worst(request), spec, times=times)
    return DraftPlan(rounds, most_input_tokens(first), worst.at_most)


def draft_family(
    spec: ModelSpec,
    rubric: str,
    meter: Meter,
    *,
    rounds: int = ROUNDS,
    max_tokens: int = MAX_TOKENS,
    keep: Callable[[Reply], None] = lambda _: None,
) -> Draft:
    """Asks for a draft, and for a better one as long as a program finds something wrong; returns the best.

    `keep` receives every reply as soon as it arrives. Raises DraftFailed if none of them is a family.
    """

    async def ask() -> Draft:
        model = open_model(spec, Calling(1, meter))
        try:
            return await _drafted(model, spec, rubric, rounds, max_tokens, keep)
        finally:
            await model.close()

    return run_on_loop(ask())


def append_reply(path: Path, reply: Reply) -> None:
    """Appends a reply, unchanged, as one line: replies are paid for, so none is lost."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(reply.as_json()) + "\n")


def write_draft(draft: Draft, path: Path, *, by: str, rubric: str) -> Path | None:
    """Writes the draft, marked as not reviewed, and its problems to a file beside it; returns that file, if any."""
    # Only the parsed family goes into the file: no comment, key or tag that the model added.
    head = (
        f"# Drafted by {_line(by)} from {_line(rubric)}. It is not used until a person has read and corrected it,\n"
        "# and has set reviewed: true.\n"
    )
    write_text(path, head + dump_yaml(draft_data(draft.family)))
    list_file = path.with_suffix(".problems.txt")
    if not draft.problems:
        list_file.unlink(missing_ok=True)
        return None
    write_text(list_file, "".join(f"- {_line(problem)}\n" for problem in draft.problems))
    return list_file


async def _drafted(
    model: Model, spec: ModelSpec, rubric: str, rounds: int, max_tokens: int, keep: Callable[[Reply], None]
) -> Draft:
    best: Draft | None = None
    wrong: tuple[str, str] | None = None
    why = ""
    for turn in range(rounds):
        request = _request(spec, rubric, wrong, max_tokens)
        try:
            response = await model.generate(request, trial_id=digest("draft", [request.payload(), turn]))
        except CapReached as reached:
            if best is None:
                raise
            return Draft(best.family, (*best.problems, f"it was not corrected further: {reached}"))
        found, problems = _read(response)
        keep(Reply(response, problems))
        if found is not None and (best is None or len(problems) < len(best.problems)):
            best = Draft(found, problems)
        if best is not None and response.failure:
            return Draft(best.family, (*best.problems, f"it was not corrected further: {problems[0]}"))
        if not problems or response.failure:
            why = "; ".join(problems)
            break
        why = problems[0]
        wrong = (_sendable(response.text or "", max_tokens), _listed(problems))
    if best is None:
        fix = "read the replies, then try again or use another model"
        raise DraftFailed(f"{spec.name} produced no draft: {why}", fix=fix)
    return best


def _request(spec: ModelSpec, rubric: str, wrong: tuple[str, str] | None, max_tokens: int) -> ChatRequest:
    """Returns the first call or, given a reply and its problems, the call to correct it."""
    template = (files("umpirical.stimuli.controlled") / "drafting.md").read_text(encoding="utf-8")
    values = {name: str(count) for name, count in DRAFT_COUNTS.items()}
    # A delimiter that no rubric can contain, since it depends on the whole text of the rubric.
    prompt = fill(template, {**values, "rubric": rubric, "fence": digest("fence", [rubric])[:8]})
    messages = [Message("user", prompt)]
    if wrong is not None:
        reply, problems = wrong
        again = f"A program found these problems in your draft:\n{problems}\nWrite the whole document again, corrected."
        messages += [Message("assistant", reply), Message("user", again)]
    return ChatRequest(spec.name, tuple(messages), Decoding(temperature=None, max_tokens=max_tokens))


def _read(response: Response) -> tuple[Family | None, tuple[str, ...]]:
    """Returns the family that a reply holds, if any, and the problems with it."""
    if response.text is None:
        return None, (f"there was no reply: {response.failure}: {response.failure_detail}",)
    cut = (UNFINISHED[response.ending],) if response.ending != "whole" else ()
    try:
        family = read_draft(response.text, name="the reply")
    except ConfigError as error:
        return None, (*cut, str(error))
    return family, (*cut, *draft_problems(family))


def _sendable(reply: str, max_tokens: int) -> str:
    """Returns the reply, or only a note if it is too long to be sent back under the cap."""
    size = len(reply.encode("utf-8", "surrogatepass"))
    return reply if size <= max_tokens * BYTES_PER_TOKEN else "(a reply that was too long)"


def _listed(problems: tuple[str, ...]) -> str:
    text = "\n".join(f"- {_line(problem)}" for problem in problems)
    raw = text.encode()
    return text if len(raw) <= MAX_PROBLEMS else f"{raw[:MAX_PROBLEMS].decode(errors='ignore')}\n- and more of the kind"


def _line(text: str) -> str:
    """Returns the text on one line, without anything that a terminal or a YAML comment could interpret."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
