"""docs/automate/pytest.md: its tests are run, and what it says of options and outcomes is what there is."""

import re

import pytest

from tests.docs.reading import ROOT, blocks, table
from umpirical.pytest_plugin.settings import COUNTED_AS, OPTIONS

pytest_plugins = ["pytester"]

PAGE = ROOT / "docs" / "automate" / "pytest.md"


def test_the_examples_are_run_and_come_to_what_the_page_shows(suite):
    examples, [shown] = blocks(PAGE, "python"), blocks(PAGE, "text")
    suite.makepyfile(test_judge="\n\n".join(examples))
    result = suite.runpytest_subprocess()
    assert result.parseoutcomes() == {"failed": 1, "passed": 1}
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert shown in result.stdout.str()


def test_every_setting_is_in_the_table():
    rows = [(option.split()[0].strip("`"), ini.strip("`")) for option, ini, _ in table(PAGE, "on the command line")]
    assert rows == [(f"--umpirical-{option.name}", option.ini) for option in OPTIONS]
    assert all(f"`{how}`" in PAGE.read_text(encoding="utf-8") for how in COUNTED_AS)


def test_what_the_workflow_gives_to_pytest_are_options():
    [workflow] = blocks(PAGE, "yaml")
    named = set(re.findall(r"--umpirical-([a-z-]+)", workflow))
    assert named <= {option.name for option in OPTIONS}
    assert len(named) == 3
