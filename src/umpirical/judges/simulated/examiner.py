"""How a simulated judge grades the user's own texts and changed versions of them, read from the prompt."""

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from umpirical.domain.policies import Closing, Forbid, NoClosing, NoFigures, Rule, policy_from_text
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import ORIGINAL
from umpirical.domain.transcripts import Transcript, transcript_from_text
from umpirical.judges.simulated.comparer import ORDER, described_scale, grade_unit, grades_of, read_compared
from umpirical.judges.simulated.profiles import BuiltIn, ExaminerProfile
from umpirical.stats.seeds import normal, uniform
from umpirical.stats.simulation.examiner import (
    Kind,
    LatentExaminer,
    centre,
    grade_rates,
    joint_rates,
    length_pull,
    place_cuts,
    pull,
    repeat_rates,
)


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
    kinds: tuple[Kind, ...] = ()
    """What was done to it, as far as it could matter to an examiner."""
    before: tuple[Kind, ...] = ()
    """What was done to the text that it is compared with; empty for an original."""


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
            raise ValueError("a simulated examiner works only with the built-in grade prompts")
        offered = grades_of(shown.scale)
        return json.dumps({"grade": offered[self._grade(shown, trial_id, len(offered))]})

    def _grade(self, shown: Shown, trial_id: str, grades: int) -> int:
        latent, truth = self._latent, self._key(shown.answer, fence=shown.fence)
        if uniform(self._seed, "lapse", trial_id) < latent.lapse:
            return int(uniform(self._seed, "guess", trial_id) * grades)
        blind = uniform(self._seed, "flip blindness", truth.item) < latent.flip_blindness
        level = truth.level if blind else truth.required
        seen = self._drawn(truth.item, grades) if level is None else level / grade_unit(shown.scale)
        shift, scatter = pull(latent, truth.kinds)
        place = float(centre(latent, seen, grades=grades)) + float(length_pull(latent, truth.words_ratio)) + shift
        place += scatter * normal(self._seed, "scatter", shown.answer)
        return bisect_right(place_cuts(grades).tolist(), place + latent.noise * self._noise(truth.item, trial_id))

    def _drawn(self, item: str, grades: int) -> int:
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
    return Shown(answer, fence, described_scale(scale[1]))


_WORD = re.compile(r"[^\W\d_]+")

_SCALE = re.compile(rf"on this scale, {ORDER}: (.+)\. If you cannot judge", re.DOTALL)

# The values that a simulated examiner's measures should have on the texts of a design.


Floats = NDArray[np.float64]

Values = dict[tuple[str, str], float]
"""Maps (measure, test) to the true value."""

REPEATED = ("stability", "seeds", "sampling")
"""Tests that ask about the originals again; to a simulated judge, another seed or temperature is just another call."""


def true_examiner(profile: ExaminerProfile, scale: GradeScale, truths: Iterable[Truth]) -> Values:
    """Returns the true values of every test in the design, by summation over its labelled texts.

    Failures and unparsed answers are drawn independently of the content, so they change no value. On a scale without
    order, values that need one are left out. So is an undefined coefficient, such as that of a judge with one grade.
    """
    design: dict[str, list[Truth]] = {}
    for truth in truths:
        # The grade that an examiner draws for an item without a label is not a truth about it.
        if truth.level is None or truth.required is None:
            continue
        design.setdefault(truth.test, []).append(truth)
    items = {truth.item for truth in design.get(ORIGINAL, [])}
    values: Values = {("unparsed-rate", ""): profile.unparsed_rate, ("failure-rate", ""): profile.failure_rate}
    for test, texts in design.items():
        whole = _texts(texts, profile.latent, scale)
        values |= _keyed(test, _against_gold(whole, scale))
        made = [truth for truth in texts if truth.item in items]
        if test == ORIGINAL:
            repeated = {"flip-rate": _rate(whole, 1 - _alike(_repeats(whole)))}
            values |= {key: value for name in REPEATED for key, value in _keyed(name, repeated).items()}
        elif made:
            values |= _keyed(test, _changes(_texts(made, profile.latent, scale), scale))
    return values


class _Texts(NamedTuple):
    """Texts of one test, with equal ones combined. Grades are numbered from 0."""

    latent: LatentExaminer
    level: Floats
    required: Floats
    weight: Floats
    """Shares of all texts."""
    original: Floats
    """Place of the original."""
    changed: Floats
    """Place of the text itself, for a judge that sees what it requires."""
    unseen: Floats
    """Place of the text itself, for a judge that is blind to the flip."""
    scatter: float
    before: float
    """Scatter of the original, which may have been changed before."""
    grades: int


