"""Items, the stimuli made from them, attempts to write them, and the gates that a stimulus set must pass."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Literal

from umpirical.domain.digests import Json, digest


class Family(StrEnum):
    """The families of stimuli that measures know by name.

    A member is its text: it compares, hashes, sorts and is written as that text. The family of a stimulus made by a
    stress test is the name of its perturbation.
    """

    BLANK = "blank"
    """Nothing to compare or to grade: empty, blank or identical candidates."""
    EQUAL = "equal"
    """Two answers of equal quality that differ in form."""
    GRADED = "graded"
    """Two answers, one of which meets more of what was asked for."""
    FIGURES = "figures"
    """Two answers, one of which has more of the figures right."""
    SUBSET = "equal-subset"
    """Two answers, each of which meets a requirement that the other does not."""
    LENGTH = "length"
    """Two answers of equal content, one of them longer."""
    FINE = "fine"
    """Two long answers, one of which has a few details wrong that have to be worked out."""
    CONFLICT = "conflict"
    """Two answers, the longer of which meets one requirement fewer."""
    OWN_GRADED = "own-graded"
    """A real answer from the user, and the same with claims deleted or corrupted."""
    OWN_EQUAL = "own-equal"
    """A real answer from the user in two layouts."""
    OWN_FIGURES = "own-figures"
    """A real answer from the user and the same with other figures, each right under one version of its context."""
    ORIGINAL = "original"
    """The user's own responses, unchanged: every changed version is compared with its original."""


TIER_2 = frozenset({Family.OWN_GRADED, Family.OWN_EQUAL, Family.OWN_FIGURES})
"""Families made from the user's own answers. No measure pools them with those made from templates."""


ORIGINAL = Family.ORIGINAL


@dataclass(frozen=True)
class Item:
    """One of the user's examples: a task, a response to it, and what is known about it."""

    task: str
    """The request that was answered."""
    response: str
    labels: tuple[str, ...] = ()
    """Reference label(s), as text."""
    strata: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The values by which the user wants results to be split."""
    name: str = ""
    """The user's name for it: an id column, or else the file and the row."""
    cluster: str = ""
    """Items of one cluster are not independent of each other; empty for an independent item."""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Other columns that a judge names, such as a reference answer."""

    @cached_property
    def id(self) -> str:
        return digest(
            "item",
            _named(self.columns)
            | {
                "task": self.task,
                "response": self.response,
                "labels": self.labels,
                "strata": dict(self.strata),
                "name": self.name,
                "cluster": self.cluster,
            },
        )


@dataclass(frozen=True, slots=True)
class NoPreference:
    """The candidates are equally good: a tie is right, any preference is false."""

    kind: Literal["no-preference"] = "no-preference"


@dataclass(frozen=True, slots=True)
class GivenWinner:
    """One candidate is better by construction."""

    candidate: int
    """Index into the stimulus's candidates."""
    kind: Literal["given-winner"] = "given-winner"


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """The right label is known."""

    label: str
    kind: Literal["given-label"] = "given-label"


@dataclass(frozen=True, slots=True)
class SameVerdict:
    """The judge's verdict on the parent stimulus should not change."""

    kind: Literal["same-verdict"] = "same-verdict"


@dataclass(frozen=True, slots=True)
class FlippedVerdict:
    """The judge's verdict on the parent stimulus should change."""

    kind: Literal["flipped-verdict"] = "flipped-verdict"


GoldSource = Literal["label", "construction", "review"]
"""Where a gold label comes from: the user's own label, how the stimulus was made, or a reviewer's decision. A
validator's opinion is evidence, and never gold."""

Expectation = NoPreference | GivenWinner | GivenLabel | SameVerdict | FlippedVerdict


def expectation_json(expectation: Expectation) -> dict[str, Json]:
    match expectation:
        case GivenWinner(candidate=candidate):
            return {"kind": expectation.kind, "candidate": candidate}
        case GivenLabel(label=label):
            return {"kind": expectation.kind, "label": label}
        case NoPreference() | SameVerdict() | FlippedVerdict():
            return {"kind": expectation.kind}


def expectation_from_json(record: Mapping[str, object]) -> Expectation:
    match record:
        case {"kind": "given-winner", "candidate": int(candidate)}:
            return GivenWinner(candidate)
        case {"kind": "given-label", "label": str(label)}:
            return GivenLabel(label)
        case {"kind": "no-preference"}:
            return NoPreference()
        case {"kind": "same-verdict"}:
            return SameVerdict()
        case {"kind": "flipped-verdict"}:
            return FlippedVerdict()
        case _:
            raise ValueError(f"invalid expectation: {record!r}")


