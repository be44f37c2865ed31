"""What a jury comes to, in words: its findings, what they assume, and its card."""

from decimal import Decimal

from umpirical.protocols.datasheet.juries.record import Jury
from umpirical.reports import numbers
from umpirical.reports.card import plain, quoted
from umpirical.reports.record import EstimateRecord, UndefinedRecord

ASSUMPTIONS = [
    "The figures are about constructed answers. Judges may err together more, or less, on answers of other kinds.",
    "Every member is asked once for each verdict. Their prices are those of the calls that were measured.",
    "Weighted and Dawid-Skene rules are as good as the calls that they were learned from.",
]


def findings(jury: Jury) -> list[str]:
    """Returns what was found, in a few plain sentences."""
    count = len(jury.members)
    right = f"{numbers.count(count)} judges by {jury.rule} are right in {_shown(jury.accuracy)} of the calls"
    said = [f"{right}; calls with a better answer and calls without weigh the same."]
    if jury.looked_best_at is not None:
        said.append(
            f"They were chosen among {numbers.count(len(jury.chosen_from))} on "
            f"{numbers.count(len(jury.learned_on))} families, on which they looked right in "
            f"{numbers.rate(jury.looked_best_at)}; every figure is about the other "
            f"{numbers.count(len(jury.reported_on))}."
        )
    elif jury.learned_on:
        said.append(
            f"The rule was learned on {numbers.count(len(jury.learned_on))} families; every figure is about the other "
            f"{numbers.count(len(jury.reported_on))}."
        )
    if isinstance(jury.gain, EstimateRecord):
        said.append(
            f"Against {jury.best_judge}, the best judge alone, that is {_shown(jury.gain, sign=True)} on the "
            f"families that did not choose it: {_worth(jury.gain)}."
        )
    if isinstance(jury.effective_judges, EstimateRecord):
        said.append(
            f"Their errors correlate by {_shown(jury.error_correlation)}, so that {numbers.count(count)} judges are "
            f"worth {_shown(jury.effective_judges)} whose errors are independent."
        )
    if jury.cost_per_1000 is not None:
        said.append(f"1,000 verdicts of the jury cost {numbers.dollars(jury.cost_per_1000)}.")
    if jury.without_verdict:
        said.append(f"{numbers.count(jury.without_verdict)} calls have no verdict, which count as not right.")
    if jury.left_out:
        said.append(f"{numbers.count(jury.left_out)} calls that not all members were asked are left out.")
    return said


def render_jury_markdown(jury: Jury) -> str:
    """Renders the card of a jury."""
    lines = ["---", f"format: {quoted(jury.format)}", f"name: {quoted(jury.name)}", "---", ""]
    lines += [f"# {plain(jury.name)}", "", *(f"- {plain(finding)}" for finding in jury.findings), ""]
    lines += ["| member | balanced accuracy | calls without a vote | dollars per 1,000 |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {plain(member.name)} | {_cell(member.accuracy)} | {numbers.count(member.without_verdict)} "
        f"| {_dollars(member.cost_per_1000)} |"
        for member in jury.members
    ]
    lines += ["", "| two members | correlation of their errors |", "| --- | --- |"]
    lines += [f"| {plain(two.first)}, {plain(two.second)} | {_cell(two.correlation)} |" for two in jury.shared_errors]
    lines += ["", "## What this assumes", "", *(f"- {plain(each)}" for each in jury.assumptions)]
    return "\n".join(lines) + "\n"


def _shown(result: EstimateRecord | UndefinedRecord, *, sign: bool = False) -> str:
    """Returns a value with its interval, or why there is none."""
    if isinstance(result, UndefinedRecord):
        return f"undefined: {result.reason}"
    written = numbers.difference if sign else numbers.rate
    limits = result.interval
    if limits is None or limits.low is None or limits.high is None:
        return written(result.value)
    return f"{written(result.value)} [{written(limits.low)}, {written(limits.high)}]"


def _worth(gain: EstimateRecord) -> str:
    """Says whether the jury is better than the best judge alone."""
    limits = gain.interval
    if limits is None or limits.low is None or limits.high is None or limits.low <= 0 <= limits.high:
        return "no difference is shown"
    return "the jury is better" if limits.low > 0 else "the jury is worse"


def _cell(result: EstimateRecord | UndefinedRecord) -> str:
    return plain(_shown(result))


def _dollars(amount: Decimal | None) -> str:
    return "not known" if amount is None else numbers.dollars(amount)
