"""The record of a jury, what was found in it, and its card."""

from decimal import Decimal
from typing import Literal

from pydantic import Field

from umpirical.domain.measures import Estimate, Result, Undefined
from umpirical.measures.catalogue import Scale
from umpirical.reports import numbers
from umpirical.reports.pages import plain, quoted
from umpirical.reports.record import ResultRecord, Strict
from umpirical.stats.juries import RuleName

MeasureName = Literal["balanced accuracy", "accuracy", "closeness"]


class JurorRecord(Strict):
    """A member of the jury, measured on the same calls."""

    name: str
    run: str
    fingerprint: str
    accuracy: ResultRecord
    cost_per_1000: Decimal | None
    without_verdict: int = Field(description="Calls on which it gave no vote.")


class SharedErrors(Strict):
    """How often two members are wrong together."""

    first: str
    second: str
    correlation: ResultRecord = Field(description="Correlation of being wrong in the same call.")


class Jury(Strict):
    """Several judges as one."""

    format: Literal["judge-jury/2"] = "judge-jury/2"
    name: str
    rule: RuleName
    members: list[JurorRecord]
    chosen_from: list[str] = Field(description="The judges the jury was chosen from; empty if all are members.")
    learned_on: list[str] = Field(
        description="Task families, prompts, items or transcripts used to select the jury or train its rule; empty if "
        "none."
    )
    reported_on: list[str] = Field(description="The held-out ones that all results here are about.")
    looked_best_at: float | None = Field(
        description="The measure on those used for selection, so too optimistic; null if not selected."
    )
    measure: MeasureName = Field(
        default="balanced accuracy",
        description="The measure in `accuracy`. Balanced accuracy: calls with a better answer and calls without one "
        "have the same weight. Closeness: 1 minus the mean distance from the label, as a share of the scale.",
    )
    accuracy: ResultRecord = Field(description="How right its verdicts are.")
    without_verdict: int = Field(
        description="Calls on which no more than half of the members voted, or the vote was tied. They count as wrong."
    )
    best_judge: str = Field(description="The best of all named judges on the half used for selection.")
    gain: ResultRecord = Field(
        description="The measure of the jury minus that of the best judge, on the held-out half."
    )
    error_correlation: ResultRecord = Field(description="Mean over all pairs of members.")
    effective_judges: ResultRecord = Field(
        description="How many judges with independent errors would be worth as much."
    )
    shared_errors: list[SharedErrors]
    cost_per_1000: Decimal | None = Field(description="Dollars per 1,000 verdicts of the jury; null if unknown.")
    excluded: int = Field(description="Calls that not all members were asked.")
    findings: list[str]
    assumptions: list[str]


def findings(jury: Jury, units: str) -> list[str]:
    """Returns what was found, in a few plain sentences. `units` is what was divided into halves: task families."""
    count = len(jury.members)
    said = [f"{_title(jury)} of {numbers.count(count)} judges by {jury.rule}: {_shown(jury.accuracy)}."]
    if jury.looked_best_at is not None:
        said.append(
            f"They were selected from {numbers.count(len(jury.chosen_from))} judges on "
            f"{numbers.count(len(jury.learned_on))} {units}, where their {jury.measure} was "
            f"{numbers.rate(jury.looked_best_at)}. All results are for the other "
            f"{numbers.count(len(jury.reported_on))}."
        )
    elif jury.learned_on:
        said.append(
            f"The rule was trained on {numbers.count(len(jury.learned_on))} {units}. All results are for the "
            f"other {numbers.count(len(jury.reported_on))}."
        )
    if isinstance(jury.gain, Estimate):
        said.append(
            f"Compared with {jury.best_judge}, the best single judge, that is {_shown(jury.gain, 'difference')} on the "
            f"held-out {units}: {_worth(jury.gain)}."
        )
    if isinstance(jury.effective_judges, Estimate):
        said.append(
            f"Their errors correlate by {_shown(jury.error_correlation, 'coefficient')}, so {numbers.count(count)} "
            f"judges are worth {_shown(jury.effective_judges, 'ratio')} judges with independent errors."
        )
    if jury.cost_per_1000 is not None:
        said.append(f"Cost of 1,000 verdicts: {numbers.dollars(jury.cost_per_1000)}.")
    if jury.without_verdict:
        said.append(f"{numbers.count(jury.without_verdict)} calls have no verdict and count as wrong.")
    if jury.excluded:
        said.append(f"{numbers.count(jury.excluded)} calls are excluded because not all members were asked.")
    return said


def _title(jury: Jury) -> str:
    return "Closeness to the labels" if jury.measure == "closeness" else jury.measure.capitalize()


def render_jury_markdown(jury: Jury) -> str:
    """Renders the card of a jury."""
    lines = ["---", f"format: {quoted(jury.format)}", f"name: {quoted(jury.name)}", "---", ""]
    lines += [f"# {plain(jury.name)}", "", *(f"- {plain(finding)}" for finding in jury.findings), ""]
    lines += [
        f"| member | {jury.measure} | calls without a vote | dollars per 1,000 calls |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {plain(member.name)} | {_cell(member.accuracy)} | {numbers.count(member.without_verdict)} "
        f"| {_dollars(member.cost_per_1000)} |"
        for member in jury.members
    ]
    lines += ["", "| members | correlation of errors |", "| --- | --- |"]
    lines += [
        f"| {plain(two.first)}, {plain(two.second)} | {_cell(two.correlation, 'coefficient')} |"
        for two in jury.shared_errors
    ]
    lines += ["", "## Assumptions", "", *(f"- {plain(each)}" for each in jury.assumptions)]
    return "\n".join(lines) + "\n"


def _shown(result: Result, scale: Scale = "rate") -> str:
    """Returns a value with its interval, or why there is none."""
    if isinstance(result, Undefined):
        return f"undefined: {result.reason}"
    limits, written = result.interval, numbers.scaled(result.value, scale)
    if limits is None or limits.low is None or limits.high is None:
        return written
    return f"{written} {numbers.scaled_interval(limits.low, limits.high, scale)}"


def _worth(gain: Estimate) -> str:
    """Says whether the jury is better than the best judge alone."""
    limits = gain.interval
    if limits is None or limits.low is None or limits.high is None or limits.low <= 0 <= limits.high:
        return "the difference is not significant"
    return "the jury is significantly better" if limits.low > 0 else "the jury is significantly worse"


def _cell(result: Result, scale: Scale = "rate") -> str:
    return plain(_shown(result, scale))


def _dollars(amount: Decimal | None) -> str:
    return "unknown" if amount is None else numbers.dollars(amount)
