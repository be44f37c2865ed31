"""A decision names what enforces it, and that is there."""

import ast
import re
import tomllib

import pytest

from tests.docs.reading import ROOT, links, paragraph, table

FOLDER = ROOT / "docs" / "decisions"
DECISIONS = sorted(FOLDER.glob("[0-9]*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {contract["name"] for contract in PROJECT["tool"]["importlinter"]["contracts"]}

each_decision = pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)


def missing(confirmation: str) -> list[str]:
    """What a confirmation names that is not there; a complaint of its own if it names nothing."""
    tests = re.findall(r"`(tests/[^`]+)`", confirmation)
    contracts = re.findall(r'contract "([^"]+)"', " ".join(confirmation.split()))
    absent = [name for name in tests if not is_there(name)]
    absent += [name for name in contracts if name not in CONTRACTS]
    return absent if tests or contracts else ["names no test and no contract"]


def is_there(name: str) -> bool:
    path, _, function = name.partition("::")
    file = ROOT / path
    if not file.is_file():
        return False
    defined = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    names = {node.name for node in defined if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return not function or function in names


def test_there_are_decisions_and_each_has_a_number_of_its_own():
    numbers = [page.name[:4] for page in DECISIONS]
    assert numbers == [f"{number:04d}" for number in range(1, len(DECISIONS) + 1)]


@each_decision
def test_what_enforces_a_decision_is_named_and_there(page):
    assert missing(paragraph(page, "Confirmation:")) == []


@pytest.mark.parametrize(
    "confirmation",
    [
        "",
        "somebody looks at it.",
        "`tests/docs/test_nothing.py`.",
        "`tests/docs/test_decisions.py::test_nothing`.",
        'contract "imports point any way".',
    ],
)
def test_a_confirmation_that_names_nothing_real_is_found(confirmation):
    assert missing(confirmation)


@each_decision
def test_a_decision_is_one_page_with_its_four_parts(page):
    lines = page.read_text(encoding="utf-8").splitlines()
    # The page of the dependencies is as long as its tables.
    assert 20 <= len(lines) <= (45 if "dependencies" not in page.stem else 80)
    assert lines[0].startswith(f"# {page.name[:4]}. ")
    headings = " ".join(line.removeprefix("## ") for line in lines if line.startswith("## ")).lower()
    assert re.fullmatch(r"context options considered (and )?outcome consequences", headings)


def test_every_decision_is_listed_once_in_order():
    assert links(FOLDER / "README.md") == [page.name for page in DECISIONS]


@pytest.mark.parametrize(
    ("heading", "required"),
    [
        ("runtime", PROJECT["project"]["dependencies"]),
        ("extra", [name for extra in PROJECT["project"].get("optional-dependencies", {}).values() for name in extra]),
        ("development", PROJECT["dependency-groups"]["dev"]),
    ],
)
def test_the_dependency_tables_are_those_of_the_project(heading, required):
    rows = table(FOLDER / "0009-dependencies.md", heading)
    names = {re.split(r"[<>=!~\[ ;]", requirement)[0] for requirement in required}
    assert [row[0] for row in rows] == sorted(names)
    assert all(cell for row in rows for cell in row)
