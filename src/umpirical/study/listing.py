"""Which runs a study has, and how far they are."""

from dataclasses import dataclass
from pathlib import Path

from umpirical.store.runs import RunStore

__all__ = ["RunState", "list_runs"]


@dataclass(frozen=True, slots=True)
class RunState:
    """A run at a glance."""

    name: str
    judge: str
    created: str
    trials: int
    answered: int
    failed: int
    document: str
    """The record of what was measured; empty while there is none."""


DOCUMENTS = ("datasheet.json", "stress.json")


def list_runs(folder: Path) -> list[RunState]:
    """The runs under a study folder, oldest first."""
    found = [_state(path.parent) for path in (folder / "runs").glob("*/run.json")]
    return sorted(found, key=lambda state: (state.created, state.name))


def _state(folder: Path) -> RunState:
    store = RunStore(folder)
    manifest, size = store.manifest, store.plan_size()
    answered = failed = 0
    journal = store.open_journal()
    try:
        for shard in range(size[1] if size else 0):
            responses = store.responses(shard, journal).values()
            failed += sum(response.failure is not None for response in responses)
            answered += sum(response.failure is None for response in responses)
    finally:
        journal.close()
    return RunState(
        name=folder.name,
        judge=manifest["judge"]["name"],
        created=manifest["created"],
        trials=size[0] if size else 0,
        answered=answered,
        failed=failed,
        document=next((name for name in DOCUMENTS if (folder / name).exists()), ""),
    )
