"""Counting stress tests, against a slow reference written from the definitions, one item at a time.

An item's original is asked several times, its changed version once or more. Changed: over all combinations of answers
to the two, the share that differ. Without a verdict on one of the two the item is incomplete. Retest: of two different
answers to the original, the share that differ. An item counts once against gold, however often it was asked.
"""

from collections import defaultdict
from itertools import combinations, product

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.scales import GradeScale
from umpirical.protocols.stress import counting
from umpirical.protocols.stress.counting import stress_counts
from umpirical.protocols.stress.report import FACTS
from umpirical.store import sql
from umpirical.store.parquet import write_rows
from umpirical.store.schemas import judgment_schema

SCALE = GradeScale("ordinal", ("low", "mid", "high"))
NOMINAL = GradeScale("nominal", ("low", "mid", "high"))
OUTCOMES = st.sampled_from([*SCALE.labels, *SCALE.labels, "abstained", "unparsed", "failed", "unasked"])


@st.composite
def items(draw):
    """One item: its gold, answers to the original, answers under other seeds, and to its changed versions."""
    gold = draw(st.sampled_from(["", *SCALE.labels]))
    return {
        "cluster": draw(st.sampled_from("AB")),
        "gold": gold,
        "group": draw(st.sampled_from(["", "young", "old"])),
        "original": draw(st.lists(OUTCOMES, min_size=1, max_size=3)),
        "seeds": draw(st.lists(OUTCOMES, max_size=3)),
        "spacing": draw(st.lists(OUTCOMES, max_size=2)),
        "flip": draw(st.lists(OUTCOMES, max_size=1)) if gold else [],
        "flip_gold": draw(st.sampled_from(SCALE.labels)),
    }


def rows_of(place, item, scale):
    name = f"item{place}"
    groups = [f"age={item['group']}"] if item["group"] else []

    def row(stimulus, family, expectation, parent, gold, repeat, outcome, seed=None):  # noqa: PLR0917
        graded = outcome in scale.labels
        return {
            "trial_id": f"{stimulus}-{repeat}-{seed}",
            "prompt_id": f"{stimulus}-{seed}",
            "stimulus_id": stimulus,
            "cluster": item["cluster"],
            "family": family,
            "stratum": "",
            "variant": "baseline",
            "order": "ab",
            "repeat": repeat,
            "seed": seed,
            "outcome": "verdict" if graded else outcome,
            "label": outcome if graded else None,
            "score": scale.score(outcome) if graded else None,
            "parent": parent,
            "expectation": expectation,
            "gold": gold,
            "gold_score": scale.score(gold) if gold else None,
            "groups": groups,
        }

    gold, known = item["gold"], "given-label" if item["gold"] else "same-verdict"
    for repeat, outcome in enumerate(item["original"]):
        yield row(name, "original", known, "the item", gold, repeat, outcome)
    for repeat, outcome in enumerate(item["seeds"]):
        yield row(name, "original", known, "the item", gold, repeat, outcome, seed=repeat + 1)
    for repeat, outcome in enumerate(item["spacing"]):
        yield row(f"{name}s", "spacing", "same-verdict", name, gold, repeat, outcome)
    for repeat, outcome in enumerate(item["flip"]):
        yield row(f"{name}f", "flip", "flipped-verdict", name, item["flip_gold"], repeat, outcome)


def write(folder, design, scale=SCALE):
    rows = [row for place, item in enumerate(design) for row in rows_of(place, item, scale)]
    write_rows(folder / "0.parquet", rows, judgment_schema(FACTS.columns))
    return folder / "0.parquet"


DESIGN = [
    {
        "cluster": "AB"[place % 2],
        "gold": SCALE.labels[place % 3],
        "group": ("", "young", "old")[place % 3],
        "original": [SCALE.labels[place % 3], SCALE.labels[place % 2]],
        "seeds": [],
        "spacing": [SCALE.labels[(place + place % 5) % 3], "failed"],
        "flip": [SCALE.labels[(place + 1) % 3]],
        "flip_gold": SCALE.labels[(place + 1) % 3],
    }
    for place in range(600)
]


