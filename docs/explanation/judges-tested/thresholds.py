"""How often a judge passes that is exactly at a threshold: draws what is not kept yet, and makes the table of it.

    python docs/explanation/judges-tested/thresholds.py        takes most of an hour; run it again to resume

The simulation is `tests/recovery/test_false_acceptance.py`.
"""

import json
import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from tests.recovery.test_false_acceptance import CASES, LOOKS, pass_rate
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.reports.policy import Check

KEPT = Path(__file__).parent / "at_thresholds.json"

RUNS = 2000

COLUMNS = tuple(product((1, LOOKS), (0.0, 0.05, 0.2)))
"""Looks, and the correlation of errors within a task family."""

Cell = tuple[str, str, float, int, float]
"""Measure, part and threshold; looks and correlation."""


def kept() -> dict[Cell, float]:
    """The share that passed, of each cell that was drawn."""
    cells = json.loads(KEPT.read_text(encoding="utf-8"))["cells"] if KEPT.is_file() else []
    return {(measure, at, value, looks, correlation): rate for measure, at, value, looks, correlation, rate in cells}


def keep(found: dict[Cell, float]) -> None:
    rows = ",\n".join(json.dumps([*cell, rate]) for cell, rate in sorted(found.items()))
    KEPT.write_text(f'{{"runs": {RUNS}, "cells": [\n{rows}\n]}}\n', encoding="utf-8")


def draw() -> None:
    found = kept()
    for (looks, correlation), (policy, check) in product(COLUMNS, CASES):
        cell = (check.measure, check.at, check.value, looks, correlation)
        if cell not in found:
            found[cell] = pass_rate(policy, check, correlation=correlation, looks=looks, runs=RUNS, size="standard")
            keep(found)


def table() -> str:
    """A row for each check; a dash for what was not drawn."""
    found = kept()
    heads = [f"{'one look' if looks == 1 else f'{looks} looks'}, {correlation:g}" for looks, correlation in COLUMNS]
    rows = [f"| check | policies | {' | '.join(heads)} |", "| --- " * (len(heads) + 2) + "|"]
    for _, check in CASES:
        cells = [found.get((check.measure, check.at, check.value, *column)) for column in COLUMNS]
        told = ["–" if rate is None else f"{rate:.1%}" for rate in cells]
        rows.append(f"| {_words(check)} | {_policies(check)} | {' | '.join(told)} |")
    return "\n".join(rows)


def _words(check: Check) -> str:
    step = f" at {check.at}" if check.at else ""
    return f"`{check.measure}`{step} {'≤' if check.kind == 'at_most' else '≥'} {check.value:.0%}"


def _policies(check: Check) -> str:
    asked = (check.measure, check.at, check.value)
    having = [name for name in PRESETS if asked in {(one.measure, one.at, one.value) for one in preset(name).compare}]
    return ", ".join(f"`{name}`" for name in having)


if __name__ == "__main__":
    draw()
