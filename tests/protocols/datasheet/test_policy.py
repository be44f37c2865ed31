"""The policy is whole: every rule it names can be followed."""

import pytest

from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.policy import POLICIES, RULES, limit_value


@pytest.mark.parametrize("kind", POLICIES)
def test_a_cure_rests_on_a_limit_of_the_same_policy(kind):
    keys = {(limit.measure, limit.stratum) for limit in POLICIES[kind]}
    assert len(keys) == len(POLICIES[kind])
    for limit in POLICIES[kind]:
        assert limit.cure_needs is None or (limit.cure and limit.cure_needs in keys)


@pytest.mark.parametrize("kind", POLICIES)
def test_every_limit_is_on_a_measure_of_that_kind_of_judge_and_points_the_right_way(kind):
    specs = {spec.name: spec for spec in MEASURES}
    for limit in POLICIES[kind]:
        spec = specs[limit.measure]
        assert kind in getattr(spec, "kinds", (kind,))
        assert spec.worse in {"depends", "higher" if limit.kind == "at_most" else "lower"}


def test_there_is_a_policy_for_every_kind_of_judge():
    assert set(POLICIES) == set(JudgeSpec.model_fields["kind"].annotation.__args__)


def test_the_rules_are_sentences_and_name_every_verdict():
    assert all(rule.endswith(".") for rule in RULES)
    for word in ("Do not use:", "Not enough data:", "Use with limits:", "Use:", "INCONCLUSIVE", "N/A"):
        assert any(word in rule for rule in RULES)


def test_the_values():
    assert (limit_value("dark-current"), limit_value("target-sensitivity", "5")) == (0.05, 0.95)
