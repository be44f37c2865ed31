"""The gate: the decision in a judge's record and its regressions, as one verdict with an exit code: `judge-gate/1`.

The verdict is that of the record. Only one thing can take its place: a **regression** against the baseline, if the run
is complete and the judge is not refused anyway. Nothing of a prompt or of an answer is in it: only names, numbers and
the policy's words, so it can be shown to whoever sees the pipeline.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from pydantic import Field

from umpirical.domain.trials import BASELINE
from umpirical.reports import numbers
from umpirical.reports.checks import settling
from umpirical.reports.decision import EXIT_CODES, INCOMPLETE, TITLES, Advice, VerdictRecord, tally, together
from umpirical.reports.policy import at, policy_words
from umpirical.reports.record import CheckRecord, CheckVerdict, ConditionRecord, MeasureRecord, Record, Strict
from umpirical.reports.regressions import RegressionRow

GATE_TITLES = {str(name): title for name, title in TITLES.items()} | {"regression": "Regression"}
"""Verdicts of a gate, in words: those of a decision, and one of its own."""

REGRESSION = 7
"""Exit code. 5 is that of every command on a run that can be resumed, and 6 is a refused price."""

Effect = Literal["pass", "fail", "open", "noted"]
"""What a check does to the gate. `noted`: it does not pass, and does not decide, because a recommended use compensates
for it or it is not essential."""


class HeldCheck(Strict):
    """One check, and what it does to the gate."""

    measure: str
    stratum: str
    title: str = Field(description="The measure's or the test's, with its stratum.")
    allowed: str = Field(description="The threshold in words; empty for a test with several.")
    verdict: CheckVerdict
    effect: Effect
    worse: Literal["higher", "lower"] | None = Field(description="Which direction is bad news; null if both are.")
    why: str
    more_needed: int | None = Field(
        default=None, description="More units that would decide it, or the nearest recommended use."
    )
    unit: str | None = None


class BaselineRecord(Strict):
    """What the judge was like before."""

    judge: str
    run: str
    margin: float = Field(description="How much worse a measure may be before it counts.")
    level: float = Field(
        description="At most how often a judge that is not worse by more than the margin is called worse."
    )
    rows: list[RegressionRow]

    @property
    def worse(self) -> list[RegressionRow]:
        return [row for row in self.rows if row.standing == "worse"]


class GateDecision(Strict):
    """Whether a judge passes."""

    format: Literal["judge-gate/1"] = "judge-gate/1"
    judge: str
    run: str
    protocol: str
    policy: str = Field(description="The policy's name; empty for a protocol without policies.")
    policy_digest: str = Field(default="", description="Digest of everything in the policy.")
    policy_shipped: bool = Field(default=True, description="Whether this version ships that policy.")
    verdict: str = Field(description="The verdict in the record, or `regression`.")
    exit_code: int
    line: str = Field(description="The verdict and its reason, in one line.")
    checks: list[HeldCheck]
    baseline: BaselineRecord | None = None

    @property
    def passed(self) -> bool:
        """Whether the judge may be used, with checks or without."""
        return self.exit_code == 0

    @property
    def title(self) -> str:
        return GATE_TITLES.get(self.verdict, self.verdict)

    @property
    def policy_line(self) -> str:
        """The policy, with its digest; empty without one."""
        if not self.policy_digest:
            return ""
        return f"Policy {policy_words(self.policy, self.policy_digest, shipped=self.policy_shipped)}"


def own_checks(checks: Sequence[CheckRecord]) -> list[HeldCheck]:
    """Returns the checks of the judge's own prompt, in short."""
    return [held_check(check) for check in of_own_prompt(checks)]


def of_own_prompt(checks: Sequence[CheckRecord]) -> list[CheckRecord]:
    """Returns the checks of the judge's own prompt: another variant is another judge, and changes no verdict."""
    own = _own_variant([check.variant for check in checks])
    return [check for check in checks if check.variant == own]


def own_measures(record: Record) -> list[MeasureRecord]:
    """Returns the measures of the judge's own prompt over all of the data."""
    own = _own_variant([measure.variant for measure in record.measures])
    return [one for one in record.measures if one.variant == own and not getattr(one, "group", "")]


