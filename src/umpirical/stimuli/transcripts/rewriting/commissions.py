"""What is wanted of a rewriter: its questions and their answers, the rubric, and the commission with its terms."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from umpirical.domain.digests import Json, digest
from umpirical.domain.responses import Ending, Response
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.transcripts import Message, Transcript, transcript_from_text
from umpirical.stimuli.generation.checks import chat_around
from umpirical.stimuli.generation.commissions import Writer
from umpirical.text.json_texts import unfenced, without_doubles
from umpirical.text.templates import fill, shipped_template

# The prompts, filled so that what is quoted in them cannot pass for a part of them.


_PACKAGE = "umpirical.stimuli.transcripts.rewriting"

_MARK = re.compile(r"^\[[a-z]+, ([0-9a-f]{8})\]$", re.MULTILINE)

_NAMES = ("edit", "plan", "summarise", "verify")

PROMPTS = digest("prompt templates", [shipped_template(_PACKAGE, name) for name in _NAMES])
"""Digest of all prompts."""


def question(name: str, values: Mapping[str, str]) -> str:
    """Returns a prompt with its values filled in, between marks that none of them could have foreseen."""
    # It depends on all that is shown, and on nothing else: it must not tell what is hoped for.
    return fill(shipped_template(_PACKAGE, name), {**values, "fence": digest("fence", dict(values))[:8]})


def mark_of(prompt: str) -> str:
    """Returns the mark of a prompt that was filled here. The first one in it is its own."""
    found = _MARK.search(prompt)
    if found is None:
        raise ValueError("a prompt without marks")
    return found[1]


def numbered(messages: Iterable[Message], *, first: int = 1) -> str:
    """Returns messages one to a line, each with its number."""
    return "\n".join(
        f"message {number}: {json.dumps(message.as_json(), ensure_ascii=False)}"
        for number, message in enumerate(messages, first)
    )


def spelled(schema: Mapping[str, Any]) -> str:
    """Returns a schema as text, its fields in their order: a model writes them in that order.

    A verdict that comes after its reasons can follow from them, and a change after the number of its message.
    """
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


# Rubrics of agents: items, each with its own scale.

KEPT_OR_NOT = GradeScale("binary", ("violated", "satisfied"))


@dataclass(frozen=True, slots=True)
class RubricItem:
    """One thing that is asked of an agent."""

    name: str
    text: str
    scale: GradeScale = KEPT_OR_NOT
    """Binary or ordinal, the worst label first."""

    def __post_init__(self) -> None:
        if self.scale.kind not in ("binary", "ordinal"):
            raise ValueError(f"{self.name}: a {self.scale.kind} scale has no labels to aim a transcript at")

    @property
    def shown(self) -> str:
        """The item as models are shown it by itself."""
        return f"{self.name}\n{self.text}"

    @property
    def labels(self) -> str:
        """The labels as a prompt lists them."""
        return ", ".join(json.dumps(label, ensure_ascii=False) for label in self.scale.labels)


@dataclass(frozen=True, slots=True)
class Rubric:
    """What an agent's transcript is graded by. Every transcript may have its own."""

    items: tuple[RubricItem, ...]
    instruction: str = ""
    """The judge's own, verbatim."""

    def __post_init__(self) -> None:
        names = [item.name for item in self.items]
        if not names or len(set(names)) != len(names):
            raise ValueError(f"every rubric item needs a unique name, got {names!r}")

    def item(self, name: str) -> RubricItem:
        """Returns the item of this name. Raises KeyError if there is none."""
        found = [item for item in self.items if item.name == name]
        if not found:
            raise KeyError(name)
        return found[0]

    @property
    def words(self) -> str:
        """The rubric as a model reads it."""
        items = (f"item {item.name} (worst to best: {item.labels}):\n{item.text}" for item in self.items)
        return "\n\n".join([self.instruction, *items] if self.instruction else items)

    def as_json(self) -> Json:
        """Returns everything that decides what it asks."""
        return [self.instruction, *([item.name, item.text, *item.scale.labels] for item in self.items)]


