"""Sound sets pass every gate, and each way to break a set is stopped by the gate that is named for it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from tests.stimuli.built import built, materials_of, tasks_of
from tests.stimuli.own_tasks import CROSSED, FAMILY, write_own_study
from umpirical.cli import main
from umpirical.domain.errors import GateError
from umpirical.domain.stimuli import GateResult, GivenWinner
from umpirical.domain.trials import Order
from umpirical.judges.judge import Capabilities
from umpirical.runs.plan import Design
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli
from umpirical.stimuli.controlled.gates import (
    bag_of_words,
    both_orders,
    crossed,
    no_leak,
    rebuilds,
    refuse_unsound,
    request_overlap,
    trivial_judges,
    try_gates,
)
from umpirical.stimuli.controlled.ladder.pairs import random_wording, slot_sentences
from umpirical.stimuli.controlled.ladder.quads import RequestBalance
from umpirical.stimuli.controlled.ladder.requests import MATCHERS
from umpirical.stimuli.controlled.ladder.transforms import PLAIN
from umpirical.stimuli.controlled.trivial import Balancer
from umpirical.text.sentences import sentences_at_every_stop

TASKS = tasks_of("screen") | tasks_of("screen", "filler")

PLAIN_GATES = [
    "sound-tasks",
    "checkers-agree",
    "superset",
    "no-leak",
    "lengths-match",
    "length-tells-nothing",
    "trivial-judges",
    "reported-judges",
    "bag-of-words",
    "near-duplicates",
    "controls",
    "rebuilds",
]

GATES = [*PLAIN_GATES[:9], "crossed", "request-overlap", "clause-overlap", *PLAIN_GATES[9:]]


def tried(stimuli, size="screen", again=None, ladder="crossed"):
    """What every gate says, by name."""
    found = list(try_gates(materials_of(size, ladder), stimuli, stimuli if again is None else again))
    fine = ["fine-differences"] if any(stimulus.family == "fine" for stimulus in stimuli) else []
    expected = GATES if ladder == "crossed" else PLAIN_GATES
    assert [gate.name for gate in found] == [*expected[:-1], *fine, expected[-1]]
    return {gate.name: gate for gate in found}


def blocked(stimuli, size="screen", again=None, ladder="crossed"):
    return {name for name, gate in tried(stimuli, size, again, ladder).items() if gate.blocks and not gate.passed}


def plain(change, family="graded"):
    """What stops the plain pairs of the ladder of fillers, if those of a family are changed."""
    stimuli = built("screen", ladder="filler")
    return blocked([change(s) if s.family == family else s for s in stimuli], ladder="filler")


def with_better(stimulus, text):
    """The stimulus with another text for its better candidate."""
    winner = stimulus.expectation.candidate
    return replace(stimulus, candidates=tuple(text if n == winner else c for n, c in enumerate(stimulus.candidates)))


def better(stimulus):
    return stimulus.candidates[stimulus.expectation.candidate]


# Sound sets.


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("ladder", [pytest.param("crossed", marks=pytest.mark.slow), "filler"])
@pytest.mark.parametrize(
    "size", ["screen", "paper", *(pytest.param(size, marks=pytest.mark.slow) for size in ("standard", "full"))]
)
def test_every_gate_passes_on_a_real_set(size, ladder, seed):
    again = datasheet_stimuli(materials_of(size, ladder), RECIPES[size], seed=seed)
    for name, gate in tried(built(size, seed, ladder), size, again, ladder).items():
        assert gate.passed, f"{name}: {gate.found}"


def test_gates_that_block_nothing_say_so_and_give_their_figures():
    found = tried(built("screen"))
    assert {name for name, gate in found.items() if not gate.blocks} == {
        "reported-judges",
        "bag-of-words",
        "clause-overlap",
    }
    assert "prompt-overlap 0." in found["reported-judges"].found
    assert found["bag-of-words"].found == "0.500 on graded, trained on the other 23 families"
    # What a matcher of clauses tells at the largest step is known, and far from what a judge has to reach.
    assert 0.5 < float(re.search(r" 5: ([\d.]+) of ", found["clause-overlap"].found)[1]) < 0.8


@pytest.mark.parametrize(
    ("tasks", "allowed"),
    [
        (24, "0.45 to 0.55 each on graded, 0.30 to 0.70 each on equal"),
        (3, "0.21 to 0.79 each"),
        (1, "0.00 to 1.00 each"),
    ],
)
def test_few_pairs_need_not_be_as_even_as_many(tasks, allowed):
    chosen = list(tasks_of("screen", "filler"))[:tasks]
    found = trivial_judges([stimulus for stimulus in built("screen", ladder="filler") if stimulus.task_id in chosen])
    assert found.allowed.startswith(allowed)


def test_words_cannot_be_learnt_from_a_single_family():
    family = built("screen")[0].task_family
    mine = [stimulus for stimulus in built("screen") if stimulus.task_family == family]
    assert bag_of_words(mine).found == "one task family"


# Quads.


def in_quads(change, version="A", family="graded"):
    """The set with the stimuli of one version of every quad changed."""
    return [change(s) if s.family == family and s.version == version else s for s in built("screen")]


def told(stimuli):
    found = crossed(TASKS, stimuli)
    assert not found.passed
    return found.found


def other_text(stimulus):
    """The same facts in another wording: the answer of a task that reads otherwise, and states as much."""
    task, winner = TASKS[stimulus.task_id], stimulus.expectation.candidate
    stated = task.stated(stimulus.candidates[winner])
    for seed in range(100):
        parts = slot_sentences(task, 0, stated, random_wording(task, np.random.default_rng(seed)))
        text = " ".join(parts)
        if text != stimulus.candidates[winner] and task.stated(text) == stated:
            return with_better(stimulus, text)
    raise AssertionError("no other wording")


PROSE_QUAD = next(
    s for s in built("screen") if s.crossed_pair and s.version == "A" and TASKS[s.task_id].layout == "prose"
)
BESIDE = next(s for s in built("screen") if s.crossed_pair == PROSE_QUAD.crossed_pair and s.version == "B")


def test_a_quad_of_the_set_is_crossed():
    found = crossed(TASKS, [PROSE_QUAD, BESIDE])
    assert found.passed
    assert found.found == "1 crossed pairs; each of 7 judges that do not see the task is right in 50%, no problem"


def test_texts_that_differ_between_the_versions_are_stopped():
    assert "the texts differ between the versions" in told([other_text(PROSE_QUAD), BESIDE])
    assert "crossed" in blocked(in_quads(lambda s: replace(s, candidates=tuple(f"{text} " for text in s.candidates))))


def test_a_winner_that_is_the_same_in_both_versions_is_stopped():
    same = replace(BESIDE, expectation=PROSE_QUAD.expectation)
    assert "the winner does not change with the version" in told([PROSE_QUAD, same])
    turned = in_quads(lambda s: replace(s, expectation=GivenWinner(1 - s.expectation.candidate)))
    assert {"crossed", "checkers-agree"} <= blocked(turned)


def test_winners_that_are_both_wrong_are_stopped_though_they_differ():
    wrong = [replace(s, expectation=GivenWinner(1 - s.expectation.candidate)) for s in (PROSE_QUAD, BESIDE)]
    assert "the better text does not state more by an equal step" in told(wrong)


def test_versions_whose_steps_differ_are_stopped():
    assert "the two versions are not of one kind" in told([PROSE_QUAD, replace(BESIDE, delta=BESIDE.delta + 1)])
    lesser = 1 - PROSE_QUAD.expectation.candidate
    task = TASKS[PROSE_QUAD.task_id]
    more = sorted(task.stated(PROSE_QUAD.candidates[1 - lesser]) - task.stated(PROSE_QUAD.candidates[lesser]))
    # One fact of the step is stated twice over: by the lesser text too, under the first version alone.
    text = f"{PROSE_QUAD.candidates[lesser]} {task.facts[more[0]].forms[0]}"
    both = tuple(text if place == lesser else own for place, own in enumerate(PROSE_QUAD.candidates))
    found = told([replace(PROSE_QUAD, candidates=both), replace(BESIDE, candidates=both)])
    assert "the better text does not state more by an equal step" in found


def with_tasks(**changes):
    """The tasks of the quad, the second version of them changed."""
    return TASKS | {BESIDE.task_id: replace(TASKS[BESIDE.task_id], **changes)}


def test_prompts_that_differ_in_the_context_are_stopped():
    task = TASKS[BESIDE.task_id]
    tasks = with_tasks(prompt=f"Please read this. {task.prompt}")
    assert "the prompts differ in more than the request" in crossed(tasks, [PROSE_QUAD, BESIDE]).found


def test_a_request_that_is_longer_than_the_other_is_stopped():
    task = TASKS[BESIDE.task_id]
    request = f"{task.request} {' '.join(['Please'] * 30)}"
    tasks = with_tasks(prompt=task.prompt.replace(task.request, request), request=request)
    found = crossed(tasks, [PROSE_QUAD, BESIDE])
    own = len(TASKS[PROSE_QUAD.task_id].request.split())
    assert not found.passed
    assert f"the requests have {own} and {len(request.split())} words" in found.found


def test_a_request_that_changes_with_the_figures_is_stopped():
    [one, other] = [s for s in built("screen") if s.family == "figures"][:2]
    assert one.crossed_pair == other.crossed_pair
    assert crossed(TASKS, [one, other]).passed
    task = TASKS[other.task_id]
    changed = TASKS | {task.id: replace(task, request=f"{task.request} Please.")}
    assert "the request changes with the figures" in crossed(changed, [one, other]).found


def test_a_quad_with_one_stimulus_or_with_three_is_stopped():
    assert "1 stimuli, not two" in told([PROSE_QUAD])
    assert "3 stimuli, not two" in told([PROSE_QUAD, BESIDE, replace(BESIDE, stratum="list")])
    assert "crossed" in blocked([s for s in built("screen") if s != PROSE_QUAD])


def test_a_pair_of_the_ladder_that_is_in_no_quad_is_stopped():
    alone = replace(PROSE_QUAD, crossed_pair="")
    assert told([alone]).startswith(f"test case {alone.id} has no crossed pair")
    mixed = [*built("screen"), *(s for s in built("screen", ladder="filler") if s.family == "graded")]
    assert "has no crossed pair" in told(mixed)


def test_a_transform_in_one_version_only_is_stopped():
    assert "the two versions are not of one kind" in told([PROSE_QUAD, replace(BESIDE, stratum="other")])


class Partial(RequestBalance):
    """Takes the draw that shares most with the request that its better text answers."""

    def ranked(self, kind, step, told):  # noqa: ARG002  # it does not count
        return list(map(int, np.argsort(-told.sum(axis=1), kind="stable")))


def test_a_balance_that_favours_the_words_of_the_request_is_stopped(monkeypatch):
    monkeypatch.setattr("umpirical.stimuli.controlled.datasheet_set.RequestBalance", Partial)
    stimuli = list(datasheet_stimuli(materials_of("screen"), RECIPES["screen"], seed=1))
    assert blocked(stimuli) == {"request-overlap"}
    found = request_overlap(TASKS, stimuli)
    assert found.allowed == "0.45 to 0.55 on graded, at each step with 60 stimuli"
    score = float(found.found.partition("share of words with the request ")[2].split()[0])
    assert score > 0.8


def test_what_matching_scores_is_printed_for_both_ladders_and_each_step():
    found = request_overlap(TASKS, built("screen"))
    assert found.passed
    for name in MATCHERS:
        assert f"{name} 0.5" in found.found or f"{name} 0.4" in found.found
        assert found.found.count(name) == 2
    assert " on graded (0.5: 0." in found.found
    assert " on figures (" in found.found


def test_few_stimuli_need_not_be_as_even_as_many():
    """A quad whose better text matches better under both versions scores one, and is too little to say so."""
    quads = {}
    for stimulus in built("screen"):
        if stimulus.family == "graded":
            quads.setdefault(stimulus.crossed_pair, []).append(stimulus)
    words = MATCHERS["share of words with the request"]

    def favoured(stimulus):
        sign = 1 if stimulus.expectation.candidate == 0 else -1
        return sign * words(TASKS[stimulus.task_id], *stimulus.candidates) == 1

    chosen = [stimulus for members in quads.values() if all(map(favoured, members)) for stimulus in members]
    assert 0 < len(chosen) < 60
    found = request_overlap(TASKS, chosen)
    assert found.passed
    assert found.found.startswith("share of words with the request 1.000 on graded")


# Length.


def test_a_better_answer_that_is_padded_is_stopped():
    def padded(stimulus):
        filler = TASKS[stimulus.task_id].facts[0].fillers[0]
        return with_better(stimulus, f"{better(stimulus)} {filler}")

    assert plain(padded) == {"lengths-match", "trivial-judges"}


class Careless(Balancer):
    """Takes the draw whose favoured answer is longest, or shortest, of those that are equally long by count."""

    sign = None

    def choose(self, task, draws, *, family, step):
        sign = self.sign(family, step)
        if not sign:
            return super().choose(task, draws, family=family, step=step)
        return int(np.argmax([sign * (len(one) - len(other)) for one, other in draws]))


def careless_set(monkeypatch, sign):
    monkeypatch.setattr("umpirical.stimuli.controlled.datasheet_set.Balancer", Careless)
    monkeypatch.setattr(Careless, "sign", staticmethod(sign))
    return list(datasheet_stimuli(materials_of("screen", "filler"), RECIPES["screen"], seed=1))


def test_a_better_answer_that_is_always_longer_by_a_letter_or_two_is_stopped(monkeypatch):
    stimuli = careless_set(monkeypatch, lambda family, _: 1 if family == "graded" else 0)
    found = blocked(stimuli, ladder="filler")
    assert "trivial-judges" in found
    assert found <= {"trivial-judges", "length-tells-nothing"}


def test_length_that_grows_with_the_step_is_stopped_though_it_is_even_on_the_whole(monkeypatch):
    def sign(family, step):
        return 0 if family != "graded" else 1 if step >= 2 else -1

    found = blocked(careless_set(monkeypatch, sign), ladder="filler")
    assert "length-tells-nothing" in found
    assert found <= {"length-tells-nothing", "trivial-judges"}


def test_equal_candidates_in_alphabetical_order_are_stopped():
    def ordered(stimulus):
        return replace(stimulus, candidates=tuple(sorted(stimulus.candidates, key=str.casefold)))

    assert blocked([ordered(s) if s.family == "equal" else s for s in built("standard")], "standard") == {
        "trivial-judges"
    }


# Marks of where a candidate comes from.


@pytest.mark.parametrize(
    "mark",
    [
        " Level 3.",
        " (Q3)",
        " <!-- better -->",
        "\u200b",
        "\u00a0",
        " ",
        "\n",
        " Winner.",
        " delta=2",
        "!",
        "_",
    ],
)
def test_a_mark_on_the_better_answer_is_stopped(mark):
    found = plain(lambda stimulus: with_better(stimulus, better(stimulus) + mark))
    assert "no-leak" in found
    assert found <= {"no-leak", "lengths-match", "trivial-judges", "length-tells-nothing"}


@pytest.mark.parametrize(
    "marked",
    [
        lambda text: text[:50] + "\u2060" + text[50:],
        lambda text: text.replace(". ", ".\u00a0", 1),
        lambda text: text.replace(". ", ".\t", 1),
        lambda text: text.replace(" ", "  ", 1),
    ],
    ids=["word joiner", "no-break space", "tab", "double blank within a sentence"],
)
@pytest.mark.parametrize("ladder", ["crossed", "filler"])
def test_a_single_mark_in_the_midst_of_a_single_answer_is_stopped(marked, ladder):
    [first, *rest] = [s for s in built("screen", ladder=ladder) if s.family == "graded" and s.stratum == PLAIN]
    changed = with_better(first, marked(better(first)))
    assert changed != first
    found = no_leak(TASKS, [changed, *rest])
    assert not found.passed
    assert changed.id in found.found
    assert no_leak(TASKS, [first, *rest]).passed


def test_a_sentence_made_of_the_tasks_own_words_is_still_not_its_own():
    def told(stimulus):
        parts = list(sentences_at_every_stop(better(stimulus)))
        words = parts[0].rstrip(".").split()
        return with_better(stimulus, better(stimulus).replace(parts[0], f"{' '.join(reversed(words))}."))

    assert "no-leak" in plain(told)


@pytest.mark.parametrize("ladder", ["crossed", "filler"])
def test_the_prompt_of_another_task_is_stopped(ladder):
    other = list(tasks_of("screen", ladder).values())[3].prompt
    stimuli = [replace(s, task=other) if s.family == "equal" else s for s in built("screen", ladder=ladder)]
    found = blocked(stimuli, ladder=ladder)
    assert "no-leak" in found
    assert "checkers-agree" not in found


# Contents.


@pytest.mark.parametrize(
    ("family", "change"),
    [
        ("graded", lambda s: replace(s, base=s.base + 0.25)),
        ("graded", lambda s: replace(s, delta=s.delta + 1)),
        ("graded", lambda s: replace(s, candidates=s.candidates[::-1])),
        ("equal", lambda s: replace(s, base=(s.base + 1) % 6)),
        ("blank", lambda s: replace(s, candidates=("", "")) if s.base else s),
    ],
    ids=["base", "step", "winner", "level", "blank"],
)
def test_a_wrong_level_is_stopped(family, change):
    found = plain(change, family)
    assert "checkers-agree" in found
    assert not found & {"sound-tasks", "no-leak", "lengths-match", "superset"}


def test_an_answer_that_is_better_in_one_thing_and_worse_in_another_is_stopped():
    places = {name: place for place, name in enumerate(tasks_of("screen", "filler"))}

    def mixed(stimulus):
        """Of the same level, but with facts that the better one lacks."""
        if stimulus.base + stimulus.base + stimulus.delta > 5 or not stimulus.base:
            return stimulus
        task, winner = TASKS[stimulus.task_id], stimulus.expectation.candidate
        free = sorted(set(range(20)) - task.stated(stimulus.candidates[winner]))
        chosen = free[: round(stimulus.base * task.grain)]
        wording = random_wording(task, np.random.default_rng(1))
        text = " ".join(slot_sentences(task, places[task.id], chosen, wording))
        candidates = (stimulus.candidates[0], text) if winner == 0 else (text, stimulus.candidates[1])
        return replace(stimulus, candidates=candidates)

    found = plain(mixed)
    assert "superset" in found
    assert not found & {"checkers-agree", "no-leak", "sound-tasks", "controls"}


def without_a_fact(task):
    """Its first fact is stated by what should stand in for it."""
    first, fact = task.requirements[0], task.facts[0]
    broken = replace(first, facts=(replace(fact, fillers=(fact.forms[0], *fact.fillers[1:])), *first.facts[1:]))
    return replace(task, requirements=(broken, *task.requirements[1:]))


def test_a_broken_task_is_stopped():
    plain_tasks = materials_of("screen", "filler")
    broken = replace(plain_tasks, tasks=(without_a_fact(plain_tasks.tasks[0]), *plain_tasks.tasks[1:]))
    stimuli = built("screen", ladder="filler")
    found = {gate.name: gate for gate in try_gates(broken, stimuli, stimuli)}
    assert not found["sound-tasks"].passed
    assert broken.tasks[0].id in found["sound-tasks"].found


@pytest.mark.parametrize("part", ["twins", "figures"])
def test_a_broken_version_of_a_twin_is_stopped(part):
    materials = materials_of("screen")
    first, *rest = getattr(materials, part)
    twin = replace(first, versions=(first.versions[0], without_a_fact(first.versions[1])))
    broken = replace(materials, **{part: (twin, *rest)})
    found = {gate.name: gate for gate in try_gates(broken, built("screen"), built("screen"))}
    assert not found["sound-tasks"].passed
    assert twin.versions[1].id in found["sound-tasks"].found


# The set as a whole.


def test_a_pair_that_comes_twice_is_stopped():
    pair = next(stimulus for stimulus in built("screen") if stimulus.family == "equal")
    assert blocked([*built("screen"), pair]) == {"near-duplicates"}
    assert "near-duplicates" in blocked([*built("screen"), replace(pair, stratum="list")])


@pytest.mark.parametrize("words", [0, 2])
def test_a_pair_that_comes_under_another_task_too_is_stopped(words):
    pair = next(stimulus for stimulus in built("screen") if stimulus.family == "equal")
    other = next(task for task in tasks_of("screen").values() if task.family != pair.task_family)

    def reworded(text):
        parts = text.split(" ")
        parts[5 : 5 + words] = ["anyone", "else"][:words]
        return " ".join(parts)

    copied = replace(pair, task_id=other.id, task=other.prompt, candidates=tuple(map(reworded, pair.candidates)))
    found = tried([*built("screen"), copied])["near-duplicates"]
    assert not found.passed
    assert {pair.id, copied.id} <= set(found.found.replace(",", " ").split())


@pytest.mark.parametrize("family", ["blank", "equal", "graded"])
def test_a_set_without_its_controls_is_stopped(family):
    found = tried([stimulus for stimulus in built("screen") if stimulus.family != family])
    assert not found["controls"].passed
    assert f"no stimulus of family {family}" in found["controls"].found
    assert found["checkers-agree"].passed
    assert found["no-leak"].passed


def test_a_ladder_of_small_steps_has_no_positive_control():
    small = [stimulus for stimulus in built("screen") if (stimulus.delta or 0) < 2]
    found = tried(small)["controls"]
    assert not found.passed
    assert "no pair that differs by several requirements" in found.found


@pytest.mark.parametrize(
    "again",
    [
        lambda _: built("screen", 2),
        lambda stimuli: stimuli[:-1],
        lambda stimuli: [*stimuli[1:], stimuli[0]],
        lambda stimuli: [*stimuli[:-1], replace(stimuli[-1], base=4.0)],
    ],
    ids=["seed", "missing", "order", "byte"],
)  # fmt: skip
def test_a_set_that_does_not_come_out_the_same_again_is_stopped(again):
    assert rebuilds(built("screen"), built("screen")).passed
    assert blocked(built("screen"), again=again(list(built("screen")))) == {"rebuilds"}


def shown_ways(stimuli, design=None):
    return [(s, way) for s in stimuli for way in (design or Design()).presentations(s, Capabilities())]


def test_a_pair_that_is_asked_in_one_order_only_is_stopped():
    design = Design(repeats=2, variants=("baseline", "strict"))
    ways = shown_ways(built("screen"), design)
    assert both_orders(ways).passed
    for place in (n for n, (stimulus, way) in enumerate(ways) if stimulus.family == "graded" and way.repeat == 1):
        found = both_orders(ways[:place] + ways[place + 1 :])
        assert not found.passed
        assert ways[place][0].id in found.found
        break
    uv = [(stimulus, way) for stimulus, way in ways if way.order is Order.AB]
    assert "is asked in one order only" in both_orders(uv).found


def test_identical_answers_need_one_order():
    identical = [s for s in built("screen") if s.family == "blank" and len(set(s.candidates)) == 1]
    assert both_orders(shown_ways(identical)) == GateResult(
        "both-orders", passed=True, found="0 pairs, no problem", allowed="each in both orders"
    )


def test_what_is_refused_is_named_with_what_would_pass():
    passed = GateResult("fine", passed=True, found="all", allowed="all")
    reported = GateResult("told", passed=False, found="much", allowed="reported", blocks=False)
    refuse_unsound([passed, reported])
    stopped = GateResult("lengths-match", passed=False, found="too long", allowed="2 tokens")
    with pytest.raises(GateError, match=r"gate lengths-match: too long\n    allowed: 2 tokens") as refused:
        refuse_unsound([passed, reported, stopped])
    assert "fine" not in str(refused.value)
    assert "umpirical check" in refused.value.fix


# Through the front door.


BROKEN = {
    "sound-tasks": FAMILY.replace("The cat of {owner} sleeps on the sofa.", "The cat of {owner} likes tuna very much."),
    "sound-tasks: prompt": FAMILY.replace("feeds the cat", "feeds the cat, such as tuna,"),
    "sound-tasks: one form": FAMILY.replace(
        """          - Give the cat of {owner} tuna every time.
          - For {owner} a cat without tuna is unhappy.
          - Only tuna will do, as {owner} puts it.
