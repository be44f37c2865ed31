"""Writes `docs/explanation/judges-tested.md`: what each policy decides about judges whose worth is known, at each size.

    python docs/explanation/judges-tested/write.py

Takes some minutes, and most of an hour more if `at_thresholds.json` is not there. The judges are in
`tests/protocols/datasheet/tested_judges.py`.
"""

import sys
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "reliability"))

import thresholds
from planted import JUDGES, Planted, draw
from write import measured, planned

from tests.protocols.datasheet.in_process import decisions
from tests.protocols.datasheet.tested_judges import BAD, EVERY, NOT_EXCLUDED, SOUND, Tested
from tests.stimuli.built import built
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.decision import decide
from umpirical.reports.limits import hold_limits
from umpirical.reports.numbers import percent

PAGE = Path(__file__).resolve().parents[1] / "judges-tested.md"

SIZES = ("screen", "standard", "full")

RUNS = 300
"""Pairs of runs that are simulated for each judge with lapses."""

CORRELATIONS = (0.0, 0.05)
"""Of the lapses within a task family."""

ACCEPTED = {"use", "use-with-limits"}

LAPSING = {
    "1% lapses": JUDGES["1 % lapses, DC .7 %"],
    "2% lapses": JUDGES["2 % lapses, DC 1.4 %"],
}

LETTERS = {"use": "U", "use-with-limits": "W", "not-enough-data": "O", "do-not-use": "R"}

TEXT = """# Judges that were tested

Written by `docs/explanation/judges-tested/write.py`. {bad} judges that nobody should use and {sound} sound ones answer every test \
case of three sizes. The answers are counted, measured and decided on as those of a run are, at seed 1.

A cell has a letter for each size, `screen`, `standard` and `full`: R refused ("do not use"), O open ("not enough \
data"), W use with limits, U use. A cell in bold is a policy whose purpose the judge fails: it must have \
neither W nor U.

A judge that never checks a figure may still rank answers by relevance, and one that fails on JSON answers may rank \
other answers. `ranking` accepts such a judge only with that restriction. `ci-smoke` has wide limits: it finds a \
broken judge, and does not show a good one.

## Judges that must not be accepted

{bad_table}

## Sound judges

None is refused. A `screen` run is too small to accept a judge under most policies. The lapses of this table are drawn \
once.

{sound_table}

Each row is {runs} pairs of simulated `standard` runs of a judge that sometimes answers at random. The columns give \
the share of runs that were accepted, and the share of pairs in which every policy gave both runs the same verdict. \
With a correlation of .05, some task families have more lapses than others. The other runs are inconclusive, nearly \
always because 192 blank prompts are too few: they usually show that a rate of 0.7% is low enough, and often not one \
of 1.4%. `umpirical more` collects the rest. Simulation error is at most ±{error}.

## Judges exactly at a threshold

Each judge in this table compares two answers and sits exactly at one threshold. No recommended use makes up for \
that, so it should rarely pass. The figures are the share of {at_runs:,} simulations that passed the check, each \
with the test cases that `standard` has for it. The policies promise at most 5%. Each column has another correlation \
of errors within a task family. With {looks} looks, a quarter of the families is asked before each look, and passing \
at any look counts. `compare` uses the same checks. Simulation error is at most ±{at_error}. A dash means not \
simulated. The checks of the worst part are not in the table: they fail a part only if it is shown to miss its \
threshold, so they pass most judges that sit exactly there.

{at_table}

## What these tests cannot exclude

{not_excluded}

Both give the same answers as a sound judge here. Your own [labelled pairs](../data/labelled-pairs.md) or \
[answers](../data/own-answers.md) that were never published are the evidence against them.
"""


def table(judges: Mapping[str, Tested]) -> str:
    """A row for each judge."""
    rows = [f"| judge | {' | '.join(EVERY)} |", "| --- " * (len(EVERY) + 1) + "|"]
    for name, tested in judges.items():
        found = [decisions(tested.judge, built(size)) for size in SIZES]
        letters = {policy: "".join(LETTERS[one[policy].verdict] for one in found) for policy in EVERY}
        cells = [f"**{said}**" if policy in tested.fails else said for policy, said in letters.items()]
        rows.append(f"| {name} | {' | '.join(cells)} |")
        print(rows[-1], file=sys.stderr)  # noqa: T201
    return "\n".join(rows)


def verdicts(judge: Planted, correlation: float) -> list[dict[str, str]]:
    """What each policy decides, in pairs of runs that differ in nothing but chance."""
    plan, rng, found = planned("standard"), np.random.default_rng(7), []
    policies = [preset(name) for name in EVERY]
    for _ in range(2 * RUNS):
        measures = measured(draw(judge, plan, rng, correlation=correlation), policies)
        held = {one: hold_limits(one, "compare", measures, ["baseline"]) for one in policies}
        found.append({one.policy: decide(one, limits).verdict for one, limits in held.items()})
    return found


def lapsing_table() -> str:
    """How often a judge is accepted, by policy, and how often two runs of it end in the same verdict."""
    rows = [f"| simulated judge | correlation | {' | '.join(EVERY)} | same verdict twice |"]
    rows.append("| --- " * (len(EVERY) + 3) + "|")
    for (name, judge), correlation in product(LAPSING.items(), CORRELATIONS):
        found = verdicts(judge, correlation)
        shares = [sum(one[policy] in ACCEPTED for one in found) / len(found) for policy in EVERY]
        alike = sum(one == other for one, other in zip(found[::2], found[1::2], strict=True)) / RUNS
        rows.append(f"| {name} | {correlation:g} | {' | '.join(map(percent, [*shares, alike]))} |")
        print(rows[-1], file=sys.stderr)  # noqa: T201
    return "\n".join(rows)


def main() -> None:
    thresholds.draw()
    text = TEXT.format(
        bad=len(BAD),
        sound=len(SOUND),
        runs=RUNS,
        bad_table=table(BAD),
        sound_table=table(SOUND),
        lapsing_table=lapsing_table(),
        error=percent(1.96 * 0.5 / RUNS**0.5),
        at_runs=thresholds.RUNS,
        at_error=percent(1.96 * (0.05 * 0.95 / thresholds.RUNS) ** 0.5),
        at_table=thresholds.table(),
        looks=thresholds.LOOKS,
        not_excluded="\n".join(f"- **{name}**: {words}" for name, words in NOT_EXCLUDED.items()),
    )
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
