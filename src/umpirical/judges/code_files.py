"""The code in a study's folder: every file that a judge may load, so that a person can agree to it, and its digest.

A changed file is another judge, and is agreed to again. Installed packages are left out: those of an environment, and
of `node_modules`. A judge in Python cannot import from a folder that is left out; a program can.
"""

import ast
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path

from umpirical.domain.errors import UsageError
from umpirical.store.manifests import file_sha256

IMPORTED = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)
"""Files that can be imported from a study folder. Compiled Python is not among them."""

CODE = frozenset(
    ".bash .bat .c .cc .cjs .class .clj .cpp .cs .cts .dll .dylib .ex .exs .fish .fs .go .gradle .h .hpp .hs .jar "  # noqa: SIM905
    ".java .jl .js .jsx .kt .ksh .lua .mjs .mk .ml .mod .mts .node .php .pl .pm .ps1 .py .pyc .pyd .pyw .pyx "
    ".r .rb .rs .scala .sh .so .sql .swift .toml .ts .tsx .wasm .zsh".split()
)
"""Endings of what programs are made of."""

BUILT_BY = frozenset(
    "GNUmakefile Makefile makefile Procfile Rakefile Gemfile Gemfile.lock Justfile justfile Snakefile package.json "  # noqa: SIM905
    "package-lock.json tsconfig.json deno.json composer.json yarn.lock uv.lock poetry.lock Cargo.lock".split()
)
"""Names of files that say what is run. Any other file without an ending is code if it can be executed."""

TOOLS = frozenset(
    ".git .hg .svn .tox .nox .mypy_cache .ruff_cache .pytest_cache .hypothesis .idea .vscode node_modules".split()  # noqa: SIM905
)
"""Folders of tools and of installed packages."""

WRITTEN = ("runs", "stimuli")
"""Folders of a study that Umpirical writes itself."""

MOST = 200_000
"""Files and folders that are looked through at most: a link may lead to a whole disk."""

CHANGED = "the judge's code has changed since the run began; run the command again to use the new code"

_WORDS = re.compile(r"[\s;|&<>()'\"=:,]+")

_known: dict[Path, tuple[tuple[int, ...], str]] = {}


def excluded(place: Path, home: Path) -> bool:
    """Whether code in a folder is left out, because of the folder itself or of one above it."""
    return any(
        each.name in TOOLS or (each.parent == home and each.name in WRITTEN) or (each / "pyvenv.cfg").is_file()
        for each in (place, *place.parents)
        if each != home and each.is_relative_to(home)
    )


ADMITTED: set[Path] = set()
"""Folders that code of a study was imported from in this process."""


def installed_within(home: Path) -> set[Path]:
    """Returns what is inside a study folder and on the import path by itself, such as an environment's packages."""
    found = {Path(path or ".").resolve() for path in sys.path} - ADMITTED - {home}
    return {other for other in found if other.is_relative_to(home)}


def python_files(folder: Path) -> dict[str, Path]:
    """Returns every file of a study folder that could be imported, by name."""
    home = folder.resolve()
    found = _walk(home, lambda file: file.name.endswith(IMPORTED), installed_within(home))
    return {str(file.relative_to(home)): file for file in found}


def is_code(file: Path) -> bool:
    """Whether a program may load a file as code."""
    if "__pycache__" in file.parts and file.suffix == ".pyc":
        return False  # programs are started so that Python does not read what was compiled here
    if file.suffix.lower() in CODE or file.name in BUILT_BY:
        return True
    return not file.suffix and not file.name.startswith(".") and _is_executable(file)


def _is_executable(file: Path) -> bool:
    try:
        with file.open("rb") as handle:
            return os.access(file, os.X_OK) or handle.read(2) == b"#!"
    except OSError:
        return False


