"""JUnit XML, and what a job on GitHub shows: valid, green where the gate passes, and inert."""

import re
from itertools import product
from pathlib import Path
from xml.etree import ElementTree as ET

import xmlschema

from tests.cases import each
from tests.hostile import HOSTILE
from tests.reports.gates import decision, held
from umpirical.reports.ci import MOST_ANNOTATIONS, render_annotations, render_junit, render_summary
from umpirical.reports.pages import plain

SCHEMA = xmlschema.XMLSchema(Path(__file__).parent / "junit.xsd")

GATES = [
    decision(*effects, rows=rows, unfinished=unfinished)
    for effects, rows, unfinished in product(
        [("pass",), ("pass", "noted"), ("open", "pass"), ("fail", "open", "noted")],
        [(), ("not shown",), ("worse", "not shown"), ("not comparable",)],
        ["", "9 of 90 calls failed"],
    )
]

NAMES = [
    *HOSTILE,
    "\x00\x01\x1b[31m\x7f\x85",
    "\ud800 \udfff \ufffe \uffff",
    "a\r\n::error::stolen\n::stop-commands::x",
    "::stop-commands::tok",
    "  ::add-mask::x",
    "##vso[task.setvariable]x",
    "##[add-mask]x",
    "x ##[error]y",
    "]]>",
    "%0A::error::",
    "a|b\n| c | d |",
    "<!DOCTYPE x [<!ENTITY y 'z'>]>&y;",
]


def told(gate):
    return ET.fromstring(render_junit([gate]))  # noqa: S314  # our own


@each("gate", GATES)
def test_the_file_is_valid_and_green_exactly_where_the_gate_passes(gate):
    text = render_junit([gate])
    SCHEMA.validate(text)
    suites = told(gate)
    [suite] = suites
    cases = suite.findall("testcase")
    for name, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        count = sum(case.find(name) is not None for case in cases)
        assert suites.get(plural) == suite.get(plural) == str(count)
    assert suite.get("tests") == str(len(cases)) != "0"
    assert (suite.get("failures") == suite.get("errors") == "0") == gate.passed
    assert render_junit([gate]) == text


def test_a_schema_that_takes_anything_would_prove_nothing():
    text = render_junit([GATES[0]])
    for broken in (
        text.replace("tests=", "test="),
        text.replace('tests="1"', 'tests="-1"'),
        text.replace("testcase", "x"),
    ):
        assert broken != text
        assert not SCHEMA.is_valid(broken)


def test_each_effect_has_its_element():
    cases = told(decision("pass", "fail", "open", "noted")).findall("testsuite/testcase")
    assert [[child.tag for child in case] for case in cases] == [[], ["failure"], ["error"], ["skipped"]]
    assert cases[1].find("failure").get("type") == "FAIL"
    assert cases[0].get("name") == "Dark current at most 5%"


def test_what_decides_and_is_no_check_is_a_case_of_its_own():
    """The stimuli failed a gate of their own, say: all checks pass, and the judge is not to be used."""
    suite = told(decision("pass", verdict="not-enough-data", exit_code=4, line="the stimuli failed a gate"))[0]
    assert (suite.get("errors"), suite.get("tests")) == ("1", "2")


def hostile(name: str):
    gate = decision(
        "fail", "open", "pass", rows=("worse",), judge=name, run=name, policy=name, line=f"Do not use: {name}"
    )
    checks = [held("fail", title=name, why=name), held("open", title=name, why=name)]
    return gate.model_copy(update={"checks": checks})


@each("name", NAMES)
def test_whatever_a_judge_is_called_the_file_is_valid_and_says_nothing_else(name):
    gate = hostile(name)
    text = render_junit([gate])
    SCHEMA.validate(text)
    text.encode("utf-8")
    plain = told(hostile("ours"))
    assert [element.tag for element in told(gate).iter()] == [element.tag for element in plain.iter()]


@each("name", NAMES)
def test_whatever_a_judge_is_called_no_command_of_a_runner_is_added(name):
    lines = render_annotations(hostile(name))
    assert len(lines) == len(render_annotations(hostile("ours")))
    for line in lines:
        assert re.match(r"::(error|warning) title=[^:,]*::", line)
        assert not re.search(r"[\x00-\x1f\x7f\x85\u2028\u2029]|##\[", line)
        line.encode("utf-8")
    summary = render_summary(hostile(name))
    summary.encode("utf-8")
    assert len(summary.splitlines()) == len(render_summary(hostile("ours")).splitlines())
    for text in (summary, render_junit([hostile(name)]), plain(name)):
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
        assert not re.search(r"##\w*\[", text)


def test_messages_are_escaped_as_a_runner_reads_them():
    gate = decision("pass", verdict="do-not-use", exit_code=3, judge="a: 5 %, b", line="100 %: no, never")
    assert render_annotations(gate) == ["::error title=a%3A 5 %25%2C b%3A Do not use::100 %25: no, never"]


def test_what_is_open_is_a_warning_and_what_passes_is_nothing():
    assert [line.split()[0] for line in render_annotations(decision("open"))] == ["::warning", "::warning"]
    assert [line.split()[0] for line in render_annotations(decision("fail", "open"))] == ["::error"] * 2 + ["::warning"]
    assert render_annotations(decision("pass", "noted", rows=("not shown",))) == []


def test_no_more_is_annotated_than_is_shown():
    assert len(render_annotations(decision(*["fail"] * 30))) == MOST_ANNOTATIONS


def test_the_summary_has_a_row_for_each_check_and_for_each_row_of_the_baseline():
    lines = render_summary(decision("pass", "fail", rows=("worse", "not shown"))).splitlines()
    assert sum(line.startswith("| Dark current") for line in lines) == 4
    assert sum("**FAIL**" in line for line in lines) == 1
    assert sum("**WORSE**" in line for line in lines) == 1
