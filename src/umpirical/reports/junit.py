"""The gate as JUnit's XML, which every CI server shows: one test case for each limit, and for each regression row.

A limit that decides against the judge is a `failure`. One that decides and is not settled is an `error`: nobody knows
what the result is, and a server would show anything else as green. One that is missed or not settled and does not
decide is `skipped`, with the reason. So the file is green exactly where the command exits with 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from umpirical.reports.gate import GateDecision, HeldLimit
from umpirical.reports.regressions import RegressionRow
from umpirical.text.inert import one_line

Result = Literal["failure", "error", "skipped"]

RESULTS: dict[str, Result] = {"fail": "failure", "open": "error", "noted": "skipped"}


@dataclass(frozen=True, slots=True)
class _Case:
    name: str
    group: str
    result: Result | None = None
    kind: str = ""
    message: str = ""


def render_junit(gate: GateDecision) -> str:
    """Renders the gate. The same decision gives the same text: it has neither a time nor the name of a machine."""
    suites = ET.Element("testsuites", name="umpirical gate")
    suite = ET.SubElement(suites, "testsuite", name=one_line(gate.judge))
    properties = ET.SubElement(suite, "properties")
    for name in ("verdict", "policy", "protocol", "run", "line"):
        ET.SubElement(properties, "property", name=f"umpirical.{name}", value=one_line(getattr(gate, name)))
    cases = list(_cases(gate))
    for case in cases:
        _write(suite, case, one_line(gate.judge))
    for element in (suites, suite):
        element.set("tests", str(len(cases)))
        for result, plural in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
            element.set(plural, str(sum(case.result == result for case in cases)))
        element.set("time", "0")
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def _cases(gate: GateDecision) -> Iterator[_Case]:
    if gate.verdict == "incomplete":
        yield _Case("The run is complete", "run", "error", "incomplete", gate.line)
    limits = [_limit(limit) for limit in gate.limits]
    yield from limits
    if gate.verdict in {"do-not-use", "not-enough-data"} and not {case.result for case in limits} & {
        "failure",
        "error",
    }:
        # What decides is no limit: stimuli that failed a gate of their own, say.
        yield _Case("The decision", "decision", "failure" if gate.exit_code == 3 else "error", gate.verdict, gate.line)
    for row in gate.baseline.rows if gate.baseline else ():
        yield _row(row)


def _limit(limit: HeldLimit) -> _Case:
    name = f"{limit.title} {limit.allowed}".rstrip()
    return _Case(name, "limits", RESULTS.get(limit.effect), limit.verdict, limit.why)


def _row(row: RegressionRow) -> _Case:
    results: dict[str, Result] = {"worse": "failure", "not comparable": "skipped"}
    return _Case(f"{row.title}: no regression", "baseline", results.get(row.standing), row.standing, row.words)


def _write(suite: ET.Element, case: _Case, judge: str) -> None:
    element = ET.SubElement(
        suite, "testcase", classname=f"umpirical.{case.group}.{judge}", name=one_line(case.name), time="0"
    )
    if case.result == "skipped":
        ET.SubElement(element, "skipped", message=one_line(f"{case.kind}: {case.message}"))
    elif case.result is not None:
        told = ET.SubElement(element, case.result, type=case.kind, message=one_line(case.message))
        told.text = one_line(case.message)
