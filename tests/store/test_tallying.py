"""Counting, against a slow reference written from the definitions, one judgment at a time.

Of a canonical pair, asked in both orders: stable = the same content wins twice; positional = the same slot wins twice;
one-sided = exactly one order has a winner; no preference = neither has. An abstention is no preference. A pair with an
order that was unparsed, failed or not asked is incomplete. Dark current counts distinct prompts, not calls.
"""

from collections import Counter, defaultdict
from dataclasses import asdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.errors import StoreError
from umpirical.store.parquet import write_rows
from umpirical.store.schemas import judgment_schema
from umpirical.store.tallying import tally_judgments

ANSWERS = ("1", "2", "tie", "abstained")
NO_ANSWERS = ("unparsed", "failed", "unasked")
OUTCOMES = st.sampled_from(ANSWERS + NO_ANSWERS)


# The design: any number of pairs and vacuum prompts, each with any outcomes.


@st.composite
def pairs(draw):
    delta = draw(st.sampled_from([0.0, 1.0, 2.5]))
    return {
        "task_id": draw(st.sampled_from("AB")),
        "arm": draw(st.sampled_from(["baseline", "strict"])),
        "family": "ladder" if delta else "delta0",
        "stratum": "",
        "delta": delta,
        "winner": draw(st.sampled_from([0, 1])) if delta else None,
        "orders": draw(st.sampled_from([("uv", "vu"), ("uv", "vu"), ("vu", "uv"), ("uv",)])),
        "repeats": draw(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=1, max_size=3)),
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
        "orders": orders,
        "repeats": draw(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=1, max_size=4)),
    }


def judgment_rows(stimuli):
    rows = []
    for number, stimulus in enumerate(stimuli):
        shared = {name: stimulus[name] for name in ("task_id", "arm", "family", "stratum", "delta", "winner")}
        for repeat, outcomes in enumerate(stimulus["repeats"]):
            for order, outcome in zip(stimulus["orders"], outcomes, strict=False):
                chosen = outcome in ("1", "2", "tie")
                rows.append(
                    shared
                    | {
                        "trial_id": f"{number}-{order}-{repeat}",
                        "prompt_id": f"{number}-{order}",
                        "stimulus_id": f"{number}",
                        "order": order,
                        "repeat": repeat,
                        "outcome": "verdict" if chosen else outcome,
                        "choice": outcome if chosen else None,
                    }
                )
    return rows


def tallied(folder, rows, *, files=2):
    folder.mkdir(exist_ok=True)
    for number in range(files):
        write_rows(folder / f"{number:05d}.parquet", rows[number::files], judgment_schema())
    return tally_judgments(folder)


# The reference.


def said(row):
    """An answer of the four, or None where there is none."""
    answer = row["choice"] if row["outcome"] == "verdict" else row["outcome"]
    return answer if answer in ANSWERS else None


def winner_of(row):
    """The content that won: u or v, or None for a tie or an abstention."""
    in_slot = {"1": row["order"][0], "2": row["order"][1]}
    return in_slot.get(said(row))


def slow_pairs(rows):
    both_orders = defaultdict(list)
    for row in rows:
        if row["family"] != "vacuum":
            key = (row["task_id"], row["arm"], row["family"], row["delta"])
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
    count = Counter(pairs=1)
    if None not in contents:
        count["stable" if contents[0] == contents[1] else "positional"] += 1
        assert (contents[0] == contents[1]) == (slots[0] != slots[1])
    elif contents == [None, None]:
        count["no_preference"] += 1
    else:
        count["one_sided"] += 1
        count["one_sided_slot_1"] += "1" in slots
        count["one_sided_u"] += "u" in contents
    better = {0: "u", 1: "v", None: None}[first["winner"]]
    for content in contents:
        if content is None:
            count["tie_calls"] += 1
        elif better is not None:
            count["correct_calls" if content == better else "wrong_calls"] += 1
    return count


def slow_vacuum(rows):
    prompts = defaultdict(list)
    for row in rows:
        if row["family"] == "vacuum":
            prompts[row["task_id"], row["arm"], row["stratum"], row["prompt_id"]].append(said(row))
    tallies = defaultdict(lambda: [0, 0.0, 0])
    for (*key, _), answers in prompts.items():
        answered = [answer for answer in answers if answer is not None]
        tally = tallies[tuple(key)]
        if answered:
            tally[0] += 1
            tally[1] += sum(answer in ("1", "2") for answer in answered) / len(answered)
        else:
            tally[2] += 1
    return tallies


def slow_calls(rows):
    names = {"1": "slot_1", "2": "slot_2"}
    tallies = defaultdict(Counter)
    for row in rows:
        answer = row["choice"] if row["outcome"] == "verdict" else row["outcome"]
        key = (row["task_id"], row["arm"], row["family"], row["stratum"], row["delta"])
        tallies[key].update(["planned", names.get(answer, answer)])
    return tallies


def counted(tally, keys):
    """(key, counts above zero) of a tally."""
    record = asdict(tally)
    key = tuple(record.pop(name) for name in keys)
    return key, {name: count for name, count in record.items() if count}


def assert_equal_to_the_reference(tallies, rows):
    pair_keys = ("task_id", "arm", "family", "delta")
    assert dict(counted(tally, pair_keys) for tally in tallies.pairs) == {
        key: dict(+count) for key, count in slow_pairs(rows).items()
    }
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


@settings(max_examples=12, deadline=None)
@given(stimuli=st.lists(pairs(), min_size=1, max_size=25))
def test_calls_and_pairs_agree_in_every_tally(tmp_path_factory, stimuli):
    for tally in tallied(tmp_path_factory.mktemp("judgments"), judgment_rows(stimuli)).pairs:
        assert tally.pairs == tally.stable + tally.positional + tally.one_sided + tally.no_preference
        winners = 2 * tally.pairs - tally.tie_calls
        assert winners == 2 * tally.stable + 2 * tally.positional + tally.one_sided
        assert tally.tie_calls == 2 * tally.no_preference + tally.one_sided
        if tally.delta:
            assert tally.correct_calls + tally.wrong_calls == winners


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
