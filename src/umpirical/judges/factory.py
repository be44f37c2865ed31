"""From a judge spec to a judge that can be asked."""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from operator import attrgetter
from pathlib import Path

from umpirical.domain.digests import canonical_json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.judges.answers import AnswerReader
from umpirical.judges.judge import Judge
from umpirical.judges.model_judge import ModelJudge
from umpirical.judges.prompt import builtin_prompt
from umpirical.judges.python_judge import CallableJudge, source_digest
from umpirical.judges.simulated.examiner_profiles import EXAMINER_PROFILES
from umpirical.judges.simulated.model import AnswerKey, SimulatedModel, SimulatedProfile, can_read
from umpirical.judges.simulated.profiles import GRADER_PROFILES, profile, unknown_profile
from umpirical.judges.spec import JudgeSpec, ModelSpec
from umpirical.models.money import FREE, Ledger, Meter
from umpirical.models.pace import Pace
from umpirical.models.requests import Model
from umpirical.text.templates import fill, placeholders

__all__ = [
    "AnswerKey",
    "Calling",
    "build_judge",
    "build_reader",
    "builtin_name",
    "open_model",
    "resolve_prompts",
    "simulated_profile",
]

ALLOWED = {"task", "first", "second", "fence", "scale", "order"}


def resolve_prompts(
    spec: JudgeSpec,
    folder: Path,
    arms: Sequence[str] = ("baseline",),
    shared: Mapping[str, str] | None = None,
) -> JudgeSpec:
    """The spec with each prompt's text in place of its name, so that it says all there is to say.

    A judge that names no prompt is asked in `arms` with the prompts that ship, one file for each arm. `shared` are the
    study's instruction and rubric, put in where a prompt names them.
    """
    if spec.callable:
        return spec
    # An arm is about ties, of which grades know nothing.
    asked = arms if spec.kind == "compare" else ("baseline",)
    named = spec.prompts or {arm: f"builtin:{builtin_name(spec.kind, arm)}" for arm in asked}
    if shared and not spec.prompts:
        named = {"baseline": "builtin:grade-rubric"}
    prompts = {arm: _prompt_text(name, spec, folder, shared or {}) for arm, name in named.items()}
    if len(set(prompts.values())) != len(prompts):
        raise UsageError(f"judge {spec.name}: two arms have the same prompt", fix="leave one of them out")
    return spec.model_copy(update={"prompts": prompts})


@dataclass(frozen=True)
class Calling:
    """How a judge is to be asked: how many calls at a time, and what they are booked in."""

    concurrency: int = 1
    meter: Meter = field(default_factory=lambda: Meter(FREE, Ledger()))


def build_judge(
    spec: JudgeSpec, *, folder: Path, answer_key: AnswerKey, seed: int, calling: Calling | None = None
) -> Judge:
    """A judge from a spec whose prompts are resolved. Without `calling` it is good for rendering and reading.

    A simulated judge that is not known is refused here, before its key is looked at.
    """
    capabilities, reader = spec.capabilities.build(), build_reader(spec)
    # What a call costs and how long it is waited for changes no answer.
    apart: dict[str, bool | set[str]] = {"name": True, "model": {"price", "timeout", "attempts"}}
    whole = {**spec.model_dump(mode="json", exclude=apart), "reader": reader.version}
    if spec.callable:
        function = _load_function(spec.callable, folder)
        source = source_digest(function)
        fingerprint = digest("judge", {**whole, "source": source})
        return CallableJudge(spec.name, spec.kind, function, spec.callable, source, reader, capabilities, fingerprint)
    assert spec.model is not None  # noqa: S101  # the spec checked it
    if spec.model.adapter == "simulated" and not all(can_read(text, spec.kind) for text in spec.prompts.values()):
        raise UsageError(f"judge {spec.name}: a simulated judge reads the built-in {spec.kind} prompt only")
    return ModelJudge(
        name=spec.name,
        kind=spec.kind,
        model=_open_model(spec.model, spec.kind, answer_key, seed, calling or Calling()),
        model_name=spec.model.name,
        endpoint=canonical_json(
            spec.model.model_dump(mode="json", include={"adapter", "base_url", "batch", "model_args"})
        ),
        prompts=spec.prompts,
        reader=reader,
        decoding=spec.decoding.build(),
        scale=spec.scale.build() if spec.scale else None,
        capabilities=capabilities,
        constrained=spec.answer.constrained and spec.answer.pattern is None,
        fingerprint=digest("judge", whole),
    )


def build_reader(spec: JudgeSpec) -> AnswerReader:
    """The parser alone: enough to read a run again, with no key, no server and no function of the user's."""
    return AnswerReader(
        spec.scale.build() if spec.scale else None,
        labels=spec.answer.labels,
        pattern=spec.answer.pattern,
        confidence=spec.capabilities.gives_confidence,
    )


