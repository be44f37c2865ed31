"""Decides by rule what to do with a judge. No decision is worded by hand: its words come from the policy and checks.

The first of these that applies is the verdict: an incomplete run or a failed blocking gate of the stimuli, **not enough
data**; a broken essential check, **do not use**; an open one, **not enough data**; a check made up for, a check that is
not essential and does not pass, or a part of the data in which the judge is shown to be weak, **use with
restrictions**; otherwise **use**. What makes a check broken, open or made up for is in `checks`.

The verdict is a part of the record. Commands, pages, cards and galleries read it there, and decide nothing.

`decide` words a decision in full, for a datasheet. `decide_in_parts` words one for judges on data that has parts.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar, get_args

from pydantic import Field

from umpirical.domain.measures import Estimate
from umpirical.domain.trials import BASELINE
from umpirical.reports import numbers
from umpirical.reports.checks import Side, one_sided
from umpirical.reports.numbers import about, level, units
from umpirical.reports.parts import not_for_words, parts_named
from umpirical.reports.policy import Check, Policy, at
from umpirical.reports.record import (
    CheckRecord,
    CheckState,
    CheckVerdict,
    ConditionRecord,
    GateRecord,
    GroupedMeasure,
    Strict,
)

Advice = Literal["use", "use-with-restrictions", "do-not-use", "not-enough-data"]
"""What to do with a judge."""

TITLES: dict[Advice, str] = {
    "use": "Use",
    "use-with-restrictions": "Use with restrictions",
    "do-not-use": "Do not use",
    "not-enough-data": "Not enough data",
}

EXIT_CODES: dict[Advice, int] = {"use": 0, "use-with-restrictions": 0, "do-not-use": 3, "not-enough-data": 4}
"""What a command that decides exits with, if the run is complete."""

INCOMPLETE = 5
"""What it exits with if the run is incomplete: the same run can be resumed."""

RULES = (
    """\
Each check compares a one-sided bound with a threshold. It passes if the bound meets the threshold, even with every \
missing answer counted against the judge. It fails if the bound on the other side misses the threshold. Otherwise it \
is INCONCLUSIVE. A check is N/A if its measure was not taken or is undefined; N/A never counts as a pass.
Not enough data: the run is incomplete, or the test cases failed a gate that blocks.
Do not use: otherwise, an essential check fails, and no recommended use compensates for it.
Not enough data: otherwise, an essential check is INCONCLUSIVE or N/A, and no recommended use compensates for it.
Use with restrictions: otherwise, a check does not pass; a recommended use compensates for every essential one.
Use: every check passes."""
).splitlines()
"""The rules as printed on the page."""


class VerdictRecord(Strict):
    """What to do with the judge."""

    verdict: Advice
    policy_name: str = Field(default="", description="The policy behind the verdict.")
    sentences: list[str] = Field(description="The reason for the verdict first, then what else to know.")

    @property
    def title(self) -> str:
        """The verdict in words, the same wherever it is shown."""
        return TITLES[self.verdict]

    @property
    def line(self) -> str:
        """The decision in one line, the same wherever it is shown."""
        return f"{self.title} (policy {self.policy_name}): {' '.join(self.sentences)}"


class DecisionRecord(VerdictRecord):
    """What to do with the judge, in the words of the policy."""

    sentences: list[str] = Field(description="Two: the reason for the verdict, and the inconclusive checks.")
    good_for: list[str] = Field(default=[])
    not_for: list[str] = Field(default=[])
    use_like_this: list[str] = Field(default=[])
    not_measured: list[str] = Field(default=[])
    would_change: list[str] = Field(default=[], description="Changes that would lead to another verdict.")
    policy: list[str] = Field(default=[], description="The rules behind the verdict, in words.")

    @property
    def line(self) -> str:
        return f"{self.title} (policy {self.policy_name}): {self.sentences[0]}"


class PartsDecision(VerdictRecord):
    """What to do with the judge, and in which parts of the data it is weak."""

    weak_at: list[str] = Field(default=[])


def verdict_on(held: Sequence[CheckRecord], *, complete: bool, restricted: bool = False) -> Advice:
    """Returns the verdict of the rules above on the checks of one variant. `restricted`: a part is shown to be weak."""
    states = {check.state for check in held if check.essential}
    if not complete:
        return "not-enough-data"
    if "broken" in states:
        return "do-not-use"
    if "open" in states or not states:
        return "not-enough-data"
    return "use" if {check.verdict for check in held} == {"PASS"} and not restricted else "use-with-restrictions"


def tally(verdicts: Iterable[CheckVerdict]) -> str:
    """Says what became of all checks: the counts add up to their number.

    >>> tally(["PASS", "PASS", "FAIL", "N/A"])
    '2 of 4 checks passed, 1 failed and 1 was not measured'
    """
    counted = Counter(verdicts)
    passed, total = counted["PASS"], counted.total()
    if total and passed == total:
        return f"All {total} checks passed" if total > 1 else "The only check passed"
    words: dict[CheckVerdict, tuple[str, str]] = {
        "FAIL": ("failed", "failed"),
        "INCONCLUSIVE": ("is inconclusive", "are inconclusive"),
        "N/A": ("was not measured", "were not measured"),
    }
    first = f"{passed} of {total} {units('check', total)} passed"
    others = [f"{counted[one]} {said[counted[one] > 1]}" for one, said in words.items() if counted[one]]
    return together([first, *others])


def together(parts: Sequence[str]) -> str:
    """Joins parts as a sentence does: `a, b and c`."""
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


# Decisions on data that has parts

PartsT = TypeVar("PartsT", bound=PartsDecision)

PARTS_ERROR = 0.05
"""How often an interval of any part misses the true value, all parts together."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What is known of the parts of the data."""

    what: str
    """What the data consists of: `pairs`."""
    weak: Sequence[str] = ()
    """Parts in which the judge is shown to miss its check."""
    unknown: Sequence[str] = ()
    """What the data cannot show, in sentences."""


