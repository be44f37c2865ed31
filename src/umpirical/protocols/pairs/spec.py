"""The study file of labelled pairs, and the policy that it may set."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import Field, model_validator

from umpirical.datasets.pairs import PairDatasetSpec, Side
from umpirical.protocols.protocol import Study, StudySpec
from umpirical.reports.limits import NO_VERDICT
from umpirical.reports.policy import Limit, NamedPolicy, Shelf, shipped_policy
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, ProvedPerturbation
from umpirical.store.yaml_files import YamlDocument

ACCURACY, LEAN = "both-orders-accuracy", "position-lean"
AGREEMENT, BEYOND_LENGTH = "pair-agreement", "pair-agreement-beyond-length"

EDITS = ("inline-spacing", "markdown-or-plain")
"""Edits of spacing and of form, which most texts can be given."""


_SHIPPED = shipped_policy("umpirical.protocols.pairs", "pairs").data


class PairsPolicy(NamedPolicy):
    """What is asked of a judge before it is used. The values are conventions: set your own before you measure."""

    policy: str = Field(default=_SHIPPED["policy"], min_length=1, description="Its name.")
    accuracy: float = Field(
        default=_SHIPPED["accuracy"],
        gt=0,
        lt=1,
        description="Share of pairs about which it is right in both orders, at least.",
    )
    agreement: float = Field(
        default=_SHIPPED["agreement"],
        gt=0,
        lt=1,
        description="Agreement with the labels beyond chance, at least: right calls less wrong ones, of all calls.",
    )
    beyond_length: float = Field(
        default=_SHIPPED["beyond_length"],
        gt=0,
        lt=1,
        description="The same, at least, with pairs whose longer answer is right and wrong counting alike.",
    )
    same_slot: float = Field(
        default=_SHIPPED["same_slot"],
        gt=0,
        lt=1,
        description="How much more often it may name one position than the other, as a share of calls.",
    )
    changes: float = Field(
        default=_SHIPPED["changes"],
        gt=0,
        lt=1,
        description="Share of verdicts that harmless edits of one answer may change, beyond the judge's own noise.",
    )
    without_verdict: float = Field(
        default=_SHIPPED["without_verdict"],
        gt=0,
        lt=1,
        description="Share of calls whose answer is unreadable, or failed, at most; each.",
    )

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        """A policy with values of the user's own needs no name, and does not take that of the shipped one."""
        own = isinstance(given, dict) and any(given[name] != _SHIPPED.get(name) for name in given)
        return {"policy": Shelf.unnamed, **given} if own else given

    def limits(self, changes: str) -> tuple[Limit, ...]:
        """Returns the limits. `changes` is the measure of what edits change."""
        return (
            Limit(measure=ACCURACY, at_least=self.accuracy),
            Limit(measure=AGREEMENT, at_least=self.agreement),
            Limit(measure=BEYOND_LENGTH, at_least=self.beyond_length),
            Limit(measure=LEAN, at_most=self.same_slot),
            Limit(measure=changes, at_most=self.changes),
            *(Limit(measure=name, at_most=self.without_verdict) for name in NO_VERDICT),
        )


class PairsShelf(Shelf[PairsPolicy]):
    """Policies that set the values of a shipped one."""

    file = PairsPolicy

    def resolved(self, document: YamlDocument) -> PairsPolicy:
        return PairsPolicy.model_validate(document.data)


SHELF = PairsShelf("umpirical.protocols.pairs", "pairs", of="labelled pairs")


class PairsStudySpec(StudySpec):
    """A study of judges that compare, on pairs of answers of which one was chosen."""

    dataset: PairDatasetSpec = Field(description="Pairs of answers, of which one was chosen.")
    edits: tuple[str, ...] = Field(
        default=EDITS,
        description="Perturbations that a program makes and that change no meaning, each made in one answer of a pair.",
    )
    sides: tuple[Side, ...] = Field(
        default=("chosen", "rejected"), min_length=1, description="Which answers are edited, one at a time."
    )
    policy: PairsPolicy = Field(default=PairsPolicy(), description="What is asked of a judge before it is used.")

    @model_validator(mode="after")
    def _compared(self) -> "PairsStudySpec":
        if SHELF.forgery(self.policy):
            raise ValueError(f"policy: {self.policy.policy} is the shipped policy: give yours another name")
        if grades := [judge.name for judge in self.judges if judge.kind != "compare"]:
            raise ValueError(f"judge {grades[0]} grades: a dataset of pairs is for judges that compare")
        if len(set(self.edits)) != len(self.edits) or len(set(self.sides)) != len(self.sides):
            raise ValueError("edits, sides: one is named twice")
        known = [test.name for test in PERTURBATIONS if isinstance(test, ProvedPerturbation)]
        if unknown := [name for name in self.edits if name not in known]:
            near = get_close_matches(unknown[0], known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(known)}"
            raise ValueError(f"edits: no program makes an edit named {unknown[0]!r}: {hint}")
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
