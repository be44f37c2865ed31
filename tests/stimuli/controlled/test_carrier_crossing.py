"""Real answers crossed with what they are grounded in: the same two texts, and the better one follows the context."""

from dataclasses import replace

import numpy as np
import pytest

from umpirical.domain.stimuli import TIER_2, Family, GivenWinner
from umpirical.stimuli.controlled.carriers.carrier import Carrier, crossing_problem, read_carriers
from umpirical.stimuli.controlled.carriers.crossing import MOST_CROSSED, carrier_quads, carriers_checked, crossings
from umpirical.stimuli.controlled.carriers.pairs import carrier_stimuli
from umpirical.stimuli.controlled.gates import quads_of
from umpirical.stimuli.controlled.trivial import REPORTED, TRIVIAL
from umpirical.store.yaml_files import parse_yaml

CONTEXT = """\
Hire conditions of Reed Boats, valid from April 2025.

A rowing boat costs £18 an hour, and a canoe £14. The deposit is 60 pounds for any boat. Boats go out until 10:45.
Children under 12 need a life jacket. The landing stage is closed on Tuesday. Twelve boats are kept at the mill, and the
season lasts seven months."""

ANSWER = """\
A rowing boat is £18 an hour. You leave a deposit of 60 pounds.

- The stage is shut on Tuesday.
- Seven months a year there is somebody at the landing.
- There are twelve boats.
- The whole tour takes 45 minutes."""

CLAIMS = (
    "A rowing boat is £18 an hour.",
    "You leave a deposit of 60 pounds.",
    "The stage is shut on Tuesday",
    "Seven months a year",
    "There are twelve boats",
    "The whole tour takes 45 minutes",
)

BOATS = Carrier("boats", "What does a rowing boat cost, and when is it open?", ANSWER, CLAIMS, CONTEXT)

LEASE = Carrier(
    "lease",
    "How long does the notice have to be?",
    "The notice must be given 8 weeks ahead. The rent is 780 pounds a month.",
    ("The notice must be given 8 weeks ahead.", "The rent is 780 pounds a month."),
    "Either side may end the lease with 8 weeks' notice. The rent is 780 pounds a month.",
)

CARRIERS = [BOATS, LEASE]


def made(carriers=CARRIERS, seed=1):
    return list(carrier_quads(carriers, seed=seed))


def many(carrier, seeds=30):
    return [quad for seed in range(seeds) for _, quad in quads_of(made([carrier], seed))]


def figures(carrier):
    return [carrier.answer[c.in_answer.start : c.in_answer.end] for c in crossings(carrier)]


# What can be crossed


def test_a_figure_is_crossed_where_the_context_has_it_once_and_about_the_same():
    # 45 minutes of a tour are not the 45 of a time; twelve boats might be the 12 years of a child.
    assert figures(BOATS) == ["18", "60", "Tuesday", "Seven"]
    assert [CLAIMS[c.fact] for c in crossings(BOATS)] == list(CLAIMS[:4])


@pytest.mark.parametrize(
    ("context", "task", "answer"),
    [
        ("", "How long?", "Notice takes 8 weeks."),
        ("The lease has 8 rooms.", "How long?", "Notice takes 8 weeks."),  # no word in common
        ("Notice takes 8 weeks, 8 in winter too.", "How long?", "Notice takes 8 weeks."),
        ("Notice takes 8 weeks, and eight in winter.", "How long?", "Notice takes 8 weeks."),
        ("Notice takes 8 weeks.", "Is it 8 weeks?", "Notice takes 8 weeks."),
        ("Notice takes 8 weeks.", "How long?", "Notice takes 8 weeks. In other words, 8."),
        ("Notice takes at least 8 weeks.", "How long?", "Notice takes 8 weeks."),  # who gives nine gives eight
        ("Notice takes 18 weeks.", "How long?", "Notice takes 8 weeks."),
        ("Notice takes 8.5 weeks.", "How long?", "Notice takes 8 weeks."),
        ("Notice takes 8 weeks.", "How long?", "Notice takes at least 8 weeks."),
        ("Notice is never given in weeks.", "How long?", "Notice is never given in weeks."),
    ],
)
def test_what_may_be_another_thing_is_left_alone(context, task, answer):
    assert figures(Carrier("c", task, answer, (answer.split(". ")[0].rstrip("."),), context)) == []


