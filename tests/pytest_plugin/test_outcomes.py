"""What a test about a judge comes to. Every suite here runs in a process of its own, with the plugin installed."""

import json
import re
from xml.etree import ElementTree as ET

import pytest

pytest_plugins = ["pytester"]

THREE = """
import pytest

def test_reliable(umpirical):
    report = umpirical.assert_reliable("simulated:steady-grader", policy="ci-smoke")
    assert report.decision == "use"

def test_refused(umpirical):
    umpirical.assert_reliable("simulated:lenient-on-nothing", policy="ci-smoke")

def test_open(umpirical):
    umpirical.assert_reliable("simulated:steady-grader", policy="adjudication")
"""


def outcome_of(result, test):
    return re.search(rf"::{test} (\w+)", result.stdout.str())[1]


@pytest.fixture
def three(answered):
    answered.makepyfile(test_three=THREE)
    return answered


def test_three_outcomes_and_each_says_what_it_rests_on(three):
    result = three.runpytest_subprocess("-v", "--junit-xml=found.xml")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    told = {name: outcome_of(result, name) for name in ("test_reliable", "test_refused", "test_open")}
    assert told == {"test_reliable": "PASSED", "test_refused": "FAILED", "test_open": "INCONCLUSIVE"}
    result.stdout.fnmatch_lines(["*1 failed, 1 passed, 1 inconclusive*"])
    # A failure names the measures, their figures and intervals, and the page; without a traceback.
    result.stdout.fnmatch_lines(
        [
            "*= FAILURES =*",
            "judge lenient-on-nothing: do not use (policy ci-smoke)",
            "  FAIL Blank-input preference: * [[]*, *] (*), threshold: at most 15%",
            "  datasheet: .umpirical/reports/*test_refused*/lenient-on-nothing-ci-smoke/datasheet.html",
            "*umpirical: judges tested*",
            "test_three.py::test_open: inconclusive: judge steady-grader: not enough data (policy adjudication)",
            "  INCONCLUSIVE Blank-input preference: * [[]*, *] (*), threshold: *would be enough",
            "  collect more data: leave out size, and it asks until the verdict is reached",
            "  datasheet: .umpirical/reports/*test_open*/datasheet.html",
            "test_three.py::test_refused: not reliable: judge lenient-on-nothing: do not use (policy ci-smoke)",
            "test_three.py::test_reliable: reliable: judge steady-grader: use (policy ci-smoke)",
            "  datasheet: .umpirical/reports/*test_reliable*/steady-grader-ci-smoke/datasheet.html",
        ]
    )
    assert "assertions.py" not in result.stdout.str()
    pages = re.findall(r"datasheet: (\S+)\.html", result.stdout.str())
    verdicts = {json.loads((three.path / f"{page}.json").read_text())["decision"]["verdict"] for page in pages}
    assert verdicts == {"use", "do-not-use", "not-enough-data"}
    assert all((three.path / f"{page}.html").read_text().startswith("<!doctype html>") for page in pages)
    # A reader of the XML file sees no pass in what is open.
    cases = {case.get("name"): case for case in ET.parse(three.path / "found.xml").iter("testcase")}  # noqa: S314
    assert [len(cases[name].findall("failure")) for name in sorted(cases)] == [1, 1, 0]
    [said] = [p.get("value") for p in cases["test_open"].iter("property") if p.get("name") == "umpirical"]
    assert said.startswith("inconclusive: ")


@pytest.mark.parametrize("how", ["skip", "xfail"])
def test_what_is_open_counts_as_the_person_says_and_is_called_what_it_is(three, how):
    if how == "skip":
        option = f"--umpirical-inconclusive={how}"
    else:
        ini = three.path / "tox.ini"
        ini.write_text(ini.read_text() + f"\numpirical_inconclusive = {how}\n")
        option = "-q"
    result = three.runpytest_subprocess("-k", "test_open", "--junit-xml=found.xml", option)
    assert result.ret == pytest.ExitCode.OK
    assert result.parseoutcomes() == {"inconclusive": 1, "deselected": 2}
    [case] = ET.parse(three.path / "found.xml").iter("testcase")  # noqa: S314
    [skipped] = case.findall("skipped")
    assert skipped.get("type") == f"pytest.{how}"
    assert "inconclusive: judge steady-grader: not enough data" in skipped.get("message")


def test_by_default_it_counts_against_the_session_and_stops_at_the_first(three):
    result = three.runpytest_subprocess("-x", "test_three.py::test_open", "test_three.py::test_reliable")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*1 inconclusive*"])
    assert "passed" not in result.stdout.str()


def test_a_way_of_counting_that_there_is_not_is_said_before_any_test(three):
    ini = three.path / "tox.ini"
    ini.write_text(ini.read_text() + "\numpirical_inconclusive = pass\n")
    result = three.runpytest_subprocess()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*invalid umpirical_inconclusive 'pass' (choose fail, skip, xfail)*"])


