"""Tallies that every measure is tried on: runs of six judges, drawn from fixed seeds, each with gaps.

One judge compares and one grades, both on controlled stimuli and carriers; the third grades the user's own items under
stress tests, the fourth judges runs of agents, the fifth compares them, and the sixth compares labelled answers. Any
run can be turned into another: backwards, doubled, with one task, unanswered.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL, Family
from umpirical.domain.tallies import (
    PARTS,
    CallTally,
    ChangeTally,
    EditTally,
    GoldTally,
    GradePairTally,
    GradeTally,
    LayoutTally,
    OutcomeTally,
    PairTally,
    PartTally,
    PolicyTally,
    QuadTally,
    RepeatTally,
    Tallies,
    Tally,
    VacuumTally,
)
from umpirical.measures.natural import NATURAL
from umpirical.stats.simulation.judge import LatentJudge

Ints = NDArray[np.int64]
Rng = np.random.Generator

TASKS = 12
TOP = 5
"""Grades go from 0 to this number, and so do requirements."""


class _Kind(NamedTuple):
    """Pairs of one kind, of which each task has two."""

    family: Family
    stratum: str
    delta: float
    """Quality of content a minus that of b, in requirements."""
    log_length: float = 0.0
    repeats: int = 2


KINDS = (
    _Kind(Family.EQUAL, "list", 0.0),
    _Kind(Family.EQUAL, "register", 0.0),
    *(_Kind(Family.GRADED, "", delta) for delta in (0.5, 1.0, -1.0, 2.0, 4.0)),
    *(_Kind(Family.FIGURES, "", delta) for delta in (1.0, -1.0, 2.0, -2.0)),
    _Kind(Family.LENGTH, "+25%", 0.0, 0.22),
    _Kind(Family.LENGTH, "+100%", 0.0, 0.69),
    _Kind(Family.CONFLICT, "+50%", 1.0, -0.41, repeats=1),
    *(_Kind(Family.SUBSET, places, 0.0) for places in ("1-2", "1-3", "2-3")),
    _Kind(Family.FINE, "dates/20/shared", 0.25),
    _Kind(Family.FINE, "sums/100", 0.05),
)

CARRIERS = (
    *(_Kind(Family.OWN_GRADED, edit, delta) for edit in ("deleted", "corrupted") for delta in (1.0, 2.0)),
    _Kind(Family.OWN_EQUAL, "list", 0.0),
    _Kind(Family.OWN_EQUAL, "whitespace", 0.0),
    *(_Kind(Family.OWN_FIGURES, "", delta) for delta in (1.0, -1.0)),
)

CROSSED = {
    Family.GRADED: ("task", (1.0, 2.0, 4.0)),
    Family.FIGURES: ("task", (1.0, 2.0)),
    Family.OWN_FIGURES: ("carrier", (1.0,)),
}
"""Families of crossed pairs, what their clusters are called, and their steps."""


def compare_tallies() -> Tallies:
    """A judge that compares, in two variants; some pairs were asked once, some have no answer in one order."""
    rng = np.random.default_rng(1)
    judge = LatentJudge(1.0, 0.7, slot_bias=0.3, surface=0.7, lapse=0.02, length_weight=0.5)
    pairs, calls, outcomes = [], [], []
    vacuum: list[VacuumTally] = []
    quads: list[QuadTally] = []
    layouts: list[LayoutTally] = []
    for variant, criterion in (("baseline", judge.criterion), ("strict", 1.2)):
        for task, missing, kind in _cells():
            answers = _compare(replace(judge, criterion=criterion), kind, rng)
            pairs.append(_pair_tally(task, variant, kind, answers, missing))
            outcomes += [
                OutcomeTally(task, variant, kind.family, kind.stratum, kind.delta, 0.0, kind.log_length, counts, 1)
                for counts in _counts(answers)
            ]
            if kind.family == Family.EQUAL:
                layouts += _layout_tallies(task, variant, kind, answers, missing)
            one, two, tie = (int((answers == slot).sum()) for slot in (1, -1, 0))
            asked = CallTally(
                task,
                variant,
                kind.family,
                kind.stratum,
                abs(kind.delta),
                answers.size,
                position_1=one,
                position_2=two,
                tie=tie,
            )
            calls.append(_with_gaps(asked, missing))
        vacuum += _vacuum_tallies(variant, rng)
        quads += _quad_tallies(replace(judge, criterion=criterion), variant, rng)
    return Tallies(
        vacuum=tuple(vacuum),
        pairs=tuple(pairs),
        calls=tuple(calls),
        outcomes=tuple(outcomes),
        layouts=tuple(layouts),
        quads=tuple(quads),
        parts=(*parts_of_tasks("baseline"), *parts_of_tasks("strict")),
    )


def grade_tallies() -> Tallies:
    """A judge that grades controlled stimuli; some answers have no grade."""
    rng = np.random.default_rng(2)
    grade_pairs, grades, calls = [], [], []
    for task, missing, kind in _cells():
        if kind.family in (Family.LENGTH, Family.CONFLICT, Family.SUBSET):
            continue
        base = rng.integers(0, TOP - int(abs(kind.delta)) + 1, size=2)
        levels = np.stack([base + max(kind.delta, 0.0), base + max(-kind.delta, 0.0)])
        given = np.clip(np.rint(0.5 + 0.8 * levels + rng.normal(size=levels.shape)), 0, TOP)
        grade_pairs.append(_grade_pair_tally(task, kind, given, missing))
        rows = zip(levels.flat, given.flat, strict=True)
        grades += [GradeTally(task, "baseline", kind.family, float(level), float(grade), 1) for level, grade in rows]
        asked = CallTally(task, "baseline", kind.family, kind.stratum, abs(kind.delta), given.size, graded=given.size)
        calls.append(_with_gaps(asked, missing))
    return Tallies(
        vacuum=tuple(_vacuum_tallies("baseline", rng)),
        calls=tuple(calls),
        grade_pairs=tuple(grade_pairs),
        grades=tuple(grades),
        parts=parts_of_tasks("baseline"),
    )


def parts_of_tasks(variant: str, *, name: str = "task ", tasks: int = TASKS) -> tuple[PartTally, ...]:
    """Every second task is in German, and the last one answers in JSON."""
    kinds = ("format={}", "language={}")
    values = [("json" if n == tasks - 1 else "prose", "de" if n % 2 else "en") for n in range(tasks)]
    return tuple(
        PartTally(f"{name}{n}", variant, kind.format(value))
        for n, each in enumerate(values)
        for kind, value in zip(kinds, each, strict=True)
    )


def stress_tallies() -> Tallies:
    """A judge that grades the user's items in clusters of two; some items have no verdict, half belong to a group."""
    rng = np.random.default_rng(3)
    scale = GradeScale("ordinal", tuple(f"grade {grade}" for grade in range(TOP + 1)))
    changes, repeats, golds, calls = [], [], [], []
    for number in range(2 * TASKS):
        item = _stressed(f"cluster {number // 2}", number, rng)
        for group in ("", f"half={number % 2}"):
            changes += [replace(tally, group=group) for tally in _change_tallies(item)]
            repeats.append(replace(_repeat_tally(item, scale), group=group))
            golds += [replace(tally, group=group) for tally in _gold_tallies(item, scale)]
        for test, answers in item.answers.items():
            graded, abstained = len(answers), int(number % 7 == 0)
            asked = CallTally(
                item.cluster, "baseline", test, "", None, graded + abstained, graded=graded, abstained=abstained
            )
            calls.append(_with_gaps(asked, int(number < 4)))
    return Tallies(
        calls=tuple(calls),
        changes=tuple(changes),
        repeats=tuple(repeats),
        golds=tuple(golds),
        scale=scale,
        positive=scale.labels[3:],
    )


