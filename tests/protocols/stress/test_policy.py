"""The limits, and their words."""

import pytest

from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.stress.heat_map import FIGURES
from umpirical.protocols.stress.policy import LIMITS, MARGIN, NO_LIMIT, allowed, limit_words, policy_words
from umpirical.protocols.stress.report import scale_record
from umpirical.protocols.stress.tables import HEADLINES
from umpirical.protocols.stress.verdicts import judge_answers
from umpirical.protocols.stress.words import SIGNED

from .samples import BINARY, NOMINAL, SIX, SPECS


def held(kind, scale=SIX, margin=MARGIN):
    return {one.limit.measure: one for one in allowed(kind, margin=margin, scale=scale_record(scale))}


def test_the_values_are_those_that_were_agreed():
    assert MARGIN == 0.05
    assert held("flipped-verdict")["flip-detection"].least == 0.80
    assert held("repeats")["flip-rate"].most == 0.10
    assert {limit.measure: limit.value for limit in judge_answers([])} == {"unparsed-rate": 0.02, "failure-rate": 0.02}


def test_the_margin_is_of_a_rate_and_of_the_range():
    six = held("same-verdict", margin=0.1)
    assert (six["excess-change"].least, six["excess-change"].most) == (None, 0.1)
    assert (six["shift-equivalence"].least, six["shift-equivalence"].most) == (-0.5, 0.5)
    assert held("same-verdict", BINARY)["shift-equivalence"].most == pytest.approx(0.05)
    assert list(held("same-verdict", NOMINAL)) == ["excess-change"]


@pytest.mark.parametrize("kind", ["original", "given-label"])
def test_agreement_has_no_limit(kind):
    assert held(kind) == {}


def test_every_limit_is_on_a_measure_there_is_and_has_a_reason():
    for limit in LIMITS:
        assert limit.measure in SPECS
        assert len(limit.why) > 60
    registered = {spec.name for spec in MEASURES if spec.is_for("grade", "stress")}
    assert {name for limit in LIMITS for name in (limit.measure, limit.instead) if name} <= registered


def test_the_pages_know_the_real_measures_by_name():
    registered = {spec.name: spec for spec in MEASURES if spec.is_for("grade", "stress")}
    shown = {name for figures in FIGURES.values() for names in figures for name in names}
    shown |= {name for names in HEADLINES.values() for name in names} | SIGNED
    assert shown <= set(registered)
    assert {name: spec.scale for name, spec in SPECS.items()} == {name: registered[name].scale for name in SPECS}


def test_the_words_have_every_limit_and_its_reason():
    words = policy_words(margin=0.05, scale=scale_record(SIX))
    text = "\n".join(words)
    for limit in LIMITS:
        assert limit.why in text
    for expected in ("≤ 0.05", "within ±0.25 grades", "≥ 0.8", "≤ 0.1", NO_LIMIT, "N/A never counts as a pass"):
        assert expected in text
    assert "without order" not in text


def test_a_scale_without_order_is_said():
    text = "\n".join(policy_words(margin=0.05, scale=scale_record(NOMINAL)))
    assert "On a scale without order" in text
    assert "grades, its 90 %" not in text


def test_a_limit_is_written_to_its_last_digit():
    assert limit_words(held("same-verdict", margin=0.025)["excess-change"]) == "≤ 0.025"
    assert limit_words(held("same-verdict", margin=0.03)["shift-equivalence"]) == "within ±0.15 grades"
