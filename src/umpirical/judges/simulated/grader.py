"""How a simulated judge grades: the latent rule, read from the prompt."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from umpirical.domain.scales import GradeScale
from umpirical.judges.simulated.profiles import GraderProfile, call_noise
from umpirical.stats.seeds import normal, uniform
from umpirical.stats.simulation.grader import centre, cut_points

ORDER = r"(?:lowest first|in no order)"
"""How the built-in grade prompts state the order of the labels."""

SHOWN = re.compile(
    r"\A(?P<task>.*?)\[answer, (?P<fence>[0-9a-f]+)\]\n(?P<answer>.*?)\n\[end of answer, (?P=fence)\].*"
    rf"on this scale, {ORDER}: (?P<scale>.+)\. If you cannot judge",
    re.DOTALL,
)

_RANGE = re.compile(r"a number from (?P<low>\S+) to (?P<high>\S+)")

WHOLE_GRADES = 100
"""On an interval scale of at most this many units, a simulated judge gives whole numbers; on others, 11 values."""


class Grader:
    """Answers the built-in grade prompt."""

    def __init__(self, profile: GraderProfile, answer_key: Callable[[str, str], float], seed: int) -> None:
        self._profile = profile
        self._answer_key = answer_key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        shown = SHOWN.match(prompt)
        if shown is None:
            raise ValueError("a simulated judge that grades reads only the built-in grade prompt")
        grades = _offered(shown["scale"])
        return json.dumps({"grade": grades[self._grade(shown, prompt, trial_id, len(grades))]})

    def _grade(self, shown: re.Match[str], prompt: str, trial_id: str, grades: int) -> int:
        latent = self._profile.latent
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return int(uniform(self._seed, "guess", trial_id) * grades)
        noise = call_noise(self._seed, prompt, trial_id, frozen=self._profile.frozen_noise)
        place = self._place(shown["task"], shown["answer"]) + latent.noise * noise
        return bisect_right(cut_points(grades).tolist(), place)

    def _place(self, task: str, answer: str) -> float:
        """Returns where an answer lies on the scale, before the call's noise."""
        latent, profile = self._profile.latent, self._profile
        shift = profile.leniency_spread * normal(self._seed, "leniency", task)
        if not answer.strip():
            return latent.blank + shift
        gain = latent.gain * math.exp(profile.gain_spread * normal(self._seed, "gain", task))
        surface = latent.surface * normal(self._seed, "surface", answer)
        return float(centre(replace(latent, gain=gain), self._answer_key(task, answer))) + shift + surface


def grades_of(scale: GradeScale) -> list[str | float]:
    """Returns the grades that a simulated judge gives, evenly spaced, lowest first."""
    if scale.kind != "interval":
        return list(scale.labels)
    low, high = float(scale.low or 0.0), float(scale.high or 0.0)
    steps = int(high - low) if 2 <= high - low <= WHOLE_GRADES and (high - low).is_integer() else 10
    return [low + (high - low) * step / steps for step in range(steps + 1)]


@lru_cache(maxsize=64)
def _offered(text: str) -> tuple[str | float, ...]:
    """Parses the grades of a scale from a prompt's description."""
    if (found := _RANGE.fullmatch(text)) is not None:
        return tuple(grades_of(GradeScale("interval", low=float(found["low"]), high=float(found["high"]))))
    return tuple(text.removeprefix('"').removesuffix('"').split('", "'))
