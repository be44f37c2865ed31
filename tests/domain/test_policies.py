from dataclasses import replace

import pytest

from tests.domain.test_transcripts import BOOKING
from umpirical.domain.policies import (
    RULES,
    Closing,
    Figures,
    Forbid,
    NoFigures,
    Policy,
    Require,
    policy_from_text,
    rule,
)
from umpirical.domain.transcripts import Transcript

EVERY_RULE = tuple(rule(kind, "find_room") for kind in RULES)


@pytest.mark.parametrize("tested", EVERY_RULE)
def test_a_rule_is_broken_where_its_opposite_is_kept(tested):
    assert tested.holds(BOOKING) is not tested.opposite.holds(BOOKING)
    assert tested.opposite.opposite == tested


def test_what_each_rule_asks_for():
    assert Require("find_room").holds(BOOKING)
    assert not Forbid("find_room").holds(BOOKING)
    assert Forbid("delete").holds(BOOKING)
    assert Closing().holds(BOOKING)
    assert not Closing().holds(Transcript(BOOKING.messages[:-1]))
    assert Figures().holds(BOOKING)
    said = replace(BOOKING.messages[-1], text="Room 5 is free.")
    assert not Figures().holds(Transcript((*BOOKING.messages[:-1], said)))
    assert NoFigures().holds(Transcript((*BOOKING.messages[:-1], said)))


def test_dates_and_names_are_no_figures():
    said = replace(BOOKING.messages[-1], text="On 2026-11-16 room B2 (4) is free.")
    assert Figures().holds(Transcript((*BOOKING.messages[:-1], said)))


def test_a_policy_is_read_back_from_its_text_and_turned_in_one_rule_only():
    policy = Policy(EVERY_RULE)
    assert policy_from_text(policy.text) == policy
    turned = policy.turned(Closing())
    assert [one == two for one, two in zip(policy.rules, turned.rules, strict=True)].count(False) == 1
    with pytest.raises(ValueError, match="cannot read the rule"):
        policy_from_text("1. Be nice.")
