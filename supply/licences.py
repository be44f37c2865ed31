"""Writes docs/reference/licences.md: every package that an install of Umpirical brings, with its licence.

python -m supply.licences            writes the page
python -m supply.licences --check    fails if the page is not what the lock file and the packages give
"""

import sys
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import distributions
from typing import Any

from supply.bill import ROOT, key_of, licence_in

PAGE = ROOT / "docs" / "reference" / "licences.md"

HEAD = """\
# Licences

Umpirical is under the [MIT licence](../../LICENSE). These packages are installed with it, as `uv.lock` pins them; none
of them is part of its own files. `python -m supply.licences` writes this page from what the packages say of themselves,
and `supply/licences.toml` says which licences are accepted. `just bill` makes a bill of materials, with versions and
digests.

| package | licence | brought by |
| --- | --- | --- |
"""

Lock = Mapping[str, list[dict[str, Any]]]


def page_text() -> str:
    """The page, from the lock file and the packages that are installed here."""
    rules = tomllib.loads((ROOT / "supply" / "licences.toml").read_text(encoding="utf-8"))
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    installed = {key_of(one.metadata["Name"]): one.metadata for one in distributions()}
    rows = []
    for name, by in sorted(brought(lock).items()):
        said = licence_in(installed[name], rules["words"]) if name in installed else ""
        licence = said or rules["stated"].get(name, "")
        if not licence:
            raise SystemExit(f"{name}: nothing says its licence; install it, or state it in supply/licences.toml")
        rows.append(f"| {name} | {licence} | {', '.join(by)} |\n")
    return HEAD + "".join(rows)


def brought(lock: Lock) -> dict[str, list[str]]:
    """Each package, and what brings it: `umpirical` itself, or the extras that do."""
    known: dict[str, list[dict[str, Any]]] = {}
    for one in lock["package"]:
        known.setdefault(one["name"], []).append(one)
    (ours,) = known["umpirical"]
    core = _closure(ours.get("dependencies", []), known)
    found = {name: ["umpirical"] for name in core}
    for extra, needed in sorted(ours.get("optional-dependencies", {}).items()):
        for name in _closure(needed, known) - core:
            found.setdefault(name, []).append(f"umpirical[{extra}]")
    return found


def _closure(needed: Iterable[Mapping[str, Any]], known: Mapping[str, list[dict[str, Any]]]) -> set[str]:
    """The packages that are needed, with those that they need, on any system."""
    waiting, seen = list(needed), set()
    while waiting:
        one = waiting.pop()
        asked = (one["name"], tuple(one.get("extra", ())))
        if asked in seen:
            continue
        seen.add(asked)
        for package in known[one["name"]]:
            waiting += package.get("dependencies", [])
            for extra in asked[1]:
                waiting += package.get("optional-dependencies", {}).get(extra, [])
    return {name for name, _ in seen}


def main(arguments: list[str]) -> int:
    """Writes or checks the page; 1 if it is not as it should be."""
    if arguments != ["--check"]:
        PAGE.write_text(page_text(), encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page_text():
        sys.stderr.write("docs/reference/licences.md is not what is locked; run python -m supply.licences\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
