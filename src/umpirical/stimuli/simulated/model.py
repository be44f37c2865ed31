"""A generator, a validator and a responder that answer by program, through the same port as a real one.

They need no key, no server and no money, and say nothing about how well a real model would write: what they write is
nonsense. Faults are planted by shares, so that a test can see what becomes of them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import cast

from umpirical.domain.responses import Response, Usage
from umpirical.domain.scales import JudgeKind
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import Calling, ModelAdapter, ModelSpec
from umpirical.stats.seeds import generator, uniform
from umpirical.stimuli.generation.opinions import DIFFERENT, SAME
from umpirical.stimuli.perturbations.catalogue import GeneratedPerturbation
from umpirical.stimuli.simulated.reading import read_opinion_prompt, read_order
from umpirical.stimuli.simulated.texts import MISSED, invented_text, made_text, sign_of, signs_in

FAULTS: Mapping[str, Mapping[str, str]] = {
    "generator": {
        "misses": "share of attempts that come out otherwise than meant",
        "refusals": "share of originals about which it refuses to write, however often it is asked",
        "copies": "share of attempts that repeat the original",
    },
    "validator": {
        "errors": "share of opinions that are wrong",
        "refusals": "share of texts about which it refuses to say anything, however often it is asked",
        "unread": "share of answers that are not an opinion",
    },
    "responder": {
        "refusals": "share of tasks that it refuses to answer, however often it is asked",
        "cut": "share of responses that end at max_tokens",
    },
}
"""The simulated models by name, and what can be planted in each with `model_args`."""

WORDS = 60
"""How long a simulated response is."""


class SimulatedGenerator:
    """Writes what the prompts of `tests` ask for."""

    def __init__(self, tests: Sequence[GeneratedPerturbation], faults: Mapping[str, float], *, seed: int) -> None:
        self._tests = tests
        self._faults = faults
        self._seed = seed

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        prompt = request.messages[-1].content
        read = read_order(prompt, self._tests)
        if read is None:
            raise ValueError("a simulated generator reads only the prompts of the study's own tests")
        test, order = read
        about = order.get("response") or f"{order.get('task', '')} {order.get('target', '')}"
        if uniform(self._seed, "refusal", test.name, about) < self._faults.get("refusals", 0.0):
            return _refused(request, trial_id)
        if uniform(self._seed, "copy", trial_id) < self._faults.get("copies", 0.0):
            return _answered(request, trial_id, order.get("response", order.get("task", "")))
        misses = uniform(self._seed, "miss", trial_id) < self._faults.get("misses", 0.0)
        text = made_text(test, order, generator(self._seed, "text", trial_id), misses=misses)
        return _answered(request, trial_id, text)

    async def close(self) -> None:
        """Releases nothing."""


class SimulatedValidator:
    """Says what a text deserves by the signs in it. It knows nothing about texts of anyone else."""

    def __init__(self, faults: Mapping[str, float], *, seed: int) -> None:
        self._faults = faults
        self._seed = seed

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        read = read_opinion_prompt(request.messages[-1].content)
        if read is None:
            raise ValueError("a simulated validator reads only the built-in prompts of validators")
        kind, shown = read
        texts = sorted((shown["first"], shown["second"]) if kind == "same-grade" else (shown["response"],))
        if uniform(self._seed, "refusal", *texts) < self._faults.get("refusals", 0.0):
            return _refused(request, trial_id)
        if uniform(self._seed, "unread", trial_id) < self._faults.get("unread", 0.0):
            return _answered(request, trial_id, "There is much to be said for and against.")
        errs = uniform(self._seed, "error", trial_id) < self._faults.get("errors", 0.0)
        if kind == "same-grade":
            differ = len({sign_of(MISSED) in signs_in(text) for text in texts}) > 1
            return _answered(request, trial_id, json.dumps({"verdict": DIFFERENT if differ != errs else SAME}))
        return _answered(request, trial_id, self._grade(shown, trial_id, errs=errs))

    async def close(self) -> None:
        """Releases nothing."""

    def _grade(self, shown: Mapping[str, str], trial_id: str, *, errs: bool) -> str:
        labels = shown["scale"].removeprefix('"').removesuffix('"').split('", "')
        borne = [label for label in labels if sign_of(label) in signs_in(shown["response"])]
        if len(borne) != 1:
            return "The text bears no sign that is known here."
        others = [label for label in labels if label != borne[0]]
        drawn = int(uniform(self._seed, "other", trial_id) * len(others))
        return json.dumps({"grade": others[drawn] if errs and others else borne[0]})


class SimulatedResponder:
    """Answers any task with nonsense of some sixty words."""

    def __init__(self, faults: Mapping[str, float], *, seed: int) -> None:
        self._faults = faults
        self._seed = seed

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        asked = request.messages[-1].content
        if uniform(self._seed, "refusal", asked) < self._faults.get("refusals", 0.0):
            return _refused(request, trial_id)
        made = _answered(request, trial_id, invented_text(WORDS, generator(self._seed, "response", trial_id)))
        cut = uniform(self._seed, "cut", asked) < self._faults.get("cut", 0.0)
        return replace(made, finish_reason="length") if cut else made

    async def close(self) -> None:
        """Releases nothing."""


def _answered(request: ChatRequest, trial_id: str, text: str) -> Response:
    usage = Usage(input_tokens=len(request.messages[-1].content) // 4, output_tokens=len(text) // 4)
    return Response(
        trial_id, text, finish_reason="stop", usage=usage, sent=_sent(request), served_by="simulated writer"
    )


def _refused(request: ChatRequest, trial_id: str) -> Response:
    detail = "simulated refusal"
    return Response(trial_id, None, "refused", detail, sent=_sent(request), served_by="simulated writer")


def _sent(request: ChatRequest) -> str:
    return json.dumps(request.decoding.sent())


class _SimulatedWriter(ModelAdapter):
    """A generator, a validator and a responder by name, with faults as `model_args`."""

    simulated = True
    judges = False

    def check(self, spec: ModelSpec) -> None:
        if spec.batch or spec.base_url:
            raise ValueError("a simulated writer has no server: leave batch and base_url out")
        if spec.name not in FAULTS:
            raise ValueError(f"no simulated writer is named {spec.name!r}: there are {', '.join(FAULTS)}")
        for name, share in spec.model_args.items():
            if name not in FAULTS[spec.name]:
                known = ", ".join(FAULTS[spec.name])
                raise ValueError(f"model_args: {name!r} cannot be planted in a simulated {spec.name}; known: {known}")
            if isinstance(share, str | bool) or not 0 <= share <= 1:
                raise ValueError(f"model_args: {name} is a share from 0 to 1, got {share!r}")

    def reads(self, prompt: str, kind: JudgeKind) -> bool:  # noqa: ARG002  # it is not a judge
        return False

    def open(self, spec: ModelSpec, calling: Calling) -> SimulatedGenerator | SimulatedValidator | SimulatedResponder:
        faults = {name: float(share) for name, share in spec.model_args.items()}
        if spec.name == "responder":
            return SimulatedResponder(faults, seed=calling.seed)
        if spec.name == "validator":
            return SimulatedValidator(faults, seed=calling.seed)
        tests = cast("Callable[[], Sequence[GeneratedPerturbation]]", calling.answer_key)()
        return SimulatedGenerator(tests, faults, seed=calling.seed)


ADAPTER = _SimulatedWriter()
