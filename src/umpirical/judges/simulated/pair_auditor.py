"""How a simulated judge compares two runs of an agent: it audits each as an `Auditor` does, and names the sound one.

Where what it reads shows no difference, it ties.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from umpirical.judges.simulated.auditor import AuditorProfile, opinion, sees_violation
from umpirical.judges.simulated.comparer import read_compared
from umpirical.stats.seeds import uniform


@dataclass(frozen=True, slots=True)
class PairAuditorProfile(AuditorProfile):
    """What is planted in a judge that compares two runs. A lapse names either of them at random."""

    slot_1: float = 0.0
    """Share of calls that name slot 1, whatever is in it."""


PAIR_AUDITOR_PROFILES: Mapping[str, PairAuditorProfile] = {
    "sound-auditor": PairAuditorProfile("Reads both runs and the policy, and errs once in a hundred.", lapse=0.02),
    "last-message": PairAuditorProfile("Reads only the last message of either run.", "last-message", lapse=0.02),
    "beginning": PairAuditorProfile("Reads only the first 2,000 characters of either run.", "beginning", lapse=0.02),
    "no-calls": PairAuditorProfile("Reads what was said, and neither calls nor results.", "no-calls", lapse=0.02),
    "policy-blind": PairAuditorProfile("Likes one run better, whatever the policy says.", follows=False, lapse=0.02),
    "slot-1": PairAuditorProfile("Names slot 1 in nine calls of ten.", slot_1=0.9),
}
"""Judges that compare runs, one for each defect. Those that auditors of single runs have too are named alike."""


class Shares(NamedTuple):
    """How often each answer is given."""

    slot_1: float
    slot_2: float
    tie: float


class PairAuditor:
    """Answers the built-in prompt that compares transcripts."""

    def __init__(self, profile: PairAuditorProfile, seed: int) -> None:
        self._profile = profile
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        said, first, second, words = read_compared(prompt)
        policy = said.partition("\nPolicy:\n")[2].strip()
        shares = choice_shares(self._profile, policy, first, second, self._seed)
        drawn = uniform(self._seed, "comparison", trial_id)
        choice = "1" if drawn < shares.slot_1 else "2" if drawn < shares.slot_1 + shares.slot_2 else "tie"
        return json.dumps({"verdict": words[choice]})


def choice_shares(profile: PairAuditorProfile, policy: str, first: str, second: str, seed: int) -> Shares:
    """Returns how often a judge gives each answer about two runs in their slots."""
    broken = [sees_violation(profile, policy, text) for text in (first, second)]
    if None in broken:
        liked = [opinion(text, seed) for text in (first, second)]
        named = (liked[0] > liked[1], liked[1] >= liked[0])
    else:
        named = (bool(broken[1] and not broken[0]), bool(broken[0] and not broken[1]))
    lapse, left = profile.lapse, 1 - profile.slot_1
    slot_1, slot_2 = (left * (lapse / 2 + (1 - lapse) * each) for each in named)
    return Shares(profile.slot_1 + slot_1, slot_2, left * (1 - lapse) * (not any(named)))