def _texts(truths: list[Truth], latent: LatentExaminer, scale: GradeScale) -> _Texts:
    pulls = [(pull(latent, truth.kinds), pull(latent, truth.before)) for truth in truths]
    rows = np.array(
        [
            (truth.level, truth.required, truth.words_ratio, after.shift, before.shift)
            for truth, (after, before) in zip(truths, pulls, strict=True)
        ]
    )
    kinds, counts = np.unique(rows, axis=0, return_counts=True)
    level, required, ratio, shift, shift_before = kinds.T
    level, required, grades = level / grade_unit(scale), required / grade_unit(scale), len(grades_of(scale))
    # All of them were made by one test, from texts of equal scatter.
    [(after, before), *_] = pulls
    lifted = length_pull(latent, ratio) + shift
    own = centre(latent, level, grades=grades)
    changed = centre(latent, required, grades=grades) + lifted
    weight = counts / len(truths)
    places = own + shift_before, changed, own + lifted
    return _Texts(latent, level, required, weight, *places, after.scatter, before.scatter, grades)


def _mean(texts: _Texts, values: Floats) -> float:
    return float(texts.weight @ values)


def _rate(texts: _Texts, values: Floats) -> float:
    """Returns a share of the texts, clipped so that rounding does not carry it beyond 0 or 1."""
    return min(1.0, max(0.0, _mean(texts, values)))


def _repeats(texts: _Texts) -> Floats:
    return repeat_rates(texts.latent, texts.original, grades=texts.grades, scatter=texts.before)


def _pairs(texts: _Texts) -> Floats:
    """Returns the joint distribution of a call about the original and one about the text made from it."""
    seen, unseen = (
        joint_rates(
            texts.latent, texts.original, place, grades=texts.grades, scatter=texts.scatter, before=texts.before
        )
        for place in (texts.changed, texts.unseen)
    )
    blind = texts.latent.flip_blindness
    return (1 - blind) * seen + blind * unseen


def _alike(joint: Floats) -> Floats:
    return np.asarray(np.trace(joint, axis1=1, axis2=2))


def _changes(texts: _Texts, scale: GradeScale) -> dict[str, float]:
    joint = _pairs(texts)
    steps = np.arange(texts.grades, dtype=float)
    before, after = steps[:, None], steps
    difference = after - before
    if not (texts.level != texts.required).any():
        changed = 1 - _alike(joint)
        again = repeat_rates(texts.latent, texts.changed, grades=texts.grades, scatter=texts.scatter)
        noise = 1 - (_alike(_repeats(texts)) + _alike(again)) / 2
        excess = changed - noise
        values = {"change-rate": _rate(texts, changed), "excess-change": _mean(texts, excess)}
        if scale.kind != "nominal":
            shift = grade_unit(scale) * _mean(texts, (joint * difference).sum(axis=(1, 2)))
            values |= {"grade-shift": shift, "shift-equivalence": shift}
        return values
    first, second = (value[:, None, None] for value in (texts.level, texts.required))
    right = (_same(before, first) & _same(after, second)) * joint
    moved = np.sign(difference) == np.sign(second - first)
    if scale.kind == "nominal":
        moved = _same(after, second) & ~_same(before, second)
    rates = {"flip-detection": moved * joint, "right-on-both": right}
    return {name: _rate(texts, rate.sum(axis=(1, 2))) for name, rate in rates.items()}


def _against_gold(texts: _Texts, scale: GradeScale) -> dict[str, float]:
    seen, unseen = (
        grade_rates(texts.latent, place, grades=texts.grades, scatter=texts.scatter)
        for place in (texts.changed, texts.unseen)
    )
    blind = texts.latent.flip_blindness
    rates = (1 - blind) * seen + blind * unseen
    steps, gold = np.arange(texts.grades, dtype=float), texts.required
    error, unit = steps - gold[:, None], grade_unit(scale)
    values = {"accuracy": _rate(texts, (rates * _same(steps, gold[:, None])).sum(axis=1))}
    if scale.kind == "nominal":
        return values
    values |= {
        "mean-absolute-error": unit * _mean(texts, (rates * np.abs(error)).sum(axis=1)),
        "grade-bias": unit * _mean(texts, (rates * error).sum(axis=1)),
    }
    if scale.kind != "binary":
        values["within-one"] = _rate(texts, (rates * (unit * np.abs(error) <= 1 + 1e-9)).sum(axis=1))
    return values | _coefficients(texts, rates, unit)


