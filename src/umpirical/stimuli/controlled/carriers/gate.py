"""The gate on carriers: the claims are where they should be, and every edit is what it says."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from umpirical.domain.stimuli import Family, GateResult, GivenWinner, NoPreference, Stimulus
from umpirical.stimuli.controlled.carriers.carrier import (
    Carrier,
    check_carriers,
    corruption_problem,
    crossing_problem,
    deletion_problem,
    layout_problem,
    lost_claims,
)
from umpirical.stimuli.controlled.carriers.crossing import VERSIONS
from umpirical.stimuli.controlled.gates import quads_of, result

ALLOWED = (
    "each claim once in its answer; each edit touches its claims and nothing else; each layout keeps the words; "
    "each quad shows the same texts under two contexts, with one figure changed in both"
)


def carriers_checked(carriers: Sequence[Carrier], stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> GateResult:
    """Every claim occurs once, every edited answer lacks or contradicts exactly its claims, every layout keeps all.

    In a quad, either text is the better one under one of two contexts. `again` builds everything a second time, which
    must give the same.
    """
    by_id = {carrier.task_id: carrier for carrier in carriers}
    pairs = [stimulus for stimulus in stimuli if stimulus.family != Family.CARRIER_FIGURES]
    quads = dict(quads_of([stimulus for stimulus in stimuli if stimulus.family == Family.CARRIER_FIGURES]))
    problems = [*check_carriers(carriers), *_check_stimuli(by_id, pairs), *_check_quads(by_id, quads)]
    if len(pairs) + sum(map(len, quads.values())) != len(stimuli):
        problems.append("a stimulus of a quad does not say of which")
    if [stimulus.id for stimulus in again] != [stimulus.id for stimulus in stimuli]:
        problems.append("the pairs are not the same when built again")
    claims = sum(len(carrier.claims) for carrier in carriers)
    looked_at = f"{len(carriers)} carriers, {claims} claims, {len(pairs)} pairs, {len(quads)} quads"
    return result("carriers-checked", problems, looked_at, ALLOWED)


def _check_stimuli(carriers: Mapping[str, Carrier], stimuli: Iterable[Stimulus]) -> Iterator[str]:
    for stimulus in stimuli:
        carrier = carriers.get(stimulus.task_id)
        problem = _problem(carrier, stimulus) if carrier else "it has no carrier"
        if problem:
            yield f"stimulus {stimulus.id} ({stimulus.task_id}, {stimulus.stratum}): {problem}"


def _problem(carrier: Carrier, stimulus: Stimulus) -> str:
    if stimulus.task != carrier.prompt or carrier.answer not in stimulus.candidates:
        return "it does not show its carrier"
    own = stimulus.candidates.index(carrier.answer)
    text = stimulus.candidates[1 - own]
    lost = len(lost_claims(carrier, text))
    if (stimulus.delta, stimulus.base) != (lost, len(carrier.claims) - lost):
        return f"it lacks {lost} claims, not {stimulus.delta:g}"
    match stimulus.family, stimulus.expectation:
        case "carrier-delta0", NoPreference():
            return layout_problem(carrier.answer, text)
        case "carrier-ladder", GivenWinner(candidate=winner) if winner == own and lost:
            check = deletion_problem if stimulus.stratum == "deleted" else corruption_problem
            return check(carrier, text)
        case _:
            return "its expectation is not that of its family"


def _check_quads(carriers: Mapping[str, Carrier], quads: Mapping[str, Sequence[Stimulus]]) -> Iterator[str]:
    for name, members in quads.items():
        carrier = carriers.get(members[0].task_family)
        problem = _quad_problem(carrier, members) if carrier else "it has no carrier"
        if problem:
            yield f"quad {name}: {problem}"


def _quad_problem(carrier: Carrier, members: Sequence[Stimulus]) -> str:
    if tuple(stimulus.version for stimulus in members) != VERSIONS:
        return "it does not show two versions"
    one, other = members
    if one.candidates != other.candidates:
        return "the texts differ between the versions"
    if one.task != carrier.prompt or carrier.answer not in one.candidates or not other.task.endswith(carrier.task):
        return "it does not show its carrier"
    own = one.candidates.index(carrier.answer)
    if [one.expectation, other.expectation] != [GivenWinner(own), GivenWinner(1 - own)]:
        return "the winner is not the text that agrees with the context"
    if {(s.delta, s.base, s.task_family) for s in members} != {(1.0, len(carrier.claims) - 1.0, carrier.task_id)}:
        return "it is not one claim that differs"
    return crossing_problem(carrier, other.task.removesuffix(f"\n\n{carrier.task}"), one.candidates[1 - own])
