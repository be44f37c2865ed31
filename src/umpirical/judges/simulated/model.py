"""A model that answers by the latent rule, through the same port as a real one.

It reads the prompt as a model would: the candidates are taken from the rendered text, so a slot that was filled
wrongly is answered wrongly, and a test that plants a value sees it.
"""

import json
import re
from collections.abc import Callable, Mapping
from math import log
from typing import cast

from umpirical.domain.responses import Response, Usage
from umpirical.domain.scales import JudgeKind
from umpirical.judges.simulated import comparer as comparing
from umpirical.judges.simulated import grader as grading
from umpirical.judges.simulated.examiner import Examiner, ExaminerKey
from umpirical.judges.simulated.examiner_profiles import EXAMINER_PROFILES, ExaminerProfile
from umpirical.judges.simulated.profiles import GRADER_PROFILES, GraderProfile, Profile, profile, unknown_profile
from umpirical.judges.spec import JudgeSpec
from umpirical.models.adapters.catalogue import ADAPTERS, Calling, ModelAdapter
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ModelSpec
from umpirical.stats.seeds import uniform
from umpirical.text.templates import placeholders

__all__ = ["ADAPTER", "AnswerKey", "SimulatedModel", "SimulatedProfile", "can_read", "profile_of", "simulated_profile"]

SimulatedProfile = Profile | GraderProfile | ExaminerProfile

AnswerKey = Callable[[str], float] | ExaminerKey
"""What is known of a text by construction: its quality in requirements met, or for an examiner the whole truth."""


class SimulatedModel:
    """Answers the built-in prompts. Every draw depends on the seed, the text and the trial, not on when."""

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
            # Only a judge that compares has log-probabilities: they are for readouts, which are of such judges.
            if request.decoding.top_logprobs is not None and isinstance(self._judge, comparing.Comparer):
                logprobs = _label_logprobs(text, self._judge.probabilities(prompt), top=request.decoding.top_logprobs)
        usage = Usage(input_tokens=len(prompt) // 4, output_tokens=len(text) // 4)
        return Response(
            trial_id, text, finish_reason="stop", usage=usage, logprobs=logprobs, sent=sent, served_by="simulated"
        )

    async def close(self) -> None:
        """Nothing to release."""


def _judge(
    profile: SimulatedProfile, answer_key: AnswerKey, seed: int
) -> comparing.Comparer | grading.Grader | Examiner:
    # Which key a judge needs goes by its profile; a function cannot be asked what it returns.
    match profile:
        case ExaminerProfile():
            return Examiner(profile, cast("ExaminerKey", answer_key), seed)
        case GraderProfile():
            return grading.Grader(profile, cast("Callable[[str], float]", answer_key), seed)
        case Profile():
            return comparing.Comparer(profile, cast("Callable[[str], float]", answer_key), seed)


def _label_logprobs(text: str, probabilities: Mapping[str, float], *, top: int) -> str:
    """Log-probabilities of a simulated answer, as JSON in the form that servers send.

    The label is one token, beside which the `top` likeliest labels are listed; the rest is certain.
    """
    verdict = json.loads(text)["verdict"]
    before, after = text.split(f'"{verdict}"')
    # An answer that cannot be given is listed nowhere.
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
    """Whether a simulated judge finds its way in a prompt template: it needs the built-in marks."""
    shown = comparing.SHOWN if kind == "compare" else grading.SHOWN
    # An examiner knows by the fence which task a text answers: marks that are always the same do not tell.
    if kind == "grade" and "fence" not in placeholders(prompt):
        return False
    marked = re.sub(r"\{\{ *order *\}\}", "lowest first", re.sub(r"\{\{ *fence *\}\}", "0", prompt))
    return shown.match(marked) is not None


def simulated_profile(name: str, kind: JudgeKind) -> SimulatedProfile:
    """What is planted in a simulated judge: one that compares, one of controlled answers, or an examiner."""
    if kind == "compare":
        return profile(name)
    known: dict[str, SimulatedProfile] = {**GRADER_PROFILES, **EXAMINER_PROFILES}
    if name not in known:
        raise unknown_profile(name, "grades", known)
    return known[name]


class _Simulated(ModelAdapter):
    """Judges with known defects, by the name of what is planted in them."""

    simulated = True

    def reads(self, prompt: str, kind: JudgeKind) -> bool:
        return can_read(prompt, kind)

    def open(self, spec: ModelSpec, calling: Calling) -> SimulatedModel:
        # A name that is not known must not be answered with what another judge cannot do: it is looked up first.
        planted = simulated_profile(spec.name, calling.kind)
        return SimulatedModel(planted, answer_key=cast("AnswerKey", calling.answer_key()), seed=calling.seed)


ADAPTER = _Simulated()


def profile_of(judge: JudgeSpec) -> SimulatedProfile | None:
    """What is planted in a judge; None for one that is not simulated here."""
    if judge.model is None or ADAPTERS.get(judge.model.adapter) is not ADAPTER:
        return None
    return simulated_profile(judge.model.name, judge.kind)
