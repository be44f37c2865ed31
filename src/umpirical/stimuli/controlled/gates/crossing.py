"""Gates on crossed ladders: whatever does not read the task is right exactly as often as a coin."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from umpirical.domain.stimuli import Family, GateResult, GivenWinner, Stimulus
from umpirical.stimuli.controlled.gates.contents import result
from umpirical.stimuli.controlled.ladder.requests import MATCHERS, Matcher
from umpirical.stimuli.controlled.tasks import Task
from umpirical.stimuli.controlled.trivial import REPORTED, TRIVIAL

COIN = 0.05
"""How far from one half a judge that matches words with the request may score."""

ENOUGH = 60
"""With fewer stimuli at a step, what it scores there is printed and blocks nothing."""

REQUEST_GAP = 0.15
"""By what share of its words one request may be longer than the other."""

BLIND = {name: judge for name, judge in (TRIVIAL | REPORTED).items() if name != "prompt-overlap"}
"""Trivial judges that see the candidates alone."""

LADDERS = (Family.LADDER, Family.FIGURES)


@dataclass(frozen=True)
class Quad:
    """The two stimuli that show the same texts under the two versions of a task."""

    first: Stimulus
    second: Stimulus

    @property
    def stimuli(self) -> tuple[Stimulus, Stimulus]:
        return self.first, self.second


def quads_of(stimuli: Sequence[Stimulus]) -> Iterator[tuple[str, list[Stimulus]]]:
    """Stimuli by the name of their quad, in order."""
    found: defaultdict[str, list[Stimulus]] = defaultdict(list)
    for stimulus in stimuli:
        if stimulus.quad:
            found[f"{stimulus.family} {stimulus.quad}"].append(stimulus)
    yield from found.items()


def crossed(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """Texts are the same under both versions, the winner flips, the step is the same, and what is asked is as long."""
    problems = [f"stimulus {s.id} is in no quad" for s in stimuli if s.family in LADDERS and not s.quad]
    pairs = []
    for name, members in quads_of(stimuli):
        if problem := _problem(tasks, members):
            problems.append(f"quad {name}: {problem}")
        else:
            pairs.append(Quad(*members))
    scores = {name: _score(pairs, lambda s, judge=judge: judge(s.task, *s.candidates)) for name, judge in BLIND.items()}  # type: ignore[misc]
    problems += [f"{name} is right in {score:.4f}" for name, score in scores.items() if score != 1 / 2]
    looked_at = f"{len(pairs)} quads, {len(BLIND)} judges that see the texts alone each right in .5000"
    return result("crossed", problems, looked_at, "the same texts, the other winner, an equal step, an equal request")


def _problem(tasks: Mapping[str, Task], members: Sequence[Stimulus]) -> str:
    if len(members) != 2:
        return f"{len(members)} stimuli, not two"
    one, other = members
    versions = tasks[one.task_id], tasks[other.task_id]
    gains = [_gain(task, stimulus) for task, stimulus in zip(versions, members, strict=True)]
    kinds = {(stimulus.task_family, stimulus.delta, stimulus.stratum) for stimulus in members}
    asked = _request_problem(*versions) if one.family == Family.LADDER else _figures_problem(*versions)
    found = {
        "the texts differ between the versions": one.candidates != other.candidates,
        "the two versions are not of one kind": len(kinds) > 1,
        "the winner does not change with the version": {_winner(one), _winner(other)} != {0, 1},
        "the better text does not state more by an equal step": None in gains or gains[0] != gains[1],
        asked: bool(asked),
    }
    return next((problem for problem, there in found.items() if there), "")


def _request_problem(first: Task, second: Task) -> str:
    if first.prompt.removesuffix(first.request) != second.prompt.removesuffix(second.request):
        return "the prompts differ in more than the request"
    lengths = sorted(len(task.request.split()) for task in (first, second))
    if lengths[1] - lengths[0] > REQUEST_GAP * lengths[1]:
        return f"the requests have {lengths[0]} and {lengths[1]} words"
    return ""


def _figures_problem(first: Task, second: Task) -> str:
    return "" if first.request == second.request else "the request changes with the figures"


def _gain(task: Task, stimulus: Stimulus) -> int | None:
    """How many facts the better text states beyond all that the lesser one states. None if it lacks one of those."""
    winner = _winner(stimulus)
    better, lesser = task.stated(stimulus.candidates[winner]), task.stated(stimulus.candidates[1 - winner])
    return len(better - lesser) if lesser < better else None


def request_overlap(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus]) -> GateResult:
    """Matching words, stems or letters with the request does not tell the better text, overall or at a step."""
    found, outside = [], False
    for family in LADDERS:
        steps: defaultdict[float, list[Stimulus]] = defaultdict(list)
        for stimulus in stimuli:
            if stimulus.family == family:
                steps[stimulus.delta or 0.0].append(stimulus)
        count = sum(map(len, steps.values()))
        for name, cue in MATCHERS.items():
            points = {step: _points(tasks, shown, cue) for step, shown in sorted(steps.items())}
            by_step = {step: told / len(steps[step]) for step, told in points.items()}
            score = sum(points.values()) / count if count else 1 / 2
            if family == Family.LADDER:
                outside |= count >= ENOUGH and abs(score - 1 / 2) > COIN
                outside |= any(len(steps[s]) >= ENOUGH and abs(told - 1 / 2) > COIN for s, told in by_step.items())
            if count:
                listed = ", ".join(f"{step:g}: {told:.3f} of {len(steps[step])}" for step, told in by_step.items())
                found.append(f"{name} {score:.3f} on {family} ({listed})")
    allowed = f"{1 / 2 - COIN:.2f} to {1 / 2 + COIN:.2f} on ladder, at each step with {ENOUGH} stimuli"
    return GateResult("request-overlap", not outside, "; ".join(found), allowed)


def _points(tasks: Mapping[str, Task], stimuli: Sequence[Stimulus], judge: Matcher) -> float:
    """One for each stimulus whose better text a matcher names, half a point where it names none."""
    points = 0.0
    for stimulus in stimuli:
        told = judge(tasks[stimulus.task_id], *stimulus.candidates)
        points += (1 + (told if _winner(stimulus) == 0 else -told)) / 2
    return points


def _score(quads: Sequence[Quad], verdict: Callable[[Stimulus], str]) -> float:
    """The share of stimuli in which a judge names the better text, a tie being half right."""
    points = {"1": 0, "2": 1}
    right = 0.0
    for quad in quads:
        for stimulus in quad.stimuli:
            said = verdict(stimulus)
            right += 1 / 2 if said == "tie" else points[said] == _winner(stimulus)
    return right / (2 * len(quads)) if quads else 1 / 2


def _winner(stimulus: Stimulus) -> int:
    return stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else -1