def test_pairs_that_are_made_in_parts_are_counted_alike(tmp_path, monkeypatch):
    judgments = write(tmp_path, DESIGN)
    whole = tally_stress(judgments, SCALE), worst_rows(judgments)
    monkeypatch.setattr(counting, "PART", 50)
    assert (tally_stress(judgments, SCALE), worst_rows(judgments)) == whole
    assert sum(tally.pairs for tally in whole[0].changes if not tally.group) == 1200


def test_pairs_are_made_in_less_memory_than_all_of_them_take(tmp_path, monkeypatch):
    """A report on a million judgments once ran out of memory: what a join and its groups hold cannot be spilled."""
    judgments, many = write(tmp_path, DESIGN), tmp_path / "many.parquet"
    names = ", ".join(f"{name} || '-' || number || repeat('x', 24) as {name}" for name in ("trial_id", "stimulus_id"))
    duckdb.sql(
        f"copy (select * replace ({names}, parent || '-' || number || repeat('x', 24) as parent) "  # noqa: S608  # ours
        f"from range(110) t(number), '{judgments}') to '{many}' (format parquet)"
    )
    monkeypatch.setattr(sql, "MEMORY", "96MB")
    tallies = tally_stress(many, SCALE)
    assert sum(tally.planned for tally in tallies.calls) == 110 * 5 * 600
    assert sum(tally.pairs for tally in tallies.changes if not tally.group) == 110 * 1200


def tally_stress(folder, scale, positive=()):
    with stress_counts(folder) as counts:
        return counts.tallies(scale, positive)


def worst_rows(folder):
    with stress_counts(folder) as counts:
        return counts.worst()


def verdicts(outcomes):
    return [outcome for outcome in outcomes if outcome in SCALE.labels]


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else None


def sign(number):
    return (number > 0) - (number < 0)


def expected_changes(design):
    found = defaultdict(lambda: defaultdict(float))
    for item in design:
        original = verdicts(item["original"])
        for test, gold in (("spacing", item["gold"]), ("flip", item["flip_gold"])):
            if not item[test]:
                continue
            both = list(product(original, verdicts(item[test])))
            retests = [mean(a != b for a, b in combinations(given, 2)) for given in (original, verdicts(item[test]))]
            for group in {"", f"age={item['group']}" if item["group"] else ""}:
                sums = found[item["cluster"], test, group]
                if not both:
                    sums["incomplete"] += 1
                    sums["changed_missing"] += bool(original)
                    sums["original_missing"] += bool(verdicts(item[test]))
                    continue
                sums["pairs"] += 1
                changed = mean(a != b for a, b in both)
                sums["changed"] += changed
                steps = [SCALE.score(b) - SCALE.score(a) for a, b in both]
                sums["shift"] += mean(steps)
                sums["distance"] += mean(map(abs, steps))
                if item["gold"]:
                    sums["golden"] += 1
                    way = sign(SCALE.score(gold) - SCALE.score(item["gold"]))
                    sums["moved"] += mean(bool(step) and sign(step) == way for step in steps)
                    sums["right_on_both"] += mean(a == item["gold"] and b == gold for a, b in both)
                if None not in retests:
                    sums["retested"] += 1
                    sums["retest_changed"] += sum(retests) / 2
                    sums["changed_retested"] += changed
    return found


COUNTED = ("pairs", "changed", "moved", "right_on_both", "golden", "shift", "distance", "retested", "retest_changed")


@settings(max_examples=25, deadline=None)
@given(design=st.lists(items(), min_size=1, max_size=6))
def test_changes_are_what_the_definitions_say(design, tmp_path_factory):
    tallies = tally_stress(write(tmp_path_factory.mktemp("judgments"), design), SCALE)
    expected = expected_changes(design)
    found = {(tally.cluster, tally.test, tally.group): tally for tally in tallies.changes}
    assert found.keys() == expected.keys()
    for key, tally in found.items():
        for name in (*COUNTED, "changed_retested", "incomplete", "changed_missing", "original_missing"):
            assert getattr(tally, name) == pytest.approx(expected[key][name]), (key, name)
        assert tally.expectation == ("same-verdict" if key[1] == "spacing" else "flipped-verdict")


