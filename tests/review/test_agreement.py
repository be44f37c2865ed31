"""How far people agree: values worked out by hand, and known agreement recovered."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from tests.review.items import an_item, some_items
from umpirical.domain.measures import Estimate, Undefined
from umpirical.domain.reviews import ReviewDecision
from umpirical.review.agreement import agreement
from umpirical.review.records import ReviewChoice

KINDS = {"k": "accept", "r": "reject", "s": "skip", "e": "edit"}


def said(rows: list[str], items=None, **fields) -> tuple[list[ReviewDecision], list]:
    """Decisions from strings: one letter per person, `-` for someone who did not decide."""
    items = items or some_items(len(rows))
    numbers = count(1)
    given = {"revision": 0, "at": "", "milliseconds": 0, "mode": "blind", "guideline": 0} | fields
    decisions = [
        ReviewDecision(next(numbers), item.id, f"person-{place}", KINDS[letter], **given)
        for item, row in zip(items, rows, strict=True)
        for place, letter in enumerate(row)
        if letter != "-"
    ]
    return decisions, items


def labelled(rows: list[tuple[str, ...]], labels: tuple[str, ...]) -> tuple[list[ReviewDecision], list]:
    items = some_items(len(rows), labels=labels)
    decisions, _ = said(["k" * len(row) for row in rows], items)
    given = iter([label for row in rows for label in row])
    return [replace(decision, label=next(given)) for decision in decisions], items


def test_two_people_and_two_values_as_published():
    """Krippendorff's own example of two observers and ten units: 0.095."""
    meg, owen = "rkrrrrrrkr", "kkkrrkrrrr"
    found = agreement(*said([a + b for a, b in zip(meg, owen, strict=True)])).overall
    # Coincidences: 10 of r with r, 2 of k with k, 4 of each mixed; 14 r and 6 k: 1 - 19 * 4 / (14 * 6).
    assert found.alpha.value == pytest.approx(1 - 19 * 4 / (14 * 6))
    assert found.alpha.value == pytest.approx(0.095, abs=5e-4)
    assert (found.alpha.numerator, found.alpha.denominator, found.alpha.unit) == (6, 10, "item")
    assert (found.raw.value, found.raw.numerator, found.raw.denominator, found.raw.unit) == (0.6, 6, 10, "pair")
    assert found.alpha.interval.low < found.alpha.value < found.alpha.interval.high
    assert found.raw.interval.low < 0.6 < found.raw.interval.high


def test_items_with_different_numbers_of_people_by_hand():
    # kkr: three people, 1/2 for each ordered pair: 1 of k with k, 1 of k with r, 1 of r with k. kk: 2. rr: 2. k: none.
    # 4 k and 3 r of 7: 1 - 6 * 1 / (4 * 3).
    found = agreement(*said(["kkr", "kk-", "r-r", "k--"])).overall
    assert found.alpha.value == pytest.approx(0.5)
    assert (found.alpha.numerator, found.alpha.denominator) == (2, 3)
    assert found.alpha.excluded == {"fewer than two people decided": 1}
    assert (found.raw.numerator, found.raw.denominator) == (3, 5)


def test_four_people_with_gaps_as_published():
    """Krippendorff's four observers of twelve units: 0.743 nominal, 0.815 ordinal."""
    rows = [
        tuple(str(value) for value in unit if value)
        for unit in zip(
            (1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0),
            (1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3),
            (0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0),
            (1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0),
            strict=True,
        )
    ]
    decisions, items = labelled(rows, ("1", "2", "3", "4", "5"))
    for metric, value in (("nominal", 0.743), ("ordinal", 0.815)):
        found = agreement(decisions, items, metric=metric).overall.label_alpha
        assert found.value == pytest.approx(value, abs=1e-3)
        assert (found.denominator, found.excluded) == (11, {"fewer than two people decided": 1})


