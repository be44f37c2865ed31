"""The bill of materials names every package, and a licence that is not accepted is refused."""

import tomllib
from email.message import Message
from pathlib import Path

import pytest
from supply.bill import bill, licence_in, problems

ROOT = Path(__file__).parents[2]
RULES = {
    "accepted": ["MIT", "BSD-3-Clause", "Apache-2.0"],
    "words": {"MIT License": "MIT", "BSD License": "BSD-3-Clause OR BSD-2-Clause"},
    "stated": {"elsewhere": "MIT"},
    "for_one": {"driver": "LGPL-3.0-only"},
}


def metadata(**fields):
    made = Message()
    for name, values in fields.items():
        for value in [values] if isinstance(values, str) else values:
            made[name.replace("_", "-")] = value
    return made


INSTALLED = {
    "by-expression": metadata(License_Expression="MIT AND (Apache-2.0 OR GPL-3.0-only)"),
    "by-classifier": metadata(Classifier=["Topic :: X", "License :: OSI Approved :: BSD License"], License="whatever"),
    "by-text": metadata(License="MIT License\n\nCopyright (c) somebody\n\nPermission is hereby granted"),
    "driver": metadata(License_Expression="LGPL-3.0-only"),
}


def made(*names, installed=INSTALLED):
    exported = {"components": [{"name": name, "version": "1"} for name in names]}
    return bill(exported, installed, RULES)


def wrong(*names, locked=(), installed=INSTALLED):
    return problems(made(*names, installed=installed), [(name, "1") for name in locked or names], installed, RULES)


def test_a_package_with_an_accepted_licence_is_passed():
    assert wrong("by-expression", "by-classifier", "by_text", "driver", "elsewhere", locked=["by-text"]) == []


@pytest.mark.parametrize(
    ("licence", "accepted"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("AGPL-3.0-only", False),
        ("LGPL-3.0-only", False),
        ("Proprietary", False),
        ("mit", False),
    ],
)
def test_a_licence_is_accepted_by_name(licence, accepted):
    found = wrong("package", "elsewhere", installed={"package": metadata(License_Expression=licence)})
    assert found == ([] if accepted else [f"package 1: the licence {licence} is not accepted"])


def test_what_is_silent_missing_or_stated_wrongly_is_named():
    assert "unknown 1: nothing says its licence" in wrong("unknown", "elsewhere")[0]
    assert wrong("elsewhere", locked=["lost"]) == ["lost 1 is locked and not in the bill"]
    assert wrong("by-text") == ["elsewhere: stated in supply/licences.toml, and not locked"]
    says = metadata(License_Expression="GPL-3.0-only")
    assert "and the package GPL-3.0-only" in wrong("elsewhere", installed={"elsewhere": says})[-1]


def test_a_licence_is_read_from_whatever_states_it():
    assert licence_in(INSTALLED["by-classifier"], RULES["words"]) == "BSD-3-Clause OR BSD-2-Clause"
    assert licence_in(INSTALLED["by-text"], RULES["words"]) == "MIT"
    assert licence_in(metadata(), RULES["words"]) == ""


def test_what_can_change_a_number_has_an_upper_bound():
    """A fresh install must not count with a version that nobody has counted with."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    stated = {each.partition(">")[0].partition("=")[0]: each for each in project["dependencies"]}
    for name in ("duckdb", "numpy", "scipy", "pyarrow", "rapidfuzz", "pydantic", "genai-prices"):
        assert "<" in stated[name], name
    assert all("<" in each for each in project["optional-dependencies"]["review"])