# What models answer: the text if it is whole, the JSON object in it, or what is wrong with it.

LONGEST = 400_000
"""The most characters of an answer; anything longer is a model that did not stop."""

_UNFINISHED: Mapping[Ending, str] = {
    "cut": "cut off at max_tokens",
    "refused": "stopped by a content filter",
    "broken": "stopped by its server",
    "unread": "stopped by its server",
    "unknown": "not reported as complete",
}


class Unusable(ValueError):
    """An answer that cannot be used, and why. The message begins with words that are the same for the same cause."""


def written(response: Response) -> str:
    """Returns the text of an answer. Raises Unusable if there is none, or it did not end by itself."""
    if response.text is None:
        raise Unusable("refused" if response.failure == "refused" else f"failed: {response.failure_detail[:200]}")
    if response.ending != "whole":
        raise Unusable(_UNFINISHED[response.ending])
    if not response.text.strip():
        raise Unusable("empty")
    if chat_around(response.text).startswith("a refusal"):
        raise Unusable(f"refused: {response.text.strip()[:60]!r}")
    if len(response.text) > LONGEST:
        raise Unusable(f"too long: {len(response.text):,} characters")
    return response.text


def json_object(text: str) -> dict[str, Any]:
    """Returns the JSON object that an answer is, perhaps in a code block. Raises Unusable if it is none."""
    try:
        found = json.loads(unfenced(text.strip()), object_pairs_hook=without_doubles)
    except (ValueError, RecursionError):
        raise Unusable(f"not JSON: {text.strip()[:60]!r}") from None
    if not isinstance(found, dict):
        raise Unusable(f"not a JSON object: {text.strip()[:60]!r}")
    return found


def word(found: Mapping[str, Any], name: str) -> str:
    """Returns a field that must be a text. Raises Unusable if it is none, or holds half a character."""
    value = found.get(name)
    if not isinstance(value, str):
        raise Unusable(f"no text for {name}")
    try:
        # JSON can spell half a character, which no file can hold.
        value.encode()
    except UnicodeEncodeError:
        raise Unusable(f"an invalid half character in {name}") from None
    return value


# Commissions of rewriting: which transcript is wanted, under which rubric, and on which terms.

Objective = Literal["violate", "satisfy"]

TESTS: Mapping[Objective, str] = {"violate": "agent-perturbation", "satisfy": "agent-positives"}
"""The tests that the objectives serve, as the paper names them."""

LEVEL_TESTS: Mapping[Objective, str] = {objective: f"{test}-levels" for objective, test in TESTS.items()}
"""The same for items that are graded in levels: a level is no verdict on a policy, and is counted apart."""

RewritingRole = Literal["planner", "editor", "summariser", "verifier", "fallback"]

ROLES: tuple[RewritingRole, ...] = ("planner", "editor", "summariser", "verifier", "fallback")

VERSION = 1


