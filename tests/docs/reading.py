"""The project's pages, taken apart."""

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).parents[2]

PAGES = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]

_BLOCK = re.compile(r'^```(\w*)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block: its language, the file that it is the whole of (or nothing), and its text."""

    language: str
    file: str
    text: str


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language, in order."""
    return [block.text for block in every_block(page) if block.language == language]


def every_block(page: Path) -> list[Block]:
    """All fenced blocks, in order."""
    return [Block(*found) for found in _BLOCK.findall(page.read_text(encoding="utf-8"))]


def links(page: Path) -> list[str]:
    """Where links and images point, those into the web left out."""
    prose = _BLOCK.sub("", page.read_text(encoding="utf-8"))
    return [link for link in _LINK.findall(prose) if not re.match(r"[a-z]+:", link)]


def table(page: Path, first_heading: str) -> list[list[str]]:
    """The rows of the table whose first column has that heading."""
    lines = iter(page.read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.startswith(f"| {first_heading} |"):
            break
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows[1:]


def paragraph(page: Path, start: str) -> str:
    """The text from a line that starts with `start` to the next empty line; empty if there is none."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(start)}(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def load_script(path: Path, name: str) -> ModuleType:
    """A script of the documentation, as a module of that name."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
