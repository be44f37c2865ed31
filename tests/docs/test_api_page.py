"""The page of the Python API is what its template and the code give, and its examples show what they show here."""

import inspect
import os
import re

import pytest

import umpirical
from tests.cases import each
from tests.docs.reading import ROOT, blocks, load_script
from umpirical.stimuli.controlled.datasheet_set import RECIPES

FOLDER = ROOT / "docs" / "reference" / "api"


write = load_script(FOLDER / "write.py", "api_write")
PAGE = write.PAGE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def rendered():
    """The page, with every example run anew."""
    return write.render_page(write.TEMPLATE.read_text(encoding="utf-8"))


def test_the_page_is_what_the_template_and_the_code_give_and_the_examples_show(rendered):
    assert rendered == PAGE


@pytest.mark.parametrize("change", ["", "0.0", "Report.json"])
def test_a_page_that_says_something_else_is_found(rendered, tmp_path, monkeypatch, capsys, change):
    page = tmp_path / "api.md"
    page.write_text(PAGE.replace(change, "another thing", 1) if change else PAGE, encoding="utf-8")
    monkeypatch.setattr(write, "PAGE", page)
    monkeypatch.setattr(write, "render_page", lambda _: rendered)
    assert write.main(["--check"]) == bool(change)
    assert ("run python docs/reference/api/write.py" in capsys.readouterr().err) == bool(change)
    assert write.main([]) == 0
    assert page.read_text(encoding="utf-8") == PAGE


def test_a_page_that_is_not_there_is_found(rendered, tmp_path, monkeypatch):
    monkeypatch.setattr(write, "PAGE", tmp_path / "api.md")
    monkeypatch.setattr(write, "render_page", lambda _: rendered)
    assert write.main(["--check"]) == 1


def test_it_begins_with_three_lines_that_measure_a_judge():
    first = [line for line in blocks(write.PAGE, "python")[0].splitlines() if line]
    assert len(first) == 3
    assert first[0] == "import umpirical"
    assert "umpirical.datasheet(" in first[2]


def test_every_function_has_an_example_and_every_name_an_entry():
    examples = "".join(blocks(write.PAGE, "python"))
    for name in ("datasheet", "datasheet_async", "load", "measure", "run", "stress"):
        assert f"umpirical.{name}(" in examples, name
    entries = re.findall(r"^### `(\w+)`$", PAGE, re.MULTILINE)
    assert entries == umpirical.__all__


PLAIN = [name for name in umpirical.__all__ if inspect.isfunction(getattr(umpirical, name)) and "_async" not in name]


@each("name", PLAIN)
def test_every_parameter_is_in_the_reference_with_a_word_about_it(name):
    function = getattr(umpirical, name)
    entry = re.search(rf"^### `{name}`$(.*?)(?=^### |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]
    signature, about = entry.partition("\n```\n")[::2]
    # What is as it is for a datasheet is said there.
    about += umpirical.datasheet.__doc__ if "those of `datasheet`" in " ".join(about.split()) else ""
    for parameter in inspect.signature(function).parameters:
        assert f"{parameter}: " in signature
        assert f"`{parameter}`" in about, parameter


def test_the_sizes_are_those_that_there_are_with_the_calls_that_the_readme_says():
    said = re.findall(r"(\w+) \(([\d,]+)(?: calls)?\)", inspect.getdoc(umpirical.datasheet))
    assert {name for name, _ in said} == set(RECIPES)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(f"| `{name}` | {calls} |" in readme for name, calls in said)


def test_no_example_needs_another_host():
    addresses = re.findall(r"https?://([^/\"]+)", "".join(blocks(write.PAGE, "python")))
    assert set(addresses) <= {"127.0.0.1:8000"}


# How examples are run.


def test_an_example_shows_what_it_prints_and_its_last_value():
    assert write.run_examples(["print('a  ')\n1 + 1\n", "x = 3\n", "x\n", "None\n", "print(x)\n"]) == [
        "a\n2\n",
        "",
        "3\n",
        "",
        "3\n",
    ]


def test_an_example_that_raises_is_no_example():
    with pytest.raises(ZeroDivisionError):
        write.run_examples(["1 / 0\n"])


def test_examples_leave_the_folder_as_it_was():
    before = os.getcwd()  # noqa: PTH109  # what is tested
    [shown] = write.run_examples(["from pathlib import Path\nPath('x').touch()\nlen(list(Path().iterdir()))\n"])
    assert (shown, os.getcwd()) == ("1\n", before)  # noqa: PTH109  # likewise


def test_the_output_stands_below_its_example():
    template = "Say:\n\n```python\nprint('hm')\n```\n\nand\n\n```python\nx = 1\n```\n"
    assert write.render_page(template) == template.replace("('hm')\n```\n", "('hm')\n```\n\n```text\nhm\n```\n")
