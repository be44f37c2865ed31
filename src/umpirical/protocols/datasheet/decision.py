"""Decides by rule what to do with a judge. No decision is worded by hand: all its words come from the policy.

The first of these that applies is the verdict: a broken essential limit, **do not use**; an open one, an incomplete run
or a failed blocking gate of the stimuli, **not enough data**; a limit made up for, or a limit that is not essential and
does not pass, **use with limits**; otherwise **use**. What makes a limit broken, open or made up for is in `limits`.

The error rates are joint. All essential limits have to be met or made up for, so a judge at one of them is accepted no
more often than that one errs. One broken limit refuses, so the limits share the error of refusing a sound judge.

The limits of another arm never change the verdict: that prompt is another judge. The decision says so if it would fare
better.
"""

from collections.abc import Iterator, Sequence
from typing import get_args

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.policy import RULES, Policy
from umpirical.protocols.datasheet.record import DecisionRecord
from umpirical.reports.decisions import TITLES, Advice
from umpirical.reports.numbers import about, part, rate, units
from umpirical.reports.record import ConditionRecord, GateRecord, LimitRecord, LimitState

_ORDER: tuple[Advice, ...] = ("do-not-use", "not-enough-data", "use-with-limits", "use")

_STATES: tuple[LimitState, ...] = get_args(LimitState)


def decide(
    policy: Policy,
    limits: Sequence[LimitRecord],
    *,
    complete: bool = True,
    gates: Sequence[GateRecord] = (),
    not_measured: Sequence[str] = (),
) -> DecisionRecord:
    """Decides on the judge's own prompt. `not_measured` is added to what the limits leave unmeasured."""
    arm = BASELINE if any(limit.arm == BASELINE for limit in limits) or not limits else limits[0].arm
    held = [limit for limit in limits if limit.arm == arm]
    blocked = [gate.name for gate in gates if gate.blocks and not gate.passed]
    verdict = verdict_on(held, complete=complete and not blocked)
    usable = verdict in {"use", "use-with-limits"}
    return DecisionRecord(
        verdict=verdict,
        policy_name=policy.policy,
        sentences=[_what_decides(verdict, held, complete=complete, blocked=blocked), _how_sure(held)],
        good_for=_good_for(held) if usable else [],
        not_for=_not_for(held),
        use_like_this=[*(_ways(held) if usable else []), *_other_arms(limits, arm, verdict)],
        not_measured=[*(f"{_name(limit)}: {limit.why}." for limit in held if limit.verdict == "N/A"), *not_measured],
        would_change=_would_change(held, complete=complete, blocked=blocked),
        policy=[*RULES, *_rates(policy)],
    )


def headline(decision: DecisionRecord) -> str:
    """Returns the decision in one line: the same on the page, the card and the terminal."""
    return f"{decision.title} (policy {decision.policy_name}): {decision.sentences[0]}"


def verdict_on(held: Sequence[LimitRecord], *, complete: bool) -> Advice:
    """Returns the verdict of the rules above on the limits of one arm."""
    states = {limit.state for limit in held if limit.essential}
    if "broken" in states:
        return "do-not-use"
    if "open" in states or not complete or not states:
        return "not-enough-data"
    return "use" if {limit.verdict for limit in held} == {"PASS"} else "use-with-limits"


def _rates(policy: Policy) -> Iterator[str]:
    yield (
        f"Error rates, all limits together: a judge that is at an essential limit is accepted in at most "
        f"{rate(policy.accepts)} of runs, and one that meets every limit is refused in at most {rate(policy.refuses)}."
    )
    if policy.look > 1:
        accepts, refuses = (rate(each * policy.looks_together) for each in (policy.accepts, policy.refuses))
        yield (
            f"These are the rates of look {policy.look} alone. Of all looks so far together they are {accepts} and "
            f"{refuses}, since each look is one more chance to err."
        )


def _what_decides(verdict: Advice, held: Sequence[LimitRecord], *, complete: bool, blocked: Sequence[str]) -> str:
    score = f"{sum(limit.verdict == 'PASS' for limit in held)} of {len(held)} limits pass"
    essential = {state: [one for one in held if one.essential and one.state == state] for state in _STATES}
    match verdict:
        case "use":
            return f"All {len(held)} limits pass."
        case "do-not-use":
            return f"It fails on {_list(essential['broken'])}, and no way of using it makes up for that ({score})."
        case "use-with-limits":
            rest = [limit for limit in held if limit.verdict != "PASS" and not limit.essential]
            return f"{score}; {'; '.join(_missed(essential['made up for'], rest))}."
        case "not-enough-data":
            return f"{score}, but {' and '.join(_missing(essential['open'], complete=complete, blocked=blocked))}."


