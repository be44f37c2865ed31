"""Counts from single judgments, against a count of its own."""

from itertools import product

import pytest

from umpirical.domain.judgments import Abstained, Unparsed, Verdict
from umpirical.domain.scales import Choice
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.domain.trials import Order, Presentation, Trial
from umpirical.protocols.pairs.counting import pairs_counts
from umpirical.protocols.pairs.report import FACTS
from umpirical.runs.judgments import judgment_row
from umpirical.store.parquet import write_rows
from umpirical.store.schemas import judgment_schema

SAID = {"1": Verdict(Choice("1")), "2": Verdict(Choice("2")), "t": Verdict(Choice("tie")), "a": Abstained(), "u": Unparsed("", "")}  # fmt: skip  # noqa: E501


def pair(number, place, edit="", side="", parent=None):
    texts = (f"u{number}{edit}{side}", f"v{number}")
    return Stimulus(
        f"task {number}", "t", texts, GivenWinner(place), "m", edit or "natural",
        stratum=f"side={side}" if side else "", parent=parent.id if parent else "", strata={"longer": "chosen"},
    )  # fmt: skip


def rows(stimulus, said):
    """Judgments of a pair: for each repeat what was said in order ab and in order ba."""
    for repeat, (uv, vu) in enumerate(said):
        for order, answer in ((Order.AB, uv), (Order.BA, vu)):
            name = f"{stimulus.id}{order}{repeat}"
            trial = Trial(name, name, stimulus.id, Presentation(order, repeat=repeat))
            yield judgment_row(trial, stimulus, SAID[answer], None, FACTS)


def counted(folder, judgments):
    path = folder / "judgments.parquet"
    write_rows(path, judgments, judgment_schema(FACTS.columns))
    with pairs_counts(path) as counts:
        return counts.tallies()


@pytest.mark.parametrize("place", [0, 1])
def test_every_outcome_of_a_pair(tmp_path, place):
    """Right is what names the chosen answer, in whichever position it is, wherever it stands in the stimulus."""
    outcomes = list(product("12tau", repeat=2))
    found = []
    for number, said in enumerate(outcomes):
        found += rows(pair(number, place), [said])
    tallies = {tally.cluster: tally for tally in counted(tmp_path, found).pairs if not tally.stratum}
    for number, (uv, vu) in enumerate(outcomes):
        tally = tallies[f"task {number}"]
        slot_of_chosen = {"ab": "12"[place], "ba": "21"[place]}
        right = [uv == slot_of_chosen["ab"], vu == slot_of_chosen["ba"]]
        answered = "u" not in (uv, vu)
        assert (tally.pairs, tally.incomplete) == (int(answered), int(not answered))
        assert tally.correct_calls == answered * sum(right)
        assert tally.both_correct == answered * all(right)
        assert tally.position_1_correct_calls == answered * right[place]
        assert tally.positional == answered * (uv == vu and uv in "12")


ORIGINAL = [("1", "2"), ("1", "t")]


@pytest.mark.parametrize(
    ("side", "said", "expected"),
    [
        # In order ab the original named u (the chosen one) twice; in order ba it named u once, and tied once.
        ("chosen", [("1", "2"), ("1", "2")], {"changed": 0.25, "favoured": 0.25, "disfavoured": 0, "overturned": 0}),
        ("rejected", [("1", "2"), ("1", "2")], {"changed": 0.25, "favoured": 0, "disfavoured": 0.25, "overturned": 0}),
        ("rejected", [("2", "1"), ("2", "1")], {"changed": 1, "favoured": 1, "disfavoured": 0, "overturned": 1}),
        (
            "rejected",
            [("t", "t"), ("2", "t")],
            {"changed": 0.75, "favoured": 0.75, "disfavoured": 0, "overturned": 0.25},
        ),
        ("chosen", [("2", "1"), ("2", "1")], {"changed": 1, "favoured": 0, "disfavoured": 1, "overturned": 0}),
    ],
)
def test_edits_are_compared_order_by_order_over_all_combinations(tmp_path, side, said, expected):
    whole = pair(1, 0)
    tallies = counted(tmp_path, [*rows(whole, ORIGINAL), *rows(pair(1, 0, "typos", side, whole), said)])
    [edit] = [each for each in tallies.edits if (each.test, each.group) == ("typos", f"side={side}")]
    [change] = [each for each in tallies.changes if (each.test, each.group) == ("", "")]
    assert change.changed == expected.pop("changed")
    assert {name: getattr(edit, name) for name in expected} == expected
    assert (edit.pairs, edit.incomplete, change.pairs) == (1, 0, 1)


