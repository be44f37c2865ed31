"""A generator, validators and judges for a loopback server: programs that stand in for models nobody can pay for here.

What they write is nonsense with the properties the tests ask for; what is under test is everything around them.
"""

import hashlib
import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

PERSUADE = Path(__file__).parents[4].parent / "shared" / "data" / "persuade"
"""Real essays, used from where they lie."""

RESPONSE = re.compile(r"\[response, ([0-9a-f]+)\]\n(.*?)\n\[end of response, \1\]", re.DOTALL)
ANSWER = re.compile(r"\[answer, ([0-9a-f]+)\]\n(.*?)\n\[end of answer, \1\]", re.DOTALL)
TEXT = re.compile(r"\[text, ([0-9a-f]+)\]\n(.*?)\n\[end of text, \1\]", re.DOTALL)
PLAIN = re.compile(r"\b[a-z]{4,}\b")

FUNCTION_WORDS = frozenset(
    """
    about after also because been before being could does each from have here into just like made many more most much
    only other over same should some such than that their them then there these they this those through very want was
    well were what when where which while will with would your you the and are for not but his her its our has had
    """.split()  # noqa: SIM905  # a list of words reads best as words
)

REPEATED = " That is what is meant here, and it is said once more so that it is clear to all of those who read it."

SYLLABLES = re.findall("..", "baremitolukanesodiveparugolimatefonusaki")


def answer(body: dict[str, Any]) -> str:
    """By the name of the model that is asked."""
    return MODELS[body["model"]](body["messages"][-1]["content"], body)


def _copied(prompt: str, _: dict[str, Any]) -> str:
    return found[2] if (found := RESPONSE.search(prompt)) else "The same as ever."


def _by_words(prompt: str, _: dict[str, Any]) -> str:
    return json.dumps({"grade": words_grade(ANSWER.search(prompt)[2])})


def _by_lines(prompt: str, _: dict[str, Any]) -> str:
    return json.dumps({"grade": str(1 + min(5, ANSWER.search(prompt)[2].count("\n") // 4))})


def words_grade(text: str) -> str:
    """A grade that goes by the number of words and by nothing else: blind to spaces, swayed by length."""
    return str(min(6, 1 + max(0, len(text.split()) - 150) // 70))


def _write(prompt: str, body: dict[str, Any]) -> str:
    opening = prompt.partition("\n")[0]
    found = RESPONSE.search(prompt)
    text = found[2] if found else ""
    if "in other words" in opening:
        return _reworded(text)
    if "longer" in opening:
        return _lengthened(text)
    if "shorter" in opening:
        return _shortened(text)
    if "deserves a given grade" in opening:
        target = re.search(r"by nothing else, deserves (\w+)", prompt)[1]
        return _invented(150 + 70 * (int(target) - 1) + 35, random.Random(body["seed"]))  # noqa: S311
    raise ValueError(f"cannot write this: {opening}")


def _reworded(text: str) -> str:
    place = iter(range(10**9))

    def other(match: re.Match[str]) -> str:
        word = match[0]
        keep = word in FUNCTION_WORDS or next(place) % 5 == 0
        return word if keep else f"{word[1:]}{word[0]}ay"

    return PLAIN.sub(other, text)


def _lengthened(text: str) -> str:
    wanted = 1.8 * len(text.split())
    while len(text.split()) < wanted:
        text += REPEATED
    return text


def _shortened(text: str) -> str:
    place = iter(range(10**9))
    return re.sub(r" [a-z]+\b(?=[ ,])", lambda match: match[0] if next(place) % 5 < 2 else "", text)


def _invented(words: int, rng: random.Random) -> str:
    """English function words around words of its own: no two texts have much in common."""

    def new_word() -> str:
        return "".join(rng.choice(SYLLABLES) for _ in range(3))

    text, count = [], 0
    while count < words:
        sentence = f"The {new_word()} of the {new_word()} is {new_word()} to {new_word()} and it was {new_word()}."
        text.append(sentence)
        count += len(sentence.split())
    return " ".join(text)


def _validate(prompt: str, _: dict[str, Any]) -> str:
    if '"same"' in prompt:
        # One in eight is turned down, whoever is asked, so that there is something to reject.
        doubt = hashlib.sha256(prompt.encode()).digest()[0] < 32
        return json.dumps({"verdict": "different" if doubt else "same"})
    return json.dumps({"grade": words_grade(TEXT.search(prompt)[2])})


MODELS: dict[str, Callable[[str, dict[str, Any]], str]] = {
    "writer": _write,
    "garbage": lambda _prompt, _body: "%%% 0x3f lorem %%%",
    "copyist": _copied,
    "validator": _validate,
    "agreeable": lambda _prompt, _body: '{"verdict": "same"}',
    "word-counter": _by_words,
    "line-counter": _by_lines,
}