def test_what_nobody_can_know_is_undefined_with_a_reason():
    nothing = agreement([], some_items(2))
    assert nothing.overall.raw == Undefined(
        "no item was decided by two people", excluded={"fewer than two people decided": 2}
    )
    assert isinstance(nothing.rejection, Undefined)
    assert nothing.rejection.excluded == {"not decided yet": 2}
    assert (nothing.modes, nothing.reviewers) == ({}, 0)
    same = agreement(*said(["kk", "kk", "kk"])).overall
    assert "all decisions are the same" in same.alpha.reason
    assert same.raw.value == 1.0
    alone = agreement(*said(["kk"])).overall
    assert "one original" in alone.raw.reason
    assert "one original" in alone.alpha.reason
    assert "given a label" in same.label_alpha.reason


def test_labels_of_different_scales_are_compared_by_test_only():
    items = [an_item(f"a{n}", test="a", labels=("1", "2")) for n in range(3)]
    items += [an_item(f"b{n}", test="b", labels=("x", "y", "z")) for n in range(3)]
    items = [replace(item, before=item.id) for item in items]
    decisions, _ = said(["kk"] * 6, items)
    labels = iter("111222xxyzzz")
    decisions = [replace(decision, label=next(labels)) for decision in decisions]
    found = agreement(decisions, items, metric={"a": "nominal", "b": "ordinal"})
    assert "different labels" in found.overall.label_alpha.reason
    # 11, 12, 22: one pair in three differs, with three labels of each kind: 1 - 5 * 1 / 9.
    assert found.tests["a"].label_alpha.value == pytest.approx(1 - 5 / 9)
    assert isinstance(found.tests["b"].label_alpha, Estimate)


def test_items_of_one_original_count_as_one_cluster():
    items = some_items(6, before="One text.")
    found = agreement(*said(["kk", "kr", "rr"] * 2, items))
    assert "one original" in found.overall.raw.reason
    assert "one original" in found.rejection.reason
    written = some_items(6, before="")
    assert agreement(*said(["kk", "kr", "rr"] * 2, written)).overall.raw.clusters == 6


def test_only_what_stands_counts_and_adjudications_settle_but_do_not_agree():
    decisions, items = said(["kr", "kk", "rr", "s-"])
    decisions = [
        *decisions,
        replace(decisions[0], number=90, reviewer="eve", kind="reject", adjudicates=True, mode="assisted"),
        replace(decisions[2], number=91, kind="reject", undone=True),
    ]
    found = agreement(decisions, items, overlap=2)
    assert (found.overall.raw.numerator, found.overall.raw.denominator) == (2, 3)
    assert (found.rejection.numerator, found.rejection.denominator) == (2, 3)
    assert found.rejection.excluded == {"not decided yet": 1}
    assert (found.modes, found.reviewers) == ({"blind": 6, "assisted": 1}, 3)


def test_rejections_by_generator_and_test():
    items = [
        replace(item, generator=f"writer-{place % 2}", test="flip" if place < 4 else "format")
        for place, item in enumerate(some_items(8))
    ]
    found = agreement(*said(["r", "k", "r", "k", "k", "k", "k", "r"], items))
    assert list(found.rejection_by_generator) == ["writer-0", "writer-1"]
    by_generator = found.rejection_by_generator
    assert [(rate.numerator, rate.denominator) for rate in by_generator.values()] == [(2, 4), (1, 4)]
    assert [(rate.numerator, rate.denominator) for rate in found.rejection_by_test.values()] == [(2, 4), (1, 4)]
    assert found.rejection.value == 3 / 8
    assert found.rejection.interval.low < 3 / 8 < found.rejection.interval.high
    assert found.rejection.interval.method == "cluster-Wilson over originals"


def test_the_order_of_reviewers_changes_no_digit():
    rows = ["kkr", "krk", "rrk", "kkk", "rrr", "krr", "-kr"]
    one = agreement(*said(rows)).overall
    other = agreement(*said([row[::-1] for row in rows])).overall
    assert one.raw == other.raw
    assert one.alpha.value == pytest.approx(other.alpha.value, abs=1e-12)
    assert one.alpha.interval.low == pytest.approx(other.alpha.interval.low, abs=1e-12)


