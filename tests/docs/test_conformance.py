"""The table of what the two papers describe: it adds up, and names files, tests and settings that there are."""

import re
from collections import Counter

from tests.docs.reading import ROOT, table
from umpirical.protocols.stress.spec import REPEAT_TESTS, StressSpec
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

PAGE = ROOT / "docs" / "results" / "conformance.md"
ROWS = table(PAGE, "#")
WORDS = ("done", "differently", "partial", "missing")

HARNESS, DARK_CURRENT = 97, 70
"""How many points each paper has."""


def test_every_point_has_a_status_a_place_or_a_reason_and_a_test():
    assert [int(row[0]) for row in ROWS] == list(range(1, HARNESS + DARK_CURRENT + 1))
    assert [row[1].split()[0] for row in ROWS] == ["H"] * HARNESS + ["D"] * DARK_CURRENT
    for number, _, what, status, where, test in ROWS:
        assert what, number
        assert status in WORDS, number
        assert where, number
        assert test, number
        # A reason takes more than a word.
        assert status == "done" or len(where.split()) >= 4, number


def test_the_summary_counts_the_rows():
    counts = Counter(row[3] for row in ROWS)
    summary = re.search(
        r": (\d+) points are done, (\d+) differently, (\d+) partly\s+and (\d+) missing", PAGE.read_text()
    )
    assert [int(number) for number in summary.groups()] == [counts[word] for word in WORDS]
    # Self-preference.
    assert counts["missing"] == 0


def test_every_test_that_is_named_exists():
    absent = []
    for number, *_, test in ROWS:
        file, _, name = test.strip("`").partition("::")
        path = ROOT / "tests" / file
        if not path.is_file() or f"def {name or 'test_'}" not in path.read_text(encoding="utf-8"):
            absent.append((number, test))
    assert absent == []


def test_files_that_are_named_exist():
    named = {name for row in ROWS for name in re.findall(r"`([\w./-]+\.(?:py|md|yaml|toml))`", row[4])}
    assert len(named) > 5
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_tests_and_settings_that_are_named_exist():
    known = {*PERTURBATIONS.names(), *REPEAT_TESTS, *StressSpec.model_fields}
    wanted = {"label-flip-structured", "blank-lines-removed", "verbosity-explained", "sampling", "fallback_validator"}
    wanted |= {"per_source", "examples", "most_similar", "unlike_originals", "unlike_generated"}
    text = PAGE.read_text()
    assert wanted <= known
    assert all(name in text for name in wanted)
