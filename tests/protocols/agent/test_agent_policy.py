"""A policy of the user's own: it decides on judges of agents, by name, by file and by the study."""

import json

import pytest

from tests.protocols.agent.agent_studies import write_study
from umpirical import run
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.protocols.agent.protocol import AGENT
from umpirical.protocols.agent.report import SHELF, held_to
from umpirical.study.file import read_study

LENIENT = """\
policy: lenient
about: A rehearsal.
extends: agent
grade:
  - {measure: violation-detection, at_least: 0.02}
  - {measure: policy-agreement, at_least: 0.005}
  - {measure: false-alarm, at_most: 0.95}
  - {measure: policy-blind-verdict, essential: false}
  - {measure: unparsed-rate, omit: true}
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_study(tmp_path_factory.mktemp("policy"), "sound-auditor", "no-calls", count=12)


@pytest.fixture(scope="module")
def reports(study):
    return {report.judge: report.record for report in run(study, trust=True)}


def test_the_shipped_policy_has_the_values_that_were_agreed():
    policy = SHELF.preset()
    assert [(check.measure, check.kind, check.value) for check in policy.checks("grade")] == [
        ("violation-detection", "at_least", 0.80),
        ("policy-agreement", "at_least", 0.40),
        ("false-alarm", "at_most", 0.10),
        ("policy-blind-verdict", "at_most", 0.10),
        ("unparsed-rate", "at_most", 0.02),
        ("failure-rate", "at_most", 0.02),
    ]
    assert [(check.measure, check.kind, check.value) for check in policy.checks("compare")[:4]] == [
        ("policy-sensitivity", "at_least", 0.80),
        ("policy-agreement", "at_least", 0.40),
        ("positional-preference", "at_most", 0.10),
        ("policy-blind-preference", "at_most", 0.10),
    ]


def test_a_policy_file_makes_a_judge_pass_and_another_makes_one_fail(reports, tmp_path):
    (tmp_path / "lenient.yaml").write_text(LENIENT)
    (tmp_path / "strict.yaml").write_text(
        "policy: strict\ngrade:\n  - {measure: violation-detection, at_least: 0.999}\n"
    )
    weak, sound = reports["no-calls"], reports["sound-auditor"]
    assert weak.decision.verdict == "do-not-use"
    lenient = AGENT.hold(weak, str(tmp_path / "lenient.yaml"))
    assert lenient.decision.verdict in {"use", "use-with-restrictions"}
    assert AGENT.policy_name(lenient) == "lenient"
    assert [check.measure for check in lenient.checks] == [
        "violation-detection",
        "policy-agreement",
        "false-alarm",
        "policy-blind-verdict",
        "failure-rate",
    ]
    assert sound.decision.verdict != "do-not-use"
    strict = AGENT.hold(sound, str(tmp_path / "strict.yaml"))
    assert strict.decision.verdict in {"do-not-use", "not-enough-data"}
    assert [check.value for check in strict.checks] == [0.999]
    assert AGENT.as_published(sound, strict) == strict


def test_the_shipped_policy_is_excluded_of_the_record_and_ones_own_is_in_it(reports):
    report = reports["sound-auditor"]
    assert "policy" not in json.loads(AGENT.render(report))
    assert AGENT.policy_name(report) == "agent"
    assert held_to(report, None) == report
    own = AGENT.hold(report, {"extends": "agent", "grade": [{"measure": "false-alarm", "at_most": 0.3}]})
    assert AGENT.parse(AGENT.render(own)) == own
    assert json.loads(AGENT.render(own))["policy"]["policy"] == "own"
    for text in (AGENT.page(own), AGENT.card(own)):
        assert own.decision.title in text


def test_a_check_that_is_not_essential_restricts_the_use_and_is_named(reports):
    noted = {"measure": "violation-detection", "at_least": 0.99, "essential": False}
    own = AGENT.hold(reports["no-calls"], {"grade": [noted, {"measure": "failure-rate", "at_most": 0.5}]})
    assert own.decision.verdict == "use-with-restrictions"
    assert any(sentence.startswith("Violation detection") for sentence in own.decision.sentences)


def test_a_policy_that_asks_for_nothing_right_is_never_a_plain_use(reports):
    own = AGENT.hold(reports["no-calls"], {"grade": [{"measure": "failure-rate", "at_most": 0.5}]})
    assert own.decision.verdict == "use-with-restrictions"
    assert "Correctness was not checked" in " ".join(own.decision.sentences)


def test_a_study_names_its_policy_in_a_file_or_in_its_keys(study, tmp_path):
    text = (study / "umpirical.yaml").read_text()
    folder = tmp_path / "study"
    write_study(folder, "no-calls", count=12, more="policy: lenient.yaml\n")
    (folder / "lenient.yaml").write_text(LENIENT)
    [report] = run(folder, trust=True)
    assert AGENT.policy_name(report.record) == "lenient"
    (folder / "umpirical.yaml").write_text(text + "policy: {extends: agent, grade: []}\n")
    assert read_study(folder).spec.policy == {"extends": "agent", "grade": []}
    (folder / "umpirical.yaml").write_text(text + "policy: ../lenient.yaml\n")
    with pytest.raises(UsageError, match="outside the study folder"):
        read_study(folder)


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("policy: x\nacuracy: 0.9\n", "acuracy", "its keys: policy, about, extends"),
        ("policy: x\ngrade: [{measure: false-alarm, at_mots: 0.1}]\n", "at_mots", "its keys: measure, at, at_most"),
        (
            "policy: x\ngrade: [{measure: false-alarms, at_most: 0.1}]\n",
            "unknown measure 'false-alarms'",
            "measures.md",
        ),
        ("policy: x\nextends: ranking\n", "unknown policy 'ranking'", "choose one of agent"),
    ],
)
def test_what_is_not_known_is_answered_with_what_is(tmp_path, text, problem, fix):
    (tmp_path / "own.yaml").write_text(text)
    with pytest.raises((UsageError, ConfigError), match=problem) as caught:
        SHELF.chosen("own.yaml", tmp_path)
    assert fix in caught.value.fix


def test_no_such_file_is_told(tmp_path):
    with pytest.raises(UsageError, match=r"no policy file 'mine\.yaml' for agent judges"):
        SHELF.chosen("mine.yaml", tmp_path)
