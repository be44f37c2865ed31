"""What writing took: an unknown cost is unknown, and never less than the whole."""

from dataclasses import replace
from decimal import Decimal

from tests.stimuli.generation.wanted import TERMS
from umpirical.domain.responses import Response, Usage
from umpirical.protocols.stress.responses import writing_spend
from umpirical.stimuli.generation.commissions import Writer


def said(cost="0.01", **more):
    return Response(
        "t",
        more.pop("text", "A text."),
        usage=Usage(10, 5),
        cost=None if cost is None else Decimal(cost),
        price_table="table/1",
        **more,
    )


def refused(**more):
    return said(text=None, failure="refused", **more)


def test_each_role_by_itself():
    calls = [("generator", said("0.10")), ("validator", said()), ("validator", refused()), ("generator", said("0.20"))]
    generator, validator = writing_spend(TERMS, calls)
    assert (generator["role"], generator["calls"], generator["cost"]) == ("generator", 2, "0.30")
    assert (validator["calls"], validator["refused"], validator["failed"], validator["cost"]) == (2, 1, 0, "0.02")
    assert (validator["input_tokens"], validator["output_tokens"]) == (20, 10)


def test_one_call_of_unknown_cost_makes_the_sum_unknown():
    [generator] = writing_spend(TERMS, [("generator", said()), ("generator", said(None))])
    assert generator["cost"] is None


def test_a_failure_is_counted_and_a_filter_is_a_refusal():
    failed = said(text=None, failure="timeout")
    [spent] = writing_spend(TERMS, [("generator", failed), ("generator", said(finish_reason="content_filter"))])
    assert (spent["calls"], spent["failed"], spent["refused"]) == (2, 1, 1)


def test_a_simulated_writer_costs_nothing_and_is_called_simulated():
    terms = replace(TERMS, generator=Writer("generator", "simulated", 90, simulated=True))
    [spent] = writing_spend(terms, [("generator", said(None))])
    assert (spent["cost"], spent["model"]) == ("0", "simulated generator")


def test_tokens_that_nobody_counted_are_unknown():
    [spent] = writing_spend(TERMS, [("generator", replace(said(), usage=Usage()))])
    assert spent["input_tokens"] is None


def test_nothing_asked_is_nothing_spent():
    assert writing_spend(TERMS, []) == []