@pytest.mark.parametrize(
    ("context", "answer", "figure"),
    [
        ("Notice takes 8 weeks.", "Notice takes 8 weeks.", "8"),
        ("A notice of 8 weeks is needed.", "The notices take 8 weeks.", "8"),
        ("| notice | 8 weeks |", "Notice takes 8 weeks.", "8"),
        ("It weighs 50kg, the crate.", "The crate weighs 50 kg.", "50"),
        ("Seven crates came.", "There were seven crates.", "seven"),
        ("The crate came in July.", "It was July when the crate came.", "July"),
        ("The crate cost 1,500.50 euros.", "You paid 1,500.50 euros.", "1,500.50"),
    ],
)
def test_what_is_the_same_thing_is_crossed(context, answer, figure):
    carrier = Carrier("c", "What then?", answer, (answer.rstrip("."),), context)
    assert figures(carrier) == [figure]
    for quad in many(carrier):
        assert carriers_checked([carrier], quad, quad).passed


def test_the_new_figure_stands_nowhere_yet():
    carrier = replace(LEASE, context=f"{LEASE.context} It is 5 miles from the 3 mills, and four tenants have left.")
    [weeks] = [c for c in crossings(carrier) if c.fact == 0]
    assert weeks.options == ("1", "2", "6")


# Quads


def test_the_fields_of_a_quad():
    quads = dict(quads_of(made([LEASE])))
    assert set(quads) == {"own-figures carrier:lease:1", "own-figures carrier:lease:2"}
    for name, (one, other) in quads.items():
        assert (one.version, other.version) == ("P", "Q")
        assert {(s.crossed_pair, s.twin) for s in (one, other)} == {(name.split()[1],) * 2}
        assert {s.cluster for s in (one, other)} == {"carrier:lease"}
        assert {(s.family, s.delta, s.base) for s in (one, other)} == {(Family.OWN_FIGURES, 1.0, 1.0)}
    assert Family.OWN_FIGURES in TIER_2


def test_the_texts_are_the_same_and_the_winner_flips():
    for one, other in many(BOATS):
        assert one.candidates == other.candidates
        assert one.candidates[0] != one.candidates[1]
        assert {one.expectation, other.expectation} == {GivenWinner(0), GivenWinner(1)}
        assert one.candidates[one.expectation.candidate] == ANSWER


def test_one_figure_is_changed_and_nothing_else_in_both():
    for one, other in many(BOATS):
        [changed] = [text for text in one.candidates if text != ANSWER]
        swaps = []
        for before, after in ((one.task, other.task), (ANSWER, changed)):
            pairs = zip(before.split(" "), after.split(" "), strict=True)
            [swap] = [pair for pair in pairs if pair[0] != pair[1]]
            swaps.append(tuple(word.strip("£.,\n-").split("\n")[0].casefold() for word in swap))
        assert swaps[0] == swaps[1]
        assert one.task == f"{CONTEXT}\n\n{BOATS.task}"
        assert other.task.endswith(BOATS.task)


def test_no_carrier_outweighs_the_others():
    assert MOST_CROSSED == 3
    assert len(made([BOATS])) == 2 * MOST_CROSSED
    crossed = {s.crossed_pair for seed in range(30) for s in made([BOATS], seed)}
    assert crossed == {f"carrier:boats:{n}" for n in (1, 2, 3, 4)}


def test_a_judge_that_sees_the_texts_alone_is_right_in_half():
    blind = {name: judge for name, judge in (TRIVIAL | REPORTED).items() if name != "prompt-overlap"}
    for judge in blind.values():
        for quad in many(BOATS, 5):
            said = [judge(stimulus.task, *stimulus.candidates) for stimulus in quad]
            winners = [str(stimulus.expectation.candidate + 1) for stimulus in quad]
            assert sum(1 / 2 if one == "tie" else one == winner for one, winner in zip(said, winners, strict=True)) == 1


def test_which_text_is_u_is_a_coin():
    owns = [one.candidates.index(ANSWER) for one, _ in many(BOATS, 40)]
    assert 0.4 < np.mean(owns) < 0.6


