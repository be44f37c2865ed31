"""Counting, against a slow reference written from the definitions, one judgment at a time.

Of a canonical pair, asked in both orders: stable = the same content wins twice; positional = the same position wins
twice; one-sided = exactly one order has a winner; no preference = neither has. An abstention names no winner, and is
no tie. A repeat with an order that was unparsed, failed or not asked is left out; a pair with no other repeat is
incomplete, and every other pair counts once, with the mean over its repeats. Dark current counts distinct prompts, not
calls.

Of a crossed pair, the same two texts under two versions of a task: the text that won both orders of the one version,
if any, beside the text that won both orders of the other.

A `grade` judge sees u in order ab and v in order ba. Of a pair: which has the higher grade, the better or the lesser
(u or v, where neither is better), and by how much. A pair without two grades is incomplete; an abstention is no grade.
"""

import itertools
from collections import Counter, defaultdict
from dataclasses import asdict
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.errors import StoreError
from umpirical.protocols.datasheet.counting import FACTS, tally_judgments
from umpirical.store.parquet import row_writer
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
        "cluster": draw(st.sampled_from("AB")),
        "variant": draw(st.sampled_from(["baseline", "strict"])),
        "family": draw(st.sampled_from(["graded", "conflict"] if delta else ["equal", "length"])),
        "stratum": draw(st.sampled_from(["", "spelling"])),
        "delta": delta,
        "winner": draw(st.sampled_from([0, 1])) if delta else None,
        "crossed_pair": "",
        "version": "",
        "base": draw(st.sampled_from([0.0, 1.0])),
        "log_length": draw(st.sampled_from([0.0, 0.25, -0.5])),
        "orders": draw(st.sampled_from([("ab", "ba"), ("ab", "ba"), ("ba", "ab"), ("ab",)])),
        "repeats": draw(st.lists(st.tuples(OUTCOMES, OUTCOMES), min_size=1, max_size=3)),
        "layout": draw(LAYOUTS),
    }


@st.composite
def quads(draw):
    """Both versions of a crossed pair, of which one may be missing; the better text of the one is the lesser of the
    other."""
    first = draw(pairs()) | {"family": "figures", "delta": 2.0, "winner": 0, "crossed-pair": f"q{draw(st.uuids())}"}
    second = {"version": "Q", "winner": 1, "repeats": draw(pairs())["repeats"], "orders": draw(pairs())["orders"]}
    return draw(st.sampled_from([[first | {"version": "P"}, first | second]] * 3 + [[first | {"version": "P"}]]))