""",
        "",
    ),
    "sound-tasks: unequal": FAMILY.partition("      - check: [sand]")[0],
    # As many words, but every fact takes a word of many letters.
    "lengths-match": re.sub(r"\b(tuna|seven|sand)\b", lambda match: 12 * match[0], FAMILY),
    "sound-tasks: request": CROSSED.replace("which kind", "how much tuna"),
    "sound-tasks: other version": CROSSED.replace("a green dish is just right", "a green dish for tuna suits"),
    "sound-tasks: one form each": CROSSED.replace("          - Give the cat of {owner} tuna every time.\n", ""),
    "crossed": CROSSED.replace("which bowl", f"which bowl {' '.join(['exactly'] * 12)}"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_study_with_a_broken_task_is_refused_before_anything_is_asked(tmp_path, capsys, broken):
    (tmp_path / "counting_judge.py").write_text(
        "from pathlib import Path\n\n\ndef judge(task, first, second):\n"
        "    Path(__file__).with_name('asked').touch()\n    return 'tie'\n"
    )
    study = write_own_study(tmp_path, BROKEN[broken], judge="callable: counting_judge:judge")
    gate = broken.partition(":")[0]
    with pytest.raises(SystemExit) as stop:
        main(["run", str(study), "--trust", "--yes"])
    assert stop.value.code == 2
    assert f"gate {gate}: " in capsys.readouterr().err
    assert not (tmp_path / "asked").exists()
    assert not (tmp_path / "runs").exists()
    assert not list(tmp_path.rglob("manifest.json"))

    with pytest.raises(SystemExit) as stop:
        main(["check", str(study), "--trust"])
    assert stop.value.code == 2
    out = capsys.readouterr().out
    assert f"gate {gate}: FAIL" in out
    assert f"problem: gate {gate}: " in out
    names = [line.split()[1].rstrip(":") for line in out.splitlines() if line.startswith("gate ")]
    assert names == (GATES if "context:" in BROKEN[broken] else PLAIN_GATES)


@pytest.mark.parametrize(("text", "gates"), [(CROSSED, GATES), (FAMILY, PLAIN_GATES)], ids=["crossed", "filler"])
def test_check_prints_every_gate_with_what_it_found(tmp_path, capsys, text, gates):
    with pytest.raises(SystemExit) as stop:
        main(["check", str(write_own_study(tmp_path, text)), "--trust"])
    assert stop.value.code == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("gate ")]
    assert [line.split()[1].rstrip(":") for line in lines] == gates
    assert {line.split()[2] for line in lines} == {"PASS", "reported"}
