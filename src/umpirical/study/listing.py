"""The runs of a study at a glance."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from umpirical.domain.errors import UmpiricalError
from umpirical.protocols.catalogue import PROTOCOLS, protocol_of_run
from umpirical.store.budget import Budget
from umpirical.store.runs import RunStore, run_folders
from umpirical.store.snapshots import snapshot


@dataclass(frozen=True, slots=True)
class RunState:
    """A run at a glance. What a damaged run does not tell is None."""

    name: str
    judge: str | None = None
    created: str | None = None
    trials: int | None = None
    answered: int | None = None
    failed: int | None = None
    document: str = ""
    """File name of the record; empty while there is none."""
    decision: str = ""
    """What the record says to do with the judge; empty while there is none."""
    damage: str = ""
    """What is wrong with the files of the run; empty if it can be read."""
    booked: Decimal | None = None
    """US dollars; None if no call of it had a price."""
    billed: Decimal | None = None
    uncertain: Decimal | None = None
    """What is booked and perhaps was not billed."""


def list_runs(folder: Path) -> list[RunState]:
    """Returns the runs in a study folder, oldest first."""
    found = [run_state(RunStore(run)) for run in run_folders(folder)]
    return sorted(found, key=lambda state: (state.created or "", state.name))


def run_state(store: RunStore) -> RunState:
    """Returns a run at a glance; of one that cannot be read, the damage."""
    try:
        return _state(store)
    # Whatever a stranger has written into the files: one damaged run is no reason to list none.
    except (UmpiricalError, ValueError, LookupError, TypeError, AttributeError) as error:
        said = str(error) if isinstance(error, UmpiricalError) else f"{type(error).__name__}: {error}"
        return RunState(store.folder.name, damage=said.partition("\n")[0])


def _state(store: RunStore) -> RunState:
    manifest, size = store.manifest, store.plan_size()
    with snapshot(store) as now:
        answered, failed = now.counts()
    bill = Budget(store.folder.parent.parent).bill_of(store.folder.name)
    documents = (f"{name}.json" for name in PROTOCOLS.names())
    document = next((name for name in documents if (store.folder / name).exists()), "")
    return RunState(
        name=store.folder.name,
        judge=str(manifest["judge"]["name"]),
        created=str(manifest["created"]),
        trials=size[0] if size else 0,
        answered=answered,
        failed=failed,
        document=document,
        decision=_decision(store, document),
        booked=bill.total if bill else None,
        billed=bill.billed if bill else None,
        uncertain=bill.uncertain if bill else None,
    )


def _decision(store: RunStore, document: str) -> str:
    if not document:
        return ""
    protocol = protocol_of_run(store)
    decided = protocol.decision(protocol.parse((store.folder / document).read_text(encoding="utf-8")))
    return decided.verdict if decided else ""
