"""Writes docs/explanation/reliability.md: how often each simulated judge gets each verdict, at each size.

    python docs/explanation/reliability/write.py --runs 500      draws everything anew, and keeps the counts
    python docs/explanation/reliability/write.py                 writes the page again from the counts that are kept

Counts are drawn; measures, checks and decisions are the real ones, on the counts that the shipped sizes plan.
"""

import argparse
import json
import os
import re
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

from known_judges import JUDGES, KnownJudge, Plan, at_curable_limits, at_limits, draw, plan_of

from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.protocols.datasheet.stimuli import chosen_materials
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import Advice, decide
from umpirical.reports.policy import Policy
from umpirical.reports.record import MeasureRecord, measure_record, part_record
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli, recipe
from umpirical.study.file import parse_study_data

FINDINGS = """\
We simulated {judges} judges with known error rates, {runs} runs of each at every size. Under `ranking`:

- **Good judges pass**: with 1% random answers, {standard} of `standard` and {full} of `full` runs.
- **Good judges are rarely refused** (highest rate: {refused}).
- **Judges at an essential threshold rarely pass**: at most {accepted}, or {accepted_apart} if task families differ.
- **Judges at half of each threshold are usually inconclusive**: to separate 2.5% from 5% takes over 1,000 prompts."""

EARLIER = """\
**These results are from an earlier design** with {then:,} calls at `standard` instead of {now:,}. \
[Judges we tested](judges-tested.md) covers the current one."""

METHOD = """\
Errors within a task family correlate at {first:g}. Simulation error is at most ±{error:.1f} percentage points, and \
±{small:.1f} near 5% and 95%."""

SHOWN = {
    "ranking": "Most broken judges are refused. Wording or position bias alone leads to restrictions.",
    "adjudication": "Wording bias of 20% is refused in {} of `standard` and {} of `full` runs.",
    "ci-smoke": "Only broken judges are refused. Blank-input preference of 10% passes {} of `standard` runs.",
    "claim": "A perfect judge gets restrictions in {} of `standard` runs.",
}
"""What the table of a policy shows; the shares come from the counts."""

APART = "At a correlation of {second:g}, a judge with 1% random answers passes {full} of `full` runs."

COLUMNS = "Columns give the size and the correlation."

ESSENTIAL = "Judges exactly at an essential threshold should pass in at most {policy.accepts:.0%} of runs."

CURABLE = "At other thresholds, the verdict `use` should be as rare."

REFUSED = "Judges that meet every threshold should be refused in at most {policy.refuses:.0%} of runs."

NAMES = {
    "1 % lapses, DC .7 %": "1% lapses, 0.7% on blank inputs",
    "2 % lapses, DC 1.4 %": "2% lapses, 1.4% on blank inputs",
    "2 % lapses, none on blanks": "2% lapses, none on blank inputs",
    "half of the limits": "half of each threshold",
    "at every limit": "at every threshold",
    "dark current .10": "blank-input preference 10%",
    "dark current .20": "blank-input preference 20%",
    "stable preference .20": "wording bias 20%",
    "slot decides in .30 of equal pairs": "position bias 30%",
    "always slot 1": "always position 1",
    "reversed": "always picks the worse answer",
    "task-blind": "ignores the task",
    "task-blind in half of the quads": "ignores the task in half of the crossed pairs",
    "longer is better, else sound": "prefers longer answers, otherwise perfect",
    "longer is better from twice the length on, else sound": "prefers answers twice as long, otherwise perfect",
    "never checks a figure, else sound": "never checks a figure, otherwise perfect",
    "prefers larger figures, else sound": "prefers larger figures, otherwise perfect",
    "always unparsed": "replies never readable",
    "half unparsed, else perfect": "half of the replies unreadable, otherwise perfect",
    "5 % unparsed, else perfect": "5% of replies unreadable, otherwise perfect",
    "hides a stable preference of .60": "hides wording bias of 60% in unreadable replies",
    "20 % failed calls, else perfect": "20% of calls fail, otherwise perfect",
}
"""What the page calls a judge. Its key is kept: the counts are drawn from it."""

HERE = Path(__file__).parent
COUNTS = HERE / "counts.json"
PAGE = HERE.parent / "reliability.md"

CORRELATIONS = {0.05: tuple(RECIPES), 0.2: ("standard", "full")}
"""Within a task family, and the sizes that are drawn. Under the first all policies are shown, then `ranking` alone."""

FIRST, SECOND = CORRELATIONS

SHORT: dict[Advice, str] = {
    "use": "use",
    "use-with-restrictions": "restrictions",
    "do-not-use": "do not use",
    "not-enough-data": "not enough data",
}
ACCEPTED = ("use", "use-with-restrictions")

Counts = dict[str, int]
"""How often each decision was made."""

Cell = tuple[str, str, float]
"""Judge, size and correlation."""


def all_judges() -> dict[str, KnownJudge]:
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
            checks = hold_checks(policy, "compare", measures, ["baseline"])
            found[policy.policy][decide(policy, checks).verdict] += times
    return {name: dict(sorted(counts.items())) for name, counts in found.items()}


