"""What the plugin asks, what it may cost, and that nothing is asked twice: counted at a server."""

import hashlib
import re
import subprocess
import sys
import textwrap

import pytest

from tests.runs.loopback import responses
from tests.servers.chat_server import ChatServer
from umpirical.store.budget import Budget

pytest_plugins = ["pytester"]

MANY = 100
"""Fewer questions than the smallest size has."""


def grade(body):
    """A grade that depends on the text alone, and has nothing to do with quality."""
    said = body["messages"][-1]["content"]
    return str(1 + hashlib.sha256(said.encode()).digest()[0] % 5)


REFUSES = {"failed": 1}
"""The outcome of that judge."""


def write_suite(suite, server, *, price="'free'", tests=("test_judge",), **settings):
    """Writes tests of one judge on a server; `settings` are those of each assertion."""
    said = "".join(f", {name}={value!r}" for name, value in settings.items())
    model = f"{{'adapter': 'openai-compatible', 'name': 'm', 'base_url': {server.base_url!r}, 'price': {price}}}"
    for number, test in enumerate(tests):
        text = f"""
            SCALE = {{"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}}
            JUDGE = {{"name": "house", "kind": "grade", "scale": SCALE, "model": {model}}}

            def {test}(umpirical):
                umpirical.assert_reliable(JUDGE{said})
        """
        (suite.path / f"test_{number}.py").write_text(textwrap.dedent(text))
    return suite


def asked_once(suite):
    """How many questions the one run of a suite has."""
    [run] = (suite.path / ".umpirical" / "runs").iterdir()
    found = len(responses(run))
    assert found > MANY
    return found


def test_a_second_run_asks_nothing(suite):
    with ChatServer(grade) as server:
        write_suite(suite, server)
        assert suite.runpytest_subprocess().parseoutcomes() == REFUSES
        assert server.asked.total() == asked_once(suite)
        assert suite.runpytest_subprocess().parseoutcomes() == REFUSES
        assert server.asked.total() == asked_once(suite)
    # Nor does one without a server, to which nothing may be sent; it says the same.
    result = suite.runpytest_subprocess("--umpirical-no-ask", "--umpirical-report=out")
    assert result.parseoutcomes() == REFUSES
    assert [page.name for page in (suite.path / "out").rglob("*.html")] == ["datasheet.html"]
    result.stdout.fnmatch_lines(["  datasheet: out/test_0*/house-ranking/datasheet.html"])


def test_with_two_workers_one_asks_and_the_other_waits(suite):
    """Without the wait, the second worker is told that another process asks, or pays for the same answers."""
    with ChatServer(grade, latency=0.02) as server:
        write_suite(suite, server, tests=("test_one", "test_two"))
        result = suite.runpytest_subprocess("-n", "2", "--dist", "load", "-v")
        assert result.parseoutcomes() == {"failed": 2}
        assert set(re.findall(r"\[(gw\d)\]", result.stdout.str())) == {"gw0", "gw1"}
        assert server.asked.total() == asked_once(suite)
        assert set(server.asked.values()) == {1}
    # What was found reaches the controller, which prints it.
    result.stdout.fnmatch_lines(
        [f"test_{number}.py::*: not reliable: judge house: do not use*" for number in (0, 1)], consecutive=False
    )


def test_nothing_is_sent_before_somebody_has_agreed_to_the_price(suite):
    with ChatServer(grade) as server:
        write_suite(suite, server, price={"input": 1, "output": 1})
        result = suite.runpytest_subprocess()
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert result.parseoutcomes() == {"errors": 1}
        result.stdout.fnmatch_lines(["* calls may cost up to $*, but no budget is set", "  fix: pass max_cost=*"])
        assert server.asked.total() == 0
        enough = re.search(r"pass max_cost=([\d.]+)", result.stdout.str())[1]
        # The command line is a ceiling for what the code says.
        write_suite(suite, server, price={"input": 1, "output": 1}, max_cost=enough)
        result = suite.runpytest_subprocess("--umpirical-max-cost=0.0001")
        assert result.parseoutcomes() == {"errors": 1}
        assert server.asked.total() == 0
        assert suite.runpytest_subprocess().parseoutcomes() == REFUSES
        assert server.asked.total() == asked_once(suite)
    booked = Budget(suite.path / ".umpirical").booked(("judge house",)).total
    assert 0 < booked <= float(enough)