def decide_in_parts(
    kind: type[PartsT],
    policy: str,
    held: Sequence[CheckRecord],
    parts: Parts,
    *,
    unfinished: str,
    say: Callable[[CheckRecord], str] | None = None,
) -> PartsT:
    """Decides on the judge's own prompt. `unfinished` is what the run lacks, and `say` words a check that decides."""
    say, weak = say or said, list(parts.weak)
    verdict = verdict_on(held, complete=not unfinished, restricted=bool(weak or parts.unknown))
    sentences = [f"{tally(check.verdict for check in held)}."]
    essential = [check for check in held if check.essential]
    match verdict:
        case "do-not-use":
            sentences += [say(check) for check in essential if check.state == "broken"]
            weak = []
        case "not-enough-data":
            nothing = [] if essential else ["No essential measure was taken."]
            sentences += [say(check) for check in essential if check.state == "open"] or nothing
            if unfinished:
                sentences = [f"The run is incomplete: {unfinished}."]
        case "use-with-restrictions":
            sentences += [check.way for check in essential if check.way]
            sentences += [say(check) for check in held if not check.essential and check.verdict != "PASS"]
            if weak and len(sentences) == 1:
                sentences.append(f"This holds for all {parts.what} together, but not for each part of the data.")
            sentences += parts.unknown
        case "use":
            pass
    return kind(verdict=verdict, policy_name=policy, sentences=sentences, weak_at=weak)


def said(check: CheckRecord) -> str:
    return f"{check.title}: {check.why}."


def said_with_need(check: CheckRecord) -> str:
    """Also says how many more units settle a check."""
    more = check.more_needed
    needed = "" if more is None else f"; about {about(more)} more {units(str(check.unit), more)} would decide it"
    return f"{check.title}: {check.why}{needed}."


def weak_parts(
    measures: Sequence[GroupedMeasure], checks: Sequence[Check], says: Mapping[str, str], part_of: Callable[..., str]
) -> Iterator[str]:
    """Yields the parts in which a measure is shown to be below what the policy asks for.

    `says` maps each such measure to how its value is said, and `part_of` a measure to its part; empty for none. One
    part of many is low by chance, so their intervals share the error.
    """
    least = {check.measure: check.at_least for check in checks if not check.at and check.at_least is not None}
    own = [
        one for one in measures if one.name in says and one.name in least and one.variant == BASELINE and part_of(one)
    ]
    found = [(one, one.result) for one in own if isinstance(one.result, Estimate)]
    for one, result in found:
        low, high = (
            one_sided(one, result, side, alpha=PARTS_ERROR / 2 / len(found), count_missing=False)
            for side in get_args(Side)
        )
        if high < least[one.name]:
            seen = f"{numbers.measured_value(one, result)} {numbers.scaled_interval(low, high, one.scale)}"
            yield f"{part_of(one)}: {says[one.name]} {seen}"