def agent_tallies() -> Tallies:
    """A judge of agents on transcripts of which some have no verdict, as they are and edited, with a group of each."""
    rng = np.random.default_rng(4)
    scale = GradeScale("binary", ("violated", "satisfied"))
    policies, golds, calls = [], [], []
    for number in range(TASKS):
        cluster, missing = f"transcript {number}", int(number < 4)
        for test in (ORIGINAL, "forbidden-call"):
            broken, kept, pairs, followed = (int(count) for count in rng.integers(0, 4, size=4))
            for group in ("", "place=late"):
                policies.append(
                    PolicyTally(
                        cluster, "baseline", test, group,
                        broken=3, detected=broken, broken_missing=missing,
                        kept=3, alarmed=kept, kept_missing=missing,
                        pairs=3, noticed=pairs, pairs_missing=missing,
                        twins=3, followed=followed, same=3 - followed, twins_missing=missing,
                    )
                )  # fmt: skip
                said = [("violated", 0.0, "violated", broken), ("violated", 0.0, "satisfied", 3 - broken)]
                said += [("satisfied", 1.0, "violated", kept), ("satisfied", 1.0, "satisfied", 3 - kept)]
                golds += [
                    GoldTally(cluster, "baseline", test, group, gold, given, score, float(given == "satisfied"), items)
                    for gold, score, given, items in said
                    if items
                ]
                if missing:
                    golds.append(GoldTally(cluster, "baseline", test, group, "violated", "", 0.0, None, 1.0))
            asked = CallTally(cluster, "baseline", test, "", None, 6 + missing, graded=6, abstained=missing)
            calls.append(_with_gaps(asked, missing))
    return Tallies(
        calls=tuple(calls), golds=tuple(golds), policies=tuple(policies), scale=scale, positive=scale.labels[:1]
    )