@dataclass(frozen=True)
class Stimulus:
    """Something to show a judge, how it was made, and the expectation it carries."""

    task_id: str
    """The task it belongs to."""
    task: str
    """The task as the judge reads it."""
    candidates: tuple[str, ...]
    """Two contents, a and b in canonical order, for a `compare` judge; one for a `grade` judge."""
    expectation: Expectation
    maker: str
    """What made it, with its version: `ladder/1`."""
    family: str
    """What it measures: a `Family`, or the stress test that made it."""
    stratum: str = ""
    """The part of its family that it belongs to: a vacuum class, a surface transform."""
    delta: float | None = None
    """Quality difference between the candidates, in requirements. None if the design plants none."""
    base: float | None = None
    """Quality level of the lesser candidate, in requirements."""
    parent: str = ""
    """Id of the item or stimulus it was made from; empty for a controlled stimulus."""
    gold: str = ""
    """The correct label, if one is known."""
    gold_from: GoldSource | None = None
    evidence: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The evidence for it, by kind: a proof by a program, checks that it passed, what validators said."""
    strata: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The strata of the item it was made from."""
    task_family: str = ""
    """The family of its task; empty for the user's own data."""
    crossed_pair: str = ""
    """The crossed pair it belongs to: two texts, shown under two versions of a task; empty outside a crossed ladder."""
    version: str = ""
    """Which of the two versions of the task it shows."""
    columns: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Other columns of the item it was made from, which some judge names. A judge is shown those that it names."""
    parts: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The part of the test cases that its task belongs to, by kind: format, language, domain. It is not in the id: it
    changes nothing that a judge is shown."""

    @cached_property
    def id(self) -> str:
        return digest(
            "stimulus",
            self._own_data()
            | self._place()
            | _named(self.columns)
            | {
                "task_id": self.task_id,
                "task": self.task,
                "candidates": self.candidates,
                "expectation": expectation_json(self.expectation),
                "maker": self.maker,
                "family": self.family,
                "stratum": self.stratum,
                "delta": None if self.delta is None else float(self.delta),
                "base": None if self.base is None else float(self.base),
                "parent": self.parent,
            },
        )

    @property
    def cluster(self) -> str:
        """What its statistics are clustered by: tasks of one family are not independent of each other."""
        return self.task_family or self.task_id

    @property
    def twin(self) -> str:
        """The task without its version: the versions of a task show the same texts."""
        return self.task_id.removesuffix(f".{self.version}") if self.version else self.task_id

    @cached_property
    def content(self) -> str:
        """Digest of what a judge is shown: the same for texts that differ only in what is known about them."""
        return digest("content", _named(self.columns) | {"task": self.task, "candidates": self.candidates})

    @property
    def levels(self) -> tuple[float, ...]:
        """The quality of each candidate, by construction. Blank candidates meet nothing."""
        base, delta = self.base or 0.0, self.delta or 0.0
        winner = self.expectation.candidate if isinstance(self.expectation, GivenWinner) else None
        return tuple(base + delta if place == winner else base for place in range(len(self.candidates)))

    def _place(self) -> dict[str, Json]:
        """Returns where it stands among the families and crossed pairs, for a stimulus that stands in one."""
        place = {"task_family": self.task_family, "crossed_pair": self.crossed_pair, "version": self.version}
        return {name: value for name, value in place.items() if value}

    def _own_data(self) -> dict[str, Json]:
        """Returns the fields that only stimuli of the user's own data have, so that controlled ones keep their ids."""
        if not (self.gold or self.gold_from or self.evidence or self.strata):
            return {}
        return {
            "gold": self.gold,
            "gold_from": self.gold_from,
            "evidence": dict(self.evidence),
            "strata": dict(self.strata),
        }


def _named(columns: Mapping[str, str]) -> dict[str, Json]:
    """Returns the columns for a digest; nothing where there are none, so that what has none keeps its id."""
    return {"columns": dict(columns)} if columns else {}


# Attempts: the results of asking a generator for a stimulus, including rejected ones.


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check found."""

    check: str
    passed: bool
    found: str
    allowed: str


@dataclass(frozen=True, slots=True)
class Attempt:
    """A settled attempt."""

    commission: str
    """Id of the stimulus that was wanted."""
    test: str
    number: int
    """Counted from 0 in its commission."""
    temperature: float
    text: str
    """What the generator wrote; empty if it refused."""
    checks: tuple[CheckResult, ...]
    opinions: tuple[str, ...]
    """What each validator said: a grade, `same`, `different`, or why its answer could not be read."""
    rejected: str
    """Why it did not become a stimulus; empty if it did."""
    stimulus: Stimulus | None
    """Set exactly if it was not rejected."""

    def __post_init__(self) -> None:
        if (self.stimulus is None) != bool(self.rejected):
            raise ValueError("an attempt needs either a stimulus or a reason for rejection")


# Gates: what a stimulus set must satisfy before it may measure anything.


@dataclass(frozen=True, slots=True)
class GateResult:
    """The result of one gate."""

    name: str
    """For example `lengths-match` or `trivial-judges`."""
    passed: bool
    found: str
    """What was found, in words, with counts."""
    allowed: str
    """What would pass."""
    blocks: bool = True
    """If False, the result is only reported, and prevents nothing."""