@settings(max_examples=25, deadline=None)
@given(design=st.lists(items(), min_size=1, max_size=6))
def test_repeats_are_counted_by_item(design, tmp_path_factory):
    tallies = tally_stress(write(tmp_path_factory.mktemp("judgments"), design), SCALE)
    expected = defaultdict(int)
    for item in design:
        for test, outcomes in (("stability", item["original"]), ("seeds", item["seeds"])):
            if len(outcomes) > 1:
                said = verdicts(outcomes)
                answers = tuple(sorted((label, said.count(label)) for label in set(said)))
                for group in {"", f"age={item['group']}" if item["group"] else ""}:
                    expected[item["cluster"], test, group, answers, len(outcomes)] += 1
    found = {(t.cluster, t.test, t.group, t.answers, t.asked): t for t in tallies.repeats}
    assert {key: tally.items for key, tally in found.items()} == dict(expected)
    assert all(tally.scores == tuple(SCALE.score(label) for label, _ in tally.answers) for tally in found.values())


@settings(max_examples=25, deadline=None)
@given(design=st.lists(items(), min_size=1, max_size=6))
def test_an_item_counts_once_against_gold(design, tmp_path_factory):
    tallies = tally_stress(write(tmp_path_factory.mktemp("judgments"), design), SCALE, ("high",))
    expected = defaultdict(float)
    for item in design:
        asked = {"original": (item["gold"], item["original"]), "spacing": (item["gold"], item["spacing"])}
        asked["flip"] = (item["flip_gold"], item["flip"])
        for test, (gold, outcomes) in asked.items():
            said = verdicts(outcomes)
            for group in {"", f"age={item['group']}" if item["group"] else ""} if gold and outcomes else ():
                for given_label in set(said) or {""}:
                    share = said.count(given_label) / len(said) if said else 1.0
                    expected[item["cluster"], test, group, gold, given_label] += share
    found = {(t.cluster, t.test, t.group, t.gold, t.given): t.items for t in tallies.golds}
    assert found == pytest.approx(dict(expected))
    assert tallies.scale == SCALE
    assert tallies.positive == ("high",)


def test_every_planned_call_is_in_the_audit_whatever_came_of_it(tmp_path):
    outcomes = ["low", "abstained", "unparsed", "failed", "unasked"]
    item = {"cluster": "A", "gold": "low", "group": "", "original": outcomes, "seeds": [], "spacing": [], "flip": []}
    [tally] = tally_stress(write(tmp_path, [item]), SCALE).calls
    assert (tally.planned, tally.graded, tally.abstained, tally.unparsed, tally.failed, tally.unasked) == (
        5,
        1,
        1,
        1,
        1,
        1,
    )


def plain(**changes):
    item = {"cluster": "A", "gold": "", "group": "", "original": ["mid"], "seeds": [], "spacing": [], "flip": []}
    return item | changes


def test_labels_without_order_have_no_shift_and_move_only_to_the_gold_label(tmp_path):
    moved = plain(gold="low", original=["low"], flip=["high"], flip_gold="high", cluster="B")
    elsewhere = plain(gold="low", original=["low"], flip=["mid"], flip_gold="high")
    tallies = tally_stress(write(tmp_path, [elsewhere, moved], NOMINAL), NOMINAL)
    by_cluster = {tally.cluster: tally for tally in tallies.changes}
    assert (by_cluster["A"].changed, by_cluster["A"].moved, by_cluster["A"].shift) == (1, 0, 0)
    assert by_cluster["B"].moved == 1
    assert all(tally.gold_score is None and tally.given_score is None for tally in tallies.golds)


