"""Writes `docs/explanation/judges-tested.md`: what each policy decides about good and bad judges, at each size.

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
from known_judges import JUDGES, KnownJudge, draw
from write import measured, planned

from tests.protocols.datasheet.in_process import decisions
from tests.protocols.datasheet.tested_judges import BAD, EVERY, NOT_EXCLUDED, SOUND, Tested
from tests.stimuli.built import built
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import decide

PAGE = Path(__file__).resolve().parents[1] / "judges-tested.md"

SIZES = ("screen", "standard", "full")

RUNS = 300
"""Pairs of runs that are simulated for each judge with lapses."""

CORRELATIONS = (0.0, 0.05)
"""Of the lapses within a task family."""

ACCEPTED = {"use", "use-with-restrictions"}

LAPSING = {
    "1% lapses": JUDGES["1 % lapses, DC .7 %"],
    "2% lapses": JUDGES["2 % lapses, DC 1.4 %"],
}

LETTERS = {"use": "U", "use-with-restrictions": "W", "not-enough-data": "O", "do-not-use": "R"}

TEXT = """# Judges we tested

We ran {bad} bad judges and {sound} good ones at three sizes. No bad judge passed a policy whose purpose it fails, and \
no good judge was refused.

A cell has a letter for each size, `screen`, `standard` and `full`: U use, W use with restrictions, O not enough data, \
R do not use. In bold cells, the judge fails the purpose of the policy.

## Bad judges

Some bad judges suit one purpose: `ranking` accepts a judge that never checks figures, with that restriction. \
`ci-smoke` only finds broken judges.

<details markdown="1">
<summary>Verdicts on {bad} bad judges</summary>

{bad_table}

</details>

## Good judges

`screen` is too small to accept a judge under most policies.

{sound_table}

We also simulated {runs} pairs of `standard` runs of judges with lapses (±{error}). Most runs that are not accepted \
need more blank inputs, which `umpirical extend` adds.

{lapsing_table}

## Judges exactly at a threshold

A judge exactly at a threshold should pass in at most 5% of runs. The table shows the share of {at_runs:,} simulated \
`standard` runs (±{at_error}). Headers give the correlation within task families. With {looks} looks, each adds a \
quarter of the families, and passing once counts. Checks of the worst part are excluded: they fail only if a miss is \
shown.

<details markdown="1">
<summary>Share that passes, by check</summary>

{at_table}

</details>

## What these tests cannot exclude

{not_excluded}

Both answer like a good judge here. Use unpublished [labeled pairs](../data/labelled-pairs.md) or \
[answers](../data/own-answers.md) to find them.

`docs/explanation/judges-tested/write.py` writes this page.
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


def verdicts(judge: KnownJudge, correlation: float) -> list[dict[str, str]]:
    """What each policy decides, in pairs of runs that differ in nothing but chance."""
    plan, rng, found = planned("standard"), np.random.default_rng(7), []
    policies = [preset(name) for name in EVERY]
    for _ in range(2 * RUNS):
        measures = measured(draw(judge, plan, rng, correlation=correlation), policies)
        held = {one: hold_checks(one, "compare", measures, ["baseline"]) for one in policies}
        found.append({one.policy: decide(one, checks).verdict for one, checks in held.items()})
    return found


def lapsing_table() -> str:
    """How often a judge is accepted, by policy, and how often two runs of it end in the same verdict."""
    rows = [f"| simulated judge | correlation | {' | '.join(EVERY)} | same verdict twice |"]
    rows.append("| --- " * (len(EVERY) + 3) + "|")
    for (name, judge), correlation in product(LAPSING.items(), CORRELATIONS):
        found = verdicts(judge, correlation)
        shares = [sum(one[policy] in ACCEPTED for one in found) / len(found) for policy in EVERY]
        alike = sum(one == other for one, other in zip(found[::2], found[1::2], strict=True)) / RUNS
        rows.append(f"| {name} | {correlation:g} | {' | '.join(f'{share:.0%}' for share in [*shares, alike])} |")
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
        error=f"{1.96 * 0.5 / RUNS**0.5:.0%}",
        at_runs=thresholds.RUNS,
        at_error=f"{1.96 * (0.05 * 0.95 / thresholds.RUNS) ** 0.5:.0%}",
        at_table=thresholds.table(),
        looks=thresholds.LOOKS,
        not_excluded="\n".join(f"- **{name}**: {words}" for name, words in NOT_EXCLUDED.items()),
    )
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