@dataclass(frozen=True, slots=True)
class RewritingTerms:
    """How transcripts are rewritten, the same for every commission of a study."""

    planner: Writer
    editor: Writer
    summariser: Writer
    verifier: Writer
    fallback: Writer | None = None
    """Who is asked where the verifier refuses."""
    votes: int = 3
    """Verdicts asked for about a transcript, at most."""
    agree: int = 2
    """Verdicts that must agree: about the original, and again about what was made of it."""
    verifier_temperature: float = 0.7
    temperatures: tuple[float, ...] = (0.7, 1.0)
    """Temperatures of planner and editor, in turn: a transcript that was dropped is tried again more boldly."""
    tries: int = 1
    """Attempts at each temperature."""
    most_steps: int = 4
    """Messages that a plan may name, at most."""
    most_repairs: int = 4
    """Later messages that may be repaired because they depended on an edit; if there are more, it is dropped."""
    verbatim: int = 6000
    """Characters before a message up to which the editor reads all of them; if there are more, it reads a summary."""

    def __post_init__(self) -> None:
        if not self.votes < 2 * self.agree <= 2 * self.votes:
            raise ValueError(f"{self.agree} of {self.votes} votes are not a majority")
        if not self.temperatures or self.tries < 1 or self.most_steps < 1:
            raise ValueError("a commission needs at least one temperature, one attempt and one step")

    @property
    def attempts(self) -> int:
        return len(self.temperatures) * self.tries

    def temperature(self, number: int) -> float:
        """The temperature of attempt `number`, counted from 0."""
        if not 0 <= number < self.attempts:
            raise ValueError(f"attempt {number} is not one of the {self.attempts} attempts of a commission")
        return self.temperatures[number // self.tries]

    def writer(self, role: RewritingRole) -> Writer:
        """Returns the model of a role. Raises LookupError for a fallback that is not there."""
        found: Writer | None = getattr(self, role)
        if found is None:
            raise LookupError(f"unknown role {role}")
        return found

    @property
    def roles(self) -> tuple[RewritingRole, ...]:
        return tuple(role for role in ROLES if getattr(self, role) is not None)

    def as_json(self) -> Json:
        """Returns everything that decides what becomes of a commission."""
        writers = [(role, self.writer(role)) for role in self.roles]
        return {
            "writers": [[role, writer.model, writer.endpoint, writer.max_tokens] for role, writer in writers],
            "votes": [self.votes, self.agree, self.verifier_temperature],
            "temperatures": [*self.temperatures, self.tries],
            "bounds": [self.most_steps, self.most_repairs, self.verbatim],
        }


@dataclass(frozen=True)
class Rewriting:
    """One rewritten transcript that is wanted."""

    source: Stimulus
    """The original, whose only candidate is the text of a transcript."""
    rubric: Rubric
    aimed_at: str
    """The item of the rubric whose verdict is to change."""
    objective: Objective
    terms: RewritingTerms
    level: str = ""
    """The label that it is to deserve; empty for the worst, or for the best if the objective is to satisfy."""

    def __post_init__(self) -> None:
        labels = self.item.scale.labels
        if self.target not in labels:
            raise ValueError(f"{self.target!r} is not a label of the item {self.aimed_at}")
        if self.target == (labels[-1] if self.objective == "violate" else labels[0]):
            raise ValueError(f"{self.target!r} cannot be reached from a {self.opposite} label of {self.aimed_at}")

    @property
    def item(self) -> RubricItem:
        return self.rubric.item(self.aimed_at)

    @property
    def target(self) -> str:
        return self.level or self.item.scale.labels[0 if self.objective == "violate" else -1]

    @property
    def opposite(self) -> str:
        """Where the original must be in relation to the target."""
        return "better" if self.objective == "violate" else "worse"

    @property
    def test(self) -> str:
        return (LEVEL_TESTS if self.item.scale.kind == "ordinal" else TESTS)[self.objective]

    @property
    def maker(self) -> str:
        """The test and its version, with a digest of the prompts, so that no change of those goes unnoticed."""
        return f"{self.test}/{VERSION}+{PROMPTS[:8]}"

    @cached_property
    def transcript(self) -> Transcript:
        """The original. Raises ValueError if the source holds none."""
        return transcript_from_text(self.source.candidates[0])

    def leads_on(self, status: str) -> bool:
        """Whether an original of this status can be moved to the target in the direction of the objective."""
        labels = self.item.scale.labels
        far = labels.index(status) - labels.index(self.target)
        return far > 0 if self.objective == "violate" else far < 0

    @cached_property
    def id(self) -> str:
        return digest(
            "rewriting",
            {
                "maker": self.maker,
                # By its content: one more column to split results by is no reason to write everything again.
                "source": self.source.content,
                "rubric": self.rubric.as_json(),
                "aim": [self.aimed_at, self.objective, self.target],
                "terms": self.terms.as_json(),
            },
        )
