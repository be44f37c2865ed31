"""What can be verified, by what a person names: runs, a claim, or a package."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from umpirical.claims.package_checks import PackageReader
from umpirical.claims.packages import is_package
from umpirical.claims.statement import absent_files, is_claim, verify_claim
from umpirical.domain.errors import UmpiricalError, UsageError
from umpirical.study.results import find_runs
from umpirical.study.verification import Check, verify_run


@dataclass(frozen=True, slots=True)
class Subject:
    """A run, a claim or a package, with its checks, which are made as they are read."""

    name: str
    kind: Literal["run", "claim", "package"]
    checks: Iterator[Check]
    not_checked: Callable[[], Mapping[str, str]] = dict
    """What could not be checked, and why; known once all checks are made."""


def subjects(target: str | Path, *, record: Path | None = None) -> list[Subject]:
    """Returns what a person means; of a study, all of its runs. `record` is a published record of a single run."""
    path = Path(target)
    if is_claim(path):
        return [Subject(path.name, "claim", verify_claim(path), lambda: _absent(path))]
    if is_package(path):
        reader = PackageReader(path)
        return [Subject(path.resolve().name, "package", reader.checks(), lambda: reader.not_checked)]
    runs = find_runs(target).runs
    if len(runs) != 1 and record is not None:
        raise UsageError("a record needs a single run", fix="name one run, or omit the record")
    return [Subject(run.name, "run", verify_run(run, record=record)) for run in runs]


def _absent(claim: Path) -> dict[str, str]:
    try:
        return dict.fromkeys(absent_files(claim), "not found beside the claim")
    except UmpiricalError:
        # A claim that cannot be read is damaged, and names no files.
        return {}
