"""Recomputes the tables of the two papers from their counts, and lists what cannot be recomputed.

The counts are in `tests/golden`, recovered from the printed figures. The script stops if a figure differs from the
printed one, unless the page says so.

    python docs/results/papers/write.py            writes the pages
    python docs/results/papers/write.py --check    fails if a page is not what the counts give
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from umpirical.domain.errors import UmpiricalError
from umpirical.reports import numbers
from umpirical.stats.intervals import wilson

HERE = Path(__file__).resolve().parent
COUNTS = HERE.parents[2] / "tests" / "golden"

NAMES = {"Llama8B": "Llama 8B", "Qwen14B": "Qwen 14B", "Qwen32B": "Qwen 32B", "Qwen32B_strict": "Qwen 32B, strict"}

TABLE_3 = {
    "dark_current": "Blank-input preference (dark current)",
    "raw_delta0_false_preference": "False preference (RFP0)",
    "delta0_tie_rate": "Tie rate, equal answers",
    "target_sensitivity_delta1": "Accuracy at a 1-requirement difference",
    "delta1_tie_rate": "Tie rate at a 1-requirement difference (MBT)",
    "target_sensitivity_delta5": "Accuracy at a 5-requirement difference",
}

PARTS = {
    "SCS": "Wording bias (SCS)",
    "PFP": "Position bias (PFP)",
    "OSC": "Winner in one order only (OSC)",
    "Other": "Other outcomes (Other)",
    "NP": "No preference (NP)",
}


class NotAsPrinted(UmpiricalError):
    """A figure does not follow from the counts as it was printed."""


def pages(counts: Path = COUNTS) -> dict[Path, str]:
    """Every page by its path."""
    dark, reliability = (
        json.loads((counts / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("dark_current", "judge_reliability")
    )
    return {
        HERE / "dark-current.md": "\n".join(_dark_current(dark)) + "\n",
        HERE / "judge-reliability.md": "\n".join(_reliability(reliability)) + "\n",
    }


# The Dark Current paper.


def _dark_current(counts: dict[str, Any]) -> Iterator[str]:
    yield "# Reproduced tables: the datasheet paper"
    yield ""
    yield from (
        "These tables are recomputed from the counts in the datasheet paper (Dark Current),",
        "[arXiv:2606.15610](https://arxiv.org/abs/2606.15610). Every share and interval of the first table matches the",
        "printed one. Each cell has a share, its 95% Wilson interval as in the paper, and the counts.",
        "`python docs/results/papers/write.py` writes this page.",
    )
    yield from ("", "## Table 3: judge comparison", "")
    rows = {(row["judge"], row["metric"]): row for row in counts["wilson_rows"]}
    judges = list(NAMES)
    titles = [NAMES[judge] for judge in judges]
    yield from _table("", titles, TABLE_3.items(), lambda judge, key: _row(rows, judge, key))
    yield from ("", "## Figures 3 and 5: equal-quality pairs", "")
    parts = counts["decomposition"]
    for judge in judges:
        if sum(parts[judge][part] for part in PARTS) != parts[judge]["denominator_pairs"]:
            raise NotAsPrinted(f"{judge}: the parts do not add up")
    yield from _table(
        "",
        titles,
        PARTS.items(),
        lambda judge, part: _share(parts[judge][part], parts[judge]["denominator_pairs"]),
    )
    yield from ("", "## Figure 1: blank-input preference and wording bias", "")
    yield "The first two columns place a judge; the third sets the size of its mark. `umpirical compare` draws this."
    yield ""
    yield "| judge | blank-input preference | wording bias | accuracy at a 1-requirement difference |"
    yield "| --- | --- | --- | --- |"
    for judge in judges:
        cells = [_row(rows, judge, "dark_current"), _share(parts[judge]["SCS"], parts[judge]["denominator_pairs"])]
        yield f"| {NAMES[judge]} | {' | '.join(cells)} | {_row(rows, judge, 'target_sensitivity_delta1')} |"
    yield from ("", "## Not reproducible from the paper", "")
    yield from (
        "- Figure 2: the shares at 2, 3 and 4 requirements are drawn but not printed.",
        "- Umpirical's own intervals, which account for correlation within a task family. They need counts by task.",
        "  The Wilson intervals above treat every call as independent.",
        "- The 75% detection threshold of Llama 8B with its interval: the paper's bootstrap needs counts by task.",
        "  One table that fits all printed figures gives the printed 4.00 [2.71, 4.00]",
        "  (`tests/golden/test_dark_current.py`). Others may fit.",
        "- Separate effects of position, label and list: the paper's design varies them together.",
    )


def _row(rows: dict[tuple[str, str], dict[str, Any]], judge: str, metric: str) -> str:
    found = rows.get((judge, metric))
    if found is None:
        return "not printed"
    hits, units = found["numerator"], found["denominator"]
    low, high = wilson(hits, units)
    printed = (found["estimate_published"], *found["ci_published"])
    if any(abs(one - other) > 5.1e-5 for one, other in zip((hits / units, low, high), printed, strict=True)):
        raise NotAsPrinted(f"{judge}: {metric} is printed as {printed}")
    return _share(hits, units)


# The Judge Reliability Harness.


def _reliability(counts: dict[str, Any]) -> Iterator[str]:
    judges = counts["judges"]
    yield "# Reproduced tables: the Judge Reliability Harness paper"
    yield ""
    yield from (
        "[The paper](https://github.com/RANDCorporation/judge-reliability-harness) prints rates, means and deviations.",
        "These tables use the counts behind them, where the printed figures allow only one set of counts.",
        "`python docs/results/papers/write.py` writes this page.",
    )
    yield from ("", "## PERSUADE heat map", "", "Share of items with the expected verdict.", "")
    persuade = {test: dict(zip(judges, cells, strict=True)) for test, cells in counts["persuade"].items()}
    yield from _table("", judges, ((test, f"`{test}`") for test in persuade), lambda j, test: _cell(persuade[test][j]))
    yield from ("", "## Tables 4 and 5: means over tests and over judges", "")
    yield "Percentages for PERSUADE, with the sample SD. All match the printed ones to one unit in the last digit."
    yield ""
    yield "| of | mean | SD | min | max |"
    yield "| --- | --- | --- | --- | --- |"
    for judge in judges:
        printed = _printed(counts["appendix_e"], judge=judge)
        yield _statistics(judge, [cells[judge] for cells in persuade.values()], printed)
    for test, cells in persuade.items():
        yield _statistics(f"`{test}`", list(cells.values()), _printed(counts["appendix_f"], test=test))
    yield from ("", "## Appendix G: agent judges", "")
    yield "Of 32 transcripts, 16 contain a violation. The best trio was chosen and tested on the same items."
    yield ""
    yield "| judge | accuracy | false positives | false negatives |"
    yield "| --- | --- | --- | --- |"
    for row in counts["appendix_g"]:
        cells = {
            "accuracy": (row["TP"] + row["TN"], 32),
            "FPR": (row["FP"], row["FP"] + row["TN"]),
            "FNR": (row["FN"], row["TP"] + row["FN"]),
        }
        for name, (hits, units) in cells.items():
            if float(_three_decimals(hits / units)) != row["published"][name]:
                raise NotAsPrinted(f"{row['model']}: {name} is printed as {row['published'][name]}")
        yield f"| {row['model']} | {' | '.join(_share(*cell) for cell in cells.values())} |"
    yield from ("", "## Appendix B: dollars per percentage point of accuracy", "")
    costs = counts["appendix_b"]
    yield from _table(
        "benchmark",
        costs["judges"],
        ((name, name) for name in costs["rows"]),
        lambda judge, name: f"{costs['rows'][name][costs['judges'].index(judge)]:.4f}",
    )
    means = [fmean(row[place] for row in costs["rows"].values()) for place in range(len(costs["judges"]))]
    yield f"| mean, as computed | {' | '.join(f'{mean:.4f}' for mean in means)} |"
    yield f"| overall, as printed | {' | '.join(f'{each:.4f}' for each in costs['overall'])} |"
    if any(abs(mean - printed) > 1e-4 for mean, printed in zip(means, costs["overall"], strict=True)):
        raise NotAsPrinted("the costs do not average to the printed ones")
    yield from _front(counts, persuade)
    yield from ("", "## Not reproducible from the paper", "")
    yield from (
        "- The HarmBench and FORTRESS heat maps: several sets of counts fit the printed means.",
        "- Other intervals, and clustering by item: the paper prints no counts by item.",
        "- CCC, r, rho and MAE by judge and test (Appendix D): they need the scores.",
        "- The overall cost by the rule in its note (total cost over mean accuracy). That is three to four times the",
        "  printed value, which is the plain mean of the four rows.",
        "- The cost curves of Appendix A: they are drawn but not printed.",
        "- Dollars for 1,000 verdicts on FORTRESS and HarmBench: the number of texts is not printed.",
        "- The cost of writing and validating texts: Appendix B has only the judges' calls.",
        "- Better value of any judge: the table above does not show it.",
        "- An advantage of the trio: its figures equal those of its best members, to the last digit.",
    )


@dataclass(frozen=True, slots=True)
class _Costed:
    """One judge on one benchmark: what it got right, and what it cost, as far as the printed digits tell."""

    judge: str
    right: int
    judged: int
    least: float
    most: float

    def dominates(self, other: "_Costed") -> bool:
        """Whether it surely costs no more, and its share of right answers is shown to be higher."""
        return self.most <= other.least and wilson(self.right, self.judged)[0] > wilson(other.right, other.judged)[1]


def _front(counts: dict[str, Any], persuade: dict[str, dict[str, str]]) -> Iterator[str]:
    yield from ("", "## Appendix B, recomputed: cost and accuracy", "")
    yield from (
        "This table covers benchmarks with known counts. Dollars are the printed ratio times the accuracy in percent,",
        "given as the range that rounds to the printed ratio. Claude is Sonnet 4.5 on PERSUADE and Opus 4.5 on",
        "AgentHarm. PERSUADE includes all texts, ten of them for stability. The column for a point above chance covers",
        "AgentHarm only, where half of the transcripts are violations. Without the labels, chance is unknown for the",
        "six grades of PERSUADE.",
    )
    yield ""
    yield "| benchmark | judge | correct | dollars | per 1,000 verdicts | per point above chance | dominated by |"
    yield "| --- | --- | --- | --- | --- | --- | --- |"
    for benchmark, rows in {"Persuade": _on_persuade(counts, persuade), "AgentHarm": _on_agents(counts)}.items():
        for row in rows:
            better = ", ".join(other.judge for other in rows if other.dominates(row)) or "none"
            cells = [_share(row.right, row.judged), _range(row.least, row.most)]
            cells.append(_range(1000 * row.least / row.judged, 1000 * row.most / row.judged))
            points = 100 * (row.right / row.judged - 0.5)
            cells.append(_range(row.least / points, row.most / points) if benchmark == "AgentHarm" else "–")
            yield f"| {benchmark} | {row.judge} | {' | '.join(cells)} | {better} |"


def _on_persuade(counts: dict[str, Any], persuade: dict[str, dict[str, str]]) -> list[_Costed]:
    """The ratio has the mean of the tests below the line; the counts of all tests together have the interval."""
    found = []
    for judge, ratio in zip(counts["appendix_b"]["judges"], counts["appendix_b"]["rows"]["Persuade"], strict=True):
        cells = [cells[judge] for cells in persuade.values()]
        pairs = [tuple(map(int, cell.split("/"))) for cell in cells]
        accuracy = 100 * fmean(float(Fraction(cell)) for cell in cells)
        right, judged = (sum(pair[end] for pair in pairs) for end in (0, 1))
        found.append(_Costed(judge, right, judged, *_dollars(ratio, accuracy)))
    return found


def _on_agents(counts: dict[str, Any]) -> list[_Costed]:
    costs, rows = counts["appendix_b"], {row["model"]: row for row in counts["appendix_g"]}
    found = []
    for judge, ratio in zip(costs["agentharm_judges"], costs["rows"]["AgentHarm"], strict=True):
        right = rows[judge]["TP"] + rows[judge]["TN"]
        found.append(_Costed(judge, right, 32, *_dollars(ratio, 100 * right / 32)))
    return found


def _dollars(ratio: float, accuracy: float) -> tuple[float, float]:
    """Returns the least and the most dollars whose ratio to an accuracy rounds to the printed one."""
    return (ratio - 5e-5) * accuracy, (ratio + 5e-5) * accuracy


def _range(least: float, most: float) -> str:
    one, other = (numbers.dollars(Decimal(repr(end))) for end in (least, most))
    return one if one == other else f"{one} to {other}"


def _statistics(of: str, cells: Sequence[str], printed: dict[str, Any]) -> str:
    values = [100 * float(Fraction(cell)) for cell in cells]
    found = {"mean": fmean(values), "sd": stdev(values), "min": min(values), "max": max(values)}
    for name, value in found.items():
        if abs(value - printed[name]) > 0.0101:
            raise NotAsPrinted(f"{of}: {name} is printed as {printed[name]}, and is {value:.2f}")
    return f"| {of} | {' | '.join(f'{value:.2f}' for value in found.values())} |"


def _printed(rows: Sequence[dict[str, Any]], **of: str) -> dict[str, Any]:
    (found,) = (
        row for row in rows if row["benchmark"] == "Persuade" and all(row[name] == each for name, each in of.items())
    )
    return found


def _cell(cell: str) -> str:
    hits, _, units = cell.partition("/")
    return _share(int(hits), int(units))


def _share(hits: int, units: int) -> str:
    share, low, high = map(_three_decimals, (hits / units, *wilson(hits, units)))
    return f"{share} [{low}, {high}]<br>{numbers.fraction(hits, units)}"


def _three_decimals(value: float) -> str:
    """Formats a share as the papers print it, so that both can be compared."""
    return str(Decimal(repr(value)).quantize(Decimal("0.001"), ROUND_HALF_UP))


def _table(corner: str, columns: Sequence[str], rows: Any, cell: Any) -> Iterator[str]:  # noqa: ANN401  # of any kind
    yield f"| {corner} | {' | '.join(columns)} |".replace("|  |", "| |")
    yield f"| --- |{' --- |' * len(columns)}"
    keys = list(NAMES) if set(columns) == set(NAMES.values()) else columns
    for key, title in rows:
        yield f"| {title} | {' | '.join(cell(column, key) for column in keys)} |"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the pages, or checks them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; exit with 1 if a page is out of date")
    parser.add_argument("--counts", type=Path, default=COUNTS, help="folder with the counts")
    options = parser.parse_args(arguments)
    stale = []
    for path, text in pages(options.counts).items():
        if options.check:
            stale += [] if path.is_file() and path.read_text(encoding="utf-8") == text else [path.name]
        else:
            path.write_text(text, encoding="utf-8")
    if stale:
        sys.stderr.write(f"not what the counts give: {', '.join(stale)}; python docs/results/papers/write.py\n")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