def measured(tallies: Tallies, policies: Sequence[Policy]) -> list[MeasureRecord]:
    checks = [check for policy in policies for check in policy.compare]
    needs = [need.measure for check in checks for cure in check.cures for need in cure.needs]
    specs = [MEASURES.get(name) for name in dict.fromkeys([*(check.measure for check in checks), *needs])]
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
        error, small = 196 * 0.5 / self.runs**0.5, 196 * (0.05 * 0.95 / self.runs) ** 0.5
        yield from ("# How reliable is the verdict?", "", self._findings(), "", *self._earlier())
        yield from (METHOD.format(first=FIRST, error=error, small=small), "")
        for name in PRESETS:
            yield from (f"## Policy `{name}`", "", SHOWN[name].format(*self._shown(name)), "")
            yield from _folded("All judges", self._decisions(name, FIRST))
        full = self._percent("1 % lapses, DC .7 %", "full", ACCEPTED, correlation=SECOND)
        apart = APART.format(second=SECOND, full=full)
        yield from ("## Policy `ranking`, different families", "", apart, "")
        yield from _folded("All judges", self._decisions("ranking", SECOND))
        yield from ("## Error rates under `ranking`", "", COLUMNS, "", ESSENTIAL.format(policy=preset()), "")
        yield from _folded("Passed", self._shares(at_limits(), ACCEPTED))
        yield from (CURABLE, "")
        yield from _folded("Use", self._shares(at_curable_limits(), ("use",)))
        yield from (REFUSED.format(policy=preset()), "")
        yield from _folded("Refused", self._shares(_sound(), ("do-not-use",)))

    def _findings(self) -> str:
        return FINDINGS.format(
            judges=len(self._drawn(JUDGES)),
            runs=f"{self.runs:,}",
            standard=self._percent("1 % lapses, DC .7 %", "standard", ACCEPTED),
            full=self._percent("1 % lapses, DC .7 %", "full", ACCEPTED),
            refused=self._highest(_sound(), ("do-not-use",), FIRST, SECOND),
            accepted=self._highest(at_limits(), ACCEPTED, FIRST),
            accepted_apart=self._highest(at_limits(), ACCEPTED, SECOND),
        )

    def _shown(self, policy: str) -> list[str]:
        """The shares that the sentence about a policy names."""
        match policy:
            case "adjudication":
                sizes = ("standard", "full")
                return [self._percent("stable preference .20", size, ("do-not-use",), policy) for size in sizes]
            case "ci-smoke":
                return [self._percent("dark current .10", "standard", ACCEPTED, policy)]
            case "claim":
                return [self._percent("perfect", "standard", ("use-with-restrictions",), policy)]
            case _:
                return []

    def _percent(
        self, judge: str, size: str, decided: Sequence[str], policy: str = "ranking", correlation: float = FIRST
    ) -> str:
        return _percent(self.share((judge, size, correlation), decided, policy))

    def _highest(self, judges: Iterable[str], decided: Sequence[str], *correlations: float) -> str:
        """The highest share of these judges at any size."""
        cells = [
            (judge, size, one) for judge in self._drawn(judges) for one in correlations for size in CORRELATIONS[one]
        ]
        return _percent(max(self.share(cell, decided) for cell in cells))

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

    def _shares(self, judges: Sequence[str] | Mapping[str, KnownJudge], decided: Sequence[str]) -> Iterator[str]:
        columns = [(size, icc) for icc, sizes in CORRELATIONS.items() for size in sizes]
        yield from _table("judge", [f"{size}, {icc:g}" for size, icc in columns], {
            judge: [_percent(self.share((judge, *column), decided)) for column in columns]
            for judge in self._drawn(judges)
        })  # fmt: skip

    def _cell(self, counts: Counts) -> str:
        named = ((words, counts[one]) for one, words in SHORT.items() if one in counts)
        return ", ".join(f"{words} {_percent(times / self.runs)}" for words, times in named)


def _sound() -> list[str]:
    return [name for name, judge in JUDGES.items() if judge.sound]


def _folded(summary: str, lines: Iterable[str]) -> Iterator[str]:
    yield from ('<details markdown="1">', f"<summary>{summary}</summary>", "", *lines, "</details>", "")


def _table(head: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {head} | {' | '.join(columns)} |"
    yield f"| --- | {' | '.join('---' for _ in columns)} |"
    yield from (f"| {_named(name)} | {' | '.join(cells)} |" for name, cells in rows.items())
    yield ""


def _named(judge: str) -> str:
    """What the page calls a judge: `dark-current .05` is a measure, exactly at that threshold."""
    if found := re.fullmatch(r"([a-z-]+)(?: at Δ(\d))? \.(\d\d)", judge):
        measure, step, value = found.groups()
        return f"`{measure}`{f' at {step}' if step else ''}, {int(value)}%"
    return NAMES.get(judge, judge)


def _percent(share: float) -> str:
    # One decimal where it matters, below 10% and above 90%: a share that is not quite 0 or 1 is never written as such.
    near = round(min(share, 1 - share), 6)
    return f"{share:.0%}" if near == 0 or near >= 0.1 else f"{min(0.999, max(0.001, share)):.1%}"


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
