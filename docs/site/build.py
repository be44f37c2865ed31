"""Builds the site: gathers the pages of docs, of the project and of the examples, and has Zensical read them.

Pages link to each other as they lie in the repository, so that they can be read there. Where a page lies elsewhere in
the site, its links are written anew, and a file that a page links to is taken along.

    python docs/site/build.py               builds into out/site; open out/site/html/index.html
    python docs/site/build.py FOLDER        builds into another folder
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "mkdocs.yml"

PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages of the repository's root that are pages of the site, too."""

PARTS = frozenset({ROOT / "docs" / "explanation" / "crossed-pairs" / "head.md"})
"""Files that are a part of a page, and no page."""

_FENCED = re.compile(r"^(```.*?^```$)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(?=[#)])")
_LIST = re.compile(r"^(?![-#>|\s])(.+\n)(?=- )", re.MULTILINE)
"""A line of text right before a list: GitHub begins the list there, and the site's Markdown only after a blank line."""


def build(folder: Path) -> Path:
    """Builds the site into `folder`; returns the folder with its HTML. A link that leads nowhere stops it."""
    shutil.rmtree(folder, ignore_errors=True)
    gather(folder / "pages")
    config = yaml.safe_load(CONFIG.read_text(encoding="utf-8"))
    # The version that the pages are about, without the commit.
    config["site_name"] += f" {version('umpirical').partition('+')[0]}"
    config["nav"] = _filled(config["nav"], folder / "pages")
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(config, sort_keys=False, allow_unicode=True), encoding="utf-8")
    program = [sys.executable, "-m", "zensical", "build", "--strict"]
    done = subprocess.run(  # noqa: S603  # our own site
        program, cwd=folder, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"the site cannot be built:\n{done.stdout}{done.stderr}")
    return folder / "html"


def gather(pages: Path) -> None:
    """Copies every page, with its links as they have to be there, and every file that one of them links to."""
    for source in _sources():
        goal = pages / place(source)
        goal.parent.mkdir(parents=True, exist_ok=True)
        goal.write_text(_relinked(source, pages), encoding="utf-8")


def _sources() -> Iterator[Path]:
    yield from (page for page in sorted((ROOT / "docs").rglob("*.md")) if page not in PARTS)
    yield from (ROOT / name for name in PROJECT)
    yield from sorted((ROOT / "examples").rglob("README.md"))


def place(source: Path) -> Path:
    """Where a file of the repository lies in the site, relative to its root."""
    path = source.relative_to(ROOT)
    if path.parts[0] == "docs":
        return path.relative_to("docs")
    if path == Path("README.md"):
        return Path("index.md")
    return path if path.parts[0] == "examples" else "project" / path


def _relinked(source: Path, pages: Path) -> str:
    def relinked(found: re.Match[str]) -> str:
        target = _readable((source.parent / found[1]).resolve())
        if target.suffix != ".md":
            (pages / place(target)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, pages / place(target))
        return Path(os.path.relpath(place(target), place(source).parent)).as_posix()

    # Every second part is a block of code.
    parts = _FENCED.split(source.read_text(encoding="utf-8"))
    parts[::2] = [_LIST.sub(r"\1\n", _LINK.sub(relinked, part)) for part in parts[::2]]
    return "".join(parts)


def _readable(target: Path) -> Path:
    """A link to a folder leads to its page, or to that of the folder around it."""
    while target.is_dir():
        target = target / "README.md" if (target / "README.md").is_file() else target.parent
    return target


def _filled(nav: list[Any], pages: Path) -> list[Any]:
    """The navigation with the pages of a folder in place of an entry that names a folder: `decisions/`."""
    filled: list[Any] = []
    for entry in nav:
        title, value = next(iter(entry.items())) if isinstance(entry, dict) else ("", entry)
        if isinstance(value, list):
            filled.append({title: _filled(value, pages)})
        elif value.endswith("/"):
            filled.append({title: _inside(pages / value, pages)})
        else:
            filled.append(entry)
    return filled


def _inside(folder: Path, pages: Path) -> list[str]:
    """All pages of a folder; the README, which is its index, first."""
    found = sorted(folder.rglob("*.md"), key=lambda page: (page.parent, page.name != "README.md", page.name))
    return [page.relative_to(pages).as_posix() for page in found]


def nav_pages(nav: list[Any]) -> Iterator[str]:
    """The pages that a navigation names."""
    for entry in nav:
        value = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(value, list):
            yield from nav_pages(value)
        else:
            yield value


if __name__ == "__main__":
    html = build(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "out" / "site")
    sys.stdout.write(f"{html / 'index.html'}\n")
