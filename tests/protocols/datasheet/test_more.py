"""A follow-up asks just what would settle what is open; and every face says the same decision."""

from math import inf
from types import SimpleNamespace

import pytest

from tests.protocols.datasheet.in_process import checks_of, count
from tests.stimuli.built import built
from umpirical.domain.measures import Interval
from umpirical.domain.stimuli import GivenWinner, NoPreference, Stimulus
from umpirical.protocols.datasheet.more import Want, chosen_stimuli, round_after, wanted
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.report import held_to
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.decision import decide
from umpirical.runs.rounds import Place

from .samples import datasheet, estimate, measure, simulated


def stimulus(name, family, delta=None, crossed_pair="", candidates=None):
    expectation = GivenWinner(0) if delta else NoPreference()
    shown = candidates or (f"{name} u", f"{name} v")
    return Stimulus(name, f"Task {name}", shown, expectation, "test/1", family, delta=delta, crossed_pair=crossed_pair)


POOL = [
    stimulus("a", "blank", candidates=("", "")),
    stimulus("b", "equal", 0.0),
    stimulus("c", "graded", 5.0, "q1"),
    stimulus("d", "graded", 5.0, "q1"),
    stimulus("e", "graded", 1.0, "q2"),
    stimulus("f", "graded", 1.0, "q2"),
    stimulus("g", "graded", 5.0, "q3"),
    stimulus("h", "graded", 5.0, "q3"),
]


def asked(*wants, known=()):
    return "".join(each.task_id for each in chosen_stimuli(list(wants), POOL, set(known)))


def test_only_what_an_open_check_is_about_is_asked_and_a_quad_stays_whole():
    assert asked(Want("task-following", "graded", 5.0, "crossed-pair", 1)) == "cd"
    assert asked(Want("target-sensitivity", "graded", 5.0, "pair", 3)) == "cdgh"
    assert asked(Want("dark-current", "blank", None, "prompt", 10)) == "a"
    assert asked(Want("target-sensitivity", "graded", 1.0, "pair", inf), Want("x", "equal", None, "pair", 1)) == "bef"
    assert asked(Want("conflict-excess", "", None, "pair", inf, "+200%")) == ""


def test_what_was_shown_is_not_shown_again():
    assert asked(Want("task-following", "graded", 5.0, "crossed-pair", 1), known=[POOL[2].content]) == "gh"


def test_calls_of_any_family_settle_what_is_about_answers():
    assert asked(Want("unparsed-rate", "", None, "call", 3)) == "ab"


def test_what_is_open_is_wanted_at_its_step():
    wants = {(want.measure, want.step): want for want in wanted(datasheet())}
    assert wants["target-sensitivity", 5.0].left == 44
    assert wants["task-following", 5.0].left == inf
    assert not any(measure == "dark-current" for measure, _ in wants)


@pytest.mark.parametrize(("pairs", "asks"), [(100, False), (121, True), (3156, True)])
def test_a_run_ends_when_an_essential_check_is_out_of_reach_and_half_of_its_pairs_are_asked(pairs, asks):
    """Position bias has 60 pairs and takes about 6,310."""
    sheet, equal = datasheet(), [stimulus(f"equal {number}", "equal", 0.0) for number in range(pairs)]
    shown = {one.id for one in equal[:60]}
    checks = [check for check in sheet.checks if check.measure == "positional-false-preference"]
    assert bool(round_after(checks, sheet.measures, equal, shown, Place(1, 4))) == asks


@pytest.mark.parametrize(("sheet", "code"), [(datasheet(), 4), (simulated(), 3)])
def test_every_face_says_the_same_decision(sheet, code):
    decided, decision = DATASHEET.decision(sheet), sheet.decision
    assert (decided.verdict, decided.exit_code) == (decision.verdict, code)
    assert decided.line.startswith(f"{decision.title} (policy ranking): ")
    assert f'<p class="verdict">{decision.title}</p>' in DATASHEET.page(sheet)
    assert f"**{decision.title}" in DATASHEET.card(sheet)
    assert DATASHEET.parse(DATASHEET.render(sheet)).decision == decision
    broken = [check for check in sheet.checks if check.essential and check.state == "broken"]
    assert bool(broken) == (decision.verdict == "do-not-use")


def test_another_policy_does_not_undo_a_second_look():
    first = datasheet()
    again = DATASHEET.hold(held_to(first, preset().at_look(2)), "claim")
    assert (again.policy.policy, again.policy.look) == ("claim", 2)
    assert max(check.level for check in again.checks if check.level is not None) == pytest.approx(0.012)
    assert DATASHEET.hold(first, "claim").policy.look == 1


def test_step_1_pairs_are_asked_too_where_their_errors_hold_up_the_conflict_excess():
    """Without errors at step 1 only conflict pairs tell more; with many there, both do."""
    excess = estimate(2, 24, "pair", interval=Interval(low=-0.1, high=0.3, level=0.95, method=""))
    loss = measure("conflict-loss", estimate(2, 24, "pair"))
    for errors, asked in ((0, False), (4, True)):
        measures = [
            measure("conflict-excess", excess).model_copy(update={"scale": "difference"}),
            loss,
            measure("wrong-choice-rate", estimate(errors, 16, "pair"), "1"),
        ]
        wants = {(want.measure, want.family, want.step) for want in wanted(datasheet(measures=measures))}
        assert ("conflict-excess", "conflict", None) in wants
        assert (("wrong-choice-rate", "graded", 1.0) in wants) is asked


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ranking", "adjudication"])
def test_a_perfect_judge_is_settled_by_screen_and_what_it_leaves_open(name):
    right = {}
    for size in ("screen", "full"):
        for each in built(size):
            better = each.expectation.candidate if isinstance(each.expectation, GivenWinner) else None
            for place, (first, second) in enumerate(
                (each.candidates[:1] + each.candidates[-1:], each.candidates[::-1])
            ):
                right[each.task, first, second] = "tie" if better is None else "12"[better ^ place]
    shown, policy = list(built("screen")), preset(name)
    for look in (1, 2):
        tallies = count(lambda *seen: right.get(seen, "tie"), shown)
        checks = checks_of(tallies, [policy.at_look(look)])[name]
        decision = decide(policy, checks)
        if decision.verdict != "not-enough-data":
            break
        wants = wanted(SimpleNamespace(checks=checks_of(tallies, [policy.at_look(look + 1)])[name], measures=[]))
        shown += chosen_stimuli(wants, built("full"), {each.content for each in shown})
    assert decision.verdict in {"use", "use-with-restrictions"}, decision.sentences
    assert look == 2
