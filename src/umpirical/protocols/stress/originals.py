"""The user's own responses, read, sampled and made into stimuli as they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from umpirical.datasets.items import read_items
from umpirical.datasets.summary import DatasetSummary
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Item, SameVerdict, Stimulus
from umpirical.protocols.stress.spec import StressStudy

__all__ = ["Originals", "read_originals"]

MAKER = "original/1"

LEAST = 2
"""Items: an interval needs at least two."""


@dataclass(frozen=True, slots=True)
class Originals:
    """What a study is stressed on."""

    summary: DatasetSummary
    stimuli: tuple[Stimulus, ...]
    """One for each item of the sample, in the order of the file; of rows with one task and response the first."""
    repeated: int
    """Items of the sample that are left out because they repeat an earlier one."""


def read_originals(study: StressStudy) -> Originals:
    """Reads the dataset of a study and draws its sample."""
    spec = study.spec.dataset
    items, summary = read_items(spec, study.folder, seed=study.spec.seed)
    if len({(item.task, item.response) for item in items}) < LEAST:
        raise UsageError(f"{spec.path}: {len(items)} items are too few to measure with", fix=f"give at least {LEAST}")
    # A row that repeats another is the same question to a judge: asked again, it would cost again and say nothing new.
    distinct = {(item.task, item.response): item for item in reversed(items)}
    kept = [item for item in items if distinct[item.task, item.response] is item]
    return Originals(summary, tuple(_originals(kept)), repeated=len(items) - len(kept))


def _originals(items: Sequence[Item]) -> list[Stimulus]:
    return [
        Stimulus(
            task_id=item.cluster or item.name,
            task=item.task,
            candidates=(item.response,),
            # Where no label is known, all that can be asked of a judge is that it says the same again.
            expectation=GivenLabel(item.labels[0]) if item.labels else SameVerdict(),
            maker=MAKER,
            family=ORIGINAL,
            parent=item.id,
            gold=item.labels[0] if item.labels else "",
            gold_from="label" if item.labels else None,
            evidence={"item": item.name},
            strata=item.strata,
        )
        for item in items
    ]
