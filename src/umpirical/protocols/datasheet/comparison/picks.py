"""Which judge to take for which use: what each policy lets through, and of that what is not shown worse and cheapest.

A judge is *shown worse* than another if the other is better in at least one limit of the policy, and it is better in
none. The reference is never picked.
"""

from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.comparison.record import PickRecord
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import held_to
from umpirical.reports.comparisons.record import DifferenceRecord
from umpirical.reports.comparisons.words import letter
from umpirical.reports.decision import Advice
from umpirical.reports.numbers import count, dollars
from umpirical.reports.policy import Policy

USABLE: tuple[Advice, ...] = ("use", "use-with-limits")


def limit_keys(policy: Policy, sheets: Sequence[Datasheet]) -> set[tuple[str, str]]:
    """Returns (measure, part) of every limit that a policy holds one of the judges to."""
    return {limit.key for sheet in sheets for limit in policy.limits(sheet.judge.kind, grades=sheet.judge.grades)}


def pick(
    policy: Policy,
    sheets: Sequence[Datasheet],
    differences: Sequence[DifferenceRecord],
    *,
    reference: int | None,
    own: bool,
) -> PickRecord:
    """Returns which of the judges to take for the use that a policy is for."""
    verdicts = [_verdict(held_to(sheet, policy)) for sheet in sheets]
    admitted = [i for i, verdict in enumerate(verdicts) if verdict in USABLE and i != reference]
    beats = _beaten(differences, limit_keys(policy, sheets))
    not_worse = [i for i in admitted if not any((j, i) in beats and (i, j) not in beats for j in admitted)]
    picked = _cheapest(not_worse, sheets)
    return PickRecord(
        policy=policy.policy,
        about=policy.about,
        own=own,
        verdicts=verdicts,
        admitted=admitted,
        not_worse=not_worse,
        picked=picked,
        title=f"Take {_either(picked, sheets)}" if picked else "No judge",
        sentences=list(_sentences(sheets, verdicts, admitted, not_worse, picked, reference)),
    )


def _verdict(sheet: Datasheet) -> Advice:
    return sheet.decision.verdict if sheet.decision else "not-enough-data"


def _beaten(differences: Sequence[DifferenceRecord], keys: Collection[tuple[str, str]]) -> set[tuple[int, int]]:
    """Returns (better, worse) for every pair of judges told apart in at least one limit."""
    return {
        (one.first, one.second) if one.words == "first better" else (one.second, one.first)
        for one in differences
        if one.words in {"first better", "second better"} and one.arm == BASELINE and (one.measure, one.stratum) in keys
    }


def _price(sheet: Datasheet) -> Decimal | None:
    return sheet.spend.cost_per_1000 if sheet.spend else None


def _cheapest(places: Sequence[int], sheets: Sequence[Datasheet]) -> list[int]:
    """Returns the cheapest; all of them if one has no known price, since that one may be the cheapest."""
    prices = [_price(sheets[place]) for place in places]
    known = [price for price in prices if price is not None]
    if len(known) < len(prices) or not known:
        return list(places)
    return [place for place, price in zip(places, known, strict=True) if price == min(known)]


def _sentences(  # what the words are about
    sheets: Sequence[Datasheet],
    verdicts: Sequence[Advice],
    admitted: Sequence[int],
    not_worse: Sequence[int],
    picked: Sequence[int],
    reference: int | None,
) -> Iterator[str]:
    others = [place for place in range(len(sheets)) if place not in admitted and place != reference]
    if admitted:
        through = f"{count(len(admitted))} of {count(len(admitted) + len(others))}"
        yield f"The policy lets {through} through: {_letters(admitted)}."
    if worse := [place for place in admitted if place not in not_worse]:
        yield f"Shown worse than another of these: {_letters(worse)}."
    if len(not_worse) > 1:
        yield _choice(sheets, not_worse, picked)
    if limited := [place for place in picked if verdicts[place] == "use-with-limits"]:
        yield f"With the limits that the datasheet states: {_letters(limited)}."
    if admitted:
        return
    if refused := [place for place in others if verdicts[place] == "do-not-use"]:
        yield f"Refused: {_letters(refused)}."
    if unsettled := [place for place in others if verdicts[place] == "not-enough-data"]:
        yield f"Not settled at this size of run: {_letters(unsettled)}. “umpirical more” asks what would settle it."


def _choice(sheets: Sequence[Datasheet], not_worse: Sequence[int], picked: Sequence[int]) -> str:
    prices = [_price(sheets[place]) for place in picked]
    price = prices[0] if prices else None
    unknown = [place for place in not_worse if _price(sheets[place]) is None]
    if unknown:
        return f"None of these is shown better, and the price of {_letters(unknown)} is not known."
    cost = "" if price is None else f", at {dollars(price)} for 1,000 calls"
    same = "one of the cheapest" if len(picked) > 1 else "the cheapest"
    return f"Of {_letters(not_worse)} none is shown better; {_letters(picked)} is {same}{cost}."


def _letters(places: Sequence[int]) -> str:
    return ", ".join(letter(place) for place in places)


def _either(places: Sequence[int], sheets: Sequence[Datasheet]) -> str:
    if len(places) > 3:
        return f"any of {_letters(places)}"
    return " or ".join(f"{letter(place)} ({sheets[place].judge.name})" for place in places)
