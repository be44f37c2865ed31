"""Writes docs/operating.md: how often each planted judge is accepted, refused or left open, at each size.

    python docs/operating/write.py --runs 500      draws everything anew, and keeps the counts
    python docs/operating/write.py                 writes the page again from the counts that are kept

Counts are drawn; measures, limits and decisions are the real ones, on the counts that the shipped sizes plan.
"""

import argparse
import json
import os
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from judges import JUDGES, Plan, Planted, at_curable_limits, at_limits, draw, plan_of
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.decision import decide
from umpirical.protocols.datasheet.limits import hold_limits
from umpirical.protocols.datasheet.policy import Policy
from umpirical.protocols.datasheet.policy_files import PRESETS, preset
from umpirical.protocols.datasheet.record import Decision
from umpirical.protocols.datasheet.stimuli import chosen_materials
from umpirical.reports.record import MeasureRecord, measure_record
from umpirical.stimuli.controlled.datasheet_set import datasheet_stimuli
from umpirical.stimuli.controlled.recipes import RECIPES, recipe
from umpirical.study.file import parse_study_data

INTRODUCTION = """\
Written by `docs/operating/write.py`: {runs} simulated runs for each judge and size. Counts are drawn from planted \
judges; measures, limits and decisions are the real ones, on the counts that each size plans. Task families differ: \
within one, answers correlate at .05, and further down at .2. A share is of runs; a decision that is not named was \
never made. The error of a share is at most ±{error:.3f}, and ±{small:.3f} where it is about .05 or .95."""

SOUND = """\
A judge that is perfect, or that answers one call in a hundred at random, is told "use" at `standard` and `full`. What \
is known of a judge at half of every limit stays open in most runs, at any size: .025 and .05 lie so close that it \
takes more than a thousand prompts to tell them apart. `umpirical more` asks what is left open."""

PROMISE = """\
The policy promises: a judge at an essential limit is accepted in at most {policy.accepts:g} of runs, and a judge that \
meets every limit is refused in at most {policy.refuses:g}. Judges that are perfect but for one limit of `ranking`, \
which they are exactly at. Share accepted, with limits or without:"""

CURABLE = """\
Judges that are exactly at a limit that a way of use makes up for, or that is not essential. They may be used with \
limits. Share told "use", without any:"""

REFUSED = "Judges that meet every limit of `ranking`. Share refused:"

HERE = Path(__file__).parent
COUNTS = HERE / "counts.json"
PAGE = HERE.parent / "operating.md"

CORRELATIONS = (0.05, 0.2)
"""Within a task family. Under the first all policies are shown, under the second `ranking` alone."""

SHORT: dict[Decision, str] = {
    "use": "use",
    "use-with-limits": "limits",
    "do-not-use": "do not",
    "not-enough-data": "open",
}
ACCEPTED = ("use", "use-with-limits")

Counts = dict[str, int]
"""How often each decision was made."""

Cell = tuple[str, str, float]
"""Judge, size and correlation."""


def all_judges() -> dict[str, Planted]:
    return {**JUDGES, **at_limits(), **at_curable_limits()}


@cache
def planned(size: str) -> Plan:
    """Counts what a shipped size asks of each task family."""
    with tempfile.TemporaryDirectory() as folder:
        judge = {"name": "careful", "model": {"adapter": "simulated", "name": "careful"}}
        study = parse_study_data({"study": "operating", "judges": [judge], "design": {"size": size}}, Path(folder))
        return plan_of(datasheet_stimuli(chosen_materials(study), recipe(size), seed=1))


def decisions(cell: Cell, plan: Plan, runs: int) -> dict[str, Counts]:
    """Returns how often each decision is made in so many runs, by policy."""
    judge, size, correlation = cell
    rng = np.random.default_rng(zlib.crc32(f"{judge} {size} {correlation}".encode()))
    policies = [preset(name) for name in (PRESETS if correlation == CORRELATIONS[0] else ("ranking",))]
    found: dict[str, Counter[str]] = {policy.policy: Counter() for policy in policies}
    for _ in range(runs):
        measures = _measured(draw(all_judges()[judge], plan, rng, correlation=correlation), policies)
        for policy in policies:
            found[policy.policy][decide(policy, hold_limits(policy, "compare", measures, ["baseline"])).verdict] += 1
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def _measured(tallies: Tallies, policies: Sequence[Policy]) -> list[MeasureRecord]:
    limits = [limit for policy in policies for limit in policy.compare]
    needs = [need.measure for limit in limits for cure in limit.cures for need in cure.needs]
    specs = [MEASURES.get(name) for name in dict.fromkeys([*(limit.measure for limit in limits), *needs])]
    return [measure_record(spec, measure) for spec in specs for measure in spec.compute(tallies, "baseline")]


