"""Counting, against a slow reference written from the definitions, one judgment at a time.

Of a canonical pair, asked in both orders: stable = the same content wins twice; positional = the same slot wins twice;
one-sided = exactly one order has a winner; no preference = neither has. An abstention is no preference. A pair with an
order that was unparsed, failed or not asked is incomplete. Dark current counts distinct prompts, not calls.

A `grade` judge sees u in order uv and v in order vu. Of a pair: which has the higher grade, the better or the lesser
(u or v, where neither is better), and by how much. A pair without two grades is incomplete; an abstention is no grade.
"""

from collections import Counter, defaultdict
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.errors import StoreError
from umpirical.protocols.datasheet.counting import tally_judgments
from umpirical.protocols.datasheet.facts import FACTS
from umpirical.store.parquet import write_rows
from umpirical.store.schemas import judgment_schema

CHOICES = ("1", "2", "tie")
ANSWERS = (*CHOICES, "abstained")
NO_ANSWERS = ("unparsed", "failed", "unasked")
OUTCOMES = st.sampled_from(ANSWERS + NO_ANSWERS)
LAYOUTS = st.none() | st.builds(
    lambda *values: dict(zip(("labels", "labels_swapped", "options_swapped", "tie_place"), values, strict=True)),
    st.sampled_from(["1/2", "A/B"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 1, 2]),
)


# The design: any number of pairs and vacuum prompts, each with any outcomes.


@st.composite
def pairs(draw):
    delta = draw(st.sampled_from([0.0, 1.0, 2.5]))
    return {
        "task_id": draw(st.sampled_from("AB")),
        "arm": draw(st.sampled_from(["baseline", "strict"])),
        "family": draw(st.sampled_from(["ladder", "conflict"] if delta else ["delta0", "length"])),
        "stratum": draw(st.sampled_from(["", "spelling"])),
        "delta": delta,
        "winner": draw(st.sampled_from([0, 1])) if delta else None,
        "base": draw(st.sampled_from([0.0, 1.0])),
        "log_length": draw(st.sampled_from([0.0, 0.25, -0.5])),
        "orders": draw(st.sampled_from([("uv", "vu"), ("uv", "vu"), ("vu", "uv"), ("uv",)])),
        "repeats": draw(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=1, max_size=3)),
        "layout": draw(LAYOUTS),
    }


@st.composite
def vacuum_prompts(draw):
    orders = draw(st.sampled_from([("uv",), ("uv", "vu")]))
    return {
        "task_id": draw(st.sampled_from("AB")),
        "arm": draw(st.sampled_from(["baseline", "strict"])),
        "family": "vacuum",
        "stratum": "identical" if len(orders) == 1 else "whitespace",
        "delta": None,
        "winner": None,
        "base": None,
        "log_length": 0.0,
        "orders": orders,
        "repeats": draw(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=1, max_size=4)),
        "layout": draw(LAYOUTS),
    }


GRADES = ("0", "1", "2.5", "4")
"""Steps above the least grade."""

GRADED = st.sampled_from((*GRADES, "abstained", *NO_ANSWERS))


@st.composite
def graded(draw, stimuli):
    """The same stimuli, with grades for answers."""
    stimulus = draw(stimuli)
    count = len(stimulus["repeats"])
    return stimulus | {"repeats": draw(st.lists(st.tuples(GRADED, GRADED), min_size=count, max_size=count))}


SHARED = ("task_id", "arm", "family", "stratum", "delta", "winner", "base", "log_length", "layout")


def level_of(stimulus, order):
    """Of the answer a `grade` judge sees."""
    better = {0: "uv", 1: "vu"}.get(stimulus["winner"])
    return (stimulus.get("base") or 0.0) + (stimulus["delta"] if order == better else 0.0)


def judgment_rows(stimuli, kind="compare"):
    rows = []
    for number, stimulus in enumerate(stimuli):
        shared = {name: stimulus.get(name) for name in SHARED}
        for repeat, outcomes in enumerate(stimulus["repeats"]):
            for order, outcome in zip(stimulus["orders"], outcomes, strict=False):
                answered = (
                    {"choice": outcome if outcome in CHOICES else None}
                    if kind == "compare"
                    else {"score": float(outcome) if outcome in GRADES else None, "level": level_of(stimulus, order)}
                )
                rows.append(
                    shared
                    | answered
                    | {
                        "trial_id": f"{number}-{order}-{repeat}",
                        "prompt_id": f"{number}-{order}",
                        "stimulus_id": f"{number}",
                        "order": order,
                        "repeat": repeat,
                        "outcome": outcome if outcome in ("abstained", *NO_ANSWERS) else "verdict",
                    }
                )
    return rows


