"""What a command spends out of the budget of its study."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, InvalidOperation
from pathlib import Path

from umpirical.domain.bills import Bill
from umpirical.domain.errors import StoreError
from umpirical.domain.responses import Response
from umpirical.models.money import BoundBroken, CapReached, Ledger, Pricer
from umpirical.models.prices import UNPRICED
from umpirical.models.requests import ChatRequest
from umpirical.runs.plan import request_for
from umpirical.runs.run import Run, open_run
from umpirical.store.budget import Booked, Budget
from umpirical.store.manifests import read_manifest, write_manifest
from umpirical.store.runs import RunStore, run_folders
from umpirical.store.snapshots import snapshot

WRITERS = "writers"
"""The account of the models that write a study's stimuli."""


AGREED = "budget.json"
"""In the folder of a run: the budget that was agreed to when it was last asked."""


@dataclass(frozen=True, slots=True)
class AgreedBudget:
    """A budget, as a person agreed to it."""

    cap: Decimal
    """US dollars."""
    accounts: tuple[str, ...]
    """Those that share it."""


def agreed_budget(run: Path) -> AgreedBudget | None:
    """Returns the budget that a run was last asked under; None if none was agreed to, or it cannot be read."""
    try:
        said = read_manifest(run / AGREED)
        cap, accounts = Decimal(said["cap"]), said["accounts"]
    except (StoreError, LookupError, TypeError, ValueError, InvalidOperation):
        return None
    if not cap.is_finite() or cap < 0 or not isinstance(accounts, list):
        return None
    return AgreedBudget(cap, tuple(map(str, accounts)))


def judge_account(judge: str) -> str:
    return f"judge {judge}"


def enough(booked: Booked, more: Decimal) -> Decimal:
    """Returns the budget that covers what is booked and `more`, as an amount that a person can type."""
    total = booked.total + more
    return total.quantize(Decimal("0.01") if total >= 1 else Decimal("0.0001"), ROUND_CEILING)


class Spending:
    """The accounts that one command may charge, and what it has charged to them."""

    def __init__(self, folder: Path, accounts: Mapping[str, Callable[[], Bill]]) -> None:
        """`accounts` are those that share the command's budget; each with its bill from before there was a budget."""
        self._budget = Budget(folder)
        self._accounts = tuple(accounts)
        self._ledgers: list[Ledger] = []
        self.cap: Decimal | None = None
        """What may ever be booked on these accounts together; None if nothing was agreed to yet."""
        for account, before in accounts.items():
            if not self._budget.holds(account) and (bill := before()).total:
                self._budget.begin(account, bill)

    def booked(self) -> Booked:
        """Returns what is booked on the accounts, by whatever command or process."""
        return self._budget.booked(self._accounts)

    def ledger(self, account: str, part: str = "") -> Ledger:
        """Returns a ledger for one part of the work. It must be closed; what is free leaves no trace."""
        if account not in self._accounts:
            return Ledger(self.cap)
        opened = Ledger(self.cap, lease=self._budget.lease(account, part, scope=self._accounts))
        self._ledgers.append(opened)
        return opened

    def note(self, run: Path) -> None:
        """Notes the budget beside a run, for people who look at it while it is asked. No spending depends on it."""
        if self.cap is not None and self._accounts:
            write_manifest(run / AGREED, {"cap": str(self.cap), "accounts": list(self._accounts)})

    @property
    def now(self) -> Bill:
        return Bill.sum(ledger.bill for ledger in self._ledgers)

    def go_on(self, reached: CapReached, rest: Decimal) -> CapReached:
        """Returns the error with the budget that would be enough; `rest` is what everything left may cost."""
        if isinstance(reached, BoundBroken):
            return reached
        return CapReached(
            str(reached), fix=f"to continue, run the same command with --max-cost {enough(self.booked(), rest)}"
        )


def recorded_bill(folder: Path, judge: str, pricer: Pricer) -> Bill:
    """Returns what the recorded answers of a judge cost: the opening balance of a study older than its budget."""
    bills = []
    for run in run_folders(folder):
        store = RunStore(run)
        if store.manifest["judge"]["name"] != judge:
            continue
        with snapshot(store) as now:
            for shard, responses in now.walk():
                bills.append(response_bill(responses.values()))
                if unknown := {name: answer for name, answer in responses.items() if _unknown(answer)}:
                    bills.append(_worst_bill(open_run(run), shard, unknown, pricer))
    return Bill.sum(bills)


def _worst_bill(run: Run, shard: int, unknown: dict[str, Response], pricer: Pricer) -> Bill:
    """Returns the most that answers of a shard can have cost whose cost was not recorded."""
    judge, most, calls = run.call.open_judge(), Decimal(0), len(unknown)
    for trial, part in run.store.plan_shard(shard):
        if (answer := unknown.pop(trial.id, None)) is not None:
            request = request_for(judge, run.stimuli.part(part)[trial.stimulus_id], trial.presentation)
            assert isinstance(request, ChatRequest)  # noqa: S101  # it was asked of a model
            most += pricer.worst(request) * (answer.attempts - answer.rate_limited)
    return Bill(uncertain=most, uncertain_calls=calls, faults={"uncounted": calls})


def response_bill(responses: Iterable[Response]) -> Bill:
    """Returns what responses cost, as far as that is recorded with them."""
    costs = [answer.cost for answer in responses if answer.cost]
    return Bill(sum(costs, Decimal(0)), billed_calls=len(costs))


def _unknown(answer: Response) -> bool:
    # What was asked without a price was agreed to without a budget.
    sent = answer.attempts > answer.rate_limited and answer.price_table != UNPRICED.table
    return sent and answer.cost is None