def _own_variant(variants: Sequence[str]) -> str:
    return BASELINE if BASELINE in variants or not variants else variants[0]


def held_check(check: CheckRecord) -> HeldCheck:
    """Returns what a check of a policy does to the gate."""
    effect: Effect = "noted"
    needs = settling(check)
    slowest = max(needs, key=lambda need: need.more_needed or 0, default=check)
    if check.verdict == "PASS":
        effect = "pass"
    elif check.essential and check.state in {"broken", "open"}:
        effect = "fail" if check.state == "broken" else "open"
    return HeldCheck(
        measure=check.measure,
        stratum=check.stratum,
        title=f"{check.title or check.measure}{at(check.stratum)}",
        allowed=numbers.threshold(check.kind, check.value, check.measure),
        verdict=check.verdict,
        effect=effect,
        worse="higher" if check.kind == "at_most" else "lower",
        why=check.why + "".join(f" ({words})" for words in _aside(check, needs)),
        more_needed=slowest.more_needed,
        unit=slowest.unit,
    )


def _aside(check: CheckRecord, needs: Sequence[ConditionRecord]) -> Iterator[str]:
    """Yields what makes up for a check, or what would and is open too."""
    if check.way:
        yield check.way
    for need in needs:
        if (need.measure, need.stratum) == (check.measure, check.stratum):
            continue
        name, needed = f"{need.title.lower()}{at(need.stratum)}", "is open"
        if need.more_needed is not None:
            needed = (
                f"needs about {numbers.about(need.more_needed)} more {numbers.units(str(need.unit), need.more_needed)}"
            )
        yield f"a recommended use would compensate for it, but {name} {needed}"


class Ruling(NamedTuple):
    """What is to be done with a judge."""

    verdict: str
    line: str
    exit_code: int


def decide_by_effects(
    policy: str, checks: Sequence[HeldCheck], *, unfinished: str, unknown: Sequence[str] = ()
) -> VerdictRecord:
    """Decides by what each check does. `unfinished` is what the run lacks, and `unknown` what the data cannot show."""
    effects = {effect: [check for check in checks if check.effect == effect] for effect in ("fail", "open", "noted")}
    score = tally(_decided(check) for check in checks)
    verdict: Advice = "use"
    said = [f"{score}."]
    if unfinished:
        verdict, said = "not-enough-data", [f"The run is incomplete: {unfinished}."]
    elif effects["fail"]:
        verdict, said = "do-not-use", [f"It fails on {_titles(effects['fail'])}. {score}."]
    elif effects["open"] or not checks:
        needed = f"More data is needed for {_titles(effects['open'])}." if effects["open"] else "No check was run."
        verdict, said = "not-enough-data", [f"{score}. {needed}"]
        if alone := sum(_decided(check) != check.verdict for check in checks):
            of_them = f"{alone} of them {'passes or fails on its own' if alone == 1 else 'pass or fail on their own'}"
            said.append(f"{of_them}, but with this many checks, chance alone may cause that.")
    elif effects["noted"] or unknown:
        verdict = "use-with-restrictions"
        said += [f"Not measured: {_titles(effects['noted'])}."] if effects["noted"] else []
    return VerdictRecord(verdict=verdict, policy_name=policy, sentences=[*said, *unknown])


def _decided(check: HeldCheck) -> CheckVerdict:
    """Returns the verdict on a check as it counts: what leaves the decision open is not settled."""
    return "INCONCLUSIVE" if check.effect == "open" and check.verdict != "N/A" else check.verdict


def ruling(decided: Ruling, baseline: BaselineRecord | None) -> Ruling:
    """Rules on a record that has been decided on, by what has become worse."""
    if baseline is not None and baseline.worse and decided.exit_code not in {EXIT_CODES["do-not-use"], INCOMPLETE}:
        said = f"worse than {baseline.run} by more than {numbers.margin(baseline.margin)} in {_titles(baseline.worse)}"
        return Ruling("regression", f"{GATE_TITLES['regression']}: it is {said}. {decided.line}", REGRESSION)
    return decided


def _titles(rows: Sequence[HeldCheck] | Sequence[RegressionRow]) -> str:
    return together([row.title[:1].lower() + row.title[1:] for row in rows])
