"""A model that answers by the latent rule, through the same port as a real one.

It reads the prompt as a model would: the candidates are taken from the rendered text, so a slot that was filled
wrongly is answered wrongly, and a test that plants a value sees it.
"""

import json
import math
import re
from collections.abc import Callable

from umpirical.domain.responses import Response, Usage
from umpirical.judges.simulated.profiles import Profile
from umpirical.models.port import ChatRequest
from umpirical.stats.seeds import normal, uniform

__all__ = ["SimulatedModel", "can_read"]

_SHOWN = re.compile(
    r"\A(?P<task>.*?)\[candidate 1, (?P<fence>[0-9a-f]+)\]\n(?P<first>.*?)\n\[end of candidate 1, (?P=fence)\]\n\n"
    r"\[candidate 2, (?P=fence)\]\n(?P<second>.*?)\n\[end of candidate 2, (?P=fence)\]",
    re.DOTALL,
)

CHOICES = ("1", "2", "tie")


class SimulatedModel:
    """Answers the built-in compare prompt. Every draw depends on the seed, the text and the trial, not on when."""

    def __init__(self, profile: Profile, *, answer_key: Callable[[str], float], seed: int) -> None:
        """`answer_key` gives the quality of a candidate, in requirements met."""
        self._profile = profile
        self._answer_key = answer_key
        self._seed = seed

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        prompt = request.messages[-1].content
        sent = json.dumps(request.decoding.sent())
        fate = uniform(self._seed, "fate", trial_id)
        if fate < self._profile.failure_rate:
            return Response(trial_id, None, "server-error", "simulated failure", sent=sent, served_by="simulated")
        if fate < self._profile.failure_rate + self._profile.unparsed_rate:
            text = "Both candidates have their merits."
        else:
            text = json.dumps({"verdict": self._verdict(prompt, trial_id)})
        usage = Usage(input_tokens=len(prompt) // 4, output_tokens=len(text) // 4)
        return Response(trial_id, text, finish_reason="stop", usage=usage, sent=sent, served_by="simulated")

    async def close(self) -> None:
        """Nothing to release."""

    def _verdict(self, prompt: str, trial_id: str) -> str:
        shown = _SHOWN.match(prompt)
        if shown is None:
            raise ValueError("a simulated judge reads the built-in compare prompt only")
        latent = self._profile.latent
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return CHOICES[int(uniform(self._seed, "guess", trial_id) * 3)]
        signal, criterion = self._evidence(shown["task"], shown["first"], shown["second"])
        frozen = self._profile.frozen_noise
        noise = math.sqrt(frozen) * normal(self._seed, "prompt noise", prompt)
        noise += math.sqrt(1 - frozen) * normal(self._seed, "call noise", trial_id)
        x = signal + latent.slot_bias + noise
        return "1" if x > criterion else "2" if x < -criterion else "tie"

    def _evidence(self, task: str, first: str, second: str) -> tuple[float, float]:
        """What speaks for slot 1, and how much it takes."""
        latent = self._profile.latent
        shift = self._profile.criterion_spread * normal(self._seed, "criterion", task)
        if first == second or not (first.strip() or second.strip()):
            return 0.0, max(0.0, latent.vacuum_criterion + shift)
        low, high = sorted([first, second])
        surface = latent.surface * normal(self._seed, "surface", low, high) * (1 if first == low else -1)
        spread = self._profile.resolution_spread
        resolution = latent.resolution * math.exp(spread * normal(self._seed, "resolution", task))
        quality = resolution * (self._answer_key(first) - self._answer_key(second))
        length = latent.length_weight * math.log((len(first) or 1) / (len(second) or 1))
        # Below zero both slots would win at once.
        return quality + surface + length, max(0.0, latent.criterion + shift)


def can_read(prompt: str) -> bool:
    """Whether a simulated judge finds its way in a prompt template: it needs the built-in marks."""
    return _SHOWN.match(re.sub(r"\{\{ *fence *\}\}", "0", prompt)) is not None
