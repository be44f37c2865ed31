"""The pytest plugin: `def test_my_judge(umpirical): umpirical.assert_reliable(my_judge, policy="release")`.

Every pytest run in an environment with Umpirical imports this module, so it imports nothing but pytest and its own
settings. A judge is measured only where a test asks for it.

A measured judge has one of three outcomes, and an inconclusive one is neither a pass nor a failure: it has a letter and
a word of its own. Whether it counts against the session is a setting.
"""

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from umpirical.pytest_plugin.settings import FINDINGS, OPTIONS, RAISED, settings_of

if TYPE_CHECKING:
    from umpirical.pytest_plugin.assertions import JudgeAssertions

__all__ = ["umpirical"]

MARKER = (
    "umpirical(**settings): test judges. The settings are those of `assert_reliable` and apply to all judges of the "
    "test. Tests with the fixture `umpirical` get this marker automatically; deselect them with -m 'not umpirical'"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("umpirical", "test LLM judges (umpirical)")
    for option in OPTIONS:
        option.add_to(group, parser)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    # A wrong setting is said at once, and not in the first test that measures a judge.
    settings_of(config)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "umpirical" in getattr(item, "fixturenames", ()) and item.get_closest_marker("umpirical") is None:
            item.add_marker("umpirical")


@pytest.fixture
def umpirical(request: pytest.FixtureRequest) -> "JudgeAssertions":
    """Assertions about LLM judges."""
    from umpirical.pytest_plugin.assertions import JudgeAssertions

    return JudgeAssertions(request.node, settings_of(request.config))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Adds what was found to the report of the test, as plain data that also reaches the controller of pytest-xdist."""
    report: Any = yield
    found = item.stash.get(FINDINGS, [])
    item.stash[FINDINGS] = []
    if found:
        report.umpirical = found
    raised = item.stash.get(RAISED, {})
    # A test may catch what an assertion raises, and then it has another outcome.
    if call.excinfo is not None and id(call.excinfo.value) in raised and not report.passed:
        report.umpirical_outcome = raised[id(call.excinfo.value)][1]
    return report  # type: ignore[no-any-return]  # it has more attributes now


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Names the outcomes that pytest has no name for: a category, a letter and a word."""
    match getattr(report, "umpirical_outcome", ""):
        case "inconclusive":
            return "inconclusive", "?", ("INCONCLUSIVE", {"yellow": True})
        case "not measured":
            return "error", "E", ("ERROR", {"red": True})
        case _:
            return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Lists every judge that was measured, what was decided, and where its datasheet is."""
    reports = [report for kind in terminalreporter.stats.values() for report in kind]
    found = [(report.nodeid, finding) for report in reports for finding in getattr(report, "umpirical", ())]
    # What could not be measured is among the errors, with its reason.
    measured = [(test, finding) for test, finding in found if finding["outcome"] != "not measured"]
    if not measured:
        return
    terminalreporter.section("umpirical: judges tested", sep="=")
    for test, finding in sorted(measured, key=lambda entry: entry[0]):
        terminalreporter.write_line(f"{test}: {finding['outcome']}: {finding['headline']}")
        # The reason of a failure is printed with the failures.
        if finding["outcome"] == "inconclusive":
            for line in finding["reason"].splitlines()[1:]:
                terminalreporter.write_line(line)
        elif finding["datasheet"]:
            terminalreporter.write_line(f"  datasheet: {finding['datasheet']}")
