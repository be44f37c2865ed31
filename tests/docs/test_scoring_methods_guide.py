"""The guide to scoring methods lists those there are, and its study file is one."""

import shlex

from tests.docs.reading import ROOT, blocks, table
from umpirical.cli import COMMANDS
from umpirical.domain.scoring_methods import SCORING_METHODS
from umpirical.study.file import parse_study

GUIDE = ROOT / "docs" / "decide" / "scoring-methods.md"


def test_the_table_is_that_of_the_code():
    words = {True: "yes", False: "no"}
    rows = table(GUIDE, "scoring method")
    assert [[name, *needs] for name, _, *needs in rows] == [
        [f"`{one.name}`", words[one.pairwise], words[one.needs_logprobs]] for one in SCORING_METHODS
    ]
    assert all(about for _, about, *_ in rows)


def test_the_study_file_asks_for_log_probabilities(tmp_path):
    (text,) = blocks(GUIDE, "yaml")
    assert parse_study(text, tmp_path).spec.judges[0].decoding.top_logprobs == 20


def test_the_command_is_one():
    (line,) = blocks(GUIDE, "sh")
    assert shlex.split(line)[:2] == ["umpirical", "rescore"]
    assert "rescore" in COMMANDS
