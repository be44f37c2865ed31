"""The answer key of labelled pairs: how good each answer is under its prompt. Only a simulated judge is given it."""

from collections.abc import Callable, Iterable

from umpirical.domain.errors import UsageError
from umpirical.domain.stimuli import GivenWinner, Stimulus
from umpirical.judges.simulated.pair_auditor import PAIR_AUDITOR_PROFILES
from umpirical.judges.spec import JudgeSpec


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> Callable[[str, str], float]:
    """Returns a function from what a prompt says before its candidates, and a candidate, to its quality."""
    if judge.model is not None and judge.model.name in PAIR_AUDITOR_PROFILES:
        message = "this simulated judge compares runs of agents, but these are labelled pairs"
        raise UsageError(message, fix="use it in a study with transcripts")
    by_text: dict[str, dict[str, float]] = {}
    for (task, text), level in qualities(stimuli).items():
        by_text.setdefault(text, {})[task] = level

    def quality(said: str, text: str) -> float:
        known = by_text[text]
        if len(set(known.values())) == 1:
            return next(iter(known.values()))
        # The longest prompt that was said: another may be a part of it.
        return known[max((task for task in known if task in said), key=len)]

    return quality


def qualities(stimuli: Iterable[Stimulus]) -> dict[tuple[str, str], float]:
    """Returns the quality of each answer to a prompt: a chosen one has at least 1 more than the rejected one.

    Choices of one prompt may go round in a circle. Then no numbers fit them, and as many rounds as there are pairs end
    the search.
    """
    over: dict[str, list[tuple[str, str]]] = {}
    for stimulus in stimuli:
        if isinstance(stimulus.expectation, GivenWinner):
            place = stimulus.expectation.candidate
            over.setdefault(stimulus.task, []).append((stimulus.candidates[place], stimulus.candidates[1 - place]))
    found: dict[tuple[str, str], float] = {}
    for task, pairs in over.items():
        levels = {text: 0.0 for pair in pairs for text in pair}
        for _ in pairs:
            before = dict(levels)
            for chosen, rejected in pairs:
                levels[chosen] = max(levels[chosen], levels[rejected] + 1)
            if levels == before:
                break
        found |= {(task, text): level for text, level in levels.items()}
    return found
