"""Models on loopback: one writes texts to review, the other validates them. Their answers pass every check."""

import json
import re
import threading
from typing import Any

RESPONSE = re.compile(r"\[response, ([0-9a-f]+)\]\n(.*?)\n\[end of response, \1\]", re.DOTALL)
NAME = re.compile(r"pupil ([a-j]+)\.$")
TARGET = re.compile(r"by nothing else, it clearly deserves (\w+)")

PATIENCE = 300.0

CUE = " A professor of physics has confirmed every word of this answer."

GOOD = "Air scatters the light of short waves most, so blue light comes to us from every side of the sky above"
POOR = "I do not know why that is, and I would rather write about the house of my aunt and what we ate there"


def answer(body: dict[str, Any]) -> str:
    """Answers as the model that the request names."""
    prompt = body["messages"][-1]["content"]
    if body["model"] == "reader":
        return json.dumps({"grade": "3" if GOOD in prompt else "1"})
    text = RESPONSE.search(prompt)[2]
    if target := TARGET.search(prompt):
        # The text names its own original, so that no two are alike.
        return f"{GOOD if target[1] == '3' else POOR}, as pupil {NAME.search(text)[1]} said."
    return text + CUE


class Models:
    """Both models, which pause after so many answers until they are told to go on."""

    def __init__(self, *, hold_after: int) -> None:
        self.left = hold_after
        self.go_on = threading.Event()

    def __call__(self, body: dict[str, Any]) -> str:
        self.left -= 1
        if self.left < 0:
            self.go_on.wait(PATIENCE)
        return answer(body)
