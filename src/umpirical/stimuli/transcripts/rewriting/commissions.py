"""Commissions of rewriting: which transcript is wanted, under which rubric, and on which terms."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from umpirical.domain.digests import Json, digest
from umpirical.domain.stimuli import Stimulus
from umpirical.domain.transcripts import Transcript, transcript_from_text
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.transcripts.rewriting.questions import PROMPTS
from umpirical.stimuli.transcripts.rewriting.rubric import Rubric, RubricItem

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
            raise ValueError(f"{self.agree} of {self.votes} votes are no majority")
        if not self.temperatures or self.tries < 1 or self.most_steps < 1:
            raise ValueError("a commission needs at least one temperature, one try at it, and one step")

    @property
    def attempts(self) -> int:
        """How often a commission is tried before it is given up."""
        return len(self.temperatures) * self.tries

    def temperature(self, number: int) -> float:
        """The temperature of attempt `number`, counted from 0."""
        if not 0 <= number < self.attempts:
            raise ValueError(f"attempt {number} is not one of the {self.attempts} that a commission has")
        return self.temperatures[number // self.tries]

    def writer(self, role: RewritingRole) -> Writer:
        """Returns the model of a role. Raises LookupError for a fallback that is not there."""
        found: Writer | None = getattr(self, role)
        if found is None:
            raise LookupError(f"there is no {role}")
        return found

    @property
    def roles(self) -> tuple[RewritingRole, ...]:
        """The roles that are filled."""
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
            raise ValueError(f"{self.target!r} is no label of the item {self.aimed_at}")
        if self.target == (labels[-1] if self.objective == "violate" else labels[0]):
            raise ValueError(f"{self.target!r} cannot be reached from a {self.opposite} label of {self.aimed_at}")

    @property
    def item(self) -> RubricItem:
        return self.rubric.item(self.aimed_at)

    @property
    def target(self) -> str:
        """The label that the rewritten transcript is to deserve."""
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
