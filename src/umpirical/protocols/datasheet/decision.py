"""Decides by rule what to do with a judge. No decision is worded by hand: all its words come from the policy.

Each essential limit of the judge's own prompt is

- *met*, if it passes;
- *made up for*, if it fails or is INCONCLUSIVE, the policy knows a way of use that makes up for it, and the limit on
  which this way of use depends, if any, passes;
- *broken*, if it fails and there is no such way of use, or the limit on which it depends fails too;
- *open*, otherwise. N/A is open: it never counts as a pass, and nothing makes up for not having measured.

The first of these that applies is the verdict: a broken limit, **do not use**; an open limit, an incomplete run or a
failed blocking gate of the stimuli, **not enough data**; a limit made up for, or a limit that is not essential and does
not pass, **use with limits**; otherwise **use**.

The limits of another arm never change the verdict: that prompt is another judge. The decision says so if it would fare
better.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, get_args

from umpirical.domain.trials import BASELINE
from umpirical.protocols.datasheet.policy import RULES
from umpirical.protocols.datasheet.record import Decision, DecisionRecord
from umpirical.reports.limits import Limit
from umpirical.reports.numbers import about, part, units
from umpirical.reports.record import GateRecord, LimitRecord

__all__ = ["TITLES", "decide", "verdict_on"]

TITLES: dict[Decision, str] = {
    "use": "Use",
    "use-with-limits": "Use with limits",
    "do-not-use": "Do not use",
    "not-enough-data": "Not enough data",
}

_ORDER: tuple[Decision, ...] = ("do-not-use", "not-enough-data", "use-with-limits", "use")

State = Literal["met", "made up for", "broken", "open"]
_STATES: tuple[State, ...] = get_args(State)
Key = tuple[str, str]


def decide(
    policy: Sequence[Limit],
    limits: Sequence[LimitRecord],
    *,
    complete: bool = True,
    gates: Sequence[GateRecord] = (),
    not_measured: Sequence[str] = (),
) -> DecisionRecord:
    """Decides on the judge's own prompt. `not_measured` is added to what the limits leave unmeasured."""
    arm = BASELINE if any(limit.arm == BASELINE for limit in limits) or not limits else limits[0].arm
    held = {(limit.measure, limit.stratum): limit for limit in limits if limit.arm == arm}
    blocked = [gate.name for gate in gates if gate.blocks and not gate.passed]
    verdict = verdict_on(policy, held, complete=complete and not blocked)
    states = {(limit.measure, limit.stratum): _state(limit, held) for limit in policy}
    usable = verdict in {"use", "use-with-limits"}
    return DecisionRecord(
        verdict=verdict,
        sentences=[_what_decides(verdict, held, states, complete=complete, blocked=blocked), _how_sure(held)],
        good_for=_good_for(policy, held) if usable else [],
        not_for=_not_for(policy, held),
        use_like_this=[*(_cures(policy, states) if usable else []), *_other_arms(policy, limits, arm, verdict)],
        not_measured=[*(f"{_name(h)}: {h.why}." for h in held.values() if h.verdict == "N/A"), *not_measured],
        would_change=_would_change(held, states, complete=complete, blocked=blocked),
        policy=RULES,
    )


def verdict_on(policy: Sequence[Limit], held: Mapping[Key, LimitRecord], *, complete: bool) -> Decision:
    """Returns the verdict of the rules above on one arm."""
    states = {_state(limit, held) for limit in policy if limit.essential}
    if "broken" in states:
        return "do-not-use"
    if "open" in states or not complete or not policy:
        return "not-enough-data"
    verdicts = {limit.verdict for limit in held.values()}
    return "use" if verdicts == {"PASS"} else "use-with-limits"


def _state(limit: Limit, held: Mapping[Key, LimitRecord]) -> State:
    found = held.get((limit.measure, limit.stratum))
    verdict = found.verdict if found else "N/A"
    if verdict == "PASS":
        return "met"
    if verdict == "N/A":
        return "open"
    support = held.get(limit.cure_needs) if limit.cure_needs else None
    needs = support.verdict if support else "N/A" if limit.cure_needs else "PASS"
    if limit.cure and needs == "PASS":
        return "made up for"
    return "broken" if verdict == "FAIL" and (not limit.cure or needs == "FAIL") else "open"


def _what_decides(
    verdict: Decision,
    held: Mapping[Key, LimitRecord],
    states: Mapping[Key, State],
    *,
    complete: bool,
    blocked: Sequence[str],
) -> str:
    score = f"{sum(limit.verdict == 'PASS' for limit in held.values())} of {len(held)} limits pass"
    essential = {state: [held[k] for k in held if held[k].essential and states[k] == state] for state in _STATES}
    match verdict:
        case "use":
            return f"All {len(held)} limits pass."
        case "do-not-use":
            return f"It fails on {_list(essential['broken'])}, and no way of using it makes up for that ({score})."
        case "use-with-limits":
            rest = [limit for limit in held.values() if limit.verdict != "PASS" and not limit.essential]
            return f"{score}; {'; '.join(_missed(essential['made up for'], rest))}."
        case "not-enough-data":
            return f"{score}, but {' and '.join(_missing(essential['open'], complete=complete, blocked=blocked))}."