def test_the_worst_of_each_test_come_first_with_what_was_said(tmp_path):
    design = [
        plain(gold="low", original=["low", "low"], spacing=["high"]),
        plain(gold="mid", original=["mid", "mid"], spacing=["low"]),
        plain(gold="high", original=["high", "high"], spacing=["high"]),
        plain(gold="low", original=["low", "mid"], flip=["low"], flip_gold="high"),
    ]
    rows = worst_rows(write(tmp_path, design))
    changed = [row for row in rows if row.kind == "changed"]
    assert [(row.stimulus_id, row.distance) for row in changed] == [("item0s", 2.0), ("item1s", 1.0)]
    assert changed[0].given == ("high",)
    assert changed[0].original_given == ("low", "low")
    [unmoved] = [row for row in rows if row.kind == "unmoved"]
    assert (unmoved.stimulus_id, unmoved.test) == ("item3f", "flip")
    [wrong] = [row for row in rows if row.kind == "wrong"]
    assert (wrong.stimulus_id, wrong.distance) == ("item3", 0.5)
    [unsteady] = [row for row in rows if row.kind == "unsteady"]
    assert (unsteady.test, unsteady.distance) == ("stability", 1.0)


def test_a_missing_verdict_is_never_among_the_worst(tmp_path):
    design = [plain(gold="low", original=["failed", "unparsed"], spacing=["high"], flip=["low"], flip_gold="high")]
    assert worst_rows(write(tmp_path, design)) == []


INTERVAL = GradeScale("interval", low=0.1, high=10.0)


def valued(stimulus, family, values, *, gold, parent="the item", expectation="given-label"):
    """Rows of one text on an interval scale; gold is text, as the user wrote it."""
    for repeat, value in enumerate(values):
        yield {
            "trial_id": f"{stimulus}-{repeat}",
            "prompt_id": stimulus,
            "stimulus_id": stimulus,
            "cluster": stimulus[:1],
            "family": family,
            "stratum": "",
            "variant": "baseline",
            "order": "ab",
            "repeat": repeat,
            "outcome": "verdict",
            "value": value,
            "score": INTERVAL.score(value),
            "parent": parent,
            "expectation": expectation,
            "gold": gold,
            "gold_score": INTERVAL.score(gold),
            "groups": [],
        }


def on_an_interval(folder, *texts):
    write_rows(folder / "0.parquet", [row for rows in texts for row in rows], judgment_schema(FACTS.columns))
    return folder / "0.parquet"


def test_on_an_interval_scale_a_right_value_is_not_among_the_worst_however_it_is_written(tmp_path):
    folder = on_an_interval(
        tmp_path,
        valued("a", "original", [7.0], gold="7.0"),
        valued("b", "original", [7.5], gold="7.50"),
        valued("c", "original", [0.1 + 0.2], gold="0.3"),
        valued("d", "original", [1.23456789], gold="1.23456789"),
        valued("e", "original", [4.0], gold="3"),
    )
    [wrong] = worst_rows(folder)
    assert (wrong.stimulus_id, wrong.kind, wrong.distance, wrong.given) == ("e", "wrong", 1.0, ("4",))


@pytest.mark.parametrize(("value", "changed"), [(7.0000004, 1), (7.0 + 1e-12, 0), (7.0, 0), (6.9999996, 1)])
def test_on_an_interval_scale_any_difference_beyond_rounding_is_a_change(tmp_path, value, changed):
    folder = on_an_interval(
        tmp_path,
        valued("a", "original", [7.0, 7.0], gold="7"),
        valued("as", "spacing", [value], gold="7", parent="a", expectation="same-verdict"),
    )
    [tally] = tally_stress(folder, INTERVAL).changes
    assert (tally.changed, tally.right_on_both) == (changed, 1 - changed)
    assert [row.stimulus_id for row in worst_rows(folder) if row.kind == "changed"] == ["as"] * changed


@pytest.mark.parametrize(("again", "answers"), [(7.0000004, (("7", 1), ("7.0000004", 1))), (7.0 + 1e-12, (("7", 2),))])
def test_on_an_interval_scale_repeats_differ_by_the_same_rule(tmp_path, again, answers):
    folder = on_an_interval(tmp_path, valued("a", "original", [7.0, again], gold="7"))
    [tally] = tally_stress(folder, INTERVAL).repeats
    assert tally.answers == answers
    assert [row.kind for row in worst_rows(folder) if row.kind == "unsteady"] == ["unsteady"] * (len(answers) - 1)
