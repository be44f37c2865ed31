"""The gate on carriers: the claims are where they should be, and every edit is what it says."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from umpirical.domain.gates import GateResult
from umpirical.domain.stimuli import GivenWinner, NoPreference, Stimulus
from umpirical.stimuli.controlled.carriers.carrier import Carrier
from umpirical.stimuli.controlled.carriers.checks import (
    check_carriers,
    corruption_problem,
    deletion_problem,
    layout_problem,
    lost_claims,
)
from umpirical.stimuli.controlled.gates.contents import result

__all__ = ["carriers_checked"]

ALLOWED = "each claim once in its answer; each edit touches its claims and nothing else; each layout keeps the words"


def carriers_checked(carriers: Sequence[Carrier], stimuli: Sequence[Stimulus], again: Iterable[Stimulus]) -> GateResult:
    """Every claim occurs once, every edited answer lacks or contradicts exactly its claims, every layout keeps all.

    `again` builds the pairs a second time, which must give the same.
    """
    by_id = {carrier.task_id: carrier for carrier in carriers}
    problems = [*check_carriers(carriers), *_check_stimuli(by_id, stimuli)]
    if [stimulus.id for stimulus in again] != [stimulus.id for stimulus in stimuli]:
        problems.append("the pairs are not the same when built again")
    looked_at = f"{len(carriers)} carriers, {sum(len(c.claims) for c in carriers)} claims, {len(stimuli)} pairs"
    return result("carriers-checked", problems, looked_at, ALLOWED)


def _check_stimuli(carriers: Mapping[str, Carrier], stimuli: Iterable[Stimulus]) -> Iterator[str]:
    for stimulus in stimuli:
        carrier = carriers.get(stimulus.task_id)
        problem = _problem(carrier, stimulus) if carrier else "it has no carrier"
        if problem:
            yield f"stimulus {stimulus.id} ({stimulus.task_id}, {stimulus.stratum}): {problem}"


def _problem(carrier: Carrier, stimulus: Stimulus) -> str:
    if stimulus.task != carrier.task or carrier.answer not in stimulus.candidates:
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