def _missed(cured: Sequence[LimitRecord], rest: Sequence[LimitRecord]) -> Iterator[str]:
    if cured:
        yield f"{_list(cured)} {_are(cured)} missed or unsettled, and the way of use given here makes up for that"
    if rest:
        yield f"{_list(rest)} {_are(rest)} missed or unsettled, and not essential"


def _missing(undecided: Sequence[LimitRecord], *, complete: bool, blocked: Sequence[str]) -> Iterator[str]:
    yield from (f"the stimuli failed the gate {name}" for name in blocked)
    if not complete:
        yield "the run is incomplete"
    if undecided:
        yield f"it is open whether it meets the limits for {_list(undecided)}"
    elif complete and not blocked:
        yield "nothing essential was measured"


def _how_sure(held: Mapping[Key, LimitRecord]) -> str:
    unsettled = [limit for limit in held.values() if limit.verdict == "INCONCLUSIVE"]
    if not unsettled:
        missing = [limit for limit in held.values() if limit.verdict == "N/A"]
        return f"Not measured: {_list(missing)}." if missing else "No limit is left unsettled at this size of run."
    return f"Not settled at this size: {', '.join(map(_more, unsettled))}."


def _more(limit: LimitRecord) -> str:
    name = _list([limit])
    if limit.more_needed is None or limit.unit is None:
        return name
    return f"{name} (about {about(limit.more_needed)} more {units(limit.unit, limit.more_needed)})"


def _good_for(policy: Sequence[Limit], held: Mapping[Key, LimitRecord]) -> list[str]:
    """Returns the first strength under each measure: seeing one requirement includes seeing five."""
    said: dict[str, str] = {}
    for limit in policy:
        if limit.good_for and _verdict_of(limit, held) == "PASS":
            said.setdefault("equal" if "equal" in limit.good_for else limit.measure, limit.good_for)
    return list(said.values())


def _not_for(policy: Sequence[Limit], held: Mapping[Key, LimitRecord]) -> list[str]:
    doubt = {"FAIL": ".", "INCONCLUSIVE": " (not settled)."}
    return [
        limit.not_for.removesuffix(".") + doubt[verdict]
        for limit in policy
        if limit.not_for and (verdict := _verdict_of(limit, held)) in doubt
    ]


def _verdict_of(limit: Limit, held: Mapping[Key, LimitRecord]) -> str:
    found = held.get((limit.measure, limit.stratum))
    return found.verdict if found else "N/A"


def _cures(policy: Sequence[Limit], states: Mapping[Key, State]) -> list[str]:
    made_up = [limit.cure for limit in policy if states[limit.measure, limit.stratum] == "made up for"]
    return [*dict.fromkeys(made_up), "With its prompt and settings as measured: another prompt is another judge."]


def _other_arms(policy: Sequence[Limit], limits: Sequence[LimitRecord], arm: str, verdict: Decision) -> list[str]:
    """Names the arms under which the same rules lead to a better verdict."""
    said = []
    for other in dict.fromkeys(limit.arm for limit in limits if limit.arm != arm):
        held = {(limit.measure, limit.stratum): limit for limit in limits if limit.arm == other}
        found = verdict_on(policy, held, complete=True)
        if _ORDER.index(found) > max(_ORDER.index(verdict), _ORDER.index("not-enough-data")):
            said.append(f"Consider the prompt of arm {other}: by the same rules it comes to “{TITLES[found]}”.")
    return said


def _would_change(
    held: Mapping[Key, LimitRecord], states: Mapping[Key, State], *, complete: bool, blocked: Sequence[str]
) -> list[str]:
    said = [f"The stimuli failed the gate {name}: no number of calls makes up for that." for name in blocked]
    if not complete:
        said.append("The run is incomplete: finish it.")
    for key, limit in held.items():
        if limit.verdict != "PASS":
            needs = {"broken": "decides", "open": "decides", "made up for": "restricts the use", "met": ""}[states[key]]
            kind = needs if limit.essential else "is not essential"
            said.append(f"{_name(limit)}, {limit.verdict}, {kind}: {limit.why}.")
    return said


def _name(limit: LimitRecord) -> str:
    title = limit.title or limit.measure
    return f"{title} at {part(limit.stratum)}" if limit.stratum else title


def _list(limits: Sequence[LimitRecord]) -> str:
    names = [name[:1].lower() + name[1:] for name in map(_name, limits)]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "nothing"


def _are(limits: Sequence[LimitRecord]) -> str:
    return "is" if len(limits) == 1 else "are"
