"""The reasonings of a run: how many there are, and which of them contradict their verdict."""

from dataclasses import dataclass, field

from umpirical.domain.judgments import Verdict
from umpirical.domain.stimuli import TIER_2, Stimulus
from umpirical.domain.trials import Trial
from umpirical.judges.reasoning import Reasoned

MOST_CONTRADICTIONS = 10
"""How many verdicts that contradict their reasoning are kept as examples."""

LONGEST = 400
"""Characters of a reasoning that are kept, from its end."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A verdict other than the one that its own reasoning states."""

    trial_id: str
    arm: str
    family: str
    said: str
    """The verdict that was read."""
    stated: str
    """The one that the reasoning states."""
    words: str
    """The end of the reasoning; empty if it may quote an answer that must not be disclosed."""


@dataclass(slots=True)
class Reasons:
    """The reasonings of a run, counted."""

    reasoned: int = 0
    stated: int = 0
    contradictions: list[Contradiction] = field(default_factory=list)
    """The first few, in the order of the plan."""
    contradicted: int = 0

    def add(self, trial: Trial, stimulus: Stimulus, verdict: Verdict, reasoned: Reasoned) -> None:
        self.reasoned += 1
        self.stated += reasoned.finding != "states-none"
        if reasoned.finding != "contradicts":
            return
        self.contradicted += 1
        if len(self.contradictions) < MOST_CONTRADICTIONS:
            words = "" if stimulus.family in TIER_2 else reasoned.text[-LONGEST:]
            said, stated = str(verdict.value), str(reasoned.stated)
            arm = trial.presentation.arm
            self.contradictions.append(Contradiction(trial.id, arm, stimulus.family, said, stated, words))