def tallied(folder, rows, *, files=2, kind="compare"):
    folder.mkdir(exist_ok=True)
    for number in range(files):
        write_rows(folder / f"{number:05d}.parquet", rows[number::files], judgment_schema(FACTS.columns))
    return tally_judgments(folder, kind)


# The reference.


def said(row):
    """An answer of the four, or None where there is none."""
    answer = row.get("choice") if row["outcome"] == "verdict" else row["outcome"]
    return answer if answer in ANSWERS else None


def winner_of(row):
    """The content that won: u or v, or None for a tie or an abstention."""
    in_slot = {"1": row["order"][0], "2": row["order"][1]}
    return in_slot.get(said(row))


def slow_pairs(rows):
    both_orders = defaultdict(list)
    for row in rows:
        if row["family"] != "vacuum":
            key = (row["task_id"], row["arm"], row["family"], row["delta"], row["stratum"])
            both_orders[key, row["stimulus_id"], row["repeat"]].append(row)
    tallies = defaultdict(Counter)
    for (key, _, _), calls in both_orders.items():
        tallies[key].update(slow_pair(calls))
    return tallies


def slow_pair(calls):
    if len(calls) < 2 or None in map(said, calls):
        return Counter(incomplete=1)
    first, second = calls
    contents, slots = [winner_of(first), winner_of(second)], [said(first), said(second)]
    count = Counter(pairs=1, slot_1_calls=slots.count("1"), slot_2_calls=slots.count("2"))
    if None not in contents:
        count["stable" if contents[0] == contents[1] else "positional"] += 1
        assert (contents[0] == contents[1]) == (slots[0] != slots[1])
    elif contents == [None, None]:
        count["no_preference"] += 1
    else:
        count["one_sided"] += 1
        count["one_sided_slot_1"] += "1" in slots
        count["one_sided_u"] += "u" in contents
        count["one_sided_u_slot_1"] += "1" in slots and "u" in contents
    better = {0: "u", 1: "v", None: None}[first["winner"]]
    for content in contents:
        if content is None:
            count["tie_calls"] += 1
        elif better is not None:
            count["correct_calls" if content == better else "wrong_calls"] += 1
    return count


def slow_outcomes(rows):
    """(what the pair is, its six counts) to the number of such pairs."""
    by_repeat, pairs = defaultdict(list), defaultdict(Counter)
    for row in rows:
        if row["family"] != "vacuum":
            by_repeat[row["stimulus_id"], row["repeat"]].append(row)
    for calls in by_repeat.values():
        if len(calls) == 2 and None not in map(said, calls):
            for row in calls:
                delta = -row["delta"] if row["winner"] == 1 else row["delta"]
                names = ("task_id", "arm", "family", "stratum")
                kind = (*(row[name] for name in names), delta, row["base"], row["log_length"])
                answer = {"1": "1", "2": "2"}.get(said(row), "tie")
                pairs[kind, row["stimulus_id"]][row["order"], answer] += 1
    cells = [(order, answer) for order in ("uv", "vu") for answer in CHOICES]
    return Counter((*kind, tuple(count[cell] for cell in cells)) for (kind, _), count in pairs.items())


def slow_layouts(rows):
    """By kind of layout: pairs, d, ties, incomplete. A pair is the mean of its repeats that were answered in full."""
    pairs = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["layout"] and (row["family"] == "delta0" or row["stratum"] == "identical"):
            layout = row["layout"]
            signs = (1 - 2 * layout["labels_swapped"], 1 - 2 * layout["options_swapped"], layout["tie_place"])
            key = (row["task_id"], row["arm"], row["family"], *signs)
            pairs[key, row["stimulus_id"]][row["repeat"]].append(said(row))
    found = defaultdict(lambda: [0, 0.0, 0.0, 0])
    for (key, _), repeats in pairs.items():
        asked = 1 if key[2] == "vacuum" else 2
        whole = [calls for calls in repeats.values() if len(calls) == asked and None not in calls]
        tally, calls = found[key], [call for repeat in whole for call in repeat]
        tally[0] += bool(whole)
        tally[3] += not whole
        if whole:
            tally[1] += (calls.count("1") - calls.count("2")) / len(calls)
            tally[2] += calls.count("tie") / len(calls)
    return found


