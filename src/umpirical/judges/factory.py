"""Builds a judge that can be asked from a judge spec."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json, canonical_json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Response
from umpirical.judges.adapters.catalogue import Adapted, judge_adapter_of
from umpirical.judges.adapters.endpoint import endpoint_judge
from umpirical.judges.adapters.program import program_judge
from umpirical.judges.answers import AnswerReader
from umpirical.judges.code_files import CHANGED, digests_of, imported_files
from umpirical.judges.judge import Judge
from umpirical.judges.model_judge import ModelJudge
from umpirical.judges.object_judge import ObjectJudge
from umpirical.judges.prompt import columns_of, messages_of
from umpirical.judges.promptfoo import promptfoo
from umpirical.judges.shapes import shape_of
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import load_user_object
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ADAPTERS, ENDPOINT, Calling, ModelSpec

APART: dict[str, bool | set[str]] = {
    "name": True,
    "deadline": True,
    "processes": True,
    "source": True,
    "model": {"price", "timeout", "attempts"},
    "http": {"attempts"},
}
"""Left out of the fingerprint: what a call costs and how long it may take changes no answer."""


def build_judge(
    spec: JudgeSpec, *, folder: Path, calling: Calling, found: object = None, identity: Json = None
) -> Judge:
    """Builds a judge from a spec whose prompts are resolved.

    `folder` is where the user's own judge is looked up, unless it is given as `found`. `identity` is its identity, if
    that is known already: it depends on what a function refers to, which may change as the function is called.
    """
    reader = build_reader(spec)
    whole = {**spec.model_dump(mode="json", exclude=_apart(spec)), "reader": reader.version}
    if spec.model:
        return _model_judge(spec, spec.model, reader, whole, calling)
    if spec.http:
        return endpoint_judge(spec, spec.http, reader, digest("judge", whole), calling)
    if spec.exec:
        adapted = program_judge(spec, spec.exec, folder)
    elif spec.promptfoo:
        _check_kind(spec, promptfoo().describe(spec.promptfoo, folder))
        adapted = promptfoo().judge(spec, spec.promptfoo, folder)
    else:
        adapted = _python_judge(spec, str(spec.callable), folder, found)
    return _object_judge(spec, reader, whole, adapted, identity)


def _python_judge(spec: JudgeSpec, path: str, folder: Path, given: object) -> Adapted:
    found = load_user_object(path, folder) if given is None else given
    adapter = judge_adapter_of(found)
    _check_kind(spec, adapter.describe(found))
    adapted = adapter.adapt(found, spec)
    return adapted if given is not None else replace(adapted, identity=_with_imports(adapted.identity, path, folder))


def _with_imports(identity: Json, path: str, folder: Path) -> Json:
    """Adds the code in the study's folder that a judge is made of: what is edited there is another judge.

    The identity of a plain function covers its own file.
    """
    files = digests_of(imported_files(path.partition(":")[0], folder))
    return identity if len(files) < 2 and isinstance(identity, str) else {"judge": identity, "files": files}


def _check_kind(spec: JudgeSpec, told: Mapping[str, Any]) -> None:
    """Raises UsageError, with what to write, for an object that is a judge of another kind than its entry says."""
    if (kind := told.get("kind", spec.kind)) == spec.kind:
        return
    scale = f", scale: {json.dumps(told['scale'])}" if "scale" in told else " and its scale" if kind == "grade" else ""
    raise UsageError(f"judge {spec.name} wraps a {kind} judge", fix=f"write kind: {kind}{scale}")


def _apart(spec: JudgeSpec) -> dict[str, Any]:
    """Returns what is left out, with ways of being a judge that this one does not have: a new one changes no other."""
    return APART | {name: True for name in ("exec", "http", "promptfoo", "test_prompts") if not getattr(spec, name)}


def build_reader(spec: JudgeSpec) -> AnswerReader:
    """Builds only the parser: enough to reread a run, without a key, a server or the user's function."""
    return AnswerReader(
        spec.scale,
        labels=spec.answer.labels,
        shape=shape_of(spec.answer),
        reasoning=spec.answer.reasoning_field,
        confidence=spec.capabilities.gives_confidence,
    )


def build_renderer(spec: JudgeSpec) -> Judge | None:
    """Builds only what renders questions: enough to show them again, without a key or a server.

    None for the user's own judge, which renders its prompt itself.
    """
    if spec.model is None:
        return None
    reader = build_reader(spec)
    whole = {**spec.model_dump(mode="json", exclude=_apart(spec)), "reader": reader.version}
    return _model_judge(spec, spec.model, reader, whole, None)


class _Unasked:
    """A model that only stands for its name."""

    async def generate(self, request: ChatRequest, *, trial_id: str) -> Response:
        raise NotImplementedError(f"{request.model} is not open, so trial {trial_id} cannot be run")

    async def close(self) -> None: ...


def _object_judge(
    spec: JudgeSpec, reader: AnswerReader, whole: dict[str, Any], adapted: Adapted, identity: Json
) -> ObjectJudge:
    if identity is not None:
        if _files(identity) != _files(adapted.identity):
            raise UsageError(f"judge {spec.name}: {CHANGED}")
        adapted = replace(adapted, identity=identity)
    return ObjectJudge(
        name=spec.name,
        kind=spec.kind,
        path=spec.made_of[1],
        adapted=adapted,
        reader=reader,
        capabilities=spec.capabilities,
        columns=columns_of(spec),
        deadline=spec.deadline,
        fingerprint=digest("judge", {**whole, "source": adapted.identity}),
    )


def _files(identity: Json) -> Json:
    return identity.get("files") if isinstance(identity, Mapping) else None


def _model_judge(
    spec: JudgeSpec, model: ModelSpec, reader: AnswerReader, whole: dict[str, Any], calling: Calling | None
) -> ModelJudge:
    adapter = ADAPTERS.get(model.adapter)
    if not all(adapter.reads(messages_of(prompt)[-1].content, spec.kind) for prompt in spec.every_prompt):
        raise UsageError(f"judge {spec.name}: a simulated judge works only with the built-in {spec.kind} prompt")
    return ModelJudge(
        name=spec.name,
        kind=spec.kind,
        model=_Unasked() if calling is None else adapter.open(model, replace(calling, kind=spec.kind)),
        model_name=model.name,
        endpoint=canonical_json(model.model_dump(mode="json", include=ENDPOINT)),
        prompts=spec.prompts,
        test_prompts=spec.test_prompts,
        columns=columns_of(spec),
        reader=reader,
        decoding=spec.decoding,
        scale=spec.scale,
        capabilities=spec.capabilities,
        constrained=spec.answer.sends_schema,
        fingerprint=digest("judge", whole),
    )
