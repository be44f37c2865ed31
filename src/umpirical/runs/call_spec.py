"""All that a worker needs to ask: paths and a spec, nothing that is open. Any process can be given it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from umpirical.domain.stimuli import Stimulus
from umpirical.judges.building import Calling, build_judge
from umpirical.judges.port import Judge
from umpirical.judges.spec import JudgeSpec
from umpirical.stimuli.datasheet_set import candidate_levels
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["CallSpec"]


@dataclass(frozen=True)
class CallSpec:
    """Which judge is asked about which stimuli."""

    judge: JudgeSpec
    """With its prompts resolved."""
    folder: Path
    """Of the study, where a judge of the user's own is found."""
    stimuli: Path
    seed: int

    def open_stimuli(self) -> StimulusSet:
        return StimulusSet(self.stimuli)

    def open_judge(self, calling: Calling | None = None) -> Judge:
        return build_judge(self.judge, folder=self.folder, answer_key=self._key, seed=self.seed, calling=calling)

    @cached_property
    def _key(self) -> Callable[[str], float]:
        simulated = self.judge.model is not None and self.judge.model.adapter == "simulated"
        return answer_key(self.open_stimuli()) if simulated else _no_key


def answer_key(stimuli: "StimulusSet | list[Stimulus]") -> Callable[[str], float]:
    """The quality of every candidate, by its text. No judge but a simulated one is ever given it."""
    levels: dict[str, float] = {}
    for stimulus in stimuli:
        for text, level in zip(stimulus.candidates, candidate_levels(stimulus), strict=True):
            if levels.setdefault(text, level) != level:
                raise ValueError(f"one text has two levels, {levels[text]:g} and {level:g}: {text[:60]!r}")
    return levels.__getitem__


def _no_key(_: str) -> float:
    raise LookupError("only a simulated judge may look at the answer key")