def find(table: Mapping[tuple[str, str], str], measures: Sequence[GroupedMeasure]) -> list[str]:
    """Returns what was found: a sentence of the table for each (measure, group) that has a value."""
    own = {(one.name, one.group): one for one in measures if not one.stratum and one.variant == BASELINE}
    found = []
    for key, words in table.items():
        result = own[key].result if key in own else None
        if isinstance(result, Estimate):
            found.append(words.format(numbers.measured(own[key], result)))
    return found


# Decisions worded in full
#
# The error rates are joint. All essential checks have to be met or made up for, so a judge at one of them is accepted
# no more often than that one errs. One broken check refuses, so the checks share the error of refusing a sound judge.
#
# The checks of another variant never change the verdict: that prompt is another judge. The decision says so if it would
# fare better.

_ORDER: tuple[Advice, ...] = ("do-not-use", "not-enough-data", "use-with-restrictions", "use")

_STATES: tuple[CheckState, ...] = get_args(CheckState)


def decide(
    policy: Policy,
    checks: Sequence[CheckRecord],
    *,
    unfinished: str = "",
    gates: Sequence[GateRecord] = (),
    not_measured: Sequence[str] = (),
) -> DecisionRecord:
    """Decides on the judge's own prompt. `unfinished` is what the run lacks.

    `not_measured` is added to what the checks leave unmeasured.
    """
    variant = BASELINE if any(check.variant == BASELINE for check in checks) or not checks else checks[0].variant
    held = [check for check in checks if check.variant == variant]
    blocked = [f"the test cases failed the gate {gate.name}" for gate in gates if gate.blocks and not gate.passed]
    lacking = [*blocked, *([f"the run is incomplete: {unfinished}"] if unfinished else [])]
    verdict = verdict_on(held, complete=not lacking)
    usable = verdict in {"use", "use-with-restrictions"}
    return DecisionRecord(
        verdict=verdict,
        policy_name=policy.policy,
        sentences=[_what_decides(verdict, held, lacking), _how_sure(held)],
        good_for=_good_for(held) if usable else [],
        not_for=_not_for(held),
        use_like_this=[*(_ways(held) if usable else []), *_other_variants(checks, variant, verdict)],
        not_measured=[*_unmeasured(held), *not_measured],
        would_change=[*map(_sentence, lacking), *_would_change(held)],
        policy=[*RULES, *_rates(policy)],
    )


def _unmeasured(held: Sequence[CheckRecord]) -> Iterator[str]:
    """Yields what has no value, by reason."""
    names: dict[str, list[str]] = {}
    for check in held:
        if check.verdict == "N/A":
            names.setdefault(check.why, []).append(check_name(check, small=True))
    for why, named in names.items():
        yield _sentence(f"{together(named)}: {why}")


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _rates(policy: Policy) -> Iterator[str]:
    yield (
        f"Error rates, over all checks and follow-ups: a judge exactly at an essential threshold is accepted in at "
        f"most {level(policy.accepts)} of runs. One that meets every threshold is refused in at most "
        f"{level(policy.refuses)}."
    )


def _what_decides(verdict: Advice, held: Sequence[CheckRecord], lacking: Sequence[str]) -> str:
    score = tally(check.verdict for check in held)
    essential = {state: [one for one in held if one.essential and one.state == state] for state in _STATES}
    match verdict:
        case "use":
            return f"{score}."
        case "do-not-use":
            failed = _list(sorted(essential["broken"], key=excess, reverse=True))
            return f"It fails on {failed}. No recommended use compensates for this. {score}."
        case "use-with-restrictions":
            rest = [check for check in held if check.verdict != "PASS" and not check.essential]
            return f"{score}. {' '.join(_missed(essential['made up for'], rest))}"
        case "not-enough-data":
            open_ = f"More data is needed for {_list(essential['open'])}."
            undecided = open_ if essential["open"] else "No essential measure was taken."
            return f"{score}. {' '.join(map(_sentence, lacking)) or undecided}"