def agent_pair_tallies() -> Tallies:
    """A judge that compares runs of agents, in both orders under two policies; some pairs have no answer."""
    rng = np.random.default_rng(5)
    pairs, quads, calls = [], [], []
    for number in range(TASKS):
        cluster, missing = f"transcript {number}", int(number < 4)
        for edit in ("", "forbidden-call", "cut-ending"):
            for group in ("", "place=late"):
                right, wrong, positional, one_sided, neither = (int(each) for each in rng.multinomial(6, [0.2] * 5))
                pairs.append(
                    PairTally(
                        cluster, "baseline", edit, 0.0, 6, stratum=group, incomplete=2 * missing,
                        stable=right + wrong, positional=positional, one_sided=one_sided, no_preference=neither,
                        both_correct=right, correct_calls=2 * right + positional + one_sided,
                        wrong_calls=2 * wrong + positional, tie_calls=one_sided + 2 * neither,
                        position_1_calls=right + wrong + 2 * positional + one_sided, position_2_calls=right + wrong,
                        one_sided_position_1=one_sided, one_sided_a=one_sided, one_sided_a_position_1=one_sided,
                    )
                )  # fmt: skip
                following, blind, turned, one, none = (int(each) for each in rng.multinomial(3, [0.2] * 5))
                quads.append(
                    QuadTally(
                        cluster, "baseline", edit, group, 0.0, 3, following, blind, turned, one, none, missing
                    )
                )  # fmt: skip
                if edit and not group:
                    position_1, position_2 = int(pairs[-1].position_1_calls), int(pairs[-1].position_2_calls)
                    asked = CallTally(
                        cluster, "baseline", edit, "", None, 12, position_1, position_2, 12 - position_1 - position_2
                    )
                    calls.append(_with_gaps(asked, missing))
    return Tallies(calls=tuple(calls), pairs=tuple(pairs), quads=tuple(quads))


