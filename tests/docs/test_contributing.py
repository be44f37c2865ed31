"""What the guide for contributors says of files, registries and checks is so."""

import re

import pytest

import umpirical.testing
from tests.docs.reading import ROOT, table

GUIDE = ROOT / "CONTRIBUTING.md"
SOURCE = ROOT / "src" / "umpirical"
CHANGES = table(GUIDE, "change")


def test_every_kind_of_plugin_has_its_row():
    groups = {
        group
        for file in SOURCE.rglob("*.py")
        for group in re.findall(r"Registry\(\s*\"(\w+)\",", file.read_text(encoding="utf-8"))
    }
    assert {row[3].strip("`").removeprefix("umpirical.") for row in CHANGES} == groups


@pytest.mark.parametrize("row", CHANGES, ids=lambda row: row[0])
def test_a_change_is_made_where_the_guide_says(row):
    _, file, line, _, check = row
    folder = re.search(r"`([^`]+)`", file)[1]
    folder = re.split("NAME|FAMILY|KIND", folder)[0]
    assert (SOURCE / folder).is_dir()
    if named := re.search(r"`(\S+\.py)`", line):
        assert "Registry(" in (SOURCE / named[1]).read_text(encoding="utf-8")
    assert check.strip("`") in umpirical.testing.__all__


def test_files_that_the_guide_names_are_there():
    named = re.findall(
        r"`((?:domain|judges|models|measures|stimuli|protocols|reports|runs|datasets)/[\w/]+\.py)`",
        GUIDE.read_text(encoding="utf-8"),
    )
    assert len(named) > 10
    placeholders = re.compile("NAME|FAMILY|KIND")
    assert [name for name in named if not placeholders.search(name) and not (SOURCE / name).is_file()] == []


def test_every_marker_is_explained():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    markers = re.search(r"^markers = \[\n(.*?)^\]", project, re.DOTALL | re.MULTILINE)[1]
    names = re.findall(r'^\s*"(\w+):', markers, re.MULTILINE)
    assert sorted(re.findall(r"^- `(\w+)`:", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)) == sorted(names)