def grade_of(row):
    return row["score"] if row["outcome"] == "verdict" else None


def slow_grade_pairs(rows):
    pairs = defaultdict(dict)
    for row in rows:
        if row["family"] != "vacuum":
            key = (row["task_id"], row["arm"], row["family"], row["stratum"], row["delta"])
            pairs[key, row["winner"], row["stimulus_id"], row["repeat"]][row["order"][0]] = grade_of(row)
    tallies = defaultdict(Counter)
    for (key, winner, _, _), grades in pairs.items():
        u, v = grades.get("u"), grades.get("v")
        if u is None or v is None:
            tallies[key]["incomplete"] += 1
            continue
        better, lesser = (v, u) if winner == 1 else (u, v)
        which = "better_higher" if better > lesser else "lesser_higher" if better < lesser else "equal"
        tallies[key].update({"pairs": 1, which: 1, "difference": better - lesser, "distance": abs(better - lesser)})
    return tallies


def slow_grades(rows):
    names = ("task_id", "arm", "family", "level", "score")
    return Counter(tuple(row[name] for name in names) for row in rows if grade_of(row) is not None)


def slow_vacuum(rows):
    prompts = defaultdict(list)
    for row in rows:
        if row["family"] == "vacuum":
            answer = said(row) if row.get("score") is None else ("something" if row["score"] > 0 else "nothing")
            prompts[row["task_id"], row["arm"], row["stratum"], row["prompt_id"]].append(answer)
    tallies = defaultdict(lambda: [0, 0.0, 0])
    for (*key, _), answers in prompts.items():
        answered = [answer for answer in answers if answer is not None]
        tally = tallies[tuple(key)]
        if answered:
            tally[0] += 1
            tally[1] += sum(answer in ("1", "2", "something") for answer in answered) / len(answered)
        else:
            tally[2] += 1
    return tallies


def slow_calls(rows):
    names = {"1": "slot_1", "2": "slot_2"}
    tallies = defaultdict(Counter)
    for row in rows:
        answer = row.get("choice", "graded") if row["outcome"] == "verdict" else row["outcome"]
        key = (row["task_id"], row["arm"], row["family"], row["stratum"], row["delta"])
        tallies[key].update(["planned", names.get(answer, answer)])
    return tallies


def counted(tally, keys):
    """(key, counts above zero) of a tally."""
    record = asdict(tally)
    key = tuple(record.pop(name) for name in keys)
    return key, {name: count for name, count in record.items() if count}


def assert_equal_to_the_reference(tallies, rows):
    pair_keys = ("task_id", "arm", "family", "delta", "stratum")
    assert dict(counted(tally, pair_keys) for tally in tallies.pairs) == {
        key: dict(+count) for key, count in slow_pairs(rows).items()
    }
    assert {
        (t.task_id, t.arm, t.family, t.stratum, t.delta, t.base, t.log_length, t.counts): t.pairs
        for t in tallies.outcomes
    } == slow_outcomes(rows)
    assert {
        (t.task_id, t.arm, t.family, t.label_sign, t.list_sign, t.tie_place): [
            t.pairs,
            t.difference,
            t.ties,
            t.incomplete,
        ]
        for t in tallies.layouts
    } == {key: pytest.approx(tally) for key, tally in slow_layouts(rows).items()}
    assert_shared_tallies_are_equal(tallies, rows)


def assert_grades_are_equal_to_the_reference(tallies, rows):
    pair_keys = ("task_id", "arm", "family", "stratum", "delta")
    assert dict(counted(tally, pair_keys) for tally in tallies.grade_pairs) == {
        key: {name: value for name, value in count.items() if value} for key, count in slow_grade_pairs(rows).items()
    }
    assert {(t.task_id, t.arm, t.family, t.level, t.score): t.answers for t in tallies.grades} == slow_grades(rows)
    assert_shared_tallies_are_equal(tallies, rows)


