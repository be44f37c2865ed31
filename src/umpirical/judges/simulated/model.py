"""A model that answers by the latent rule, through the same port as a real one.

It reads the prompt as a model would: the candidates are taken from the rendered text, so a position that was filled
incorrectly is answered incorrectly, and a test that plants a value notices.
"""

import json
from collections.abc import Callable, Mapping
from math import log
from typing import cast

from umpirical.domain.responses import Response, Usage
from umpirical.domain.scales import JudgeKind
from umpirical.judges.layout import layout_values
from umpirical.judges.simulated import comparer as judging
from umpirical.judges.simulated.examiner import (
    AUDITOR_PROFILES,
    PAIR_AUDITOR_PROFILES,
    Auditor,
    AuditorKey,
    AuditorProfile,
    Examiner,
    ExaminerKey,
    PairAuditor,
    PairAuditorProfile,
)
from umpirical.judges.simulated.profiles import (
    EXAMINER_PROFILES,
    GRADER_PROFILES,
    PAPER_PROFILES,
    PROFILES,
    ExaminerProfile,
    GraderProfile,
    Profile,
    unknown_profile,
)
from umpirical.judges.spec import JudgeSpec
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ADAPTERS, Calling, ModelAdapter, ModelSpec
from umpirical.stats.seeds import uniform
from umpirical.text.templates import fill, placeholders

SimulatedProfile = Profile | GraderProfile | ExaminerProfile | AuditorProfile

AnswerKey = Callable[[str, str], float] | ExaminerKey | AuditorKey
"""What is known about a text by construction: its quality in requirements met or, for an examiner or an auditor, all of
the truth."""


class SimulatedModel:
    """Answers the built-in prompts. Every draw depends on the seed, the text and the trial, not on the time."""

    def __init__(self, profile: SimulatedProfile, *, answer_key: AnswerKey, seed: int) -> None:
        self._profile = profile
        self._seed = seed
        self._judge = _judge(profile, answer_key, seed)

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        prompt = request.messages[-1].content
        sent = json.dumps(request.decoding.sent())
        fate = uniform(self._seed, "fate", trial_id)
        if fate < self._profile.failure_rate:
            return Response(trial_id, None, "server-error", "simulated failure", sent=sent, served_by="simulated")
        text, logprobs = "There is much to be said for and against.", ""
        if fate >= self._profile.failure_rate + self._profile.unparsed_rate:
            text = self._judge.answer(prompt, trial_id)
            # Only a judge that compares has log-probabilities: they serve scoring methods, which exist only for such
            # judges.
            if request.decoding.top_logprobs is not None and isinstance(self._judge, judging.Comparer):
                logprobs = _label_logprobs(text, self._judge.probabilities(prompt), top=request.decoding.top_logprobs)
        usage = Usage(input_tokens=len(prompt) // 4, output_tokens=len(text) // 4)
        return Response(
            trial_id, text, finish_reason="stop", usage=usage, logprobs=logprobs, sent=sent, served_by="simulated"
        )

    async def close(self) -> None:
        """Releases nothing."""


def _judge(
    profile: SimulatedProfile, answer_key: AnswerKey, seed: int
) -> judging.Comparer | judging.Grader | Examiner | Auditor | PairAuditor:
    # The profile decides which key a judge needs; a function cannot be asked what it returns.
    match profile:
        case PairAuditorProfile():
            return PairAuditor(profile, seed)
        case AuditorProfile():
            return Auditor(profile, cast("AuditorKey", answer_key), seed)
        case ExaminerProfile():
            return Examiner(profile, cast("ExaminerKey", answer_key), seed)
        case GraderProfile():
            return judging.Grader(profile, cast("Callable[[str, str], float]", answer_key), seed)
        case Profile():
            return judging.Comparer(profile, cast("Callable[[str, str], float]", answer_key), seed)


def _label_logprobs(text: str, probabilities: Mapping[str, float], *, top: int) -> str:
    """Returns the log-probabilities of a simulated answer, as JSON in the form that servers send.

    The label is one token, listed with the `top` likeliest labels; all other tokens are certain.
    """
    verdict = json.loads(text)["verdict"]
    before, after = text.split(f'"{verdict}"')
    # An impossible answer is not listed.
    known = {label: log(share) for label, share in probabilities.items() if share > 0}
    listed = sorted(known.items(), key=lambda entry: -entry[1])[:top]
    content = [
        _token(f'{before}"', 0.0, [(f'{before}"', 0.0)]),
        _token(verdict, known[verdict], listed),
        _token(f'"{after}', 0.0, [(f'"{after}', 0.0)]),
    ]
    return json.dumps({"content": content})


def _token(text: str, logprob: float, listed: list[tuple[str, float]]) -> dict[str, object]:
    return {
        "token": text,
        "logprob": logprob,
        "top_logprobs": [{"token": other, "logprob": value} for other, value in listed],
    }


def can_read(prompt: str, kind: JudgeKind = "compare") -> bool:
    """Whether a simulated judge can read a prompt template: it needs the built-in marks."""
    shown = judging.SHOWN if kind == "compare" else judging.SHOWN_ALONE
    # An examiner recognizes the task by the fence: constant marks would not identify it.
    if kind == "grade" and "fence" not in placeholders(prompt):
        return False
    marks = {"fence": "0", "order": "lowest first", **layout_values(None)}
    return shown.match(fill(prompt, {name: f"{{{{{name}}}}}" for name in placeholders(prompt)} | marks)) is not None


def simulated_profile(name: str, kind: JudgeKind) -> SimulatedProfile:
    """Returns the known properties of a simulated judge of controlled answers, of the user's texts or of agents."""
    known = _profiles(kind)
    if name not in known:
        raise unknown_profile(name, f" that {kind}s", known)
    return known[name]


def refuse_unknown_profile(name: str) -> None:
    """Raises UsageError if no judge is simulated under that name."""
    known = _profiles("compare") | _profiles("grade")
    if name not in known:
        raise unknown_profile(name, "", known)


def _profiles(kind: JudgeKind) -> dict[str, SimulatedProfile]:
    if kind == "compare":
        return {**PROFILES, **PAPER_PROFILES, **PAIR_AUDITOR_PROFILES}
    return {**GRADER_PROFILES, **EXAMINER_PROFILES, **AUDITOR_PROFILES}


class _Simulated(ModelAdapter):
    """Judges with known defects, by the name of their profile."""

    simulated = True
    writes = False

    def reads(self, prompt: str, kind: JudgeKind) -> bool:
        return can_read(prompt, kind)

    def open(self, spec: ModelSpec, calling: Calling) -> SimulatedModel:
        # The name is looked up first: the error about an unknown name must come before any other.
        true_value = simulated_profile(spec.name, calling.kind)
        return SimulatedModel(true_value, answer_key=cast("AnswerKey", calling.answer_key()), seed=calling.seed)


ADAPTER = _Simulated()


def profile_of(judge: JudgeSpec) -> SimulatedProfile | None:
    """Returns the known properties of a judge; None for one that is not simulated here."""
    if judge.model is None or ADAPTERS.get(judge.model.adapter) is not ADAPTER:
        return None
    return simulated_profile(judge.model.name, judge.kind)