@st.composite
def vacuum_prompts(draw):
    orders = draw(st.sampled_from([("ab",), ("ab", "ba")]))
    return {
        "cluster": draw(st.sampled_from("AB")),
        "variant": draw(st.sampled_from(["baseline", "strict"])),
        "family": "blank",
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


SHARED = (
    "cluster",
    "variant",
    "family",
    "stratum",
    "delta",
    "winner",
    "base",
    "log_length",
    "crossed_pair",
    "version",
    "layout",
)


def level_of(stimulus, order):
    """Of the answer a `grade` judge sees."""
    better = {0: "ab", 1: "ba"}.get(stimulus["winner"])
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


def tallied(folder, rows, *, parts=2, kind="compare"):
    folder.mkdir(exist_ok=True)
    with row_writer(folder / "judgments.parquet", judgment_schema(FACTS.columns)) as write:
        for number in range(parts):
            write(rows[number::parts])
    return tally_judgments(folder / "judgments.parquet", kind)


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
    repeats = defaultdict(list)
    for row in rows:
        if row["family"] != "blank":
            key = (row["cluster"], row["variant"], row["family"], row["delta"], row["stratum"])
            repeats[key, row["stimulus_id"], row["repeat"]].append(row)
    stimuli, tallies = defaultdict(list), defaultdict(Counter)
    for (key, stimulus, _), calls in repeats.items():
        stimuli[key, stimulus].append(slow_pair(calls))
    for (key, _), counts in stimuli.items():
        tallies[key].update(slow_mean(counts))
    return tallies


def slow_mean(counts):
    """One pair: the mean over the repeats that have both orders."""
    complete = [count for count in counts if not count["incomplete"]]
    if not complete:
        return Counter(incomplete=1)
    total = sum(complete, Counter())
    mean = Counter({name: Fraction(count, len(complete)) for name, count in total.items()})
    mean["lost"] = Fraction(len(counts) - len(complete), len(counts))
    mean["abstained_pairs"] = int(all(count["abstained_calls"] for count in complete))
    return mean


def slow_pair(calls):
    if len(calls) < 2 or None in map(said, calls):
        return Counter(incomplete=1)
    first, second = calls
    contents, slots = [winner_of(first), winner_of(second)], [said(first), said(second)]
    count = Counter(pairs=1, position_1_calls=slots.count("1"), position_2_calls=slots.count("2"))
    if None not in contents:
        count["stable" if contents[0] == contents[1] else "positional"] += 1
        assert (contents[0] == contents[1]) == (slots[0] != slots[1])
    elif contents == [None, None]:
        count["no_preference"] += 1
    else:
        count["one_sided"] += 1
        count["one_sided_position_1"] += "1" in slots
        count["one_sided_a"] += "a" in contents
        count["one_sided_a_position_1"] += "1" in slots and "a" in contents
    better = {0: "a", 1: "b", None: None}[first["winner"]]
    for content, slot in zip(contents, slots, strict=True):
        if content is None:
            count["tie_calls" if slot == "tie" else "abstained_calls"] += 1
        elif better is not None:
            count["correct_calls" if content == better else "wrong_calls"] += 1
            count["position_1_correct_calls"] += content == better and slot == "1"
    count["both_correct"] += count["correct_calls"] == 2
    return count


def slow_quads(rows):
    """Every combination of a repeat of the one version with a repeat of the other."""
    versions = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for row in rows:
        if row["crossed_pair"]:
            key = (row["cluster"], row["variant"], row["family"], row["stratum"], row["delta"])
            versions[key, row["crossed_pair"]][row["version"]][row["repeat"]].append(row)
    tallies = defaultdict(Counter)
    for (key, _), shown in versions.items():
        tallies[key].update(slow_quad([list(repeats.values()) for repeats in shown.values()]))
    return tallies


def slow_quad(versions):
    first, *others = versions
    every = [(one, other) for repeats in others for one in first for other in repeats]
    whole = [pair for pair in every if all(len(calls) == 2 and None not in map(said, calls) for calls in pair)]
    if not whole:
        return Counter(incomplete=1)
    total = sum(itertools.starmap(slow_combination, whole), Counter())
    mean = Counter({name: Fraction(count, len(whole)) for name, count in total.items()})
    mean["lost"] = Fraction(len(every) - len(whole), len(every))
    return mean | {"appeal": slow_appeal(*zip(*whole, strict=True))}


def slow_combination(one, other):
    settled = []
    for calls in (one, other):
        contents, better = {winner_of(row) for row in calls}, {0: "a", 1: "b"}[calls[0]["winner"]]
        settled.append((contents == {better}, None not in contents and len(contents) == 1))
    match sorted(settled):
        case [(True, True), (True, True)]:
            return Counter(quads=1, following=1)
        case [(False, True), (True, True)]:
            return Counter(quads=1, blind=1)
        case [(False, True), (False, True)]:
            return Counter(quads=1, reversed=1)
        case [(_, False), (_, False)]:
            return Counter(quads=1, neither=1)
    return Counter(quads=1, one_version=1)


def slow_appeal(first, second):
    """The mean preference for u in two halves of the crossed pair, each with both versions and both orders."""

    def preference(repeats, order):
        named = [winner_of(row) for calls in repeats for row in calls if row["order"] == order]
        return Fraction(named.count("a") - named.count("b"), len(named))

    one = (preference(first, "ab") + preference(second, "ba")) / 2
    return one * (preference(first, "ba") + preference(second, "ab")) / 2


def slow_outcomes(rows):
    """(what the pair is, its six counts) to the number of such pairs."""
    by_repeat, pairs = defaultdict(list), defaultdict(Counter)
    for row in rows:
        if row["family"] != "blank":
            by_repeat[row["stimulus_id"], row["repeat"]].append(row)
    for calls in by_repeat.values():
        if len(calls) == 2 and all(said(row) in CHOICES for row in calls):
            for row in calls:
                delta = -row["delta"] if row["winner"] == 1 else row["delta"]
                names = ("cluster", "variant", "family", "stratum")
                kind = (*(row[name] for name in names), delta, row["base"], row["log_length"])
                pairs[kind, row["stimulus_id"]][row["order"], said(row)] += 1
    cells = [(order, answer) for order in ("ab", "ba") for answer in CHOICES]
    return Counter((*kind, tuple(count[cell] for cell in cells)) for (kind, _), count in pairs.items())


def slow_layouts(rows):
    """By kind of layout: pairs, d, ties, incomplete. A pair is the mean of its repeats that were answered in full."""
    pairs = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["layout"] and (row["family"] == "equal" or row["stratum"] == "identical"):
            layout = row["layout"]
            signs = (1 - 2 * layout["labels_swapped"], 1 - 2 * layout["options_swapped"], layout["tie_place"])
            key = (row["cluster"], row["variant"], row["family"], *signs)
            pairs[key, row["stimulus_id"]][row["repeat"]].append(said(row))
    found = defaultdict(lambda: [0, 0.0, 0.0, 0])
    for (key, _), repeats in pairs.items():
        asked = 1 if key[2] == "blank" else 2
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
        if row["family"] != "blank":
            key = (row["cluster"], row["variant"], row["family"], row["stratum"], row["delta"])
            pairs[key, row["winner"], row["stimulus_id"], row["repeat"]][row["order"][0]] = grade_of(row)
    stimuli, tallies = defaultdict(list), defaultdict(Counter)
    for (key, winner, stimulus, _), grades in pairs.items():
        u, v = grades.get("a"), grades.get("b")
        better, lesser = (v, u) if winner == 1 else (u, v)
        stimuli[key, stimulus].append(None if u is None or v is None else Fraction(better) - Fraction(lesser))
    for (key, _), gaps in stimuli.items():
        known = [gap for gap in gaps if gap is not None]
        if not known:
            tallies[key]["incomplete"] += 1
            continue
        tallies[key].update(
            pairs=1,
            better_higher=Fraction(sum(gap > 0 for gap in known), len(known)),
            lesser_higher=Fraction(sum(gap < 0 for gap in known), len(known)),
            equal=Fraction(sum(gap == 0 for gap in known), len(known)),
            difference=sum(known) / len(known),
            distance=sum(map(abs, known)) / len(known),
            lost=Fraction(len(gaps) - len(known), len(gaps)),
        )
    return tallies


def slow_grades(rows):
    names = ("cluster", "variant", "family", "level", "score")
    return Counter(tuple(row[name] for name in names) for row in rows if grade_of(row) is not None)


def slow_vacuum(rows):
    prompts = defaultdict(list)
    for row in rows:
        if row["family"] == "blank":
            answer = said(row) if row.get("score") is None else ("something" if row["score"] > 0 else "nothing")
            prompts[row["cluster"], row["variant"], row["stratum"], row["prompt_id"]].append(answer)
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
    names = {"1": "position_1", "2": "position_2"}
    tallies = defaultdict(Counter)
    for row in rows:
        answer = row.get("choice", "graded") if row["outcome"] == "verdict" else row["outcome"]
        key = (row["cluster"], row["variant"], row["family"], row["stratum"], row["delta"])
        tallies[key].update(["planned", names.get(answer, answer)])
    return tallies


def counted(tally, keys):
    """(key, counts that are not zero) of a tally."""
    record = asdict(tally)
    key = tuple(record.pop(name) for name in keys)
    return key, {name: count for name, count in record.items() if abs(count) > 1e-12}


def expected(tallies):
    """The same of the reference, whose shares are exact."""
    return {
        key: {name: pytest.approx(float(count)) for name, count in counts.items() if count}
        for key, counts in tallies.items()
    }


def assert_equal_to_the_reference(tallies, rows):
    pair_keys = ("cluster", "variant", "family", "delta", "stratum")
    assert dict(counted(tally, pair_keys) for tally in tallies.pairs) == expected(slow_pairs(rows))
    quad_keys = ("cluster", "variant", "family", "stratum", "delta")
    assert dict(counted(tally, quad_keys) for tally in tallies.quads) == expected(slow_quads(rows))
    assert {
        (t.cluster, t.variant, t.family, t.stratum, t.delta, t.base, t.log_length, t.counts): t.pairs
        for t in tallies.outcomes
    } == slow_outcomes(rows)
    assert {
        (t.cluster, t.variant, t.family, t.label_sign, t.list_sign, t.tie_place): [
            t.pairs,
            t.difference,
            t.ties,
            t.incomplete,
        ]
        for t in tallies.layouts
    } == {key: pytest.approx(tally) for key, tally in slow_layouts(rows).items()}
    assert_shared_tallies_are_equal(tallies, rows)


def assert_grades_are_equal_to_the_reference(tallies, rows):
    pair_keys = ("cluster", "variant", "family", "stratum", "delta")
    assert dict(counted(tally, pair_keys) for tally in tallies.grade_pairs) == expected(slow_grade_pairs(rows))
    assert {(t.cluster, t.variant, t.family, t.level, t.score): t.answers for t in tallies.grades} == slow_grades(rows)
    assert_shared_tallies_are_equal(tallies, rows)


def assert_shared_tallies_are_equal(tallies, rows):
    call_keys = ("cluster", "variant", "family", "stratum", "delta")
    assert dict(counted(tally, call_keys) for tally in tallies.calls) == {
        key: dict(count) for key, count in slow_calls(rows).items()
    }
    vacuum = {(t.cluster, t.variant, t.stratum): [t.prompts, t.false_preferences, t.unanswered] for t in tallies.vacuum}
    assert vacuum == {key: pytest.approx(tally) for key, tally in slow_vacuum(rows).items()}


# The tests.


@settings(max_examples=25, deadline=None)
@given(stimuli=st.lists(pairs() | vacuum_prompts(), max_size=20), crossed=st.lists(quads(), min_size=1, max_size=8))
def test_every_count_is_that_of_the_reference(tmp_path_factory, stimuli, crossed):
    rows = judgment_rows([*stimuli, *itertools.chain.from_iterable(crossed)])
    assert_equal_to_the_reference(tallied(tmp_path_factory.mktemp("judgments"), rows), rows)


@settings(max_examples=25, deadline=None)
@given(stimuli=st.lists(graded(pairs() | vacuum_prompts()), min_size=1, max_size=25))
def test_every_count_of_grades_is_that_of_the_reference(tmp_path_factory, stimuli):
    rows = judgment_rows(stimuli, "grade")
    tallies = tallied(tmp_path_factory.mktemp("judgments"), rows, kind="grade")
    assert (tallies.pairs, tallies.outcomes) == ((), ())
    assert_grades_are_equal_to_the_reference(tallies, rows)


@pytest.mark.parametrize("kind", ["compare", "grade"])
def test_counted_a_cluster_at_a_time_it_is_the_same(tmp_path, kind):
    names = ("it's", "B", "C")
    rows = [
        row | {"trial_id": f"{name} {row['trial_id']}", "stimulus_id": f"{name} {row['stimulus_id']}", "cluster": name}
        for place, name in enumerate(names)
        for row in judgment_rows([a_pair(), *a_quad(f"q{place}", [U], [(U, V, ("1", "1"))[place]])], kind)
    ]
    whole = asdict(tallied(tmp_path, rows, kind=kind))
    for most in (1, 2 * len(rows) // 3):
        parted = asdict(tally_judgments(tmp_path / "judgments.parquet", kind, most=most))
        assert {name: sorted(map(repr, found)) for name, found in parted.items() if found} == {
            name: sorted(map(repr, found)) for name, found in whole.items() if found
        }
    assert len({tally["cluster"] for tally in whole["calls"]}) == 3


@settings(max_examples=12, deadline=None)
@given(stimuli=st.lists(pairs(), min_size=1, max_size=25))
def test_calls_and_pairs_agree_in_every_tally(tmp_path_factory, stimuli):
    for tally in tallied(tmp_path_factory.mktemp("judgments"), judgment_rows(stimuli)).pairs:
        whole = tally.stable + tally.positional + tally.one_sided + tally.no_preference
        assert whole == pytest.approx(tally.pairs)
        winners = 2 * tally.pairs - tally.tie_calls - tally.abstained_calls
        assert winners == pytest.approx(2 * tally.stable + 2 * tally.positional + tally.one_sided)
        assert tally.position_1_calls + tally.position_2_calls == pytest.approx(winners)
        if tally.delta:
            assert tally.correct_calls + tally.wrong_calls == pytest.approx(winners)
            assert tally.both_correct <= tally.stable + 1e-9
        kinds = [tally.one_sided_a_position_1, tally.one_sided_a - tally.one_sided_a_position_1]
        kinds += [tally.one_sided_position_1 - tally.one_sided_a_position_1]
        assert min(kinds) >= -1e-9
        assert sum(kinds) <= tally.one_sided + 1e-9


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
    pair = {"cluster": "A", "variant": "baseline", "family": "equal", "stratum": "", "delta": 0.0, "winner": None}
    rows = judgment_rows([pair | {"orders": ("ab", "ba"), "repeats": [(first, second)]}])
    [tally] = tallied(tmp_path / "j", rows).pairs
    kinds = ("stable", "positional", "one_sided", "no_preference", "incomplete")
    assert [kind for kind in kinds if getattr(tally, kind)] == [name]


def test_a_pair_counts_once_however_often_it_is_repeated(tmp_path):
    """Three repeats, of which one was not read: stable in one of the two others, with a tie and an abstention."""
    pair = a_pair(repeats=[("1", "2"), ("1", "unparsed"), ("tie", "abstained")])
    tallies = tallied(tmp_path / "j", judgment_rows([pair]))
    [tally] = tallies.pairs
    assert (tally.pairs, tally.incomplete, tally.lost) == (1, 0, pytest.approx(1 / 3))
    assert (tally.stable, tally.no_preference, tally.both_correct) == (0.5, 0.5, 0.5)
    assert (tally.correct_calls, tally.tie_calls, tally.abstained_calls, tally.abstained_pairs) == (1, 0.5, 0.5, 0)
    assert [outcome.counts for outcome in tallies.outcomes] == [(1, 0, 0, 0, 1, 0)]


def test_an_abstention_is_no_tie_and_not_in_the_model(tmp_path):
    stimuli = [a_pair(repeats=[("1", "abstained")]), a_pair(repeats=[("abstained", "tie")])]
    tallies = tallied(tmp_path / "j", judgment_rows(stimuli))
    [tally] = tallies.pairs
    assert (tally.pairs, tally.one_sided, tally.no_preference) == (2, 1, 1)
    assert (tally.tie_calls, tally.abstained_calls, tally.abstained_pairs) == (1, 2, 2)
    assert tallies.outcomes == ()


# Quads. Under version A the first text, u, is the better one, and under version B the second.


U, V = ("1", "2"), ("2", "1")
"""The answers, in orders uv and vu, of a judge that names that text."""


def a_quad(name, under_a, under_b, **changed):
    shared = {"crossed_pair": name} | changed
    return [
        a_pair(version="A", winner=0, repeats=under_a, **shared),
        a_pair(version="B", winner=1, repeats=under_b, **shared),
    ]


@pytest.mark.parametrize(
    ("under_a", "under_b", "name", "appeal"),
    [
        (U, V, "following", 0.0),
        (U, U, "blind", 1.0),
        (V, V, "blind", 1.0),
        (V, U, "reversed", 0.0),
        (U, ("1", "1"), "one_version", 0.0),
        (("tie", "1"), V, "one_version", 0.5),
        (("1", "1"), ("1", "1"), "neither", 0.0),
        (("1", "1"), ("2", "2"), "neither", -1.0),
        (("tie", "tie"), ("abstained", "2"), "neither", 0.0),
        (U, ("1", "unparsed"), "incomplete", 0.0),
    ],
)
def test_each_kind_of_quad_by_hand(tmp_path, under_a, under_b, name, appeal):
    [tally] = tallied(tmp_path / "j", judgment_rows(a_quad("q", [under_a], [under_b]))).quads
    kinds = ("following", "blind", "reversed", "one_version", "neither", "incomplete")
    assert [kind for kind in kinds if getattr(tally, kind)] == [name]
    assert (tally.quads, tally.appeal) == (int(name != "incomplete"), appeal)


def test_repeats_of_a_quad_are_combined_and_the_quad_counts_once(tmp_path):
    """Right in two of three repeats of A and tied in the third; right and wrong in one repeat each of B."""
    crossed_pair = a_quad("q", [U, U, ("tie", "tie")], [V, U])
    [tally] = tallied(tmp_path / "j", judgment_rows(crossed_pair)).quads
    assert tally.quads == 1
    assert tally.following == pytest.approx(2 / 3 * 1 / 2)
    assert tally.blind == pytest.approx(2 / 3 * 1 / 2)
    assert tally.one_version == pytest.approx(1 / 3)
    assert (tally.reversed, tally.neither, tally.incomplete, tally.lost) == (0, 0, 0, 0)


def test_a_version_that_is_missing_leaves_the_quad_out(tmp_path):
    [tally] = tallied(tmp_path / "j", judgment_rows(a_quad("q", [U], [V])[:1])).quads
    assert (tally.quads, tally.incomplete) == (0, 1)


def test_a_vacuum_prompt_counts_once_however_often_it_is_repeated(tmp_path):
    prompt = {"cluster": "A", "variant": "b", "family": "blank", "stratum": "identical", "delta": None, "winner": None}
    often = prompt | {"orders": ("ab",), "repeats": [("1", "")] * 97 + [("tie", "")] * 3}
    once = prompt | {"orders": ("ab",), "repeats": [("tie", "")]}
    [tally] = tallied(tmp_path / "j", judgment_rows([often, once])).vacuum
    assert (tally.prompts, tally.false_preferences) == (2, pytest.approx(0.97))


def test_a_trial_that_is_there_twice_is_refused(tmp_path):
    pair = {"cluster": "A", "variant": "b", "family": "equal", "stratum": "", "delta": 0.0, "winner": None}
    rows = judgment_rows([pair | {"orders": ("ab", "ba"), "repeats": [("1", "2")]}])
    with pytest.raises(StoreError, match="1 trials are counted twice"):
        tallied(tmp_path / "j", [*rows, rows[0]])


@pytest.mark.parametrize("name", ["it's", 'say "1"', "[v2]", "50%*?", "a; drop table call --", "ü 判"])
def test_a_folder_may_have_any_name(tmp_path, name):
    pair = {"cluster": "A", "variant": "b", "family": "equal", "stratum": "", "delta": 0.0, "winner": None}
    rows = judgment_rows([pair | {"orders": ("ab", "ba"), "repeats": [("1", "2")]}])
    assert tallied(tmp_path / name, rows).pairs[0].stable == 1


# Grades.


def a_pair(**changed):
    pair = {"cluster": "A", "variant": "b", "family": "graded", "stratum": "", "delta": 2.0, "winner": 0, "base": 1.0}
    return pair | {"log_length": 0.0, "orders": ("ab", "ba"), "repeats": [("4", "1")]} | changed


def test_grades_by_hand(tmp_path):
    stimuli = [a_pair(), a_pair(winner=1), a_pair(repeats=[("1", "1")]), a_pair(repeats=[("abstained", "4")])]
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
    blank = a_pair(family="blank", stratum="empty", delta=None, winner=None, base=None, orders=("ab",))
    stimuli = [blank | {"repeats": [("0", ""), ("2.5", "")]}, blank | {"repeats": [("0", "")]}]
    [tally] = tallied(tmp_path / "j", judgment_rows(stimuli, "grade"), kind="grade").vacuum
    assert (tally.prompts, tally.false_preferences, tally.unanswered) == (2, 0.5, 0)


def test_labels_without_an_order_are_no_measurement_of_nothing(tmp_path):
    """They have no score: a rate of 0 made of them would be missing data turned into a number."""
    blank = a_pair(family="blank", stratum="empty", delta=0.0, winner=None, orders=("ab",), repeats=[("0", "")])
    rows = [row | {"score": None, "label": "red"} for row in judgment_rows([blank, a_pair()], "grade")]
    tallies = tallied(tmp_path / "j", rows, kind="grade")
    assert [(tally.prompts, tally.unanswered) for tally in tallies.vacuum] == [(0, 1)]
    assert [(tally.pairs, tally.incomplete) for tally in tallies.grade_pairs] == [(0, 1)]
    assert tallies.grades == ()
    assert sum(tally.graded for tally in tallies.calls) == 3


def test_an_answer_that_came_up_in_two_pairs_is_one_question_and_no_doubled_trial(tmp_path):
    rows = judgment_rows([a_pair(), a_pair()], "grade")
    shared = [row | {"trial_id": "u", "prompt_id": "u"} if row["order"] == "ab" else row for row in rows]
    tallies = tallied(tmp_path / "j", shared, kind="grade")
    assert tallies.grade_pairs[0].pairs == 2
    assert {(t.level, t.score): t.answers for t in tallies.grades} == {(3.0, 4.0): 1, (1.0, 1.0): 2}
    with pytest.raises(StoreError, match="1 trials are counted twice"):
        tallied(tmp_path / "k", [*shared, shared[0]], kind="grade")
