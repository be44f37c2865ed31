"""`just quick`: lint, types, contracts, and the fast tests of what changed together with a fast core.

A changed file is tested by the test file of its name, or else by the nearest folder of tests that mirrors its own, and
by every test file that imports it, unless nearly all do. Heavy tests, which need a browser, a database, a model server
or more than a few seconds, are left to `just check`; so is what goes beyond the CPU that a quick run may take, by the
record of `tests/weights.py`. What is named after the changed file comes first, then the folder, then importers.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from tests.weights import HEAVY, Record, Weight, read_record

ROOT = Path(__file__).parents[1]
SOURCE = Path("src/umpirical")
TESTS = Path("tests")

CORE = (
    "tests/domain",
    "tests/stats/test_wilson.py",
    "tests/stats/test_clusters.py",
    "tests/measures/test_measures.py",
    "tests/golden",
    "tests/store/test_yaml_files.py",
    "tests/cli/test_startup.py",
)
"""What is run whatever changed: records and their digests, figures worked out by hand, and a program that starts."""

MOST_IMPORTERS = 20
"""Test files. What more of them import concerns everything, and everything is what `just check` is for."""

MOST_SECONDS = 45.0
"""Of CPU that the chosen tests may take together, by the record; lint, types and contracts take as much again."""

UNKNOWN = 0.3
"""Seconds that a test file is taken for if the record has no figure."""

OUTSIDE = {
    "docs": ("tests/docs",),
    "examples": ("tests/docs", "tests/examples", "tests/llm/test_example.py"),
    "README.md": ("tests/docs",),
    "CONTRIBUTING.md": ("tests/docs",),
    "CHANGELOG.md": ("tests/docs",),
}
"""The tests of what is neither source nor test, by the first part of its path."""


def changed_files(root: Path = ROOT) -> set[Path]:
    """Files that differ from the main branch, whether committed, staged, unstaged or new."""
    listed = [
        _git(root, "diff", "--name-only", _merge_base(root)),
        _git(root, "ls-files", "--others", "--exclude-standard"),
    ]
    return {Path(line) for lines in listed for line in lines}


def concerned_tests(changed: Iterable[Path], root: Path = ROOT) -> list[Path]:
    """The test files that concern the changed files, relative to `root`, nearest first."""
    named: list[Path] = []
    folders: list[Path] = []
    importing: list[Path] = []
    for path in sorted(changed):
        if path.is_relative_to(SOURCE):
            mirrored = _mirrored(path.relative_to(SOURCE), root)
            (named if mirrored and mirrored.suffix else folders).extend([mirrored] if mirrored else [])
            importers = list(_importing(path, root))
            importing += importers if len(importers) <= MOST_IMPORTERS else []
        elif path.is_relative_to(TESTS):
            for each in _concerned(path, root):
                (named if each == path else folders if not each.suffix else importing).append(each)
        else:
            folders += [Path(name) for name in OUTSIDE.get(path.parts[0], ())]
    files = [file for path in (*named, *folders, *importing) for file in _files(path, root)]
    return list(dict.fromkeys(files))


def within(files: Iterable[Path], record: Record, most: float = MOST_SECONDS) -> tuple[list[Path], list[Path]]:
    """Divides files into those that fit into so many seconds, in their order, and the rest."""
    chosen: list[Path] = []
    rest: list[Path] = []
    spent = 0.0
    for file in files:
        weight = record.files.get(str(file), Weight(UNKNOWN))
        takes = max(0.0, weight.cpu - sum(seconds for seconds in weight.tests.values() if seconds >= HEAVY))
        (chosen if spent + takes <= most else rest).append(file)
        spent += takes if chosen and chosen[-1] == file else 0
    return chosen, rest


def main() -> int:
    """Runs every check, also after one has failed, and says how much CPU time it took."""
    record = read_record()
    core = [file for name in CORE for file in _files(Path(name), ROOT)]
    tests, rest = within(dict.fromkeys([*concerned_tests(changed_files()), *core]), record)
    print("tests of what changed, and the core:", *tests, sep="\n  ", flush=True)  # noqa: T201
    if rest:
        print("left to `just check`, since they take long together:", *rest, sep="\n  ", flush=True)  # noqa: T201
    pytest = ["pytest", "-q", "-n", "logical", "-m", "not slow and not attack and not heavy", *map(str, tests)]
    commands = [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"], ["lint-imports"], pytest]
    failed = [command[0] for command in commands if subprocess.run(command, cwd=ROOT, check=False).returncode]
    used = getrusage(RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:.0f} s of CPU;", f"failed: {failed}" if failed else "all passed")  # noqa: T201
    return 1 if failed else 0


def _merge_base(root: Path) -> str:
    """Where this branch left the main one; HEAD where there is no main branch."""
    for branch in ("origin/main", "main"):
        if found := _git(root, "merge-base", "HEAD", branch):
            return found[0]
    return "HEAD"


def _git(root: Path, *arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else []


def _files(path: Path, root: Path) -> list[Path]:
    """The test files of a folder, or a test file itself; none where it is gone."""
    if (root / path).is_dir():
        return sorted(file.relative_to(root) for file in (root / path).rglob("test_*.py"))
    return [path] if (root / path).exists() else []


def _mirrored(path: Path, root: Path) -> Path | None:
    """The test file named after a source file, or else the nearest folder that mirrors the source's."""
    for folder in (path.parent, *path.parent.parents):
        if (root / TESTS / folder / f"test_{path.stem}.py").exists():
            return TESTS / folder / f"test_{path.stem}.py"
        if folder != Path() and (root / TESTS / folder).exists():
            return TESTS / folder
    return None


def _importing(path: Path, root: Path) -> Iterator[Path]:
    """The test files that import a source file: by its full name, or from its package."""
    if path.suffix != ".py":
        return
    module = ".".join(path.relative_to("src").with_suffix("").parts).removesuffix(".__init__")
    package, _, name = module.rpartition(".")
    whole, part = re.escape(module), rf"from {re.escape(package)} import (?:\([^)]*|[^\n(]*)\b{re.escape(name)}\b"
    names = re.compile(rf"\b{whole}(?![\w.]|$)|{part}", re.MULTILINE)
    for file in sorted((root / TESTS).rglob("test_*.py")):
        if names.search(file.read_text(encoding="utf-8")):
            yield file.relative_to(root)


def _concerned(path: Path, root: Path) -> Iterator[Path]:
    """A test file itself; for what tests share, the test files of its folder and those that import it."""
    if path.name.startswith("test_") and path.suffix == ".py":
        yield path
        return
    if path.parent != TESTS:
        yield path.parent
    if path.suffix == ".py" and path.stem != "conftest":
        module = ".".join(path.with_suffix("").parts)
        for file in (root / TESTS).rglob("test_*.py"):
            if re.search(rf"\b{re.escape(module)}\b", file.read_text(encoding="utf-8")):
                yield file.relative_to(root)


if __name__ == "__main__":
    sys.exit(main())
