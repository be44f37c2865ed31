"""Verification: verdicts of a model that sees the rubric and the whole transcript, and neither the plan nor the aim."""

import json
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from umpirical.domain.responses import Response
from umpirical.domain.transcripts import Transcript
from umpirical.stimuli.generation.giveaways import chat_around
from umpirical.stimuli.transcripts.rewriting.answers import Unusable, json_object, word, written
from umpirical.stimuli.transcripts.rewriting.commissions import Rewriting
from umpirical.stimuli.transcripts.rewriting.questions import object_schema, question, spelled
from umpirical.stimuli.transcripts.rewriting.rubric import Rubric, RubricItem

Trouble = Literal["unread", "refused", "failed"]
"""Why there is no verdict: the answer could not be read, was refused, or the call failed."""

By = Literal["verifier", "fallback"]

LONGEST_WHY = 1_000


@dataclass(frozen=True, slots=True)
class Vote:
    """What was said about a transcript."""

    status: str | None
    """A label of the item; None if there is no verdict, which agrees with nothing."""
    why: str = ""
    by: By = "verifier"
    trouble: Trouble | None = None
    """Set exactly if there is no verdict."""

    def __post_init__(self) -> None:
        if (self.status is None) != (self.trouble is not None):
            raise ValueError("a vote is a verdict, or there is a reason why not")

    @property
    def word(self) -> str:
        """The verdict, or why there is none, marked so that it passes for no label."""
        return self.status if self.status is not None else f"({self.trouble})"


@dataclass(frozen=True, slots=True)
class Asked:
    """One verdict that is asked for."""

    by: By
    place: int
    """Which of the votes it is, counted from 0."""
    prompt: str
    schema: str


def verifier_prompt(commission: Rewriting, transcript: Transcript) -> str:
    return question(
        "verify",
        {
            "rubric": commission.rubric.words,
            "transcript": transcript.text,
            "item": commission.item.shown,
            "scale": commission.item.labels,
            "name": json.dumps(commission.item.name, ensure_ascii=False),
        },
    )


def vote_schema(rubric: Rubric, item: RubricItem) -> str:
    """JSON Schema of a verdict. Every item of the rubric may be named, so that an answer about another one shows."""
    return spelled(
        object_schema(
            {
                "item": {"type": "string", "enum": [each.name for each in rubric.items]},
                "why": {"type": "string"},
                "status": {"type": "string", "enum": list(item.scale.labels)},
            }
        )
    )


def verifying(commission: Rewriting, transcript: Transcript) -> Generator[Asked, Response, tuple[Vote, ...]]:
    """Asks for one verdict after the other, until they decide. Where the verifier refuses, its fallback is asked."""
    terms, votes = commission.terms, list[Vote]()
    prompt, schema = verifier_prompt(commission, transcript), vote_schema(commission.rubric, commission.item)
    while not _decided(votes, terms.votes, terms.agree):
        said = read_vote((yield Asked("verifier", len(votes), prompt, schema)), commission.item)
        if said.trouble == "refused" and terms.fallback is not None:
            said = read_vote((yield Asked("fallback", len(votes), prompt, schema)), commission.item, by="fallback")
        votes.append(said)
    return tuple(votes)


def agreed(votes: Sequence[Vote], *, agree: int) -> str | None:
    """Returns the label on which enough votes agree; None if there is none."""
    label, count = _leading(votes)
    return label if count >= agree else None


def read_vote(response: Response, item: RubricItem, *, by: By = "verifier") -> Vote:
    """Returns what was said about an item. Whatever is no verdict on this very item is no vote, and never a pass."""
    if response.text is None:
        declined = response.failure in ("refused", "rejected")
        return Vote(None, response.failure_detail[:LONGEST_WHY], by, "refused" if declined else "failed")
    if response.ending == "refused" or chat_around(response.text).startswith("a refusal"):
        return Vote(None, response.text[:LONGEST_WHY], by, "refused")
    try:
        status, why = _verdict(json_object(written(response)), item)
    except Unusable as problem:
        return Vote(None, str(problem)[:LONGEST_WHY], by, "unread")
    return Vote(status, why[:LONGEST_WHY], by)


def _verdict(found: Mapping[str, Any], item: RubricItem) -> tuple[str, str]:
    """Returns the label that was given, and the reason."""
    if found.keys() != {"item", "status", "why"}:
        raise Unusable("other fields than asked for")
    if word(found, "item") != item.name:
        raise Unusable("a verdict on another item")
    # A label of figures may be a JSON number.
    number = type(found["status"]) is int
    status = str(found["status"]) if number else word(found, "status")
    alike = [label for label in item.scale.labels if label.casefold() == status.casefold()]
    if status not in alike and len(alike) != 1:
        raise Unusable(f"no such verdict: {status[:60]!r}")
    return status if status in alike else alike[0], word(found, "why")


def _decided(votes: Sequence[Vote], most: int, agree: int) -> bool:
    _, count = _leading(votes)
    return count >= agree or count + most - len(votes) < agree


def _leading(votes: Sequence[Vote]) -> tuple[str, int]:
    counts = Counter(vote.status for vote in votes if vote.status is not None)
    return counts.most_common(1)[0] if counts else ("", 0)