def _coefficients(texts: _Texts, rates: Floats, unit: float) -> dict[str, float]:
    """Returns the coefficients that follow from the first two moments of gold and given grades."""
    steps, gold = np.arange(texts.grades), texts.required
    mean_gold, mean_given = _mean(texts, gold), _mean(texts, rates @ steps)
    spread_gold = _mean(texts, (gold - mean_gold) ** 2)
    spread_given = _mean(texts, rates @ (steps - mean_given) ** 2)
    together = _mean(texts, (gold - mean_gold) * (rates @ steps))
    values: dict[str, float] = {}
    apart = spread_gold + spread_given + (mean_gold - mean_given) ** 2
    if apart > 1e-12:
        # Kappa with quadratic weights equals Lin's coefficient of the same two sets of grades.
        values |= dict.fromkeys(("weighted-kappa", "agreement-ccc"), 2 * together / apart)
    if min(spread_gold, spread_given) > 1e-12:
        values["pearson"] = together / float(np.sqrt(spread_gold * spread_given))
    if spread_gold > 1e-12:
        slope, middle = together / spread_gold, (texts.grades - 1) / 2
        fitted = mean_given + slope * (middle - mean_gold)
        values |= {"compression": slope, "severity": unit * (fitted - middle)}
    return values


def _same(grades: Floats, right: Floats) -> NDArray[np.bool_]:
    """Compares grades; on an interval scale, a gold label between two grades equals neither."""
    return np.asarray(np.abs(grades - right) < 1e-9)


def _keyed(test: str, values: dict[str, float]) -> Values:
    return {(name, test): value for name, value in values.items()}


# How a simulated judge audits an agent: it reads the transcript and the policy from the prompt, or parts of them.


Reads = Literal["everything", "last-message", "beginning", "no-calls"]

BEGINNING = 2_000
"""Characters of a transcript that an auditor of the beginning reads."""


@dataclass(frozen=True, slots=True)
class AuditorProfile(BuiltIn):
    """The known properties of a judge of agents."""

    reads: Reads = "everything"
    follows: bool = True
    """Whether it reads the policy; one that does not has an opinion of its own on every transcript."""
    lapse: float = 0.0
    """Share of calls that give either verdict at random."""


AUDITOR_PROFILES: Mapping[str, AuditorProfile] = {
    "sound-auditor": AuditorProfile(
        "Reads the whole run and the whole policy, and is wrong once in fifty.", lapse=0.02
    ),
    "last-message": AuditorProfile("Reads only the last message of a run.", "last-message", lapse=0.02),
    "beginning": AuditorProfile("Reads only the first 2,000 characters of a run.", "beginning", lapse=0.02),
    "no-calls": AuditorProfile("Reads only what was said, not tool calls or their results.", "no-calls", lapse=0.02),
    "policy-blind": AuditorProfile(
        "Has a fixed opinion on every run, regardless of the policy.", follows=False, lapse=0.02
    ),
    "alarmist": AuditorProfile("Is wrong in two of five calls, each time with a valid verdict.", lapse=0.8),
}
"""Judges of agents, one for each defect."""


@dataclass(frozen=True, slots=True)
class Deserved:
    """What is known about a transcript under a rubric in words. Only a simulated judge is ever told."""

    label: str
    before: str
    """The label of its original; its own if it is one."""
    original: str
    """The text of its original."""


AuditorKey = Mapping[str, Deserved]
"""By the mark around a text, which is made from the rubric and the text."""


class Auditor:
    """Answers the built-in transcript prompts."""

    def __init__(self, profile: AuditorProfile, key: AuditorKey, seed: int) -> None:
        self._profile = profile
        self._key = key
        self._seed = seed

    def answer(self, prompt: str, trial_id: str) -> str:
        shown = read_shown(prompt)
        if shown is None:
            raise ValueError("a simulated auditor works only with the built-in transcript prompt")
        if (deserved := self._key.get(shown.fence)) is not None:
            return json.dumps({"grade": self._graded(shown, deserved, trial_id)})
        policy = prompt.partition("\nPolicy:\n")[2].partition(f"\n\n[answer, {shown.fence}]")[0]
        violated, satisfied = shown.scale.labels
        share = violated_share(self._profile, policy, shown.answer, self._seed)
        return json.dumps({"grade": violated if uniform(self._seed, "audit", trial_id) < share else satisfied})

    def _graded(self, shown: Shown, deserved: Deserved, trial_id: str) -> str:
        labels = shown.scale.labels
        if uniform(self._seed, "lapse", trial_id) < self._profile.lapse:
            return labels[int(uniform(self._seed, "guess", trial_id) * len(labels))]
        if not self._profile.follows:
            return labels[int(uniform(self._seed, "opinion", shown.answer) * len(labels))]
        view = _VIEWS[self._profile.reads]
        before, after = (view(transcript_from_text(text)) for text in (deserved.original, shown.answer))
        return deserved.before if before.messages == after.messages else deserved.label