def _missed(cured: Sequence[LimitRecord], rest: Sequence[LimitRecord]) -> Iterator[str]:
    if cured:
        missed = f"{_list(cured)} {_are(cured)} missed, unsettled or not measured"
        yield f"{missed}, and the way of use given here makes up for that"
    if rest:
        yield f"{_list(rest)} {_are(rest)} missed, unsettled or not measured, and not essential"


def _missing(undecided: Sequence[LimitRecord], *, complete: bool, blocked: Sequence[str]) -> Iterator[str]:
    yield from (f"the stimuli failed the gate {name}" for name in blocked)
    if not complete:
        yield "the run is incomplete"
    if undecided:
        yield f"it is open whether it meets the limits for {_list(undecided)}"
    elif complete and not blocked:
        yield "nothing essential was measured"


def _how_sure(held: Sequence[LimitRecord]) -> str:
    unsettled = [limit for limit in held if limit.verdict == "INCONCLUSIVE"]
    if not unsettled:
        missing = [limit for limit in held if limit.verdict == "N/A"]
        return f"Not measured: {_list(missing)}." if missing else "No limit is left unsettled at this size of run."
    return f"Not settled at this size: {', '.join(map(_more, unsettled))}."


def _more(limit: LimitRecord) -> str:
    name = _list([limit])
    if limit.more_needed is None or limit.unit is None:
        return name
    return f"{name} (about {about(limit.more_needed)} more {units(limit.unit, limit.more_needed)})"


def _good_for(held: Sequence[LimitRecord]) -> list[str]:
    """Returns the first strength under each measure: seeing one requirement includes seeing five."""
    said: dict[str, str] = {}
    for limit in held:
        if limit.good_for and limit.verdict == "PASS":
            said.setdefault("equal" if "equal" in limit.good_for else limit.measure, limit.good_for)
    return list(said.values())


def _not_for(held: Sequence[LimitRecord]) -> list[str]:
    doubt = {"FAIL": ".", "INCONCLUSIVE": " (not settled)."}
    return [
        limit.not_for.removesuffix(".") + doubt[limit.verdict]
        for limit in held
        if limit.not_for and limit.verdict in doubt
    ]


def _ways(held: Sequence[LimitRecord]) -> list[str]:
    made_up = [limit.way for limit in held if limit.essential and limit.state == "made up for"]
    return [*dict.fromkeys(made_up), "With its prompt and settings as measured: another prompt is another judge."]


def _other_arms(limits: Sequence[LimitRecord], arm: str, verdict: Advice) -> list[str]:
    """Names the arms under which the same rules lead to a better verdict."""
    said = []
    for other in dict.fromkeys(limit.arm for limit in limits if limit.arm != arm):
        found = verdict_on([limit for limit in limits if limit.arm == other], complete=True)
        if _ORDER.index(found) > max(_ORDER.index(verdict), _ORDER.index("not-enough-data")):
            said.append(f"Consider the prompt of arm {other}: by the same rules it comes to “{TITLES[found]}”.")
    return said


def _would_change(held: Sequence[LimitRecord], *, complete: bool, blocked: Sequence[str]) -> list[str]:
    said = [f"The stimuli failed the gate {name}: no number of calls makes up for that." for name in blocked]
    if not complete:
        said.append("The run is incomplete: finish it.")
    for limit in held:
        if limit.verdict == "PASS":
            continue
        needs = {"broken": "decides", "open": "decides", "made up for": "restricts the use", "met": ""}[limit.state]
        kind = needs if limit.essential else "is not essential"
        said.append(f"{_name(limit)}, {limit.verdict}, {kind}: {limit.why}.")
        if limit.essential and limit.state in {"broken", "open"}:
            said += [
                f"{_name(limit)} would be made up for by {_name(need, small=True)}, {need.verdict}: {need.why}."
                for cure in limit.cures
                for need in cure.needs
                if need.measure != limit.measure and need.verdict != "PASS"
            ]
    return said


def _name(limit: ConditionRecord, *, small: bool = False) -> str:
    title = limit.title or limit.measure
    whole = f"{title} at {part(limit.stratum)}" if limit.stratum else title
    return whole[:1].lower() + whole[1:] if small else whole


def _list(limits: Sequence[LimitRecord]) -> str:
    names = [_name(limit, small=True) for limit in limits]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def _are(limits: Sequence[LimitRecord]) -> str:
    return "is" if len(limits) == 1 else "are"
