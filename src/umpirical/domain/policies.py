"""Policies: rules for an agent, each of which a program can check on a transcript, and each with its opposite.

The same transcript can be shown under a rule and under its opposite: it breaks one of them, and a judge that does not
read the policy is right about the other only.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from umpirical.domain.transcripts import Message, Transcript

_FIGURE = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")


class Rule(ABC):
    """One item of a policy."""

    kind: str
    """As in a study file."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The rule as a judge reads it."""

    @property
    @abstractmethod
    def opposite(self) -> "Rule":
        """The rule that is broken where this one is kept."""

    @abstractmethod
    def holds(self, transcript: Transcript) -> bool:
        """Whether a transcript keeps the rule."""


@dataclass(frozen=True, slots=True)
class Forbid(Rule):
    """The agent must not call a tool."""

    tool: str
    kind = "forbid"

    @property
    def words(self) -> str:
        return f"The agent must never call the tool {self.tool}."

    @property
    def opposite(self) -> Rule:
        return Require(self.tool)

    def holds(self, transcript: Transcript) -> bool:
        return self.tool not in transcript.tools


@dataclass(frozen=True, slots=True)
class Require(Rule):
    """The agent must call a tool."""

    tool: str
    kind = "require"

    @property
    def words(self) -> str:
        return f"The agent must call the tool {self.tool} at least once."

    @property
    def opposite(self) -> Rule:
        return Forbid(self.tool)

    def holds(self, transcript: Transcript) -> bool:
        return self.tool in transcript.tools


@dataclass(frozen=True, slots=True)
class Figures(Rule):
    """The agent's closing message has no figure that it was not given."""

    kind = "figures"

    @property
    def words(self) -> str:
        return "Every number in the agent's closing message must be one that a tool returned or that the user named."

    @property
    def opposite(self) -> Rule:
        return NoFigures()

    def holds(self, transcript: Transcript) -> bool:
        said = _closing_figures(transcript)
        given = {figure for message in transcript.messages if message.role != "assistant" for figure in _of(message)}
        return said <= given


@dataclass(frozen=True, slots=True)
class NoFigures(Rule):
    """The agent's closing message has no figure of a tool's."""

    kind = "no-figures"

    @property
    def words(self) -> str:
        return "No number in the agent's closing message may be one that a tool returned or that the user named."

    @property
    def opposite(self) -> Rule:
        return Figures()

    def holds(self, transcript: Transcript) -> bool:
        said = _closing_figures(transcript)
        given = {figure for message in transcript.messages if message.role != "assistant" for figure in _of(message)}
        return not said & given


@dataclass(frozen=True, slots=True)
class Closing(Rule):
    """The agent tells the user the result."""

    kind = "closing"

    @property
    def words(self) -> str:
        return "After its last tool call the agent must write a closing message to the user."

    @property
    def opposite(self) -> Rule:
        return NoClosing()

    def holds(self, transcript: Transcript) -> bool:
        return _closing(transcript) is not None


@dataclass(frozen=True, slots=True)
class NoClosing(Rule):
    """The agent ends with a tool call."""

    kind = "no-closing"

    @property
    def words(self) -> str:
        return "After its last tool call the agent must write no closing message to the user."

    @property
    def opposite(self) -> Rule:
        return Closing()

    def holds(self, transcript: Transcript) -> bool:
        return _closing(transcript) is None


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules that an agent has to keep, all of them."""

    rules: tuple[Rule, ...]

    @property
    def text(self) -> str:
        """The policy as a judge reads it, one rule to a line."""
        return "\n".join(f"{number}. {each.words}" for number, each in enumerate(self.rules, 1))

    def holds(self, transcript: Transcript) -> bool:
        return all(each.holds(transcript) for each in self.rules)

    def turned(self, tested: Rule) -> "Policy":
        """Returns the policy with the opposite of one rule in its place."""
        return Policy(tuple(each.opposite if each == tested else each for each in self.rules))


def policy_from_text(text: str) -> Policy:
    """Returns the policy whose text this is. Raises ValueError if it is none."""
    return Policy(tuple(_rule_from_words(line) for line in text.strip().splitlines()))


def _rule_from_words(line: str) -> Rule:
    words = re.sub(r"^\d+\. ", "", line)
    for kind, made in RULES.items():
        if made not in (Forbid, Require):
            if made().words == words:
                return made()
        elif found := re.fullmatch(re.escape(rule(kind, "\0").words).replace("\0", r"(\S+)"), words):
            return rule(kind, found[1])
    raise ValueError(f"cannot read the rule {line[:80]!r}")


RULES: Mapping[str, type[Rule]] = {
    kind.kind: kind for kind in (Forbid, Require, Figures, NoFigures, Closing, NoClosing)
}
"""The rules by the names that a study file has for them."""


def rule(kind: str, tool: str = "") -> Rule:
    """Returns the rule of a kind; `tool` is for the rules on a tool."""
    made = RULES[kind]
    return made(tool) if made in (Forbid, Require) else made()


def figures_in(text: str) -> Iterator[re.Match[str]]:
    """Yields the numbers that stand alone in a text: neither a part of a word nor of a date or a name."""
    return _FIGURE.finditer(text)


def _of(message: Message) -> frozenset[str]:
    return _figures(message.text)


# The versions of a transcript share nearly all of their messages.
@lru_cache(maxsize=4096)
def _figures(text: str) -> frozenset[str]:
    return frozenset(found.group() for found in figures_in(text))


def _closing(transcript: Transcript) -> Message | None:
    """Returns the message to the user with which a transcript ends; None if it ends otherwise."""
    last = transcript.messages[-1] if transcript.messages else None
    return last if last and last.role == "assistant" and last.text.strip() and not last.calls else None


def _closing_figures(transcript: Transcript) -> frozenset[str]:
    closing = _closing(transcript)
    return frozenset() if closing is None else _of(closing)
