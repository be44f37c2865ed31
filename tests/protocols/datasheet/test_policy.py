"""Policies are data: every shipped one is whole, and a user's file is read the same way."""

import json

import pytest
from jsonschema import Draft202012Validator

from umpirical.domain.errors import ConfigError, UsageError
from umpirical.judges.spec import JudgeSpec
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.spec import PRESETS, chosen_policy, policy_schema, preset, read_policy
from umpirical.reports.decision import RULES, decide
from umpirical.reports.policy import EACH_PART, Check, Condition, Policy
from umpirical.store.yaml_files import parse_yaml

KINDS = JudgeSpec.model_fields["kind"].annotation.__args__


def value(name, measure, at="", kind="compare"):
    return next(check for check in getattr(preset(name), kind) if check.key == (measure, at))


def read(text):
    return read_policy(parse_yaml(text, name="own.yaml"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PRESETS)
def test_every_check_is_on_a_measure_of_that_kind_of_judge_and_points_the_right_way(name, kind):
    specs = {spec.name: spec for spec in MEASURES}
    checks = getattr(preset(name), kind)
    assert checks
    for condition in [*checks, *(need for check in checks for cure in check.cures for need in cure.needs)]:
        spec = specs[condition.measure]
        assert kind in spec.kinds
        assert spec.worse in {"depends", "higher" if condition.kind == "at_most" else "lower"}


@pytest.mark.parametrize("name", PRESETS)
def test_every_check_has_words_and_every_cure_a_need(name):
    for check in (*preset(name).compare, *preset(name).grade):
        # A check on each part names the parts that fail it.
        assert check.not_for or check.measure == "failure-rate" or check.at == EACH_PART
        assert all(cure.way.endswith(".") and cure.needs for cure in check.cures)
    assert preset(name).about.endswith(".")


def test_the_rules_are_sentences_and_name_every_verdict():
    assert all(rule.endswith(".") for rule in RULES)
    for word in ("Do not use:", "Not enough data:", "Use with restrictions:", "Use:", "INCONCLUSIVE", "N/A"):
        assert any(word in rule for rule in RULES)


def test_style_is_essential_only_where_it_is_no_part_of_what_is_judged():
    essential = {name: value(name, "stable-cross-sensitivity").essential for name in PRESETS}
    assert essential == {"ranking": False, "adjudication": True, "ci-smoke": False, "claim": True}


def test_figures_decide_where_single_cases_or_claims_rest_on_the_judge_and_restrict_its_use_elsewhere():
    for kind, measure, at in (
        ("compare", "figure-sensitivity", "5"),
        ("compare", "figure-following", ""),
        ("grade", "figure-sensitivity", "5"),
    ):
        essential = {name: value(name, measure, at, kind).essential for name in ("ranking", "adjudication", "claim")}
        assert essential == {"ranking": False, "adjudication": True, "claim": True}
    assert "relevance, not correctness" in value("ranking", "figure-sensitivity", "5").not_for
    assert not value("ci-smoke", "figure-following").essential


def test_every_policy_holds_a_judge_to_answers_three_times_as_long_and_says_how_far_was_tested():
    for name in PRESETS:
        check = value(name, "conflict-excess", "+200%")
        assert check.essential
        assert "up to 3 times" in check.good_for


def test_the_values():
    assert (value("ranking", "dark-current").value, value("ranking", "target-sensitivity", "5").value) == (0.05, 0.90)
    assert (value("claim", "target-sensitivity", "5").value, value("claim", "task-following", "5").value) == (
        0.90,
        0.75,
    )
    assert value("ranking", "conflict-excess").unmeasured
    assert not value("claim", "conflict-excess").unmeasured
    assert value("claim", "target-sensitivity", "1").cures == ()
    unread = value("ranking", "unparsed-rate")
    assert (unread.value, unread.cures[0].needs[0].value) == (0.02, 0.10)
    assert not value("ranking", "failure-rate").refuses


def test_what_is_used_in_both_orders_is_held_in_both_orders():
    for measure in ("raw-false-preference", "positional-false-preference"):
        needs = [need.key for cure in value("ranking", measure).cures for need in cure.needs]
        assert needs == [("both-orders-sensitivity", "1"), ("both-orders-sensitivity", "5")]


def test_a_policy_extends_another_and_says_only_what_differs():
    own = read(
        "policy: ours\nextends: ranking\naccepts: 0.01\nways:\n  large-only: {way: Large ones only.}\n"
        "compare:\n  - {measure: dark-current, at_most: 0.2}\n  - {measure: conflict-excess, omit: true}\n"
    )
    base = preset("ranking")
    assert (own.policy, own.accepts, own.refuses) == ("ours", 0.01, 0.05)
    assert len(own.compare) == len(base.compare) - 1
    assert own.compare[0].value == 0.2
    assert own.compare[0].not_for == base.compare[0].not_for
    one = next(check for check in own.compare if check.key == ("target-sensitivity", "1"))
    assert (one.cures[0].way, one.cures[0].needs[0].value) == ("Large ones only.", 0.90)
    assert own.grade[4].cures[0].way == "Large ones only."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("policy: x\ncompare:\n  - {measure: dark-current}\n", "needs either at_most or at_least"),
        ("policy: x\ncompare:\n  - {measure: dark-current, at_most: 0.1, most: 1}\n", "own.yaml:3"),
        ("policy: x\nextends: nothing\n", "unknown policy"),
        ("policy: x\ncompare:\n  - {measure: dark-current, omit: true}\n", "cannot omit"),
        ("policy: x\naccepts: 0.9\n", "accepts"),
    ],
)
def test_a_wrong_file_is_refused_with_the_reason(text, expected):
    with pytest.raises(ConfigError, match=expected):
        read(text)


