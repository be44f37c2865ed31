"""The noise of one call: partly the prompt's own, the same for every repeat, partly the call's."""

import math

from umpirical.stats.seeds import normal

__all__ = ["call_noise"]


def call_noise(seed: int, prompt: str, trial_id: str, *, frozen: float) -> float:
    """Standard normal; `frozen` is the share of its variance that repeats of a prompt have in common."""
    kept = math.sqrt(frozen) * normal(seed, "prompt noise", prompt)
    return kept + math.sqrt(1 - frozen) * normal(seed, "call noise", trial_id)
