"""The table of what the harness's paper describes: it adds up, names files that exist and tests that there are."""

import re
from collections import Counter

from tests.docs.reading import ROOT, table
from umpirical.protocols.stress.spec import REPEAT_TESTS, StressSpec
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

PAGE = ROOT / "docs" / "results" / "conformance.md"
ROWS = table(PAGE, "#")
WORDS = ("done", "differently", "partial", "missing")


def test_every_point_has_a_status_and_a_place_or_a_reason():
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1))
    assert len(ROWS) == 97
    for number, _, what, status, where in ROWS:
        assert what, number
        assert status in WORDS, number
        assert where, number
        # A reason takes more than a word.
        assert status == "done" or len(where.split()) >= 4, number


def test_the_summary_counts_the_rows():
    counts = Counter(row[3] for row in ROWS)
    said = [int(number) for number in re.findall(r"\d+", PAGE.read_text().partition("| # |")[0])]
    assert said == [counts[word] for word in WORDS]
    assert counts["missing"] < 5


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