def true_value(error: float, items: int, seed: int) -> tuple[list[ReviewDecision], list]:
    """Half the items are good; each of two people mistakes one kind for the other with a known probability."""
    rng = np.random.default_rng(seed)
    good = rng.random(items) < 0.5
    wrong = rng.random((items, 2)) < error
    return said(["".join("k" if keep else "r" for keep in row) for row in (good[:, None] ^ wrong)])


@pytest.mark.parametrize("error", [0.02, 0.1, 0.25])
def test_planted_agreement_is_found_again(error):
    """Two people who err with probability e, on items of which half are good, agree with alpha (1 - 2e)²."""
    truth, raw, runs = (1 - 2 * error) ** 2, 1 - 2 * error * (1 - error), 60
    found = [agreement(*true_value(error, 150, seed)).overall for seed in range(runs)]
    values = np.array([one.alpha.value for one in found])
    assert values.mean() == pytest.approx(truth, abs=4 * values.std() / np.sqrt(runs) + 0.005)
    held = sum(one.alpha.interval.low <= truth <= one.alpha.interval.high for one in found)
    # 95 % should cover it; at that rate, fewer than 51 of 60 happen less than once in 2,000 runs.
    assert held >= 51
    assert sum(one.raw.interval.low <= raw <= one.raw.interval.high for one in found) >= 51


@pytest.mark.slow
@pytest.mark.parametrize("error", [0.02, 0.1, 0.25])
def test_intervals_of_planted_agreement_hold_it_as_often_as_they_say(error):
    truth, runs = (1 - 2 * error) ** 2, 1000
    found = [agreement(*true_value(error, 150, seed)).overall.alpha for seed in range(runs)]
    held = sum(one.interval.low <= truth <= one.interval.high for one in found)
    assert 0.92 <= held / runs <= 0.99


def test_agreement_of_a_review_that_was_done(desk_of):
    desk = desk_of(overlap=2)
    desk.add(some_items(10))
    for person, rejects in (("ana", {0, 2, 5}), ("bob", {0, 2, 6})):
        for number in range(10):
            choice = ReviewChoice("reject", reason="meaning") if number in rejects else ReviewChoice("accept")
            desk.decide(person, desk.next(person).item.id, choice)
    desk.adjudicate("eve", "item-5", ReviewChoice("accept"))
    found = agreement(desk.decisions(), desk.items(), overlap=2)
    # 4 of r with r, 12 of k with k, 2 mixed each way: 1 - 19 * 2 / (6 * 14).
    assert found.overall.alpha.value == pytest.approx(1 - 19 * 2 / (6 * 14))
    assert found.overall.raw.value == 0.8
    assert (found.rejection.numerator, found.rejection.denominator) == (2, 9)
    assert (found.modes, found.reviewers) == ({"blind": 20, "assisted": 1}, 3)


def test_who_changes_sides_after_looking_does_not_raise_the_agreement():
    decisions, items = said(["kr", "kk", "rr"])
    joined = replace(decisions[1], number=90, kind="accept", reason=None, mode="assisted")
    before, after = (agreement(each, items, overlap=2) for each in (decisions, [*decisions, joined]))
    assert (after.overall.raw.numerator, after.overall.raw.denominator) == (2, 3)
    assert after.overall.alpha == before.overall.alpha
    # Decisions that stand count for the outcome of the item, which is settled now.
    assert (before.rejection.denominator, after.rejection.denominator) == (2, 3)


def test_a_decision_that_was_undone_at_once_is_not_the_first():
    decisions, items = said(["kr", "kk", "rr"])
    slip = replace(decisions[0], number=0, kind="reject", reason="other", undone=True)
    assert agreement([slip, *decisions], items, overlap=2).overall == agreement(decisions, items, overlap=2).overall
