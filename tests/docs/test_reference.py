"""The reference pages are what the code gives, and those that are written by hand say what the code does."""

import inspect
import re
import tomllib

import pytest

from supply import licences
from tests.docs.reading import ROOT, load_script, table
from umpirical.cli import COMMANDS, main
from umpirical.domain import errors
from umpirical.measures.catalogue import MEASURES
from umpirical.study.file import study_schema

FOLDER = ROOT / "docs" / "reference"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

write = load_script(FOLDER / "write.py", "reference_write")


@pytest.mark.parametrize("name", write.PAGES)
def test_a_page_is_what_the_code_gives(name):
    assert write.PAGES[name]().rstrip("\n") + "\n" == (FOLDER / name).read_text(encoding="utf-8")


def test_a_page_that_says_something_else_is_found(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(write, "FOLDER", tmp_path)
    monkeypatch.setattr(write, "PAGES", {"one.md": lambda: "# One\n"})
    assert write.main(["--check"]) == 1
    assert "run python docs/reference/write.py" in capsys.readouterr().err
    assert write.main([]) == 0
    assert write.main(["--check"]) == 0


def test_every_command_and_every_measure_has_a_section():
    commands = (FOLDER / "commands.md").read_text(encoding="utf-8")
    formulas = (FOLDER / "formulas.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"\n## umpirical {name}\n" not in commands] == []
    assert [
        name for name in MEASURES.names() if MEASURES.is_built_in(name) and f"\n### `{name}`\n" not in formulas
    ] == []
    assert formulas.count("**Formula:**") >= 60


def test_every_key_of_a_study_file_says_what_it_is_in_the_schema_too():
    parts = study_schema()["$defs"]
    silent = [
        (name, key)
        for name, part in parts.items()
        for key, schema in part.get("properties", {}).items()
        if "description" not in schema and not write._said_of_part(schema, parts)
    ]
    assert silent == []


def test_the_exit_codes_are_those_that_a_command_ends_with():
    told = {int(row[0]) for row in table(FOLDER / "exit-codes.md", "exit code")}
    assert told == {int(code) for code in re.findall(r"\b(\d+) (?=[a-z])", inspect.getdoc(main))}
    text = (FOLDER / "exit-codes.md").read_text(encoding="utf-8")
    for name, code in re.findall(r"`(\w+)` \((\d)\)", text):
        assert getattr(errors, name).exit_code == int(code)


def test_the_extras_are_those_of_the_project():
    told = [cell.strip("`") for cell, _ in table(FOLDER / "environment.md", "extra")]
    assert told == sorted(PROJECT["optional-dependencies"])


def test_the_variables_are_those_that_the_code_reads():
    cells = [cell for cell, _ in table(FOLDER / "environment.md", "variable")]
    told = {name for cell in cells for name in re.findall(r"[A-Z_]{4,}", cell)}
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src" / "umpirical").rglob("*.py"))
    read = set(re.findall(r"\"((?:UMPIRICAL|GITHUB|XDG_STATE|SSL_CERT)_[A-Z_]+)\"", source))
    # Python's own `getproxies` reads these.
    proxies = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"}
    assert told == read | proxies | {"UMPIRICAL_DEBUG"}


def test_the_systems_that_are_named_are_those_of_the_project():
    classifiers = " ".join(PROJECT["classifiers"])
    versions = re.findall(r"Python :: (3\.\d+)", classifiers)
    assert versions == ["3.11", "3.12", "3.13", "3.14", "3.15"]
    text = (FOLDER / "environment.md").read_text(encoding="utf-8")
    assert all(version in text for version in versions)
    assert "Operating System :: POSIX :: Linux" in classifiers
    assert "Windows" not in classifiers


# The licences.


def test_the_page_of_licences_is_what_is_locked():
    """A package that is not installed here is stated; `just bill` refuses a licence that is not accepted."""
    assert licences.PAGE.read_text(encoding="utf-8") == licences.page_text()


def test_what_an_extra_brings_is_told_from_what_everybody_gets():
    def package(name, *needs, **extras):
        optional = {extra: [{"name": need} for need in needed] for extra, needed in extras.items()}
        needed = [{"name": need.partition("[")[0], "extra": re.findall(r"\[(\w+)\]", need)} for need in needs]
        return {"name": name, "dependencies": needed, "optional-dependencies": optional}

    lock = {
        "package": [
            package("umpirical", "a", "b[fast]", more=["c"], most=["c", "a", "d"]),
            package("a", "b"),
            package("b", fast=["e"]),
            package("c"),
            package("d", "d"),
            package("e"),
            package("unrelated"),
        ]
    }
    everybody, both, most = ["umpirical"], ["umpirical[more]", "umpirical[most]"], ["umpirical[most]"]
    assert licences.brought(lock) == {"a": everybody, "b": everybody, "e": everybody, "c": both, "d": most}
