"""How a simulated judge compares: the latent rule, read from the prompt."""

import json
import math
import re
from collections.abc import Callable
from functools import cache

from umpirical.judges.prompt import builtin_prompt
from umpirical.judges.simulated.profiles import Profile, call_noise
from umpirical.stats.seeds import normal, uniform
from umpirical.stats.simulation.judge import LatentJudge, slot_rates

SHOWN = re.compile(
    r"\A(?P<task>.*?)\[candidate (?P<label_1>\w+), (?P<fence>[0-9a-f]+)\]\n(?P<first>.*?)\n"
    r"\[end of candidate (?P=label_1), (?P=fence)\]\n\n"
    r"\[candidate (?P<label_2>\w+), (?P=fence)\]\n(?P<second>.*?)\n\[end of candidate (?P=label_2), (?P=fence)\]",
    re.DOTALL,
)

ARMS = ("strict", "forced-choice")
"""Built-in instructions that move the criterion; any other prompt is treated as the baseline."""

CHOICES = ("1", "2", "tie")


class Comparer:
    """Answers the built-in compare prompts."""

    def __init__(self, profile: Profile, answer_key: Callable[[str, str], float], seed: int) -> None:
        self._profile = profile
        self._answer_key = answer_key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        return json.dumps({"verdict": _words(prompt)[self._verdict(prompt, trial_id)]})

    def probabilities(self, prompt: str) -> dict[str, float]:
        """Returns how likely each word is over all noise, like the log-probabilities of a model's text."""
        latent, x, criterion = self._weighed(prompt)
        first, second = (float(rate) for rate in slot_rates(latent, x, criterion=criterion))
        words = _words(prompt)
        shares = zip(CHOICES, (first, second, max(0.0, 1 - first - second)), strict=True)
        return {words[choice]: share for choice, share in shares}

    def _verdict(self, prompt: str, trial_id: str) -> str:
        latent, x, criterion = self._weighed(prompt)
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return CHOICES[int(uniform(self._seed, "guess", trial_id) * 3)]
        x += call_noise(self._seed, prompt, trial_id, frozen=self._profile.frozen_noise)
        return "1" if x > criterion else "2" if x < -criterion else "tie"

    def _weighed(self, prompt: str) -> tuple[LatentJudge, float, float]:
        """Returns the judge under the prompt's instruction, the noiseless evidence for slot 1, and the criterion."""
        shown = _shown(prompt)
        arm, task = _instruction(shown["task"])
        first, second, latent = shown["first"], shown["second"], self._profile.under(arm)
        x = self._evidence(latent, task, first, second) + latent.slot_bias
        return latent, x, self._criterion(latent, arm, task, blank=_vacuum(first, second))

    def _evidence(self, latent: LatentJudge, task: str, first: str, second: str) -> float:
        """Returns the evidence for slot 1."""
        if _vacuum(first, second):
            return 0.0
        low, high = sorted([first, second])
        surface = latent.surface * normal(self._seed, "surface", low, high) * (1 if first == low else -1)
        spread = self._profile.resolution_spread
        resolution = latent.resolution * math.exp(spread * normal(self._seed, "resolution", task))
        quality = resolution * (self._answer_key(task, first) - self._answer_key(task, second))
        length = latent.length_weight * math.log((len(first) or 1) / (len(second) or 1))
        return quality + surface + length

    def _criterion(self, latent: LatentJudge, arm: str, task: str, *, blank: bool) -> float:
        """Returns how much evidence a preference takes."""
        if arm == "forced-choice":
            return 0.0
        shift = self._profile.criterion_spread * normal(self._seed, "criterion", task)
        # Below zero, both slots would win at once.
        return max(0.0, (latent.vacuum_criterion if blank else latent.criterion) + shift)


def read_compared(prompt: str) -> tuple[str, str, str, dict[str, str]]:
    """Returns what a prompt says before its candidates, both candidates, and the word for each choice."""
    shown = _shown(prompt)
    return shown["task"], shown["first"], shown["second"], _words(prompt)


def _shown(prompt: str) -> re.Match[str]:
    shown = SHOWN.match(prompt)
    if shown is None:
        raise ValueError("a simulated judge that compares reads the built-in compare prompts only")
    return shown


def _words(prompt: str) -> dict[str, str]:
    """Maps each choice to the word for it: a simulated judge sees slots, and calls them as the prompt does."""
    shown = _shown(prompt)
    return {"1": shown["label_1"], "2": shown["label_2"], "tie": "tie"}


def _instruction(text: str) -> tuple[str, str]:
    """Returns the arm whose built-in instruction begins the prompt, and the task, which is the same in every arm."""
    for arm, head in _instructions().items():
        if text.startswith(head):
            return arm, text.removeprefix(head)
    return "baseline", text


@cache
def _instructions() -> dict[str, str]:
    prompts = {"baseline": "compare", **{arm: f"compare-{arm}" for arm in ARMS}}
    return {arm: builtin_prompt(name).partition("{{task}}")[0] for arm, name in prompts.items()}


def _vacuum(first: str, second: str) -> bool:
    return first == second or not (first.strip() or second.strip())