def test_the_same_seed_gives_the_same_bytes_and_carriers_do_not_move_each_other():
    assert [s.id for s in made()] == [s.id for s in made()]
    assert [s.id for s in made(seed=2)] != [s.id for s in made()]
    assert made([BOATS]) == [s for s in made() if s.cluster == "carrier:boats"]


def test_every_other_pair_shows_the_context_too():
    assert {s.task for s in carrier_stimuli([LEASE], seed=1)} == {f"{LEASE.context}\n\n{LEASE.task}"}
    assert {s.task for s in carrier_stimuli([replace(LEASE, context="")], seed=1)} == {LEASE.task}


def test_an_unsound_carrier_makes_nothing():
    assert made([replace(BOATS, facts=("It is not there.",)), LEASE]) == []


# The gate


def gate(stimuli, carriers=CARRIERS):
    return carriers_checked(carriers, stimuli, stimuli)


def test_the_gate_passes_what_was_made():
    whole = [*carrier_stimuli(CARRIERS, seed=1), *made()]
    found = gate(whole)
    assert found.passed
    assert found.found == "2 answers, 8 facts, 15 pairs, 5 crossed pairs, no problem"


@pytest.mark.parametrize(
    ("version", "change", "words"),
    [
        (1, lambda s: {"candidates": s.candidates[::-1]}, "texts differ between the versions"),
        (1, lambda s: {"expectation": GivenWinner(1 - s.expectation.candidate)}, "winner is not the text"),
        (1, lambda s: {"task": s.task.replace("closed on", "shut on")}, "in exactly one word"),
        (1, lambda s: {"task": s.task.replace("£14", "£24")}, "in exactly one word"),
        (1, lambda s: {"task": s.task.replace(" ", "  ", 1)}, "in exactly one word"),
        (1, lambda _: {"task": f"{CONTEXT}\n\n{BOATS.task}"}, "in exactly one word"),
        (1, lambda _: {"task": f"{CONTEXT.replace('£14', '£24')}\n\n{BOATS.task}"}, "do not change alike"),
        (1, lambda _: {"version": "P"}, "two versions"),
        (0, lambda _: {"task": BOATS.task}, "does not show its answer"),
        (0, lambda _: {"delta": 2.0}, "not one fact that differs"),
        (0, lambda _: {"task_family": "carrier:none"}, "its answer is missing"),
    ],
)
def test_a_quad_that_is_not_crossed_is_found(version, change, words):
    stimuli = made([BOATS])
    stimuli[version] = replace(stimuli[version], **change(stimuli[version]))
    found = gate(stimuli)
    assert not found.passed
    assert words in found.found


def test_a_stimulus_outside_its_quad_is_found():
    assert "does not name its crossed pair" in gate([replace(s, crossed_pair="") for s in made([BOATS])]).found


def test_both_texts_changed_is_found():
    texts = lambda s: tuple(text.replace("the landing", "a landing") for text in s.candidates)  # noqa: E731
    assert "does not show its answer" in gate([replace(s, candidates=texts(s)) for s in made([BOATS])]).found
    only = lambda s: tuple(t if t == ANSWER else t.replace("the landing", "a landing") for t in s.candidates)  # noqa: E731
    assert "more than a figure in one fact" in gate([replace(s, candidates=only(s)) for s in made([BOATS])]).found


def test_the_check_compares_with_the_original_alone():
    answer = LEASE.answer.replace("8 weeks", "5 weeks")
    assert crossing_problem(LEASE, LEASE.context.replace("8 weeks", "5 weeks"), answer) == ""
    assert crossing_problem(LEASE, LEASE.context.replace("8 weeks", "6 weeks"), answer)
    assert crossing_problem(LEASE, LEASE.context.replace("8 weeks", "some weeks"), answer)
    assert crossing_problem(LEASE, LEASE.context, answer)


# Reading


def test_a_context_is_read_and_may_be_excluded():
    text = "answers:\n  - {id: a, task: T, answer: It has 5 rooms., facts: [5 rooms], context: ' The house has 5.\n'}\n"
    [carrier] = read_carriers(parse_yaml(text, name="answers.yaml"))
    assert carrier.context == "The house has 5."
    assert carrier.prompt == "The house has 5.\n\nT"
    [plain] = read_carriers(parse_yaml(text.replace(", context: ' The house has 5.\n'", ""), name="answers.yaml"))
    assert (plain.context, plain.prompt) == ("", "T")