def assert_shared_tallies_are_equal(tallies, rows):
    call_keys = ("task_id", "arm", "family", "stratum", "delta")
    assert dict(counted(tally, call_keys) for tally in tallies.calls) == {
        key: dict(count) for key, count in slow_calls(rows).items()
    }
    vacuum = {(t.task_id, t.arm, t.stratum): [t.prompts, t.false_preferences, t.unanswered] for t in tallies.vacuum}
    assert vacuum == {key: pytest.approx(tally) for key, tally in slow_vacuum(rows).items()}


# The tests.


@settings(max_examples=25, deadline=None)
@given(stimuli=st.lists(pairs() | vacuum_prompts(), min_size=1, max_size=25))
def test_every_count_is_that_of_the_reference(tmp_path_factory, stimuli):
    rows = judgment_rows(stimuli)
    assert_equal_to_the_reference(tallied(tmp_path_factory.mktemp("judgments"), rows), rows)


@settings(max_examples=25, deadline=None)
@given(stimuli=st.lists(graded(pairs() | vacuum_prompts()), min_size=1, max_size=25))
def test_every_count_of_grades_is_that_of_the_reference(tmp_path_factory, stimuli):
    rows = judgment_rows(stimuli, "grade")
    tallies = tallied(tmp_path_factory.mktemp("judgments"), rows, kind="grade")
    assert (tallies.pairs, tallies.outcomes) == ((), ())
    assert_grades_are_equal_to_the_reference(tallies, rows)


@settings(max_examples=12, deadline=None)
@given(stimuli=st.lists(pairs(), min_size=1, max_size=25))
def test_calls_and_pairs_agree_in_every_tally(tmp_path_factory, stimuli):
    for tally in tallied(tmp_path_factory.mktemp("judgments"), judgment_rows(stimuli)).pairs:
        assert tally.pairs == tally.stable + tally.positional + tally.one_sided + tally.no_preference
        winners = 2 * tally.pairs - tally.tie_calls
        assert winners == 2 * tally.stable + 2 * tally.positional + tally.one_sided
        assert tally.tie_calls == 2 * tally.no_preference + tally.one_sided
        assert tally.slot_1_calls + tally.slot_2_calls == winners
        if tally.delta:
            assert tally.correct_calls + tally.wrong_calls == winners
        kinds = [tally.one_sided_u_slot_1, tally.one_sided_u - tally.one_sided_u_slot_1]
        kinds += [tally.one_sided_slot_1 - tally.one_sided_u_slot_1]
        assert min(kinds) >= 0
        assert sum(kinds) <= tally.one_sided


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        ("1", "2", "stable"),
        ("2", "1", "stable"),
        ("1", "1", "positional"),
        ("2", "2", "positional"),
        ("1", "tie", "one_sided"),
        ("abstained", "2", "one_sided"),
        ("tie", "tie", "no_preference"),
        ("abstained", "tie", "no_preference"),
        ("1", "unparsed", "incomplete"),
        ("failed", "2", "incomplete"),
        ("tie", "unasked", "incomplete"),
    ],
)
def test_each_kind_of_pair_by_hand(tmp_path, first, second, name):
    pair = {"task_id": "A", "arm": "baseline", "family": "delta0", "stratum": "", "delta": 0.0, "winner": None}
    rows = judgment_rows([pair | {"orders": ("uv", "vu"), "repeats": [(first, second)]}])
    [tally] = tallied(tmp_path / "j", rows).pairs
    kinds = ("stable", "positional", "one_sided", "no_preference", "incomplete")
    assert [kind for kind in kinds if getattr(tally, kind)] == [name]


def test_a_vacuum_prompt_counts_once_however_often_it_is_repeated(tmp_path):
    prompt = {"task_id": "A", "arm": "b", "family": "vacuum", "stratum": "identical", "delta": None, "winner": None}
    often = prompt | {"orders": ("uv",), "repeats": [("1", "")] * 97 + [("tie", "")] * 3}
    once = prompt | {"orders": ("uv",), "repeats": [("tie", "")]}
    [tally] = tallied(tmp_path / "j", judgment_rows([often, once])).vacuum
    assert (tally.prompts, tally.false_preferences) == (2, pytest.approx(0.97))


