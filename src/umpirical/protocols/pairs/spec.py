"""The study file of labelled pairs."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import Field, model_validator

from umpirical.datasets.pairs import PairDatasetSpec, Side
from umpirical.protocols.pairs.policy import PairsPolicy
from umpirical.protocols.protocol import Study, StudySpec
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, ProvedPerturbation

EDITS = ("inline-spacing", "markdown-or-plain")
"""Edits of spacing and of form, which most texts can be given."""


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
