"""Writes the tables of docs/automate/gates.md: how steady the gate is, and which regressions it catches.

    python docs/automate/gates/write.py --runs 500      draws everything anew, and keeps the counts
    python docs/automate/gates/write.py                 writes the tables again from the counts that are kept

Counts are drawn from judges with known rates, as for docs/explanation/reliability.md. Limits, decisions, differences
and rulings are the real ones. Two runs of a judge share its rates in each task family, as on the same test cases.
"""

import argparse
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "explanation" / "reliability"))

from known_judges import JUDGES, KnownJudge, draw
from write import measured, planned

from umpirical.domain.tallies import Tallies
from umpirical.measures.contrasts import contrasts_between
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import EXIT_CODES, decide
from umpirical.reports.gate import BaselineRecord, Ruling, own_checks, ruling
from umpirical.reports.record import CheckRecord
from umpirical.reports.regressions import MARGIN, regressions
from umpirical.reports.significance import LEVEL

HERE = Path(__file__).resolve().parent
COUNTS = HERE / "counts.json"
PAGE = HERE.parent / "gates.md"
START, END = "<!-- drawn by docs/automate/gates/write.py -->\n", "<!-- end of what is drawn -->\n"

POLICY = preset("adjudication")
ARM = "baseline"
CORRELATION = 0.05
USED, REFUSED, OPEN, REGRESSED = 0, 3, 4, 7

SOUND = "1 % lapses, DC .7 %"
"""The judge that regressions are built in in."""

CAREFUL = "simulated:careful, as it ships"

TWICE: dict[str, KnownJudge] = {
    CAREFUL: KnownJudge(
        dark=0.0018, equal={"one-sided": 0.03}, quads={0.0: {"tie": 0.4}, 1.0: {"one version": 0.005}}, sound=True
    ),
    **{
        name: JUDGES[name]
        for name in (
            "perfect",
            SOUND,
            "half of the limits",
            "misses small differences",
            "at every limit",
            "dark current .10",
            "dark current .20",
            "stable preference .20",
            "slot decides in .30 of equal pairs",
            "random",
            "task-blind",
            "5 % unparsed, else perfect",
        )
    },
}
"""The judges that are measured twice. What is built in in the first is what its profile says."""

SHOWN = {
    CAREFUL: "`simulated:careful`",
    SOUND: "1% lapses, 0.7% blank-input preference",
    "half of the limits": "error rates at half of each threshold",
    "at every limit": "exactly at every threshold",
    "dark current .10": "blank-input preference 10%",
    "dark current .20": "blank-input preference 20%",
    "stable preference .20": "wording bias 20%",
    "slot decides in .30 of equal pairs": "position decides 30% of equal pairs",
    "random": "answers at random",
    "task-blind": "ignores the task",
    "5 % unparsed, else perfect": "perfect, but 5% unparsed replies",
    "dark current .01 → 0.10": "blank-input preference 1% → 10%",
    "dark current .01 → 0.15": "blank-input preference 1% → 15%",
    "dark current .01 → 0.20": "blank-input preference 1% → 20%",
    "stable preference 0 → 0.20": "wording bias 0% → 20%",
    "stable preference 0 → 0.30": "wording bias 0% → 30%",
    "target sensitivity at Δ5 .99 → 0.75": "accuracy at a 5-requirement difference 99% → 75%",
    "task-blind preference 0 → 0.25": "task-blind preference 0% → 25%",
    "unparsed answers 0 → 0.10": "unparsed replies 0% → 10%",
}
"""What the page calls a judge, where that is not its name. Names seed the draws, so they stay."""

WORSE_RUNS = 0.4
"""Of the pairs that are drawn of one judge: so many are drawn of a sound and a worse one."""


def worse_judges() -> dict[str, KnownJudge]:
    """The sound judge, but for one defect of a stated size."""
    sound = JUDGES[SOUND]
    made = {f"dark current .01 → {dark:.2f}": replace(sound, dark=dark) for dark in (0.10, 0.15, 0.20)}
    made |= {
        f"stable preference 0 → {share:.2f}": replace(sound, equal={**sound.equal, "stable": share})
        for share in (0.20, 0.30)
    }
    made |= {
        f"target sensitivity at Δ5 .99 → {1 - ties:.2f}": replace(
            sound, quads={**sound.quads, 5.0: {"one version": 0.02, "tie": ties - 0.01}}
        )
        for ties in (0.25,)
    }
    made |= {
        f"task-blind preference 0 → {share:.2f}": replace(sound, quads={0.0: {"one version": 0.02, "blind": share}})
        for share in (0.25,)
    }
    return made | {f"unparsed answers 0 → {share:.2f}": replace(sound, unparsed=share) for share in (0.10,)}


class Cell(NamedTuple):
    """A judge that is measured twice, or a sound one and then a worse one, at one size."""

    kind: str
    """`same` or `worse`."""
    judge: str
    size: str


class Ruled(NamedTuple):
    """What two gates say: of the first run, and of the second against the first."""

    first: int
    second: int
    worse: bool
    """Whether a measure is shown to be worse."""


def all_cells() -> list[Cell]:
    same = [Cell("same", judge, "standard") for judge in TWICE]
    same += [Cell("same", judge, "full") for judge, known in TWICE.items() if known.sound]
    return same + [Cell("worse", judge, size) for judge in worse_judges() for size in ("standard", "full")]


