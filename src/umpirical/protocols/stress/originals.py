"""Reads and samples the user's own responses, and makes them into stimuli unchanged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from umpirical.datasets.items import DatasetSummary, read_items
from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import ORIGINAL, GivenLabel, Item, SameVerdict, Stimulus
from umpirical.protocols.stress.responses import Answered, answered
from umpirical.protocols.stress.spec import StressStudy

MAKER = "original/1"

LEAST = 2
"""Fewest items: an interval needs at least two."""


@dataclass(frozen=True, slots=True)
class Originals:
    """The items that the tests of a study are made from."""

    summary: DatasetSummary
    stimuli: tuple[Stimulus, ...]
    """One for each item of the sample, in the order of the file; only the first row with the same task and response."""
    repeated: int
    """How many items of the sample are left out because they repeat an earlier one."""
    empty_columns: Mapping[str, int]
    """How many of the items have nothing in a column that a judge names; only columns with such items."""
    responses: Answered | None = None
    """How a model wrote the responses; None if they are the user's own."""


def read_originals(study: StressStudy) -> Originals:
    """Reads the dataset of a study and draws its sample."""
    spec = study.spec.dataset
    items, summary = read_items(spec, study.folder, seed=study.spec.seed, columns=study.named_columns)
    made = None
    if spec.responses is not None:
        made, summary = answered(study, items, summary)
        items = list(made.items)
    _refuse_label(items, study.named_columns)
    if len({(item.task, item.response) for item in items}) < LEAST:
        raise UsageError(f"{spec.path}: {len(items)} items are too few to measure with", fix=f"give at least {LEAST}")
    # A row that repeats another is the same question to a judge: asking it again would cost more and add nothing.
    distinct = {_question(item): item for item in reversed(items)}
    kept = [item for item in items if distinct[_question(item)] is item]
    empty = {column: sum(not item.columns[column] for item in kept) for column in study.named_columns}
    return Originals(
        summary,
        tuple(_originals(kept)),
        repeated=len(items) - len(kept),
        empty_columns={column: count for column, count in empty.items() if count},
        responses=made,
    )


def _question(item: Item) -> tuple[str, ...]:
    """Returns what a judge may be shown of an item: one response may be judged by two rubrics."""
    return (item.task, item.response, *(text for _, text in sorted(item.columns.items())))


def _refuse_label(items: Sequence[Item], columns: Sequence[str]) -> None:
    """Raises if a column that a prompt names is the label under another name, which would tell a judge the answer."""
    labelled = [item for item in items if item.labels]
    if len({item.labels for item in labelled}) < LEAST:
        return
    for column in columns:
        if all(item.columns[column].strip().casefold() == item.labels[0].casefold() for item in labelled):
            raise UsageError(
                f"the column {column!r}, which a prompt names, holds the label of every row: it would tell a judge the "
                "answer",
                fix="take it out of the prompt",
            )


def _originals(items: Sequence[Item]) -> list[Stimulus]:
    return [
        Stimulus(
            task_id=item.cluster or item.name,
            task=item.task,
            candidates=(item.response,),
            # Without a label, a judge can only be required to give the same answer again.
            expectation=GivenLabel(item.labels[0]) if item.labels else SameVerdict(),
            maker=MAKER,
            family=ORIGINAL,
            parent=item.id,
            gold=item.labels[0] if item.labels else "",
            gold_from="label" if item.labels else None,
            evidence={"item": item.name},
            strata=item.strata,
            columns=item.columns,
        )
        for item in items
    ]