def test_the_noise_is_that_of_both_texts_in_both_orders(tmp_path):
    """The original flips in one order of two, and the edited pair in none: a quarter of its own two answers differ."""
    whole = pair(1, 0)
    steady = pair(1, 0, "typos", "chosen", whole)
    tallies = counted(tmp_path, [*rows(whole, ORIGINAL), *rows(steady, [("1", "2"), ("1", "2")])])
    [change] = [each for each in tallies.changes if (each.test, each.group) == ("", "")]
    assert (change.retested, change.retest_changed, change.changed_retested) == (1, 0.25, 0.25)


def test_a_pair_counts_once_over_its_edits_and_by_the_others_if_one_has_no_verdict(tmp_path):
    whole = pair(1, 0)
    flat = [("1", "2")]
    edited = [pair(1, 0, edit, side, whole) for edit in ("typos", "indentation") for side in ("chosen", "rejected")]
    judgments = list(rows(whole, flat))
    for stimulus, said in zip(edited, [("1", "2"), ("2", "1"), ("1", "1"), ("1", "2")], strict=True):
        judgments += rows(stimulus, [said])
    [change] = [each for each in counted(tmp_path, judgments).changes if (each.test, each.group) == ("", "")]
    assert (change.pairs, change.changed) == (1, (0 + 1 + 0.5 + 0) / 4)
    judgments[-1] = {**judgments[-1], "outcome": "unparsed", "choice": None}
    tallies = counted(tmp_path, judgments)
    found = {(each.test, each.group): each for each in tallies.changes}
    whole = found["", ""]
    assert (whole.pairs, whole.incomplete, whole.lost, whole.changed) == (1, 0, 1 / 8, (0 + 1 + 0.5 + 0) / 4)
    assert (found["typos", ""].pairs, found["typos", ""].changed, found["typos", ""].lost) == (1, 0.5, 0)
    alone = found["indentation", "side=rejected"]
    assert (alone.pairs, alone.incomplete, alone.lost) == (1, 0, 0.5)
    assert [each.lost for each in tallies.edits if (each.test, each.group) == ("", "")] == [1 / 8]
    judgments[-2] = {**judgments[-2], "outcome": "unparsed", "choice": None}
    found = {(each.test, each.group): each for each in counted(tmp_path, judgments).changes}
    assert (found["", ""].pairs, found["", ""].lost) == (1, 1 / 4)
    assert found["indentation", "side=rejected"].incomplete == 1
    assert found["", "side=chosen"].changed == 0.25
    judgments = [row if row["parent"] else {**row, "outcome": "failed", "choice": None} for row in judgments[:-2]]
    found = {(each.test, each.group): each for each in counted(tmp_path, judgments).changes}
    assert (found["typos", ""].pairs, found["typos", ""].original_missing) == (0, 1)


def test_an_edit_that_overturns_a_pair_is_shown_only_if_both_orders_have_a_reply(tmp_path):
    found = []
    for number, said in enumerate([("2", "1"), ("2", "u")]):
        whole = pair(number, 0)
        found += [*rows(whole, [("1", "2")]), *rows(pair(number, 0, "typos", "rejected", whole), [said])]
    path = tmp_path / "judgments.parquet"
    write_rows(path, found, judgment_schema(FACTS.columns))
    with pairs_counts(path) as counts:
        assert [(worst.edit, worst.right, worst.wrong) for worst in counts.worst()] == [("typos", 0.0, 1.0)]