def test_a_judge_cannot_leave_the_test_or_the_session(suite):
    """Whatever it raises is the outcome of that call: neither a skip, nor an exit, nor a pass."""
    suite.makepyfile(
        """
        import pytest

        def skips(task, first, second):
            pytest.skip("I would rather not")

        def leaves(task, first, second):
            pytest.exit("enough", returncode=0)

        def xfails(task, first, second):
            pytest.xfail("I knew it")

        @pytest.mark.parametrize("judge", [skips, leaves, xfails])
        def test_judge(umpirical, judge):
            umpirical.assert_reliable(judge)
        """
    )
    result = suite.runpytest_subprocess("-v")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.assert_outcomes(errors=3)
    result.stdout.fnmatch_lines(
        ["judge skips: 2 of 2 preflight calls got no answer from *:skips (judge-error: Skipped: *"]
    )


def test_strict_takes_no_way_of_use_for_a_check_that_is_missed(answered):
    answered.makepyfile(
        """
        DARK = {"measure": "dark-current", "at_most": 0.15, "essential": False}
        POLICY = {"policy": "lax", "extends": "ci-smoke", "grade": [DARK]}
        LARGE = {"measure": "target-sensitivity", "at": 5, "at_least": 0.65}

        def test_used_with_checks(umpirical):
            umpirical.assert_reliable("simulated:lenient-on-nothing", policy=POLICY)

        def test_strict(umpirical):
            umpirical.assert_reliable("simulated:lenient-on-nothing", policy=POLICY, strict=True)

        def test_unsettled(umpirical):
            umpirical.assert_reliable("simulated:compressed-grader", policy={"extends": "ci-smoke", "grade": [LARGE]})
        """
    )
    result = answered.runpytest_subprocess()
    assert result.parseoutcomes() == {"passed": 2, "failed": 1}
    result.stdout.fnmatch_lines(
        [
            "judge lenient-on-nothing: use with restrictions (policy lax)",
            "  FAIL Blank-input preference: *",
            "*: reliable: * use with *",
        ]
    )
    # What is not settled is no failure, even then.
    assert answered.runpytest_subprocess("--umpirical-strict").parseoutcomes() == {"failed": 2, "inconclusive": 1}


def test_a_policy_is_a_name_a_file_or_a_mapping(answered):
    answered.makefile(
        ".yaml", ours="policy: ours\nextends: ci-smoke\ncompare:\n- {measure: dark-current, at_most: 0.2}\n"
    )
    answered.makepyfile(
        """
        import pytest

        STRICTER = {"extends": "ci-smoke", "grade": [{"measure": "dark-current", "at_most": 0.001}]}

        @pytest.mark.parametrize("policy", ["ours.yaml", STRICTER, "no-such", {"compare": [{"measure": "nothing"}]}])
        def test_judge(umpirical, policy):
            umpirical.assert_reliable("simulated:steady-grader", policy=policy)
        """
    )
    result = answered.runpytest_subprocess()
    assert result.parseoutcomes() == {"passed": 1, "inconclusive": 1, "errors": 2}
    result.stdout.fnmatch_lines(
        [
            "unknown policy 'no-such'",
            "  fix: name a .yaml file or one of *",
            "policy:* nothing needs either at_most or at_least*",
            "*: reliable: judge steady-grader: use (policy ours)",
            "*: inconclusive: judge steady-grader: not enough data (policy own)",
        ],
        consecutive=False,
    )


def test_a_marker_sets_what_the_test_does_not_say_and_selects(answered):
    answered.makepyfile(
        """
        import pytest

        @pytest.mark.umpirical(policy="ci-smoke")
        class TestJudges:
            def test_by_the_marker(self, umpirical):
                umpirical.assert_reliable("simulated:steady-grader")

            @pytest.mark.umpirical(policy="adjudication")
            def test_by_its_own_marker(self, umpirical):
                umpirical.assert_reliable("simulated:steady-grader")

        def test_of_something_else():
            pass
        """
    )
    result = answered.runpytest_subprocess()
    assert result.parseoutcomes() == {"passed": 2, "inconclusive": 1}
    assert answered.runpytest_subprocess("-m", "not umpirical").parseoutcomes() == {"passed": 1, "deselected": 2}


def test_a_test_that_catches_the_outcome_has_its_own(answered):
    answered.makepyfile(
        """
        import pytest

        def test_not_reliable(umpirical):
            with pytest.raises(pytest.fail.Exception, match="do not use"):
                umpirical.assert_reliable("simulated:lenient-on-nothing")
            with pytest.raises(pytest.fail.Exception, match="not enough data"):
                umpirical.assert_reliable("simulated:steady-grader")
        """
    )
    assert answered.runpytest_subprocess().parseoutcomes() == {"passed": 1}
