"""The budget of a study as its commands use it: opened with what was recorded, shown wherever money is."""

import json
import re
from decimal import Decimal

import pytest

import umpirical as front_door
from tests.attack.billing_server import BEHAVIOURS, BillingServer
from tests.attack.test_billing import ACCOUNT, booked, study_at
from umpirical.domain.errors import SpendRefused
from umpirical.models.money import CapReached
from umpirical.store.budget import Booked, Budget
from umpirical.study.spending import enough


@pytest.mark.parametrize("name", ["honest", "no usage", "every second count is 1/1", "honest, busy"])
def test_a_study_without_a_budget_begins_with_what_its_answers_cost(umpirical, tmp_path, name):
    """As of a study that is older than its budget, or whose file was lost."""
    with BillingServer(BEHAVIOURS[name]) as server:
        study = study_at(tmp_path, server)
        umpirical("run", study, "--yes", "--no-preflight", "--max-cost", "10")
        known, bill = booked(study), server.bill
        assert 0 < bill <= known
        (tmp_path / "budget.sqlite").unlink()
        code, _, err = umpirical("run", study, "--yes", "--no-preflight", "--max-cost", "10")
        assert code == 6
        # What is recorded with the answers is all there is to know: an attempt that failed for good, or was repeated,
        # is in the record of its trial.
        assert bill <= Budget(tmp_path).booked([ACCOUNT]).total <= Decimal(10)
        assert "of the budget of $10 is spent or reserved" in err
        assert server.bill <= 10


def test_runs_and_records_say_what_is_booked(umpirical, tmp_path):
    with BillingServer(BEHAVIOURS["every second count is 1/1"]) as server:
        study = study_at(tmp_path, server)
        _, out, _ = umpirical("run", study, "--yes", "--max-cost", "5000", "--json")
        bill = Budget(tmp_path).booked([ACCOUNT]).bill
        said = json.loads(out)[0]["budget"]
        assert Decimal(said["spent"]) == bill.total == Decimal(said["billed"]) + Decimal(said["uncertain"])
        assert said["uncertain_calls"] == bill.uncertain_calls == bill.faults["undercounted"] > 0
        assert said["billed_calls"] == bill.billed_calls > 0
        assert bill.uncertain_calls + bill.billed_calls == server.requests
        _, out, _ = umpirical("list", tmp_path, "--json")
        (state,) = json.loads(out)
        assert [Decimal(state[name]) for name in ("spent", "billed", "uncertain")] == [
            bill.total,
            bill.billed,
            bill.uncertain,
        ]
        _, out, _ = umpirical("list", tmp_path)
        assert f"${bill.total:.4f} spent (${bill.uncertain:.4f} uncertain)" in out
        (run,) = (tmp_path / "runs").iterdir()
        _, out, _ = umpirical("report", run, "--json")
        assert json.loads(out)["spend"]["budget"] == said


def test_what_is_free_has_no_budget(umpirical, tmp_path):
    with BillingServer(BEHAVIOURS["no usage"]) as server:
        study = study_at(tmp_path, server)
        study.write_text(re.sub(r"price: \{.*?\}", "price: free", study.read_text()))
        code, out, err = umpirical("run", study, "--max-cost", "1", "--json")
    assert code != 6
    assert "spent" not in err
    assert json.loads(out)[0]["budget"] is None
    assert not (tmp_path / "budget.sqlite").exists()


def test_the_front_door_keeps_the_same_budget(tmp_path):
    with BillingServer(BEHAVIOURS["honest"]) as server:
        study = study_at(tmp_path, server)
        with pytest.raises(CapReached, match=r"of the budget of \$9 is spent or reserved"):
            front_door.run(study, max_cost=9, progress=False, trust=True)
        first = server.bill
        with pytest.raises(CapReached) as reached:
            front_door.run(study, max_cost=9, progress=False, trust=True)
        assert server.bill == first
        (need,) = re.findall(r"--max-cost (\S+)", reached.value.fix)
        with pytest.raises(SpendRefused, match=r"is spent or reserved already") as refused:
            front_door.run(study, progress=False, trust=True)
        assert f"max_cost={need}" in refused.value.fix
        (report,) = front_door.run(study, max_cost=need, progress=False, trust=True)
        assert report.record.complete
        assert report.record.spend.budget.spent == server.bill == report.record.spend.cost


@pytest.mark.parametrize(
    ("total", "more", "amount"), [("0.1", "0.2", "0.3000"), ("0.00001", "0", "0.0001"), ("3.001", "1", "4.01")]
)
def test_an_amount_to_type_is_never_too_small(total, more, amount):
    assert str(enough(Booked(held=Decimal(total)), Decimal(more))) == amount