def _open_model(spec: ModelSpec, kind: JudgeKind, answer_key: AnswerKey, seed: int, calling: Calling) -> Model:
    if spec.adapter == "simulated":
        return SimulatedModel(simulated_profile(spec.name, kind), answer_key=answer_key, seed=seed)
    return open_model(spec, calling)


def simulated_profile(name: str, kind: JudgeKind) -> SimulatedProfile:
    """What is planted in a simulated judge: one that compares, one of controlled answers, or an examiner."""
    if kind == "compare":
        return profile(name)
    known: dict[str, SimulatedProfile] = {**GRADER_PROFILES, **EXAMINER_PROFILES}
    if name not in known:
        raise unknown_profile(name, "grades", known)
    return known[name]


def open_model(spec: ModelSpec, calling: Calling) -> Model:
    """A model on a server. A simulated one is no such model: it knows how to judge, and nothing else."""
    if spec.adapter == "inspect":
        return _open_inspect(spec, calling)
    from umpirical.models.adapters.openai_compatible import OpenAICompatibleModel
    from umpirical.models.attempts import Retrying

    assert spec.base_url is not None  # noqa: S101  # the spec checked it
    return OpenAICompatibleModel(
        base_url=spec.base_url,
        api_key=_key(spec.api_key_env, os.environ),
        timeout=spec.timeout,
        retrying=Retrying(attempts=spec.attempts),
        pace=Pace(calling.concurrency),
        meter=calling.meter,
    )


def _open_inspect(spec: ModelSpec, calling: Calling) -> Model:
    from umpirical.models.adapters.inspect.model import Provider, open_inspect_model
    from umpirical.models.attempts import Retrying

    key = _key(spec.api_key_env, os.environ)
    return open_inspect_model(
        Provider(spec.name, base_url=spec.base_url, api_key=key, model_args=spec.model_args, batch=spec.batch),
        timeout=spec.timeout,
        retrying=Retrying(attempts=spec.attempts),
        concurrency=calling.concurrency,
        meter=calling.meter,
    )


def _key(variable: str | None, environment: Mapping[str, str]) -> str | None:
    if variable is None:
        return None
    # A key read from a file often ends in a newline, which no header can hold.
    if not (key := environment.get(variable, "").strip()):
        raise UsageError(f"the environment variable {variable} is not set", fix=f"export {variable}=...")
    return key


def builtin_name(kind: JudgeKind, arm: str) -> str:
    """The built-in prompt of an arm."""
    return kind if arm == "baseline" else f"{kind}-{arm}"


def _prompt_text(name: str, spec: JudgeSpec, folder: Path, shared: Mapping[str, str]) -> str:
    builtin = name.startswith("builtin:")
    text = builtin_prompt(name.removeprefix("builtin:")) if builtin else _read_prompt(name, spec, folder)
    needed = {"task", "first", "second"} if spec.kind == "compare" else {"task", "first"}
    if missing := needed - placeholders(text):
        names = ", ".join(f"{{{{{name}}}}}" for name in sorted(missing))
        raise UsageError(f"judge {spec.name}: prompt {name} lacks {names}", fix="put the placeholders in")
    if unknown := placeholders(text) - ALLOWED - shared.keys():
        raise UsageError(f"judge {spec.name}: prompt {name} has unknown placeholders: {', '.join(sorted(unknown))}")
    return _with_shared(text, shared) if shared else text


def _with_shared(text: str, shared: Mapping[str, str]) -> str:
    """The prompt with what is the same for every trial; the other placeholders stay."""
    for name, value in shared.items():
        if held := placeholders(value):
            raise UsageError(f"the {name} holds {{{{{min(held)}}}}}", fix="write it in other words")
    return fill(text, {known: f"{{{{{known}}}}}" for known in ALLOWED} | dict(shared))


def _read_prompt(name: str, spec: JudgeSpec, folder: Path) -> str:
    path = (folder / name).resolve()
    if not path.is_relative_to(folder.resolve()):
        raise UsageError(f"judge {spec.name}: prompt {name} lies outside the study folder", fix="copy it in")
    if not path.is_file():
        raise UsageError(f"judge {spec.name}: no prompt file {name}", fix=f"create {path}, or use builtin:{spec.kind}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"judge {spec.name}: prompt {name} is not UTF-8 text", fix="save it as UTF-8") from None


def _load_function(path: str, folder: Path) -> Callable[..., object]:
    module, _, name = path.partition(":")
    # A judge usually lies beside the study file.
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    try:
        found = attrgetter(name)(import_module(module))
    except Exception as error:  # noqa: BLE001  # the user's own module: whatever it raises, it cannot be imported
        message = f"cannot import the judge {path}: {type(error).__name__}: {error}"
        raise UsageError(message, fix=f"is {module}.py in {folder}, and does it run?") from None
    if not callable(found):
        raise UsageError(f"{path} is a {type(found).__name__}, expected a function")
    function: Callable[..., object] = found
    return function