def test_what_has_not_been_asked_is_inconclusive_where_nothing_may_be_asked(suite):
    with ChatServer(grade) as server:
        write_suite(suite, server)
        result = suite.runpytest_subprocess("--umpirical-no-ask")
        assert result.parseoutcomes() == {"inconclusive": 1}
        assert result.ret == pytest.ExitCode.TESTS_FAILED
        assert server.asked.total() == 0
    result.stdout.fnmatch_lines(["*judge house has no stored answers", "*fix: run the test without --umpirical-no-ask"])


def test_answers_from_another_machine_count_only_if_somebody_agrees(answered):
    answered.makepyfile(
        "def test_it(umpirical):\n    umpirical.assert_reliable('simulated:steady-grader', policy='ci-smoke')\n"
    )
    ini = answered.path / "tox.ini"
    ini.write_text(ini.read_text().replace("umpirical_trust = true", ""))
    result = answered.runpytest_subprocess()
    assert result.parseoutcomes() == {"errors": 1}
    result.stdout.fnmatch_lines(
        ["*uses the answers in runs/steady-grader-*", "  fix: review the list, then pass trust=True*"]
    )
    assert answered.runpytest_subprocess("--umpirical-trust").parseoutcomes() == {"passed": 1}


def test_answers_are_kept_out_of_the_repository(suite, monkeypatch):
    monkeypatch.setenv("UMPIRICAL_NO", "1")
    suite.makepyfile("def test_it(umpirical):\n    umpirical.assert_reliable('no judge')\n")
    assert suite.runpytest_subprocess("--umpirical-folder=elsewhere").parseoutcomes() == {"errors": 1}
    assert (suite.path / "elsewhere" / ".gitignore").read_text() == "*\n"


LOADED = """
import sys, pytest, _pytest.terminal, _pytest.junitxml
before = set(sys.modules)
import umpirical.pytest_plugin
print(*sorted(set(sys.modules) - before))
"""


def test_it_costs_an_environment_that_does_not_use_it_next_to_nothing():
    """It is imported by every pytest of its environment: pytest itself has hundreds of modules, and so has the API."""
    run = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    assert all(name.partition(".")[0] == "umpirical" for name in loaded)
    assert len(loaded) == 3


def test_a_suite_that_measures_nothing_prints_nothing_and_loads_nothing(suite):
    suite.makepyfile(
        """
        import sys

        def test_something_else():
            assert "umpirical.pytest_plugin" in sys.modules
            assert not {"umpirical.api", "numpy", "pydantic", "aiohttp"} & set(sys.modules)
        """
    )
    result = suite.runpytest_subprocess("-p", "no:hypothesispytest", "-p", "no:anyio")
    assert result.parseoutcomes() == {"passed": 1}
    assert "umpirical:" not in result.stdout.str()
    assert not (suite.path / ".umpirical" / "runs").exists()


def test_every_option_is_listed_in_a_group_of_its_own_with_its_line_in_the_ini_file(suite):
    result = suite.runpytest_subprocess("--help")
    said = result.stdout.str()
    group = said[said.index("test LLM judges (umpirical):") :]
    options = re.findall(r"^  --(umpirical-[a-z-]+)", said, re.MULTILINE)
    assert len(options) == 9
    for option in options:
        assert f"--{option}" in group
        assert re.search(rf"^  {option.replace('-', '_')} \(", said, re.MULTILINE), option
    assert "@pytest.mark.umpirical(**settings)" in suite.runpytest_subprocess("--markers").stdout.str()
