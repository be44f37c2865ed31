"""How a simulated judge grades the user's own texts and changed versions of them, read from the prompt."""

import json
import math
import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

from umpirical.domain.scales import GradeScale
from umpirical.judges.simulated.examiner_profiles import ExaminerProfile
from umpirical.judges.simulated.grader import ORDER, grades_of
from umpirical.stats.seeds import normal, uniform
from umpirical.stats.simulation.examiner import Kind, centre, length_pull, place_cuts, pull


@dataclass(frozen=True, slots=True)
class Truth:
    """What is known about a text by construction. Only a simulated judge is ever told."""

    level: float | None
    """The correct grade of its original, in steps above the lowest grade; None if the original has no label."""
    required: float | None
    """Its own correct grade; None if it has no label."""
    test: str
    """What made it: `original`, or the name of a stress test."""
    item: str
    """Identifies the original together with everything that was made from it."""
    words_ratio: float = 1.0
    """Its number of words divided by that of its original."""
    kind: Kind = "none"
    """What the test did to it, as far as it could matter to an examiner."""


class ExaminerKey(Protocol):
    """Returns the truth about a text in answer to a task."""

    def __call__(self, text: str, *, fence: str) -> Truth:
        """`fence` is the mark around the text. It is made from the task and the text, so it identifies the task."""
        ...


class Shown(NamedTuple):
    """What a prompt shows for grading."""

    answer: str
    fence: str
    """The mark around the answer, made from the task and the answer."""
    scale: GradeScale


class Examiner:
    """Answers the built-in grade prompts about texts whose truth is known.

    For an item without a label it draws a grade from the seed and the item, each with the same probability, and then
    treats it as the label: it has to answer, and no measure asks whether it is right about such an item.
    """

    def __init__(self, profile: ExaminerProfile, key: ExaminerKey, seed: int) -> None:
        self._latent = profile.latent
        self._key = key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        shown = read_shown(prompt)
        if shown is None:
            raise ValueError("a simulated examiner reads only the built-in grade prompts")
        offered = grades_of(shown.scale)
        return json.dumps({"grade": offered[self._grade(shown, trial_id, len(offered))]})

    def _grade(self, shown: Shown, trial_id: str, grades: int) -> int:
        latent, truth = self._latent, self._key(shown.answer, fence=shown.fence)
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return int(uniform(self._seed, "guess", trial_id) * grades)
        blind = uniform(self._seed, "flip blindness", truth.item) < latent.flip_blindness
        level = truth.level if blind else truth.required
        seen = self._drawn(truth.item, grades) if level is None else level / grade_unit(shown.scale)
        shift, scatter = pull(latent, truth.kind)
        place = float(centre(latent, seen, grades=grades)) + float(length_pull(latent, truth.words_ratio)) + shift
        place += scatter * normal(self._seed, "scatter", shown.answer)
        return bisect_right(place_cuts(grades).tolist(), place + latent.noise * self._noise(truth.item, trial_id))

    def _drawn(self, item: str, grades: int) -> int:
        """Returns a grade that is the same for everything made from the item."""
        return int(uniform(self._seed, "level without a label", item) * grades)

    def _noise(self, item: str, trial_id: str) -> float:
        """Returns standard normal noise, part of which belongs to the item whatever its wording."""
        frozen = self._latent.frozen
        kept = math.sqrt(frozen) * normal(self._seed, "item noise", item)
        return kept + math.sqrt(1 - frozen) * normal(self._seed, "call noise", trial_id)


def words_ratio(original: str, changed: str) -> float:
    """Returns the words of the changed text divided by those of the original. Only runs of letters count as words."""
    before, after = (len(_WORD.findall(text)) for text in (original, changed))
    # A text without any words has no length in words, so it is neither longer nor shorter than another.
    return after / before if before and after else 1.0


def read_shown(prompt: str) -> Shown | None:
    """Returns the fenced answer and the scale; None if the prompt lacks the built-in marks.

    The prompt is read from the end. What follows the last closing mark is the prompt's own; what precedes it, in an
    instruction, a rubric or the answer itself, may quote any mark except the one whose fence is made from the answer.
    """
    head, closing, tail = prompt.rpartition("\n[end of answer, ")
    fence, bracket, after = tail.partition("]")
    _, opening, answer = head.partition(f"[answer, {fence}]\n")
    scale = _SCALE.search(after)
    if not (closing and bracket and opening and scale):
        return None
    return Shown(answer, fence, _described(scale[1]))


def grade_unit(scale: GradeScale) -> float:
    """Returns the steps between neighbouring grades: one, unless an interval scale is divided differently."""
    first, second = (grade if isinstance(grade, float) else None for grade in grades_of(scale)[:2])
    return 1.0 if first is None or second is None else second - first


_WORD = re.compile(r"[^\W\d_]+")

_SCALE = re.compile(rf"on this scale, {ORDER}: (.+)\. If you cannot judge", re.DOTALL)

_RANGE = re.compile(r"a number from (?P<low>\S+) to (?P<high>\S+)")


@lru_cache(maxsize=64)
def _described(text: str) -> GradeScale:
    """Parses a scale from a prompt's description. It does not say whether labels have an order; none is needed here."""
    if (found := _RANGE.fullmatch(text)) is not None:
        return GradeScale("interval", low=float(found["low"]), high=float(found["high"]))
    return GradeScale("ordinal", tuple(text.removeprefix('"').removesuffix('"').split('", "')))
