"""Writes docs/explanation/reliability.md: how often each planted judge is accepted, refused or left open, at each size.

    python docs/explanation/reliability/write.py --runs 500      draws everything anew, and keeps the counts
    python docs/explanation/reliability/write.py                 writes the page again from the counts that are kept

Counts are drawn; measures, limits and decisions are the real ones, on the counts that the shipped sizes plan.
"""

import argparse
import json
import os
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from planted import JUDGES, Plan, Planted, at_curable_limits, at_limits, draw, plan_of

from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.protocols.datasheet.stimuli import chosen_materials
from umpirical.reports.decision import Advice, decide
from umpirical.reports.limits import hold_limits
from umpirical.reports.policy import Policy
from umpirical.reports.record import MeasureRecord, measure_record, part_record
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli, recipe
from umpirical.study.file import parse_study_data

INTRODUCTION = """\
Written by `docs/explanation/reliability/write.py`: {runs} simulated runs for each judge and size. Counts are drawn from planted \
judges; measures, limits and decisions are the real ones, on the counts that each size plans. Task families differ: \
within one, answers correlate at .05, and further down at .2. A share is of runs; a decision that is not named was \
never made. The error of a share is at most ±{error:.3f}, and ±{small:.3f} where it is about .05 or .95."""

EARLIER = """\
**These counts are of an earlier design** (`standard` had {then:,} calls and has {now:,}), with fewer checks and \
looser error rates at the first look. They are kept until `--runs` draws them anew. For the present design, \
[judges that were tested](judges-tested.md) has fewer runs of more judges."""

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
PAGE = HERE.parent / "reliability.md"

CORRELATIONS = {0.05: tuple(RECIPES), 0.2: ("standard", "full")}
"""Within a task family, and the sizes that are drawn. Under the first all policies are shown, then `ranking` alone."""

FIRST, SECOND = CORRELATIONS

SHORT: dict[Advice, str] = {
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
    policies = [preset(name) for name in (PRESETS if correlation == FIRST else ("ranking",))]
    # A judge that leaves nothing to chance gives the same counts again and again.
    drawn_counts = Counter(draw(all_judges()[judge], plan, rng, correlation=correlation) for _ in range(runs))
    found: dict[str, Counter[str]] = {policy.policy: Counter() for policy in policies}
    for tallies, times in drawn_counts.items():
        measures = measured(tallies, policies)
        for policy in policies:
            limits = hold_limits(policy, "compare", measures, ["baseline"])
            found[policy.policy][decide(policy, limits).verdict] += times
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def measured(tallies: Tallies, policies: Sequence[Policy]) -> list[MeasureRecord]:
    limits = [limit for policy in policies for limit in policy.compare]
    needs = [need.measure for limit in limits for cure in limit.cures for need in cure.needs]
    specs = [MEASURES.get(name) for name in dict.fromkeys([*(limit.measure for limit in limits), *needs])]
    return [
        (part_record if measure.group else measure_record)(spec, measure)
        for spec in specs
        for measure in spec.compute(tallies, "baseline")
    ]


def all_cells() -> list[Cell]:
    return [(judge, size, icc) for icc, sizes in CORRELATIONS.items() for size in sizes for judge in all_judges()]


def draw_all(runs: int, processes: int) -> None:
    """Draws every cell that is not kept yet, and keeps each as it comes: an interrupted command is resumed."""
    calls = {size: made.calls for size, made in RECIPES.items()}
    kept = kept_counts() if COUNTS.is_file() else {}
    same = (kept.get("runs"), kept.get("calls")) == (runs, calls)
    found: dict[Cell, dict[str, Counts]] = {(j, s, icc): counts for j, s, icc, counts in kept["cells"]} if same else {}
    plans = {size: planned(size) for size in RECIPES}
    with ProcessPoolExecutor(processes) as pool:
        jobs = {pool.submit(decisions, cell, plans[cell[1]], runs): cell for cell in all_cells() if cell not in found}
        for job in as_completed(jobs):
            found[jobs[job]] = job.result()
            rows = ",\n".join(json.dumps([*cell, found[cell]]) for cell in all_cells() if cell in found)
            head = json.dumps({"runs": runs, "calls": calls})[:-1]
            COUNTS.write_text(f'{head}, "cells": [\n{rows}\n]}}\n', encoding="utf-8")
            print(f"{len(found)} of {len(all_cells())} cells", file=sys.stderr)  # noqa: T201


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
            *self._earlier(),
            SOUND,
            "",
        )
        for name in PRESETS:
            yield from (f"## Policy `{name}`", "", preset(name).about, "")
            yield from self._decisions(name, FIRST)
        yield from ("## Policy `ranking`, with families that differ more", "")
        yield f"Answers of one family correlate at {SECOND:g}."
        yield ""
        yield from self._decisions("ranking", SECOND)
        yield from ("## The joint error rates, measured", "", PROMISE.format(policy=preset()), "")
        yield from self._shares(at_limits(), ACCEPTED)
        yield from (CURABLE, "")
        yield from self._shares(at_curable_limits(), ("use",))
        yield from (REFUSED, "")
        yield from self._shares([name for name, judge in JUDGES.items() if judge.sound], ("do-not-use",))

    def _earlier(self) -> Iterator[str]:
        now = {size: made.calls for size, made in RECIPES.items()}
        if self.calls != now:
            yield from (EARLIER.format(then=self.calls["standard"], now=now["standard"]), "")

    def _drawn(self, judges: Iterable[str]) -> list[str]:
        """The judges that there are counts of."""
        return [judge for judge in judges if (judge, "standard", FIRST) in self.found]

    def _decisions(self, policy: str, correlation: float) -> Iterator[str]:
        sizes = CORRELATIONS[correlation]
        rows = {
            judge: [self._cell(self.found[judge, size, correlation][policy]) for size in sizes]
            for judge in self._drawn(JUDGES)
        }
        yield from _table("judge", [f"{size} ({self.calls[size]:,} calls)" for size in sizes], rows)

    def _shares(self, judges: Sequence[str] | Mapping[str, Planted], decided: Sequence[str]) -> Iterator[str]:
        columns = [(size, icc) for icc, sizes in CORRELATIONS.items() for size in sizes]
        yield from _table("judge", [f"{size}, {icc:g}" for size, icc in columns], {
            judge: [_short(self.share((judge, *column), decided)) for column in columns]
            for judge in self._drawn(judges)
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
        draw_all(given.runs, given.processes)
    PAGE.write_text(Page(kept_counts()).text(), encoding="utf-8")


if __name__ == "__main__":
    main()
