"""Compares measured runs, two or more, on one page."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.comparison.assembly import compare, needed_measures
from umpirical.protocols.datasheet.comparison.card import render_comparison_markdown
from umpirical.protocols.datasheet.comparison.pages import render_comparison_html
from umpirical.protocols.datasheet.comparison.record import Comparison, render_comparison_json
from umpirical.protocols.datasheet.costs import CallKeeper, costs_of
from umpirical.protocols.datasheet.policy_files import chosen_policy
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.datasheet.report import ReadRun, datasheet_of_read, policy_of, read_run
from umpirical.protocols.protocol import Documents
from umpirical.reports.comparisons.record import PairedDifference, paired_differences
from umpirical.reports.comparisons.words import refuse_margin
from umpirical.reports.policy import Policy
from umpirical.runs.run import Run, open_run
from umpirical.store.files import write_text


def compare_runs(
    folders: Sequence[Path],
    *,
    policy: str | Mapping[str, Any] | None = None,
    reference: str | None = None,
    margin: float | None = None,
) -> Comparison:
    """Rereads runs on the same stimuli, and compares their judges, each with each.

    `policy` is a shipped one, a file, or its keys; by default, the one that the runs were made for. `reference` is the
    name of a judge or of a run.
    """
    runs = _opened(folders)
    refuse_margin(margin)
    place = None if reference is None else _place(runs, reference)
    own = _shared_policy(runs) if policy is None else chosen_policy(policy, Path(), outside=True)
    kept = [CallKeeper.of(run) for run in runs]
    read = [read_run(run, also=keeper.see) for run, keeper in zip(runs, kept, strict=True)]
    paired = list(_paired(read))
    needed = needed_measures(own) | {one.measure for one in paired}
    sheets = [datasheet_of_read(each, only=needed) for each in read]
    compared = compare(sheets, paired, policy=own, reference=place, margin=margin)
    return compared.model_copy(update={"costs": costs_of(read, kept, reference=place)})


def write_comparison(comparison: Comparison, folder: Path) -> Documents:
    """Writes the record, and the documents that are pure functions of it."""
    folder.mkdir(parents=True, exist_ok=True)
    documents = Documents(*(folder / f"comparison.{ending}" for ending in ("json", "html", "md")))
    write_text(documents.json, render_comparison_json(comparison))
    write_text(documents.html, render_comparison_html(comparison))
    write_text(documents.markdown, render_comparison_markdown(comparison))
    return documents


def comparison_folder(runs: Sequence[str], *, noun: str = "judges") -> str:
    """Returns the name of the folder for a comparison of runs: the same for the same runs in the same order."""
    if len(runs) == 2:
        return "-".join(runs)
    return f"{len(runs)}-{noun}-{hashlib.sha256('|'.join(runs).encode()).hexdigest()[:12]}"


def _opened(folders: Sequence[Path]) -> list[Run]:
    runs = [open_run(folder) for folder in dict.fromkeys(folder.resolve() for folder in folders)]
    for run in runs:
        if run.manifest["protocol"] != DATASHEET.version:
            raise UsageError(
                f"run {run.name} is not on controlled stimuli, so it cannot be compared pair by pair",
                fix="name runs that have a datasheet, or runs of stress tests alone; labelled pairs and judges of "
                "agents have no comparison yet",
            )
    if len(runs) < 2:
        raise UsageError("a comparison needs at least two runs", fix="name another run, or a study with several judges")
    _refuse_other_stimuli(runs)
    return runs


def _refuse_other_stimuli(runs: Sequence[Run]) -> None:
    groups: dict[str, list[str]] = {}
    for run in runs:
        groups.setdefault(run.stimuli.digest, []).append(run.name)
    if len(groups) > 1:
        said = "; ".join(f"{digest[:12]}: {', '.join(names)}" for digest, names in groups.items())
        raise UsageError(
            f"the runs have different stimuli: {said}",
            fix="name runs of one group, or measure all judges with the same tasks, size and seed",
        )


def _place(runs: Sequence[Run], reference: str) -> int:
    found = [place for place, run in enumerate(runs) if reference in {run.judge.name, run.name}]
    if len(found) == 1:
        return found[0]
    names = ", ".join(run.name if found else run.judge.name for run in runs)
    problem = "is the name of several judges" if found else "is not one of the judges compared"
    raise UsageError(f"--reference {reference} {problem}", fix=f"name one of {names}")


def _shared_policy(runs: Sequence[Run]) -> Policy:
    """Returns the policy that the runs were made for, by its limits: a second look at them is no other policy."""
    policies = [policy_of(run).at_look(1) for run in runs]
    if any(policy != policies[0] for policy in policies):
        said = ", ".join(f"{run.name}: {policy.policy}" for run, policy in zip(runs, policies, strict=True))
        raise UsageError(f"the runs were made for different policies ({said})", fix="name the one to use with --policy")
    return policies[0]


def _paired(read: Sequence[ReadRun]) -> Iterator[PairedDifference]:
    for first, second in combinations(range(len(read)), 2):
        one, other = read[first], read[second]
        for arm in [arm for arm in one.run.manifest["arms"] if arm in other.run.manifest["arms"]]:
            contrasts = contrasts_between(one.tallies, other.tallies, arm, arm)
            yield from paired_differences(contrasts, first, second)
