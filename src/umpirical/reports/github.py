"""The gate on GitHub: a summary of the job, and annotations.

A runner reads what a step prints for commands. So nothing here can begin a line, end one, or hold the start of a
command: whoever names a judge does not get to write one.
"""

from collections.abc import Iterator

from umpirical.reports.card import plain
from umpirical.reports.gate import GateDecision, HeldLimit
from umpirical.text.inert import one_line

WORDS = {"pass": "PASS", "fail": "**FAIL**", "open": "**OPEN**", "noted": "noted"}

MOST_ANNOTATIONS = 10
"""GitHub shows as many of each kind from a step."""


def render_summary(gate: GateDecision) -> str:
    """Renders the gate as Markdown, for the summary of a job."""
    return "\n".join(_summary(gate)) + "\n"


def _summary(gate: GateDecision) -> Iterator[str]:
    yield from (f"### {plain(gate.judge)}: {plain(gate.title)}", "", plain(gate.line), "")
    yield from ("| limit | allowed | | why |", "| --- | --- | --- | --- |")
    for limit in gate.limits:
        yield f"| {plain(limit.title)} | {plain(limit.allowed)} | {WORDS[limit.effect]} | {plain(limit.why)} |"
    yield ""
    if gate.baseline is None:
        return
    run, judge = plain(gate.baseline.run), plain(gate.baseline.judge)
    yield f"Against {run} ({judge}), worse by more than {gate.baseline.margin:g}:"
    yield from ("", "| measure | | before → now |", "| --- | --- | --- |")
    for row in gate.baseline.rows:
        standing = "**WORSE**" if row.standing == "worse" else row.standing
        yield f"| {plain(row.title)} | {standing} | {plain(row.words)} |"
    yield ""


def render_annotations(gate: GateDecision) -> list[str]:
    """Renders what stops the gate as commands of a runner: an error for what decides, a warning for what is open."""
    kind = "warning" if gate.verdict in {"not-enough-data", "incomplete"} else "error"
    whole = [] if gate.passed else [(kind, f"{gate.judge}: {gate.title}", gate.line)]
    kinds = {"fail": "error", "open": "warning"}
    limits = [(kinds[one.effect], *_said(one)) for one in gate.limits if one.effect in kinds]
    worse = gate.baseline.worse if gate.baseline else []
    rows = [("error", f"{row.title}: regression", row.words) for row in worse]
    told = [*whole, *limits, *rows]
    return [
        _command(*one)
        for kind in ("error", "warning")
        for one in [one for one in told if one[0] == kind][:MOST_ANNOTATIONS]
    ]


def _said(limit: HeldLimit) -> tuple[str, str]:
    return f"{limit.title} {limit.allowed}".rstrip(), f"{limit.verdict}: {limit.why}"


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title, more=True)}::{_escaped(message)}"


def _escaped(text: str, *, more: bool = False) -> str:
    """Escapes a message as a runner reads it; `more` for a property, in which a colon and a comma mean something.

    The older form of a command, `##[name]`, is found anywhere in a line, so that no text may hold its start.
    """
    escaped = one_line(text).replace("%", "%25").replace("##[", "## [")
    return escaped.replace(":", "%3A").replace(",", "%2C") if more else escaped