def test_a_way_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="unknown recommended use 'magic'"):
        read("policy: x\nextends: ranking\ncompare:\n  - {measure: dark-current, cures: [magic]}\n")


def test_a_file_that_a_study_names_is_inside_its_folder(tmp_path):
    study, text = tmp_path / "study", "policy: ours\nextends: claim\n"
    study.mkdir()
    (study / "own.yaml").write_text(text)
    (tmp_path / "outside.yaml").write_text(text)
    assert chosen_policy("own.yaml", study).policy == "ours"
    assert chosen_policy("claim", study) == preset("claim")
    assert chosen_policy(str(tmp_path / "outside.yaml"), study, outside=True).policy == "ours"
    with pytest.raises(UsageError, match="outside the study folder"):
        chosen_policy("../outside.yaml", study)
    with pytest.raises(UsageError, match="unknown policy 'rankings'"):
        chosen_policy("rankings", study)
    with pytest.raises(UsageError, match="no policy file"):
        chosen_policy("missing.yaml", study)


def test_a_measure_that_does_not_exist_is_refused_in_a_users_file(tmp_path):
    (tmp_path / "own.yaml").write_text("policy: x\ncompare:\n  - {measure: dark-curent, at_most: 0.1}\n")
    with pytest.raises(ConfigError, match="unknown measure 'dark-curent'"):
        chosen_policy("own.yaml", tmp_path)


@pytest.mark.parametrize("name", PRESETS)
def test_the_schema_describes_the_shipped_files(name):
    from importlib.resources import files

    text = (files("umpirical.protocols.datasheet") / "policies" / f"{name}.yaml").read_text()
    schema = Draft202012Validator(json.loads(policy_schema()))
    data = json.loads(json.dumps(parse_yaml(text, name=name).data))
    for kind in ("compare", "grade"):
        # A step may be written as a number.
        for check in data.get(kind, ()):
            check["at"] = str(check.get("at", ""))
    for way in data.get("ways", {}).values():
        for need in way.get("needs", ()):
            need["at"] = str(need.get("at", ""))
    schema.validate(data)


@pytest.mark.parametrize(("grades", "steps"), [(2, ["5"]), (3, ["3", "5"]), (5, ["2", "5"]), (11, ["1", "5"])])
def test_a_grader_is_held_at_steps_that_its_scale_can_show(grades, steps):
    held = [check for check in preset().checks("grade", grades=grades) if check.measure == "target-sensitivity"]
    assert [check.at for check in held] == steps
    assert held[-1].value == 0.90
    assert preset().checks("grade") == preset().grade


def test_conditions_compare():
    strict, loose = (Condition(measure="dark-current", at_most=most) for most in (0.05, 0.10))
    assert strict.implies(loose)
    assert not loose.implies(strict)
    assert not strict.implies(Condition(measure="dark-current", at_least=0.05))


def test_a_check_is_set_once():
    twice = [Check(measure="dark-current", at_most=0.1)] * 2
    with pytest.raises(ValueError, match="checked twice"):
        Policy(policy="x", about="", compare=twice)


def test_all_looks_together_err_no_more_often_than_the_policy_says():
    first = preset()
    assert first.at_look(2).at_look(3) == first.at_look(3)
    levels = [first.at_look(look).accepting_level(first.compare[0], first.compare) for look in range(1, 9)]
    assert levels[:3] == pytest.approx([0.03, 0.012, 0.0048])
    assert 0.0499 < sum(levels) < first.accepts
    refusing = [first.at_look(look).refusing_level(first.compare[:1]) for look in range(1, 9)]
    assert refusing == pytest.approx(levels)


def test_a_decision_says_the_rates_of_all_looks():
    for look in (1, 3):
        assert "all checks and follow-ups" in decide(preset().at_look(look), []).policy[-1]
        assert "accepted in at most 5% of runs" in decide(preset().at_look(look), []).policy[-1]