def labelled_tallies() -> Tallies:
    """A judge that compares labelled answers, as they are and with one of them edited; some pairs have no answer."""
    rng = np.random.default_rng(6)
    pairs, changes, edits, calls = [], [], [], []
    for number in range(TASKS):
        cluster, missing = f"prompt {number}", int(number < 4)
        for group in ("", "longer=chosen", "longer=rejected", "subset=math"):
            right, wrong, position_1, position_2, neither = (int(each) for each in rng.multinomial(6, [0.2] * 5))
            pairs.append(
                PairTally(
                    cluster, "baseline", NATURAL, 0.0, 6, stratum=group, incomplete=missing,
                    stable=right + wrong, positional=position_1 + position_2, no_preference=neither, both_correct=right,
                    correct_calls=2 * right + position_1 + position_2, wrong_calls=2 * wrong + position_1 + position_2,
                    tie_calls=2 * neither, position_1_calls=right + wrong + 2 * position_1,
                    position_2_calls=right + wrong + 2 * position_2, position_1_correct_calls=right + position_1,
                )
            )  # fmt: skip
        named = pairs[-4]
        asked = CallTally(
            cluster, "baseline", NATURAL, "", None, 12, int(named.position_1_calls), int(named.position_2_calls),
            int(named.tie_calls),
        )  # fmt: skip
        calls.append(_with_gaps(asked, missing))
        for test in ("", "typos"):
            for group in ("", "side=chosen", "side=rejected"):
                up, down, _ = (int(each) for each in rng.multinomial(3, [0.3, 0.2, 0.5]))
                won = up if group == "side=rejected" else 0
                edits.append(EditTally(cluster, "baseline", test, group, 3, up, down, won, missing))
                changes.append(
                    ChangeTally(
                        cluster, "baseline", test, group, "same-verdict", 3, changed=up + down, retested=2,
                        retest_changed=0.5, changed_retested=min(2, up + down), incomplete=missing,
                        changed_missing=missing,
                    )
                )  # fmt: skip
    return Tallies(calls=tuple(calls), pairs=tuple(pairs), changes=tuple(changes), edits=tuple(edits))


# Controlled stimuli and carriers.


def _cells() -> Iterator[tuple[str, int, _Kind]]:
    """Yields tasks with the kinds of their pairs, and how many pairs of that kind have no answer."""
    for number in range(TASKS):
        missing = int(number < 4)
        yield from ((f"task {number}", missing, kind) for kind in KINDS)
        yield from ((f"carrier {number}", missing, kind) for kind in CARRIERS)


def _compare(judge: LatentJudge, kind: _Kind, rng: Rng) -> Ints:
    """+1 for position 1, -1 for position 2, 0 for a tie: two pairs, by order and repeat."""
    taste = judge.surface * rng.normal(size=(2, 1, 1))
    evidence = judge.resolution * kind.delta + judge.length_weight * kind.log_length + taste
    order = np.array([1, -1])[None, :, None]
    seen = order * evidence + judge.slot_bias + rng.normal(size=(2, 2, kind.repeats))
    named: Ints = np.where(np.abs(seen) > judge.criterion, np.sign(seen), 0).astype(np.int64)
    return named


def _counts(answers: Ints) -> Iterator[tuple[int, int, int, int, int, int]]:
    for pair in answers:
        one, two, tie, other_one, other_two, other_tie = (
            int((order == slot).sum()) for order in pair for slot in (1, -1, 0)
        )
        yield one, two, tie, other_one, other_two, other_tie


