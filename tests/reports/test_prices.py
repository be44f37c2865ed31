"""What 1,000 verdicts cost, and who would like it to be less."""

from decimal import Decimal

import pytest

from umpirical.domain.bills import Bill
from umpirical.domain.responses import Response, Usage
from umpirical.models.money import Ledger, Received, Reservation
from umpirical.models.prices import RatePricer, parse_price
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.reports.prices import price_of
from umpirical.runs.judgments import Spent


def spent(*costs, failed=0, reused=0, unparsed=0):
    """Calls with a verdict at these costs, and others at a dollar each."""
    found = Spent()
    for cost in costs:
        found.add(answer(cost), verdict=True)
    for _ in range(unparsed):
        found.add(answer(1), verdict=False)
    for _ in range(failed):
        found.add(Response("t", None, "timeout", cost=Decimal(1)), verdict=False)
    for _ in range(reused):
        found.add(answer(0, attempts=0, price_table="reused from first"), verdict=True)
    return found


def answer(cost, **more):
    return Response("t", "1", cost=None if cost is None else Decimal(cost), **more)


def bill(billed, uncertain=0, *, uncertain_calls=0):
    return Bill(Decimal(billed), Decimal(uncertain), 1, uncertain_calls)


def dollars(*amounts):
    return tuple(Decimal(amount) for amount in amounts)


def test_dollars_over_verdicts():
    found = price_of(spent("0.5", "1.5"), bill("2"))
    assert (found.basis, found.dollars, found.verdicts) == ("spent", dollars("2", "2"), 2)
    assert found.per_1000 == found.per_call == dollars("1000", "1000")


def test_a_call_that_fails_or_cannot_be_read_costs_money_and_gives_no_judgment():
    found = price_of(spent(1, 1, failed=1, unparsed=1), bill("4"))
    assert found.per_call == dollars("1000", "1000")
    assert found.per_1000 == dollars("2000", "2000")
    assert (found.calls, found.verdicts) == (4, 2)


def test_failed_calls_that_were_asked_again_are_still_paid_for():
    """The answers that are kept cost $2; the budget has booked the $3 of the attempts before them."""
    assert price_of(spent(1, 1), bill("5")).per_1000 == dollars("2500", "2500")


def test_a_judge_without_usage_has_no_price_and_never_0():
    found = price_of(spent(None, None), None)
    assert (found.basis, found.dollars, found.per_1000) == ("none", None, None)
    assert found.why_not == "the cost of 2 of 2 calls is unknown"


def test_what_was_asked_without_a_price_makes_the_whole_unknown():
    """Half of a run was asked before anyone gave a price: the budget knows nothing of it."""
    found = price_of(spent(1, 1, None, None), bill("2"))
    assert found.per_1000 is None


def test_a_free_judge_is_free_and_says_so():
    found = price_of(spent(0, 0), None)
    assert (found.basis, found.per_1000) == ("free", dollars("0", "0"))


def test_replies_that_count_no_tokens_cost_up_to_their_worst_case():
    found = price_of(spent(1, None), bill("1", "3", uncertain_calls=1))
    assert found.dollars == dollars("1", "4")
    assert found.per_1000 == dollars("500", "2000")


def test_reused_answers_make_no_judge_cheaper():
    own = price_of(spent(1, 1), bill("2"))
    found = price_of(spent(1, 1, reused=98), bill("2"))
    assert found.per_1000 == own.per_1000
    assert (found.calls, found.verdicts, found.reused) == (2, 2, 98)


def test_of_reused_answers_alone_no_price_is_known():
    found = price_of(spent(reused=10), None)
    assert (found.basis, found.per_1000) == ("none", None)
    assert "another run" in found.why_not


def test_calls_without_a_single_verdict_have_no_price_of_a_verdict():
    found = price_of(spent(failed=3), bill("3"))
    assert found.per_call == dollars("1000", "1000")
    assert (found.per_1000, found.why_not) == (None, "no call gave a verdict")


def test_a_budget_that_was_lost_does_not_make_a_judge_free():
    assert price_of(spent(1, 1), bill("0")).dollars == dollars("2", "2")
    assert price_of(spent(1, 1), None).basis == "answers"


def request(text="Which of these two is better? " * 20):
    return ChatRequest("any", (Message("user", text),), Decoding(max_tokens=16))


@pytest.mark.parametrize(
    ("usage", "fault"),
    [
        (Usage(), "uncounted"),
        (Usage(0, 0), "undercounted"),
        (Usage(1, 1), "undercounted"),
        (Usage(-500, -500), "undercounted"),
    ],
)
async def test_a_server_that_counts_too_little_is_no_cheaper(usage, fault):
    _, prices = parse_price("judge=10,10")
    pricer, ledger = RatePricer(prices, "--price"), Ledger()
    asked = request()
    await ledger.reserve(pricer.worst(asked))
    cost = Reservation(ledger, pricer, pricer.worst(asked), asked).billed(usage, Received("The first is better."))
    assert cost is None
    assert ledger.bill.faults[fault] == 1
    found = price_of(spent(cost), ledger.bill)
    assert found.dollars == (0, pricer.worst(asked))
    assert found.per_1000[1] > 0