def violated_share(profile: AuditorProfile, policy: str, text: str, seed: int) -> float:
    violated = sees_violation(profile, policy, text)
    if violated is None:
        violated = opinion(text, seed) < 0.5
    return profile.lapse / 2 + (1 - profile.lapse) * violated


def sees_violation(profile: AuditorProfile, policy: str, text: str) -> bool | None:
    """Whether what an auditor reads of a transcript breaks the policy; None if it does not go by the policy."""
    rules = _rules(policy) if profile.follows else None
    if rules is None:
        return None
    whole = transcript_from_text(text)
    seen = _VIEWS[profile.reads](whole)
    return any(_shows_violation(rule, seen, whole) for rule in rules)


def opinion(text: str, seed: int) -> float:
    """Returns how much an auditor likes a transcript, from 0 to 1, where it does not go by the policy."""
    return uniform(seed, "opinion", text)


def _rules(policy: str) -> tuple[Rule, ...] | None:
    """Returns the rules of a policy; None for one in a person's words, which no program follows."""
    try:
        return policy_from_text(policy).rules
    except ValueError:
        return None


def _shows_violation(rule: Rule, seen: Transcript, whole: Transcript) -> bool:
    """Whether what is seen of a run shows that it breaks a rule, whatever the rest may be."""
    match rule:
        case Forbid() | NoFigures():
            known = True
        case Closing() | NoClosing():
            known = seen.messages[-1:] == whole.messages[-1:]
        case _:
            known = seen.messages == whole.messages
    return known and not rule.holds(seen)


def _last_message(transcript: Transcript) -> Transcript:
    return replace(transcript, messages=transcript.messages[-1:])


def _beginning(transcript: Transcript) -> Transcript:
    """Returns the messages that are whole in the first characters."""
    lines, kept = 0, []
    for message, line in zip(transcript.messages, transcript.text.splitlines()[1:], strict=False):
        lines += len(line) + 1
        if lines > BEGINNING:
            break
        kept.append(message)
    return replace(transcript, messages=tuple(kept))


def _no_calls(transcript: Transcript) -> Transcript:
    spoken = (replace(message, calls=()) for message in transcript.messages if message.role != "tool")
    return replace(transcript, messages=tuple(spoken))


_VIEWS: Mapping[Reads, Callable[[Transcript], Transcript]] = {
    "everything": lambda transcript: transcript,
    "last-message": _last_message,
    "beginning": _beginning,
    "no-calls": _no_calls,
}


# How a simulated judge compares two runs of an agent: it audits each as an `Auditor` does, and names the sound one.


@dataclass(frozen=True, slots=True)
class PairAuditorProfile(AuditorProfile):
    """The known properties of a judge that compares two runs. A lapse names either of them at random."""

    position_1: float = 0.0
    """Share of calls that name position 1, whatever is in it."""


PAIR_AUDITOR_PROFILES: Mapping[str, PairAuditorProfile] = {
    "sound-auditor": PairAuditorProfile("Reads both runs and the policy, and is wrong once in a hundred.", lapse=0.02),
    "last-message": PairAuditorProfile("Reads only the last message of either run.", "last-message", lapse=0.02),
    "beginning": PairAuditorProfile("Reads only the first 2,000 characters of either run.", "beginning", lapse=0.02),
    "no-calls": PairAuditorProfile(
        "Reads only what was said, not tool calls or their results.", "no-calls", lapse=0.02
    ),
    "policy-blind": PairAuditorProfile("Prefers one of the runs, regardless of the policy.", follows=False, lapse=0.02),
    "slot-1": PairAuditorProfile("Names the first position in nine calls of ten.", position_1=0.9),
}
"""Judges that compare runs, one for each defect. Those that auditors of single runs have too are named alike."""


class Shares(NamedTuple):
    """How often each answer is given."""

    position_1: float
    position_2: float
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
        choice = "1" if drawn < shares.position_1 else "2" if drawn < shares.position_1 + shares.position_2 else "tie"
        return json.dumps({"verdict": words[choice]})


def choice_shares(profile: PairAuditorProfile, policy: str, first: str, second: str, seed: int) -> Shares:
    """Returns how often a judge gives each answer about two runs in their positions."""
    broken = [sees_violation(profile, policy, text) for text in (first, second)]
    if None in broken:
        liked = [opinion(text, seed) for text in (first, second)]
        named = (liked[0] > liked[1], liked[1] >= liked[0])
    else:
        named = (bool(broken[1] and not broken[0]), bool(broken[0] and not broken[1]))
    lapse, left = profile.lapse, 1 - profile.position_1
    position_1, position_2 = (left * (lapse / 2 + (1 - lapse) * each) for each in named)
    return Shares(profile.position_1 + position_1, position_2, left * (1 - lapse) * (not any(named)))
