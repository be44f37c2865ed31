"""Where the judge went wrong under stress, with the texts: the worst few of each test."""

from collections.abc import Iterable, Mapping

from umpirical.domain.stimuli import Stimulus
from umpirical.reports.stress.record import WorstItem
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.store.stress_tallying import WorstRow, Wrong

__all__ = ["worst_items"]

LONGEST = 20_000
"""Characters of a text that go into a report."""


WHY: dict[Wrong, str] = {
    "changed": "The verdict changed, and nothing that counts had.",
    "unmoved": "The verdict should have moved to the required label, and did not.",
    "wrong": "The verdict is not the gold label.",
    "unsteady": "The same request was answered differently.",
}


def worst_items(rows: Iterable[WorstRow], stimuli: StimulusSet) -> list[WorstItem]:
    """The rows with the texts they are about."""
    rows = list(rows)
    wanted = {row.stimulus_id for row in rows} | {row.original_id for row in rows}
    found = {stimulus.id: stimulus for stimulus in stimuli if stimulus.id in wanted}
    return [_item(row, found) for row in rows]


def _item(row: WorstRow, found: Mapping[str, Stimulus]) -> WorstItem:
    changed, original = found[row.stimulus_id], found.get(row.original_id)
    source = original or changed
    differ = row.stimulus_id != row.original_id
    texts = [original.candidates[0] if original else "", changed.candidates[0] if differ else ""]
    return WorstItem(
        item=source.evidence.get("item", source.task_id),
        test=row.test,
        group=", ".join(f"{name}={value}" for name, value in sorted(changed.strata.items())),
        gold=source.gold,
        gold_from=source.gold_from,
        original=texts[0][:LONGEST],
        changed=texts[1][:LONGEST],
        cut=any(len(text) > LONGEST for text in texts),
        verdicts_original=list(row.original_given),
        verdicts_changed=list(row.given) if differ else [],
        required=changed.gold,
        evidence=dict(changed.evidence),
        distance=row.distance,
        why=WHY[row.kind],
    )
