"""A judge on the loopback server whose text always names position 1, and whose log-odds hold the truth and a position
bias."""

import hashlib
import math
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from tests.runs.loopback import CANDIDATE
from tests.servers.chat_server import Said
from tests.stimuli.built import built, lend_stimuli
from umpirical.domain.stimuli import GivenWinner, Stimulus

GAIN = 2.0
"""Log-odds for each requirement by which an answer is better."""

BIAS = 15.0
"""Log-odds for position 1, whatever is in it: more than any difference of quality."""

STUDY = """\
study: locked
judges:
  - name: locked
    model: {{adapter: openai-compatible, name: locked, base_url: {base_url}, price: free}}
    decoding: {decoding}
design: {{size: screen}}
concurrency: 16
"""


def planted_odds(stimulus: Stimulus) -> float:
    """Of content u against v: quality, and a taste between -1 and 1 that belongs to the two texts."""
    u, v = stimulus.candidates
    better = stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None
    quality = GAIN * (stimulus.delta or 0.0) * {0: 1, 1: -1, None: 0}[better]
    low, high = sorted([u, v])
    taste = int.from_bytes(hashlib.sha256(f"{low}\0{high}".encode()).digest()[:4], "big") / 2**31 - 1
    return quality + (taste if u == low else -taste) * (u != v)


def locked_answer(body: dict[str, Any]) -> Said:
    """Always the label of position 1; the tokens say how close it was."""
    prompt = body["messages"][-1]["content"]
    (one, first), (two, second) = CANDIDATE.findall(prompt)
    stimulus = next(shown for shown in _stimuli()[frozenset((first, second))] if shown.task in prompt)
    odds = BIAS + planted_odds(stimulus) * (1 if first == stimulus.candidates[0] else -1)
    assert odds > 0
    second_label = -math.log1p(math.exp(odds))
    listed = {one: odds + second_label, two: second_label, "t": -30.0, "a": -31.0}
    sure = [(text, -0.001, {text: -0.001}) for text in ("{", '"', "verdict", '":', ' "')]
    return Said((*sure, (one, listed[one], listed), ('"}', -0.001, {'"}': -0.001})))


@cache
def _stimuli() -> dict[frozenset[str], list[Stimulus]]:
    """By their texts, which the two versions of a crossed pair share: only the task tells them apart."""
    found = defaultdict(list)
    for stimulus in built("screen"):
        found[frozenset(stimulus.candidates)].append(stimulus)
    return found


def write_locked_study(folder: Path, base_url: str, *, decoding: str = "{top_logprobs: 20}") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lend_stimuli(folder)
    file = folder / "umpirical.yaml"
    file.write_text(STUDY.format(base_url=base_url, decoding=decoding))
    return file
