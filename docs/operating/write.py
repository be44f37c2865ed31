"""Writes docs/operating.md: how often each planted judge is accepted, refused or left open, at each size.

    python docs/operating/write.py --runs 300

Counts are drawn; measures, limits and decisions are the real ones, on the counts that the shipped sizes plan.
"""

import argparse
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from judges import JUDGES, Plan, Planted, at_limits, draw, plan_of
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
Written by `docs/operating/write.py`: {runs} simulated runs for each judge and size, with a correlation of \
{correlation:g} within a task family. Counts are drawn from planted judges; measures, limits and decisions are the \
real ones, on the counts that each size plans. A share is of runs; a decision that is not named was never made. The \
error of a share is at most ±{error:.3f}."""

PROMISE = """\
The policy promises: a judge at an essential limit is accepted in at most {policy.accepts:g} of runs, and a judge that \
meets every limit is refused in at most {policy.refuses:g}. Judges that are perfect but for one limit of `ranking`, \
which they are exactly at, share accepted:"""

PAGE = Path(__file__).parents[1] / "operating.md"

SHORT: dict[Decision, str] = {
    "use": "use",
    "use-with-limits": "limits",
    "do-not-use": "do not",
    "not-enough-data": "open",
}
ACCEPTED = ("use", "use-with-limits")


def planned(size: str) -> Plan:
    """Counts what a shipped size asks of each task family."""
    with tempfile.TemporaryDirectory() as folder:
        judge = {"name": "careful", "model": {"adapter": "simulated", "name": "careful"}}
        study = parse_study_data({"study": "operating", "judges": [judge], "design": {"size": size}}, Path(folder))
        return plan_of(datasheet_stimuli(chosen_materials(study), recipe(size), seed=1))


Found = dict[str, Counter[Decision]]
"""How often each decision was made, by policy."""


def decisions(  # noqa: PLR0913  # each by its name
    judge: Planted, plan: Plan, policies: Sequence[Policy], *, runs: int, seed: int, correlation: float
) -> Found:
    """Returns how often each decision is made in so many runs, each held to every policy."""
    rng = np.random.default_rng(seed)
    found: Found = {policy.policy: Counter() for policy in policies}
    for _ in range(runs):
        measures = _measured(draw(judge, plan, rng, correlation=correlation), policies)
        for policy in policies:
            limits = hold_limits(policy, "compare", measures, ["baseline"])
            found[policy.policy][decide(policy, limits).verdict] += 1
    return found


def _measured(tallies: Tallies, policies: Sequence[Policy]) -> list[MeasureRecord]:
    limits = [limit for policy in policies for limit in policy.compare]
    needs = [need.measure for limit in limits for cure in limit.cures for need in cure.needs]
    specs = [MEASURES.get(name) for name in dict.fromkeys([*(limit.measure for limit in limits), *needs])]
    return [measure_record(spec, measure) for spec in specs for measure in spec.compute(tallies, "baseline")]


def page(runs: int, correlation: float, sizes: Sequence[str], policies: Sequence[str]) -> str:
    """Returns the text of the page."""
    plans = {size: planned(size) for size in sizes}
    held = [preset(name) for name in dict.fromkeys([*policies, "ranking"])]
    found = {
        name: {
            size: decisions(
                judge, plan, held, runs=runs, seed=zlib.crc32(f"{name} {size}".encode()), correlation=correlation
            )
            for size, plan in plans.items()
        }
        for name, judge in {**JUDGES, **at_limits()}.items()
    }
    return "\n".join(_lines(found, sizes, runs, correlation, policies)) + "\n"


AllFound = dict[str, dict[str, Found]]
"""By judge and size."""


def _lines(
    found: AllFound, sizes: Sequence[str], runs: int, correlation: float, policies: Sequence[str]
) -> Iterator[str]:
    yield from (
        "# What the decision does with judges that are known",
        "",
        INTRODUCTION.format(runs=f"{runs:,}", correlation=correlation, error=1.96 * 0.5 / runs**0.5),
        "",
    )
    for name in policies:
        yield from (f"## Policy `{name}`", "", preset(name).about, "")
        yield from _table("judge", [f"{size} ({recipe(size).calls:,} calls)" for size in sizes], {
            judge: [_cell(found[judge][size][name], runs) for size in sizes] for judge in JUDGES
        })  # fmt: skip
    yield from (
        "## The joint error rates, measured",
        "",
        PROMISE.format(policy=preset()),
        "",
        *_table("at the limit of", sizes, {
            judge: [_share(sum(found[judge][size]["ranking"][one] for one in ACCEPTED), runs) for size in sizes]
            for judge in at_limits()
        }),
        "Judges that meet every limit of `ranking`, share refused:",
        "",
        *_table("judge", sizes, {
            name: [_share(found[name][size]["ranking"]["do-not-use"], runs) for size in sizes]
            for name, judge in JUDGES.items()
            if judge.sound
        }),
    )  # fmt: skip


def _table(head: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> Iterator[str]:
    yield f"| {head} | {' | '.join(columns)} |"
    yield f"| --- | {' | '.join('---' for _ in columns)} |"
    yield from (f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())
    yield ""


def _cell(found: Counter[Decision], runs: int) -> str:
    return ", ".join(f"{SHORT[one]} {_share(found[one], runs)}" for one in SHORT if found[one])


def _share(number: int, runs: int) -> str:
    share = number / runs
    return "1" if share == 1 else "0" if share == 0 else f"{share:.2f}".removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--correlation", type=float, default=0.05, help="within a task family")
    parser.add_argument("--size", action="append", choices=list(RECIPES), help="only this one; may be given again")
    parser.add_argument("--policy", action="append", choices=list(PRESETS), help="likewise")
    parser.add_argument("--out", type=Path, default=PAGE)
    given = parser.parse_args()
    text = page(given.runs, given.correlation, given.size or list(RECIPES), given.policy or list(PRESETS))
    given.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
