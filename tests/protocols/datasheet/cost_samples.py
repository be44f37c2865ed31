"""Judges at a price, with votes of a known accuracy."""

from decimal import Decimal
from string import ascii_uppercase

import numpy as np

from umpirical.domain.bills import Bill
from umpirical.domain.responses import Response
from umpirical.protocols.costs import Option, assemble_costs
from umpirical.protocols.datasheet.costs import STIMULI
from umpirical.reports.prices import price_of
from umpirical.runs.judgments import Spent
from umpirical.stats.juries import NO_VOTE, Ballots, majority

FAMILIES, EACH = 24, 12


def truth():
    """In every family, half of the calls have a better answer."""
    return np.tile([0, 1, 2, 2], FAMILIES * EACH // 4)


def votes(accuracy, seed=1, *, silent=0.0):
    """Right with this chance in each call; a share of the calls has no vote."""
    rng, right = np.random.default_rng(seed), truth()
    wrong = (right + rng.integers(1, 3, len(right))) % 3
    said = np.where(rng.random(len(right)) < accuracy, right, wrong)
    return np.where(rng.random(len(right)) < silent, NO_VOTE, said)


def ballots(*columns):
    return Ballots(np.array(columns).T, truth(), np.repeat(np.arange(FAMILIES), EACH))


def judge(place, said, latencies=(100.0, 200.0, 900.0)):
    given = float(np.count_nonzero(said != NO_VOTE))
    return Option("judge", f"judge-{place}", "", (place,), 1, said, np.ones(len(said), dtype=bool), given, latencies)


def scoring_method(place, said, *, name="both-orders"):
    everything = np.ones(len(said), dtype=bool)
    return Option("scoring_method", f"judge-{place}, {name}", name, (place,), 2, said, everything, len(said) / 2, ())


def jury(places, columns):
    said = majority(len(places)).verdicts(np.array(columns).T)
    everything = np.ones(len(said), dtype=bool)
    given = float(np.count_nonzero(said != NO_VOTE))
    return Option("jury", "jury", "", tuple(places), len(places), said, everything, given, (300.0,))


def priced(per_1000, *, calls=288, verdicts=None, uncertain="0"):
    """What a judge costs that is asked `calls` times; None for no known price."""
    spent, cost = Spent(), None if per_1000 is None else Decimal(per_1000) / 1000
    for number in range(calls):
        spent.add(Response(str(number), "1", cost=cost), verdict=number < (calls if verdicts is None else verdicts))
    if per_1000 is None or not cost:
        return price_of(spent, None)
    return price_of(spent, Bill(cost * calls, Decimal(uncertain), calls, 1 if Decimal(uncertain) else 0))


def costs(judges, *, extra=()):
    """Costs of judges, given as (votes, price), and of further options."""
    options = [judge(place, said) for place, (said, _) in enumerate(judges)]
    prices, names = [price for _, price in judges], ascii_uppercase[: len(judges)]
    return assemble_costs(
        [*options, *extra], ballots(*(said for said, _ in judges)), prices, [288] * len(judges), names, stimuli=STIMULI
    )


def sample():
    """A good and dear judge, a poor and cheap one, one that is dominated, one without a price, a scoring method and a
    jury."""
    columns = [votes(0.95, 1), votes(0.6, 2), votes(0.62, 3), votes(0.9, 4)]
    prices = [priced("2.5"), priced("0.1", uncertain="0.02"), priced("3"), priced(None)]
    extra = [scoring_method(1, votes(0.75, 5)), jury([0, 1, 2], columns[:3])]
    return costs(list(zip(columns, prices, strict=True)), extra=extra)
