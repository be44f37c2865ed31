"""docs/automate/inspect.md names the parameters that the tasks have."""

import ast

from tests.docs.reading import ROOT, table

PAGE = ROOT / "docs" / "automate" / "inspect.md"
TASKS = ROOT / "src" / "umpirical" / "integrations" / "inspect" / "tasks.py"


def parameters(task: str) -> set[str]:
    (found,) = [
        node
        for node in ast.parse(TASKS.read_text(encoding="utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name == task
    ]
    return {argument.arg for argument in found.args.kwonlyargs}


def test_every_parameter_of_the_datasheet_is_in_the_table():
    named = {cell.strip("`").removeprefix("-T ").partition("=")[0] for cell, *_ in table(PAGE, "parameter")}
    assert named == parameters("datasheet")


def test_every_parameter_of_the_stress_test_is_named():
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in parameters("stress") if f"`{name}`" not in text and f"-T {name}=" not in text] == []