def draw_cell(cell: Cell, runs: int) -> Counter[Ruled]:
    """Draws so many pairs of runs, fewer of a judge that has become worse."""
    runs = round(runs * WORSE_RUNS) if cell.kind == "worse" else runs
    then, now = _judges(cell)
    plan, drawn = planned(cell.size), Counter[tuple[Tallies, Tallies]]()
    rng = np.random.default_rng(zlib.crc32(f"{cell.kind} {cell.judge} {cell.size}".encode()))
    for number in range(runs):
        families = [np.random.default_rng([number, zlib.crc32(cell.judge.encode())]) for _ in range(2)]
        first, second = (
            draw(judge, plan, rng, correlation=CORRELATION, families=own)
            for judge, own in zip((then, now), families, strict=True)
        )
        # A judge that leaves nothing to chance gives the same counts again and again.
        drawn[first, second] += 1
    found = Counter[Ruled]()
    for pair, times in drawn.items():
        found[rule(*pair)] += times
    return found


def _judges(cell: Cell) -> tuple[KnownJudge, KnownJudge]:
    if cell.kind == "same":
        return TWICE[cell.judge], TWICE[cell.judge]
    return JUDGES[SOUND], worse_judges()[cell.judge]


def rule(first: Tallies, second: Tallies, *, margin: float = MARGIN) -> Ruled:
    """Rules on two runs as `umpirical gate` does, the second against the first."""
    before, now = measured(first, [POLICY]), measured(second, [POLICY])
    checks = hold_checks(POLICY, "compare", now, [ARM])
    differences = [contrast.measure for contrast in contrasts_between(first, second, ARM, ARM)]
    rows = regressions(
        own_checks(checks),
        before,
        now,
        paired={(one.name, one.stratum): one.result for one in differences},
        margin=margin,
    )
    earlier = BaselineRecord(judge="", run="", margin=margin, level=LEVEL, rows=rows)
    alone = _decided(hold_checks(POLICY, "compare", before, [ARM]))
    ruled = ruling(_decided(checks), earlier)
    return Ruled(alone.exit_code, ruled.exit_code, bool(earlier.worse))


def _decided(checks: Sequence[CheckRecord]) -> Ruling:
    verdict = decide(POLICY, checks).verdict
    return Ruling(verdict, "", EXIT_CODES[verdict])


def draw_all(runs: int) -> None:
    """Draws every cell that is not kept yet, and keeps each as it comes: an interrupted command is resumed."""
    kept = json.loads(COUNTS.read_text(encoding="utf-8")) if COUNTS.is_file() else {}
    found = {Cell(*cell): counts for cell, counts in kept["cells"]} if kept.get("runs") == runs else {}
    for cell in all_cells():
        if cell not in found:
            found[cell] = [[*ruled, times] for ruled, times in sorted(draw_cell(cell, runs).items())]
            rows = ",\n".join(json.dumps([one, found[one]]) for one in all_cells() if one in found)
            COUNTS.write_text(f'{{"runs": {runs}, "cells": [\n{rows}\n]}}\n', encoding="utf-8")
            print(f"{len(found)} of {len(all_cells())} cells", file=sys.stderr)  # noqa: T201


@cache
def kept_counts() -> tuple[int, Mapping[Cell, Counter[Ruled]]]:
    """Returns how many pairs of runs were drawn for each cell, and what was ruled on them."""
    kept = json.loads(COUNTS.read_text(encoding="utf-8"))
    cells = {Cell(*cell): Counter({Ruled(*ruled): times for *ruled, times in counts}) for cell, counts in kept["cells"]}
    return kept["runs"], cells


def differing(counts: Counter[Ruled]) -> int:
    """Of so many pairs: how many gates exit otherwise the second time."""
    return sum(times for ruled, times in counts.items() if ruled.first != ruled.second)


def turned(counts: Counter[Ruled]) -> int:
    """Of so many pairs: how many gates pass the first time and fail the second."""
    return sum(times for ruled, times in counts.items() if ruled.first == USED and ruled.second in (REFUSED, REGRESSED))


def caught(counts: Counter[Ruled]) -> int:
    """Of so many pairs: how many gates refuse the worse judge, or call it a regression."""
    return sum(times for ruled, times in counts.items() if ruled.second in (REFUSED, REGRESSED))


def shown(counts: Counter[Ruled]) -> int:
    """Of so many pairs: in how many a measure is shown to be worse."""
    return sum(times for ruled, times in counts.items() if ruled.worse)


def tables() -> Iterator[str]:
    """Yields the lines of both tables."""
    _, cells = kept_counts()
    yield from (
        "| the same judge twice | size | verdict differs | passed, then failed | called worse |",
        "| --- " * 5 + "|",
    )
    for cell, counts in cells.items():
        if cell.kind == "same":
            shares = " | ".join(_share(of(counts), counts) for of in (differing, turned, shown))
            yield f"| {SHOWN.get(cell.judge, cell.judge)} | {cell.size} | {shares} |"
    yield ""
    sizes = ("standard", "full")
    yield from (f"| a good judge gets worse | {' | '.join(sizes)} |", "| --- | --- | --- |")
    for judge in worse_judges():
        both = [cells[Cell("worse", judge, size)] for size in sizes]
        shares = [f"{_share(caught(each), each)} ({_share(shown(each), each)})" for each in both]
        yield f"| {SHOWN.get(judge, judge)} | {' | '.join(shares)} |"


def _share(count: int, counts: Counter[Ruled]) -> str:
    share = count / counts.total()
    return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"


def page_text() -> str:
    """Returns the page with its tables as the counts have them."""
    before, rest = PAGE.read_text(encoding="utf-8").split(START)
    return f"{before}{START}\n" + "\n".join(tables()) + f"\n\n{END}{rest.split(END)[1]}"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, help="draw so many pairs of runs for each cell")
    told = parser.parse_args(arguments)
    if told.runs:
        draw_all(told.runs)
    kept_counts.cache_clear()
    if PAGE.is_file():
        PAGE.write_text(page_text(), encoding="utf-8")


if __name__ == "__main__":
    main()
