"""`just quick`: lint, types, contracts, and the fast tests of what changed together with a fast core.

A changed file is tested by the test file of its name, or else by the nearest folder of tests that mirrors its own, and
by every test file that imports it, unless nearly all do. Heavy tests, which need a browser, a database, a model server
or more than a few seconds, are left to `just check`.
"""

import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

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


def concerned_tests(changed: Iterable[Path], root: Path = ROOT) -> set[Path]:
    """The test files and folders that concern the changed files, relative to `root`."""
    found: set[Path] = set()
    for path in changed:
        if path.is_relative_to(SOURCE):
            importing = set(_importing(path, root))
            found |= {
                *_mirrored(path.relative_to(SOURCE), root),
                *(importing if len(importing) <= MOST_IMPORTERS else ()),
            }
        elif path.is_relative_to(TESTS):
            found |= set(_concerned(path, root))
        else:
            found |= {Path(name) for name in OUTSIDE.get(path.parts[0], ())}
    return {path for path in found if (root / path).exists()}


def main() -> int:
    """Runs every check, also after one has failed, and says how much CPU time it took."""
    tests = sorted({str(path) for path in concerned_tests(changed_files())} | set(CORE))
    print("tests of what changed, and the core:", *tests, sep="\n  ", flush=True)  # noqa: T201
    pytest = ["pytest", "-q", "-n", "logical", "-m", "not slow and not attack and not heavy", *tests]
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


def _mirrored(path: Path, root: Path) -> Iterator[Path]:
    """The test file named after a source file, or else the nearest folder that mirrors the source's."""
    for folder in (path.parent, *path.parent.parents):
        if (root / TESTS / folder / f"test_{path.stem}.py").exists():
            yield TESTS / folder / f"test_{path.stem}.py"
            return
        if folder != Path() and (root / TESTS / folder).exists():
            yield TESTS / folder
            return


def _importing(path: Path, root: Path) -> Iterator[Path]:
    """The test files that import a source file by its full name."""
    if path.suffix != ".py":
        return
    module = ".".join(path.relative_to("src").with_suffix("").parts).removesuffix(".__init__")
    names = re.compile(rf"\b{re.escape(module)}(?![\w.]|$)", re.MULTILINE)
    for file in (root / TESTS).rglob("test_*.py"):
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