def _layout_tallies(task: str, variant: str, kind: _Kind, answers: Ints, missing: int) -> Iterator[LayoutTally]:
    """Pairs go through the four cells of label and list, and through the places of the tie."""
    first = int(task.split()[1]) + 2 * (kind.stratum == "register")
    for number, pair in enumerate(answers, start=first):
        yield LayoutTally(
            task,
            variant,
            kind.family,
            label_sign=1 - 2 * (number % 2),
            list_sign=1 - 2 * (number // 2 % 2),
            tie_place=(number // 4 + number) % 3,
            pairs=1,
            difference=float(pair.mean()),
            ties=float((pair == 0).mean()),
            incomplete=missing,
        )


def _pair_tally(task: str, variant: str, kind: _Kind, answers: Ints, missing: int) -> PairTally:
    """Each pair counts once, with the mean over its repeats. Content a is in position 1 of the first order only."""
    one, two = answers[:, 0], answers[:, 1]
    first, second, better = one, -two, int(np.sign(kind.delta))
    both, sided = (one != 0) & (two != 0), (one != 0) != (two != 0)
    columns = {
        "stable": both & (first == second),
        "positional": both & (one == two),
        "one_sided": sided,
        "no_preference": (one == 0) & (two == 0),
        "one_sided_position_1": sided & (one + two == 1),
        "one_sided_a": sided & (first + second == 1),
        "one_sided_a_position_1": sided & (one == 1),
        "correct_calls": [better and first == better, better and second == better],
        "wrong_calls": [better and first == -better, better and second == -better],
        "tie_calls": answers == 0,
        "position_1_calls": answers == 1,
        "position_2_calls": answers == -1,
        "both_correct": better and (first == better) & (second == better),
    }
    counts: dict[str, Any] = {name: float(np.sum(column)) / kind.repeats for name, column in columns.items()}
    return PairTally(
        task,
        variant,
        kind.family,
        abs(kind.delta),
        len(one),
        stratum=kind.stratum,
        incomplete=missing,
        lost=missing / 2,
        **counts,
    )


def _quad_tallies(judge: LatentJudge, variant: str, rng: Rng) -> Iterator[QuadTally]:
    """Two crossed pairs of each step in each task, asked once; some have no answer in one version."""
    for number in range(TASKS):
        for family, (cluster, steps) in CROSSED.items():
            for step in steps:
                quads = _crossed(judge, step, rng)
                yield QuadTally(
                    f"{cluster} {number}", variant, family, "", step, 2, incomplete=int(number < 4), **quads
                )


def _crossed(judge: LatentJudge, step: float, rng: Rng) -> dict[str, Any]:
    """What two crossed pairs add to a tally: a is better under the first version by `step`, and b under the second."""
    version, order = np.array([1, -1])[None, :, None], np.array([1, -1])[None, None, :]
    evidence = judge.resolution * step * version + judge.surface * rng.normal(size=(2, 1, 1))
    seen = order * evidence + judge.slot_bias + rng.normal(size=(2, 2, 2))
    content = order * np.where(np.abs(seen) > judge.criterion, np.sign(seen), 0)
    won = np.where(content[..., 0] == content[..., 1], content[..., 0], 0)
    right = won * version[..., 0]
    halves = content[:, 0] + content[:, 1, ::-1]
    return {
        "following": int((right == 1).all(axis=1).sum()),
        "blind": int((won[:, 0] * won[:, 1] == 1).sum()),
        "reversed": int((right == -1).all(axis=1).sum()),
        "one_version": int(((won == 0).sum(axis=1) == 1).sum()),
        "neither": int((won == 0).all(axis=1).sum()),
        "appeal": float(halves.prod(axis=1).sum()) / 4,
    }


def _grade_pair_tally(task: str, kind: _Kind, given: NDArray[np.float64], missing: int) -> GradePairTally:
    gap = (given[0] - given[1]) * (-1 if kind.delta < 0 else 1)
    return GradePairTally(
        task,
        "baseline",
        kind.family,
        kind.stratum,
        abs(kind.delta),
        len(gap),
        better_higher=int((gap > 0).sum()),
        lesser_higher=int((gap < 0).sum()),
        equal=int((gap == 0).sum()),
        difference=float(gap.sum()),
        distance=float(np.abs(gap).sum()),
        incomplete=missing,
    )


def _vacuum_tallies(variant: str, rng: Rng) -> Iterator[VacuumTally]:
    for number in range(TASKS):
        for stratum in ("empty", "whitespace"):
            yield VacuumTally(
                f"task {number}", variant, stratum, 4, float(rng.binomial(8, 0.3)) / 2, unanswered=int(number < 3)
            )


def _with_gaps(answered: CallTally, missing: int) -> CallTally:
    """Adds `missing` calls each that were unparsed, failed and not asked yet, and reasonings to the verdicts."""
    planned = answered.planned + 3 * missing
    verdicts = answered.position_1 + answered.position_2 + answered.tie + answered.graded
    stated = verdicts - verdicts // 3
    # Tasks differ, as they do in a run.
    contradicted = min(stated, len(answered.cluster + answered.stratum) % 3)
    return replace(
        answered,
        planned=planned,
        unparsed=missing,
        failed=missing,
        unasked=missing,
        reasoned=verdicts,
        stated=stated,
        contradicted=contradicted,
    )


# The user's own items.

EXPECTATIONS: dict[str, Literal["same-verdict", "flipped-verdict"]] = {
    "format": "same-verdict",
    "label-flip": "flipped-verdict",
}


class _Item(NamedTuple):
    """One item, its gold grade, and the grades that each of its texts was given."""

    cluster: str
    gold: int
    answers: dict[str, list[int]]
    """Grades by test, the original first; empty lists for an item without a verdict."""
    answered: bool

    def deserves(self, test: str) -> int:
        return TOP - self.gold if test == "label-flip" else self.gold


def _stressed(cluster: str, number: int, rng: Rng) -> _Item:
    gold, answered = number % (TOP + 1), number not in (5, 14)
    asked = {ORIGINAL: (gold, 3), "format": (gold + 0.3, 2), "label-flip": (TOP - gold, 1)}
    answers = {
        str(test): np.clip(np.rint(level + 0.8 * rng.normal(size=calls)), 0, TOP).astype(int).tolist()
        for test, (level, calls) in asked.items()
    }
    return _Item(cluster, gold, answers if answered else {test: [] for test in answers}, answered)


def _change_tallies(item: _Item) -> Iterator[ChangeTally]:
    for test, expectation in EXPECTATIONS.items():
        missing = ChangeTally(item.cluster, "baseline", test, "", expectation, 0, incomplete=1)
        yield _change_tally(item, missing) if item.answered else missing


def _change_tally(item: _Item, missing: ChangeTally) -> ChangeTally:
    old, new = item.answers[ORIGINAL], item.answers[missing.test]
    both = [(before, after) for before in old for after in new]
    due, direction = item.deserves(missing.test), np.sign(item.deserves(missing.test) - item.gold)
    differ = float(np.mean([after != before for before, after in both]))
    retested = min(len(old), len(new)) > 1
    return replace(
        missing,
        pairs=1,
        incomplete=0,
        changed=differ,
        moved=float(np.mean([(after - before) * direction > 0 for before, after in both])),
        right_on_both=float(np.mean([before == item.gold and after == due for before, after in both])),
        golden=1,
        shift=float(np.mean([after - before for before, after in both])),
        distance=float(np.mean([abs(after - before) for before, after in both])),
        retested=int(retested),
        retest_changed=(_differing(old) + _differing(new)) / 2 if retested else 0.0,
        changed_retested=differ if retested else 0.0,
    )


def _differing(grades: list[int]) -> float:
    """The share of pairs of answers to one text that differ."""
    return sum(a != b for a in grades for b in grades) / (len(grades) * (len(grades) - 1))


def _repeat_tally(item: _Item, scale: GradeScale) -> RepeatTally:
    given = item.answers[ORIGINAL]
    grades = sorted(set(given))
    answers = tuple((scale.labels[grade], given.count(grade)) for grade in grades)
    return RepeatTally(item.cluster, "baseline", "stability", "", answers, tuple(float(g) for g in grades), 1, 3)


def _gold_tallies(item: _Item, scale: GradeScale) -> Iterator[GoldTally]:
    for test, given in item.answers.items():
        due = item.deserves(test)
        long = 200 + crc32(item.cluster.encode()) % 800
        lengths = {"characters": long, "words": long // 6 + long % 7}
        gold = GoldTally(item.cluster, "baseline", test, "", scale.labels[due], "", float(due), None, 1.0, **lengths)
        if not given:
            yield gold
        for grade in sorted(set(given)):
            share = given.count(grade) / len(given)
            yield replace(gold, given=scale.labels[grade], given_score=float(grade), items=share)


# The same run, turned into another.


def copied(tallies: Tallies) -> Tallies:
    return _each_part(tallies, lambda part: tuple(replace(tally) for tally in part))


def backwards(tallies: Tallies) -> Tallies:
    return _each_part(tallies, lambda part: part[::-1])


def doubled(tallies: Tallies) -> Tallies:
    return _each_part(tallies, lambda part: part * 2)


def clusters(tallies: Tallies) -> list[str]:
    return sorted({tally.cluster for part in PARTS for tally in getattr(tallies, part)})


def of_task(tallies: Tallies, task: str) -> Tallies:
    return _each_part(tallies, lambda part: tuple(tally for tally in part if tally.cluster == task))


def unanswered(tallies: Tallies) -> Tallies:
    """The same design with no call answered."""
    return replace(
        tallies,
        vacuum=tuple(
            _blank(t, prompts=0, false_preferences=0.0, unanswered=t.prompts + t.unanswered) for t in tallies.vacuum
        ),
        calls=tuple(_blank(t, planned=t.planned, unasked=t.planned) for t in tallies.calls),
        quads=tuple(_blank(t, quads=0, incomplete=t.quads + t.incomplete) for t in tallies.quads),
        layouts=tuple(
            replace(t, pairs=0, difference=0.0, ties=0.0, incomplete=t.pairs + t.incomplete) for t in tallies.layouts
        ),
        pairs=tuple(_blank(t, pairs=0, incomplete=t.pairs + t.incomplete) for t in tallies.pairs),
        grade_pairs=tuple(_blank(t, pairs=0, incomplete=t.pairs + t.incomplete) for t in tallies.grade_pairs),
        changes=tuple(_blank(t, pairs=0, incomplete=t.pairs + t.incomplete) for t in tallies.changes),
        edits=tuple(_blank(t, pairs=0, incomplete=t.pairs + t.incomplete) for t in tallies.edits),
        outcomes=(),
        grades=(),
        repeats=tuple(replace(t, answers=(), scores=()) for t in tallies.repeats),
        golds=tuple(replace(t, given="", given_score=None) for t in tallies.golds),
        policies=tuple(
            _blank(
                t,
                broken_missing=t.broken + t.broken_missing,
                kept_missing=t.kept + t.kept_missing,
                pairs_missing=t.pairs + t.pairs_missing,
                twins_missing=t.twins + t.twins_missing,
            )
            for t in tallies.policies
        ),
    )


_Counted = TypeVar("_Counted", bound=Tally)


def _blank(tally: _Counted, **counts: float) -> _Counted:
    """A tally of the same part of the design that has these counts alone."""
    part = ("cluster", "variant", "family", "stratum", "delta", "test", "group", "expectation")
    kept: dict[str, Any] = {name: getattr(tally, name) for name in part if hasattr(tally, name)} | counts
    return type(tally)(**kept)


def _each_part(tallies: Tallies, change: Callable[[tuple[Any, ...]], tuple[Any, ...]]) -> Tallies:
    parts: dict[str, Any] = {part: change(getattr(tallies, part)) for part in PARTS}
    return replace(tallies, **parts)
