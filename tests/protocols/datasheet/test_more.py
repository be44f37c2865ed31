"""A follow-up asks just what would settle what is open; and every face says the same decision."""

from math import inf

import pytest

from umpirical.domain.stimuli import GivenWinner, NoPreference, Stimulus
from umpirical.protocols.datasheet.more import Want, chosen_stimuli, wanted
from umpirical.protocols.datasheet.policy_files import preset
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.report import held_to

from .samples import datasheet, simulated


def stimulus(name, family, delta=None, quad="", candidates=None):
    expectation = GivenWinner(0) if delta else NoPreference()
    shown = candidates or (f"{name} u", f"{name} v")
    return Stimulus(name, f"Task {name}", shown, expectation, "test/1", family, delta=delta, quad=quad)


POOL = [
    stimulus("a", "vacuum", candidates=("", "")),
    stimulus("b", "delta0", 0.0),
    stimulus("c", "ladder", 5.0, "q1"),
    stimulus("d", "ladder", 5.0, "q1"),
    stimulus("e", "ladder", 1.0, "q2"),
    stimulus("f", "ladder", 1.0, "q2"),
    stimulus("g", "ladder", 5.0, "q3"),
    stimulus("h", "ladder", 5.0, "q3"),
]


def asked(*wants, known=()):
    return "".join(each.task_id for each in chosen_stimuli(list(wants), POOL, set(known)))


def test_only_what_an_open_limit_is_about_is_asked_and_a_quad_stays_whole():
    assert asked(Want("task-following", "ladder", 5.0, "quad", 1)) == "cd"
    assert asked(Want("target-sensitivity", "ladder", 5.0, "pair", 3)) == "cdgh"
    assert asked(Want("dark-current", "vacuum", None, "prompt", 10)) == "a"
    assert asked(Want("target-sensitivity", "ladder", 1.0, "pair", inf), Want("x", "delta0", None, "pair", 1)) == "bef"


def test_what_was_shown_is_not_shown_again():
    assert asked(Want("task-following", "ladder", 5.0, "quad", 1), known=[POOL[2].content]) == "gh"


def test_calls_of_any_family_settle_what_is_about_answers():
    assert asked(Want("unparsed-rate", "", None, "call", 3)) == "ab"


def test_what_is_open_is_wanted_at_its_step():
    wants = {(want.measure, want.step): want for want in wanted(datasheet())}
    assert wants["target-sensitivity", 5.0].left == 32
    assert wants["task-following", 5.0].left == inf
    assert not any(measure == "dark-current" for measure, _ in wants)


@pytest.mark.parametrize(("sheet", "code"), [(datasheet(), 4), (simulated(), 3)])
def test_every_face_says_the_same_decision(sheet, code):
    decided, decision = DATASHEET.decision(sheet), sheet.decision
    assert (decided.verdict, decided.exit_code) == (decision.verdict, code)
    assert decided.line.startswith(f"{decision.title} (policy ranking): ")
    assert f'<p class="verdict">{decision.title}</p>' in DATASHEET.page(sheet)
    assert f"**{decision.title}.**" in DATASHEET.card(sheet)
    assert DATASHEET.parse(DATASHEET.render(sheet)).decision == decision
    broken = [limit for limit in sheet.limits if limit.essential and limit.state == "broken"]
    assert bool(broken) == (decision.verdict == "do-not-use")


def test_another_policy_does_not_undo_a_second_look():
    first = datasheet()
    again = DATASHEET.hold(held_to(first, preset().at_look(2)), "claim")
    assert (again.policy.policy, again.policy.look, again.policy.accepts) == ("claim", 2, 0.025)
    assert "rates of look 2 alone" in again.decision.policy[-1]
    assert DATASHEET.hold(first, "claim").policy.look == 1
