"""The gate for CI servers: as JUnit XML, and on GitHub.

Every CI server shows JUnit XML: one test case for each check, and one for each regression row.

A check that decides against the judge is a `failure`. A check that decides and is inconclusive is an `error`, because a
server would show anything else as green. A check that does not pass and does not decide is `skipped`, with the reason.
So the file is green exactly where the command exits with 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from umpirical.reports.decision import INCOMPLETE
from umpirical.reports.gate import GateDecision, HeldCheck
from umpirical.reports.numbers import margin
from umpirical.reports.pages import plain
from umpirical.reports.regressions import RegressionRow
from umpirical.text.inert import no_command, one_line

Result = Literal["failure", "error", "skipped"]

RESULTS: dict[str, Result] = {"fail": "failure", "open": "error", "noted": "skipped"}


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    group: str
    result: Result | None = None
    kind: str = ""
    message: str = ""


def render_junit(gates: Sequence[GateDecision]) -> str:
    """Renders gates. The same decisions give the same text: it has neither a time nor the name of a machine."""
    suites = ET.Element("testsuites", name="umpirical gate")
    cases = [case for gate in gates for case in _add_suite(suites, gate)]
    _count(suites, cases)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _add_suite(suites: ET.Element, gate: GateDecision) -> list[_Case]:
    suite = ET.SubElement(suites, "testsuite", name=_inert(gate.judge))
    properties = ET.SubElement(suite, "properties")
    for name in ("verdict", "policy", "policy_line", "protocol", "run", "line"):
        ET.SubElement(properties, "property", name=f"umpirical.{name}", value=_inert(getattr(gate, name)))
    cases = list(_cases(gate))
    for case in cases:
        _write(suite, case, _inert(gate.judge))
    _count(suite, cases)
    return cases


def _count(element: ET.Element, cases: Sequence[_Case]) -> None:
    element.set("tests", str(len(cases)))
    for result, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
        element.set(plural, str(sum(case.result == result for case in cases)))
    element.set("time", "0")


def _inert(text: str) -> str:
    # A step may print the file.
    return no_command(one_line(text))


def _cases(gate: GateDecision) -> Iterator[_Case]:
    if gate.exit_code == INCOMPLETE:
        yield _Case("The run is complete", "run", "error", gate.verdict, gate.line)
    checks = [_check(check) for check in gate.checks]
    yield from checks
    shown = {case.result for case in checks} & {"failure", "error"}
    if gate.exit_code in {3, 4} and not shown:
        # What decides is no check: stimuli that failed a gate of their own, say.
        yield _Case("The decision", "decision", "failure" if gate.exit_code == 3 else "error", gate.verdict, gate.line)
    for row in gate.baseline.rows if gate.baseline else ():
        yield _row(row)


def _check(check: HeldCheck) -> _Case:
    name = f"{check.title} {check.allowed}".rstrip()
    return _Case(name, "checks", RESULTS.get(check.effect), check.verdict, check.why)


def _row(row: RegressionRow) -> _Case:
    results: dict[str, Result] = {"worse": "failure", "not comparable": "skipped"}
    return _Case(f"{row.title}: no regression", "baseline", results.get(row.standing), row.standing, row.words)


def _write(suite: ET.Element, case: _Case, judge: str) -> None:
    element = ET.SubElement(
        suite, "testcase", classname=f"umpirical.{case.group}.{judge}", name=_inert(case.name), time="0"
    )
    if case.result == "skipped":
        ET.SubElement(element, "skipped", message=_inert(f"{case.kind}: {case.message}"))
    elif case.result is not None:
        told = ET.SubElement(element, case.result, type=case.kind, message=_inert(case.message))
        told.text = _inert(case.message)


# The gate on GitHub: a summary of the job, and annotations.
#
# A runner reads what a step prints for commands. So nothing here can begin a line, end one, or hold the start of a
# command: whoever names a judge does not get to write one.


WORDS = {"pass": "PASS", "fail": "**FAIL**", "open": "**INCONCLUSIVE**", "noted": "noted"}

MOST_ANNOTATIONS = 10
"""GitHub shows as many of each kind from a step."""


def render_summary(gate: GateDecision) -> str:
    """Renders the gate as Markdown, for the summary of a job."""
    return "\n".join(_summary(gate)) + "\n"


def _summary(gate: GateDecision) -> Iterator[str]:
    yield from (f"### {plain(gate.judge)}: {plain(gate.title)}", "", plain(gate.line), "")
    yield from ("| check | threshold | | why |", "| --- | --- | --- | --- |")
    for check in gate.checks:
        yield f"| {plain(check.title)} | {plain(check.allowed)} | {WORDS[check.effect]} | {plain(check.why)} |"
    yield ""
    if gate.policy_line:
        yield from (f"{plain(gate.policy_line)}.", "")
    if gate.baseline is None:
        return
    run, judge = plain(gate.baseline.run), plain(gate.baseline.judge)
    yield f"Compared with {run} ({judge}), worse by more than {margin(gate.baseline.margin)}:"
    yield from ("", "| measure | | before → now |", "| --- | --- | --- |")
    for row in gate.baseline.rows:
        standing = "**WORSE**" if row.standing == "worse" else row.standing
        yield f"| {plain(row.title)} | {standing} | {plain(row.words)} |"
    yield ""


def render_annotations(gate: GateDecision) -> list[str]:
    """Renders what stops the gate as commands of a runner: an error for what decides, a warning for what is open."""
    kind = "warning" if gate.verdict == "not-enough-data" else "error"
    whole = [] if gate.passed else [(kind, f"{gate.judge}: {gate.title}", gate.line)]
    kinds = {"fail": "error", "open": "warning"}
    checks = [(kinds[one.effect], *_said(one)) for one in gate.checks if one.effect in kinds]
    worse = gate.baseline.worse if gate.baseline else []
    rows = [("error", f"{row.title}: regression", row.words) for row in worse]
    told = [*whole, *checks, *rows]
    return [
        _command(*one)
        for kind in ("error", "warning")
        for one in [one for one in told if one[0] == kind][:MOST_ANNOTATIONS]
    ]


def _said(check: HeldCheck) -> tuple[str, str]:
    return f"{check.title} {check.allowed}".rstrip(), f"{check.verdict}: {check.why}"


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title, more=True)}::{_escaped(message)}"


def _escaped(text: str, *, more: bool = False) -> str:
    """Escapes a message as a runner reads it; `more` for a property, in which a colon and a comma mean something.

    The older form of a command, `##[name]`, is found anywhere in a line, so that no text may hold its start.
    """
    escaped = no_command(one_line(text)).replace("%", "%25")
    return escaped.replace(":", "%3A").replace(",", "%2C") if more else escaped