def excess(check: CheckRecord) -> float:
    """Returns how far a bound is beyond its threshold, as a share of the room there: the worst has the most.

    It is negative for a bound that meets the threshold.
    """
    if check.bound is None:
        return 0.0
    room = check.value if check.kind == "at_least" else 1 - check.value
    beyond = check.value - check.bound if check.kind == "at_least" else check.bound - check.value
    return beyond / (room if room > 0 else 1.0)


def _missed(cured: Sequence[CheckRecord], rest: Sequence[CheckRecord]) -> Iterator[str]:
    if cured:
        yield f"Use it only as recommended, because of {_list(cured)}."
    if any(check.failing for check in rest):
        yield f"It fails on {together(parts_named(rest))}."
    if rest := [check for check in rest if not check.failing]:
        yield f"Not passed, but not essential: {_list(rest)}."


def _how_sure(held: Sequence[CheckRecord]) -> str:
    unsettled = [check for check in held if check.verdict == "INCONCLUSIVE"]
    if not unsettled:
        missing = [check for check in held if check.verdict == "N/A"]
        return f"Not measured: {_list(missing)}." if missing else "No check is inconclusive."
    return f"Inconclusive at this size: {', '.join(map(_more, unsettled))}."


def _more(check: CheckRecord) -> str:
    name = _list([check])
    if check.more_needed is None or check.unit is None:
        return name
    return f"{name} (about {about(check.more_needed)} more {units(check.unit, check.more_needed)})"


def _good_for(held: Sequence[CheckRecord]) -> list[str]:
    """Returns the first strength under each measure: seeing one requirement includes seeing five."""
    said: dict[str, str] = {}
    for check in held:
        if check.good_for and check.verdict == "PASS":
            said.setdefault("equal" if "equal" in check.good_for else check.measure, check.good_for)
    return list(said.values())


def _not_for(held: Sequence[CheckRecord]) -> list[str]:
    doubt = {"FAIL": ".", "INCONCLUSIVE": " (inconclusive)."}
    return [words for check in held for words in not_for_words(check)] + [
        check.not_for.removesuffix(".") + doubt[check.verdict]
        for check in held
        if check.not_for and check.verdict in doubt
    ]


def _ways(held: Sequence[CheckRecord]) -> list[str]:
    made_up = [check.way for check in held if check.essential and check.state == "made up for"]
    return [
        *dict.fromkeys(made_up),
        "Keep its prompt and settings as measured. A different prompt is a different judge.",
    ]


def _other_variants(checks: Sequence[CheckRecord], variant: str, verdict: Advice) -> list[str]:
    """Names the variants under which the same rules lead to a better verdict."""
    said = []
    for other in dict.fromkeys(check.variant for check in checks if check.variant != variant):
        found = verdict_on([check for check in checks if check.variant == other], complete=True)
        if _ORDER.index(found) > max(_ORDER.index(verdict), _ORDER.index("not-enough-data")):
            said.append(f"Consider the prompt variant {other}. By the same rules, its verdict is “{TITLES[found]}”.")
    return said


def _would_change(held: Sequence[CheckRecord]) -> list[str]:
    said: list[str] = []
    for check in held:
        if check.verdict == "PASS":
            continue
        needs = {"broken": "decides", "open": "decides", "made up for": "restricts use", "met": ""}[check.state]
        kind = needs if check.essential else "is not essential"
        said.append(f"{check_name(check)}, {check.verdict}, {kind}: {check.why}.")
        if check.essential and check.state in {"broken", "open"}:
            said += [
                f"{check_name(check)} would be compensated by {check_name(need, small=True)}, {need.verdict}: "
                f"{need.why}."
                for cure in check.cures
                for need in cure.needs
                if need.measure != check.measure and need.verdict != "PASS"
            ]
    return said


def check_name(check: ConditionRecord, *, small: bool = False) -> str:
    """Names a check with the part of the design that it is about; small as inside a sentence."""
    title = check.title or check.measure
    whole = f"{title}{at(check.stratum)}"
    return whole[:1].lower() + whole[1:] if small else whole


def _list(checks: Sequence[CheckRecord]) -> str:
    names = [check_name(check, small=True) for check in checks if not check.failing]
    return together([*names, *parts_named(checks)]) or "nothing"