def _walk(
    start: Path, wanted: Callable[[Path], bool], others: Collection[Path] = (), *, whole: bool = False
) -> Iterator[Path]:
    """Yields wanted files below a folder, in order, hidden ones too. Links are followed, and no folder is read twice.

    `others` are folders that are left out, besides those of tools; with `whole`, nothing is.
    """
    seen, count = {start.resolve()}, 0
    for place, folders, files in os.walk(start, followlinks=True):
        here, kept = Path(place), []
        count += len(folders) + len(files)
        if count > MOST:
            raise UsageError(
                f"{start} contains more than {MOST:,} files, counting linked folders: too many to list its code",
                fix="put the study and its judge in a folder of their own, without links to other folders",
            )
        for name in sorted(folders):
            real = (here / name).resolve()
            if real not in seen and (whole or (real not in others and not excluded(here / name, start))):
                seen.add(real)
                kept.append(name)
        folders[:] = kept
        yield from (file for name in sorted(files) if (file := here / name).is_file() and wanted(file))


def program_files(command: Sequence[str], folder: Path) -> dict[str, Path]:
    """Returns the code that a command may load, by name: all of a folder's, and whatever the command names.

    Code outside the folder counts if the command names the very file; the program that is started does not.
    """
    home = folder.resolve()
    found = set(_walk(home, is_code))
    for place, word in enumerate(command):
        for name in dict.fromkeys((word, *_WORDS.split(word))):
            found.update(_named(home, name, started=place == 0))
    return {str(file.relative_to(home) if file.is_relative_to(home) else file): file for file in sorted(found)}


def _named(folder: Path, name: str, *, started: bool) -> Iterator[Path]:
    """Yields the file that a word names, and all code beside it or below it where that is left out otherwise."""
    path = Path(os.path.normpath(folder / name))
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):  # a word that is too long for a name
        return
    within = path != folder and path.is_relative_to(folder)
    if is_file and (within or (not started and is_code(path))):
        yield path
    if not within or not (is_file or is_folder):
        return
    place = path if is_folder else path.parent
    installed = place.name == "bin" and (place.parent / "pyvenv.cfg").is_file()
    if excluded(place, folder) and not installed:
        yield from _walk(place, is_code, whole=True)


def digests_of(files: Mapping[str, Path]) -> dict[str, str]:
    """Returns the digest of each file. One that has not been touched since is not read again."""
    found = {}
    for name, file in files.items():
        stat = file.stat()
        marks = (stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        if _known.get(file, ((), ""))[0] != marks:
            _known[file] = (marks, file_sha256(file))
        found[name] = _known[file][1]
    return found


# What a judge in Python imports from its study's folder.


def imported_files(module: str, folder: Path) -> dict[str, Path]:
    """Returns the files of a folder that a module imports, by name, with its own; empty for an installed module.

    Found by reading and not by running. `module` is a dotted name, or the path of a file.
    """
    home = folder.resolve()
    file = home / module if module.endswith(".py") else None
    homes = [home, *([file.parent] if file else [])]
    waiting = [file] if file and file.is_file() else _files_of(module, homes)
    found = set[Path]()
    while waiting:
        if (each := waiting.pop()) not in found and each.is_relative_to(home):
            found.add(each)
            waiting += [one for name, places in _imports(each, homes) for one in _files_of(name, places)]
    return {str(file.relative_to(home)): file for file in sorted(found)}


def _imports(file: Path, homes: Sequence[Path]) -> Iterator[tuple[str, Sequence[Path]]]:
    """Yields the modules that a file imports, anywhere in it, each with the folders where it is looked up."""
    try:
        tree = ast.parse(file.read_bytes()) if file.suffix == ".py" else ast.Module([], [])
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((name.name, homes) for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            places = [file.parents[node.level - 1]] if 0 < node.level <= len(file.parents) else homes
            base = f"{node.module}." if node.module else ""
            yield from ((f"{base}{name.name}", places) for name in node.names)


def _files_of(name: str, homes: Sequence[Path]) -> list[Path]:
    """Returns the files of a module and of the packages that it is in; the last part may be a name in its module."""
    parts = name.split(".")
    stems = [home.joinpath(*parts[:count]) for home in homes for count in range(1, len(parts) + 1)]
    tried = [Path(f"{stem}{suffix}") for stem in stems for suffix in (*IMPORTED, *(f"/__init__{s}" for s in IMPORTED))]
    return [file for file in tried if file.is_file()]