def drawn(runs: int, processes: int) -> dict:
    """Draws every cell, and returns the counts as they are kept."""
    cells: list[Cell] = [(judge, size, icc) for icc in CORRELATIONS for size in RECIPES for judge in all_judges()]
    with ProcessPoolExecutor(processes) as pool:
        plans = {size: planned(size) for size in RECIPES}
        jobs = [pool.submit(decisions, cell, plans[cell[1]], runs) for cell in cells]
        found = [job.result() for job in jobs]
    calls = {size: made.calls for size, made in RECIPES.items()}
    rows = [[*cell, by_policy] for cell, by_policy in zip(cells, found, strict=True)]
    return {"runs": runs, "calls": calls, "cells": rows}


class Page:
    """The page, from the counts."""

    def __init__(self, kept: Mapping) -> None:
        self.runs: int = kept["runs"]
        self.calls: Mapping[str, int] = kept["calls"]
        self.found: dict[Cell, dict[str, Counts]] = {(j, size, icc): counts for j, size, icc, counts in kept["cells"]}

    def text(self) -> str:
        return "\n".join(self._lines()) + "\n"

    def share(self, cell: Cell, decided: Sequence[str], policy: str = "ranking") -> float:
        """Of the runs of a cell: how many ended in one of these decisions."""
        return sum(self.found[cell][policy].get(one, 0) for one in decided) / self.runs

    def _lines(self) -> Iterator[str]:
        error, small = 1.96 * 0.5 / self.runs**0.5, 1.96 * (0.05 * 0.95 / self.runs) ** 0.5
        yield from (
            "# What the decision does with judges that are known",
            "",
            INTRODUCTION.format(runs=f"{self.runs:,}", error=error, small=small),
            "",
            SOUND,
            "",
        )
        for name in PRESETS:
            yield from (f"## Policy `{name}`", "", preset(name).about, "")
            yield from self._decisions(name, CORRELATIONS[0])
        yield from ("## Policy `ranking`, with families that differ more", "")
        yield f"Answers of one family correlate at {CORRELATIONS[1]:g}."
        yield ""
        yield from self._decisions("ranking", CORRELATIONS[1])
        yield from ("## The joint error rates, measured", "", PROMISE.format(policy=preset()), "")
        yield from self._shares(at_limits(), ACCEPTED)
        yield from (CURABLE, "")
        yield from self._shares(at_curable_limits(), ("use",))
        yield from (REFUSED, "")
        yield from self._shares([name for name, judge in JUDGES.items() if judge.sound], ("do-not-use",))

    def _decisions(self, policy: str, correlation: float) -> Iterator[str]:
        rows = {
            judge: [self._cell(self.found[judge, size, correlation][policy]) for size in self.calls] for judge in JUDGES
        }
        yield from _table("judge", [f"{size} ({calls:,} calls)" for size, calls in self.calls.items()], rows)

    def _shares(self, judges: Sequence[str] | Mapping[str, Planted], decided: Sequence[str]) -> Iterator[str]:
        columns = [f"{size}, {icc:g}" for icc in CORRELATIONS for size in self.calls]
        yield from _table("judge", columns, {
            judge: [_short(self.share((judge, size, icc), decided)) for icc in CORRELATIONS for size in self.calls]
            for judge in judges
        })  # fmt: skip

    def _cell(self, counts: Counts) -> str:
        return ", ".join(f"{words} {_short(counts[one] / self.runs)}" for one, words in SHORT.items() if one in counts)


def _table(head: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {head} | {' | '.join(columns)} |"
    yield f"| --- | {' | '.join('---' for _ in columns)} |"
    yield from (f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())
    yield ""


def _short(share: float) -> str:
    # A share that is not quite 0 or 1 is never written as one of them.
    if share in {0, 1}:
        return f"{share:g}"
    return f"{min(0.999, max(0.001, share)):.3f}".removeprefix("0")


def kept_counts() -> dict:
    return json.loads(COUNTS.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=0, help="draw so many runs for each judge and size")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    given = parser.parse_args()
    if given.runs:
        rows = drawn(given.runs, given.processes)
        cells = ",\n".join(json.dumps(row) for row in rows.pop("cells"))
        COUNTS.write_text(json.dumps(rows)[:-1] + f', "cells": [\n{cells}\n]}}\n', encoding="utf-8")
    PAGE.write_text(Page(kept_counts()).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
