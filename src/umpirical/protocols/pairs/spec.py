"""The study file for labeled pairs, and its policy."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import Field, model_validator

from umpirical.datasets.pairs import PairDatasetSpec, Side
from umpirical.protocols.protocol import Study, StudySpec
from umpirical.reports.checks import NO_VERDICT
from umpirical.reports.policy import Check, NamedPolicy, Shelf, shipped_policy
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, ProvedPerturbation
from umpirical.store.yaml_files import YamlDocument

ACCURACY, LEAN = "both-orders-accuracy", "position-lean"
AGREEMENT, BEYOND_LENGTH = "pair-agreement", "pair-agreement-beyond-length"

EDITS = ("inline-spacing", "markdown-or-plain")
"""Edits of spacing and of form, which most texts can be given."""


_SHIPPED = shipped_policy("umpirical.protocols.pairs", "pairs").data


class PairsPolicy(NamedPolicy):
    """Thresholds that a judge must meet. The defaults are conventions: set your own before you measure."""

    policy: str = Field(default=_SHIPPED["policy"], min_length=1, description="Name of the policy.")
    accuracy: float = Field(
        default=_SHIPPED["accuracy"],
        gt=0,
        lt=1,
        description="Minimum share of pairs with the right answer in both orders.",
    )
    agreement: float = Field(
        default=_SHIPPED["agreement"],
        gt=0,
        lt=1,
        description="Minimum agreement with the labels beyond chance: right minus wrong calls, as a share of all.",
    )
    beyond_length: float = Field(
        default=_SHIPPED["beyond_length"],
        gt=0,
        lt=1,
        description="The same, with equal weight for pairs whose longer answer is right and wrong.",
    )
    same_position: float = Field(
        default=_SHIPPED["same_position"],
        gt=0,
        lt=1,
        description="Maximum excess of one position over the other, as a share of calls.",
    )
    changes: float = Field(
        default=_SHIPPED["changes"],
        gt=0,
        lt=1,
        description="Maximum share of verdicts that harmless edits change, beyond the judge's own noise.",
    )
    without_verdict: float = Field(
        default=_SHIPPED["without_verdict"],
        gt=0,
        lt=1,
        description="Maximum share of unreadable replies, and of failed calls.",
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        """A policy with values of the user's own needs no name, and does not take that of the shipped one."""
        own = isinstance(given, dict) and any(given[name] != _SHIPPED.get(name) for name in given)
        return {"policy": Shelf.unnamed, **given} if own else given

    def checks(self, changes: str) -> tuple[Check, ...]:
        """Returns the checks. `changes` is the measure of what edits change."""
        return (
            Check(measure=ACCURACY, at_least=self.accuracy),
            Check(measure=AGREEMENT, at_least=self.agreement),
            Check(measure=BEYOND_LENGTH, at_least=self.beyond_length),
            Check(measure=LEAN, at_most=self.same_position),
            Check(measure=changes, at_most=self.changes),
            *(Check(measure=name, at_most=self.without_verdict) for name in NO_VERDICT),
        )


class PairsShelf(Shelf[PairsPolicy]):
    """Policies that set the values of a shipped one."""

    file = PairsPolicy

    def resolved(self, document: YamlDocument) -> PairsPolicy:
        return PairsPolicy.model_validate(document.data)


SHELF = PairsShelf("umpirical.protocols.pairs", "pairs", of="labeled pairs")


class PairsStudySpec(StudySpec):
    """A study of comparing judges on labeled pairs of answers."""

    dataset: PairDatasetSpec = Field(description="Pairs of answers, one of which was chosen.")
    edits: tuple[str, ...] = Field(
        default=EDITS,
        description="Harmless formatting edits, each made by a program in one answer of a pair.",
    )
    sides: tuple[Side, ...] = Field(
        default=("chosen", "rejected"), min_length=1, description="Answers to edit, one at a time."
    )
    policy: PairsPolicy = Field(default=PairsPolicy(), description="Acceptance policy.")

    @model_validator(mode="after")
    def _compared(self) -> "PairsStudySpec":
        if SHELF.forgery(self.policy):
            raise ValueError(f"policy: {self.policy.policy} is the name of the built-in policy; choose another name")
        if grades := [judge.name for judge in self.judges if judge.kind != "compare"]:
            raise ValueError(f"judge {grades[0]} grades single answers, but a dataset of pairs needs a comparing judge")
        if len(set(self.edits)) != len(self.edits) or len(set(self.sides)) != len(self.sides):
            raise ValueError("edits, sides: an entry is listed twice")
        known = [test.name for test in PERTURBATIONS if isinstance(test, ProvedPerturbation)]
        if unknown := [name for name in self.edits if name not in known]:
            near = get_close_matches(unknown[0], known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ValueError(f"edits: unknown edit {unknown[0]!r}: {hint}")
        return self

    @property
    def perturbations(self) -> tuple[ProvedPerturbation, ...]:
        """The edits themselves."""
        found = (PERTURBATIONS.get(name) for name in self.edits)
        return tuple(each for each in found if isinstance(each, ProvedPerturbation))


def of_pairs(data: Mapping[str, Any]) -> bool:
    """Whether the dataset of a study file is one of pairs: its columns say so or, where they do not, its judges do."""
    dataset = data.get("dataset")
    if not isinstance(dataset, Mapping):
        return False
    columns = dataset.get("columns")
    named = columns if isinstance(columns, Mapping) else {}
    if {"chosen", "rejected"} & named.keys():
        return True
    judges = data.get("judges")
    kinds = [judge.get("kind") for judge in judges if isinstance(judge, Mapping)] if isinstance(judges, list) else []
    single = "response" in named or "scale" in dataset or "responses" in dataset
    return "compare" in kinds and not single


PairsStudy = Study[PairsStudySpec]