def test_a_trial_that_is_there_twice_is_refused(tmp_path):
    pair = {"task_id": "A", "arm": "b", "family": "delta0", "stratum": "", "delta": 0.0, "winner": None}
    rows = judgment_rows([pair | {"orders": ("uv", "vu"), "repeats": [("1", "2")]}])
    with pytest.raises(StoreError, match="1 trials are counted twice"):
        tallied(tmp_path / "j", [*rows, rows[0]])


@pytest.mark.parametrize("name", ["it's", 'say "1"', "[v2]", "50%*?", "a; drop table call --", "ü 判"])
def test_a_folder_may_have_any_name(tmp_path, name):
    pair = {"task_id": "A", "arm": "b", "family": "delta0", "stratum": "", "delta": 0.0, "winner": None}
    rows = judgment_rows([pair | {"orders": ("uv", "vu"), "repeats": [("1", "2")]}])
    assert tallied(tmp_path / name, rows).pairs[0].stable == 1


# Grades.


def a_pair(**changed):
    pair = {"task_id": "A", "arm": "b", "family": "ladder", "stratum": "", "delta": 2.0, "winner": 0, "base": 1.0}
    return pair | {"log_length": 0.0, "orders": ("uv", "vu"), "repeats": [("4", "1")]} | changed


def test_grades_by_hand(tmp_path):
    stimuli = [a_pair(), a_pair(winner=1), a_pair(repeats=[("1", "1"), ("abstained", "4")])]
    tallies = tallied(tmp_path / "j", judgment_rows(stimuli, "grade"), kind="grade")
    [tally] = tallies.grade_pairs
    assert (tally.pairs, tally.better_higher, tally.lesser_higher, tally.equal, tally.incomplete) == (3, 1, 1, 1, 1)
    # 4 - 1, 1 - 4 and 1 - 1.
    assert (tally.difference, tally.distance) == (0.0, 6.0)
    # u is the better answer, of quality 3, in the first and third pair; v in the second.
    assert {(t.level, t.score): t.answers for t in tallies.grades} == {
        (1.0, 1.0): 2,
        (1.0, 4.0): 2,
        (3.0, 1.0): 2,
        (3.0, 4.0): 1,
    }
    [calls] = tallies.calls
    assert (calls.planned, calls.graded, calls.abstained) == (8, 7, 1)


def test_the_least_grade_for_a_blank_is_nothing_and_any_other_is_something(tmp_path):
    blank = a_pair(family="vacuum", stratum="empty", delta=None, winner=None, base=None, orders=("uv",))
    stimuli = [blank | {"repeats": [("0", ""), ("2.5", "")]}, blank | {"repeats": [("0", "")]}]
    [tally] = tallied(tmp_path / "j", judgment_rows(stimuli, "grade"), kind="grade").vacuum
    assert (tally.prompts, tally.false_preferences, tally.unanswered) == (2, 0.5, 0)


def test_labels_without_an_order_are_no_measurement_of_nothing(tmp_path):
    """They have no score: a rate of 0 made of them would be missing data turned into a number."""
    blank = a_pair(family="vacuum", stratum="empty", delta=0.0, winner=None, orders=("uv",), repeats=[("0", "")])
    rows = [row | {"score": None, "label": "red"} for row in judgment_rows([blank, a_pair()], "grade")]
    tallies = tallied(tmp_path / "j", rows, kind="grade")
    assert [(tally.prompts, tally.unanswered) for tally in tallies.vacuum] == [(0, 1)]
    assert [(tally.pairs, tally.incomplete) for tally in tallies.grade_pairs] == [(0, 1)]
    assert tallies.grades == ()
    assert sum(tally.graded for tally in tallies.calls) == 3


def test_an_answer_that_came_up_in_two_pairs_is_one_question_and_no_doubled_trial(tmp_path):
    rows = judgment_rows([a_pair(), a_pair()], "grade")
    shared = [row | {"trial_id": "u", "prompt_id": "u"} if row["order"] == "uv" else row for row in rows]
    tallies = tallied(tmp_path / "j", shared, kind="grade")
    assert tallies.grade_pairs[0].pairs == 2
    assert {(t.level, t.score): t.answers for t in tallies.grades} == {(3.0, 4.0): 1, (1.0, 1.0): 2}
    with pytest.raises(StoreError, match="1 trials are counted twice"):
        tallied(tmp_path / "k", [*shared, shared[0]], kind="grade")
