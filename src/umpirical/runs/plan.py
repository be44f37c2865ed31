"""The plan: every trial of a run, on disk, before anything is asked."""

from collections.abc import Iterator
from itertools import islice

from umpirical.domain.trials import Trial
from umpirical.judges.judge import Judge, prompt_id, trial_id
from umpirical.runs.design import Design, presentations, shown
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["SHARD_SIZE", "write_plan"]

SHARD_SIZE = 2000
"""Trials per shard: what is sealed at a time, and what one worker takes at a time."""


def write_plan(store: RunStore, judge: Judge, stimuli: StimulusSet, design: Design) -> int:
    """Writes the plan of a run and returns its number of trials. No prompt is in it: prompts are rendered again."""
    trials, count, shard = _trials(judge, stimuli, design), 0, 0
    while chunk := list(islice(trials, SHARD_SIZE)):
        store.write_plan_shard(shard, chunk)
        count, shard = count + len(chunk), shard + 1
    store.finish_plan(count, shard)
    return count


def _trials(judge: Judge, stimuli: StimulusSet, design: Design) -> Iterator[tuple[Trial, int]]:
    """Trials, each with the part of the stimulus set it is in."""
    for part in stimuli.parts():
        for stimulus in stimuli.part(part).values():
            prompts: dict[tuple[str, str, int | None], str] = {}
            for way in presentations(stimulus, design, judge.capabilities, judge.kind):
                key = (way.arm, way.order.value, way.seed)
                if key not in prompts:
                    request = judge.request(shown(stimulus, way.order, judge.kind), arm=way.arm, seed=way.seed)
                    prompts[key] = prompt_id(request)
                prompt = prompts[key]
                yield Trial(trial_id(prompt, repeat=way.repeat), prompt, stimulus.id, way), part
