"""Studies from the parameters of an Inspect task. The model is the one that Inspect was told to evaluate."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from inspect_ai.model import Model, get_model

from umpirical.api.functions import FOLDER
from umpirical.api.studies import datasheet_study, stress_study
from umpirical.domain.errors import UsageError
from umpirical.models.adapters.inspect.adapter import OWN_ARGUMENTS
from umpirical.models.spec import ModelSpec
from umpirical.protocols.protocol import Study
from umpirical.store.yaml_files import load_yaml
from umpirical.study.file import judge_name, read_judge, read_study
from umpirical.study.trust import agree_if, ensure_trusted

Design = Mapping[str, Any]
"""What the parameters of a task say about what is asked; None or empty for what they leave open."""


def hosted_datasheet(judge: str | None, *, design: Design, policy: str, trust: bool) -> Study[Any]:
    """Returns a study of the evaluated model on controlled stimuli."""
    study = datasheet_study(
        [_entry(judge)],
        _folder(design, judge),
        agree=agree_if(trust=trust),
        size=str(design["size"] or "standard"),
        arms=_words(design["arms"]),
        **_given(design, "repeats", "seed"),
    )
    return replace(study, policy=policy, commands=_commands(study))


def hosted_stress(  # each by its name
    judge: str | None,
    data: str | None,
    *,
    texts: Mapping[str, str],
    columns: Mapping[str, str | None],
    design: Design,
    trust: bool,
) -> Study[Any]:
    """Returns a study of the evaluated model on changed versions of the user's data."""
    if data is None:
        raise UsageError("no data to stress the judge with", fix="-T data=FILE, or -T study=FOLDER")
    study = stress_study(
        _entry(judge),
        data,
        _folder(design, judge),
        agree=agree_if(trust=trust),
        texts=texts,
        columns=columns,
        tests=None if design["tests"] is None else _words(design["tests"]),
        **_given(design, "repeats", "sample", "seed"),
    )
    return replace(study, commands=_commands(study))


def hosted_study(  # likewise
    place: str, protocol: str, *, judge: str | None, design: Design, policy: str = "", trust: bool
) -> Study[Any]:
    """Returns a study file's study of one of its judges, with the evaluated model in place of the judge's own."""
    if said := [name for name, value in design.items() if value not in (None, (), [], "")]:
        raise UsageError(f"the study file says what {said[0]} says here", fix=f"leave -T {said[0]}= out")
    study = read_study(Path(place))
    if study.protocol.name != protocol:
        raise UsageError(
            f"{place} is a study for protocol {study.protocol.name}", fix=f"umpirical/{study.protocol.name}"
        )
    if judge is None and len(study.spec.judges) > 1:
        known = ", ".join(each.name for each in study.spec.judges)
        raise UsageError("the study has several judges", fix=f"-T judge=NAME, one of {known}")
    chosen = study.spec.judges[0] if judge is None else study.judge(judge)
    if chosen.model is None:
        raise _no_model(chosen.name)
    asked = chosen.model_copy(update={"model": ModelSpec.model_validate(_model_entry())})
    study = replace(study, spec=study.spec.model_copy(update={"judges": [asked]}), policy=policy)
    ensure_trusted(study, agree_if(trust=trust), named=[asked.name])
    return replace(study, commands=_commands(study))


def _entry(judge: str | None) -> dict[str, Any]:
    """Returns the judge as an entry of a study file: what its file says, and the evaluated model."""
    model = _model_entry()
    if judge is None:
        return {"name": judge_name(model["name"]), "model": model}
    if not judge.endswith((".yaml", ".yml")):
        raise UsageError(
            f"{judge} is no judge file",
            fix="-T judge=judge.yaml; the model is what --model says, and a study needs -T study=",
        )
    entry = read_judge(load_yaml(Path(judge)), Path(judge).stem)
    if entry.keys() & {"callable", "exec", "http", "promptfoo"}:
        raise _no_model(judge)
    return {**entry, "model": model}


def _no_model(judge: str) -> UsageError:
    """Returns the error for a judge that renders its own prompts."""
    return UsageError(f"{judge} is no model, and Inspect asks models", fix="umpirical datasheet  measures it")


def _model_entry() -> dict[str, Any]:
    """Returns the evaluated model as it would be written in a study file."""
    model = get_model()
    if str(model) == "none/none":
        raise UsageError("no model is evaluated", fix="--model provider/model")
    address = model.api.base_url
    return {
        "adapter": "inspect",
        "name": str(model),
        **({"base_url": address} if address else {}),
        "model_args": _arguments(model),
    }


def _arguments(model: Model) -> dict[str, Any]:
    plain = {name: value for name, value in model.model_args.items() if isinstance(value, str | int | float | bool)}
    return {name: value for name, value in plain.items() if name not in OWN_ARGUMENTS}


def _commands(study: Study[Any]) -> dict[str, str]:
    """Returns how to measure again; the parameters are in Inspect's log."""
    task = f"umpirical/{study.protocol.name}"
    return {
        judge.name: f"inspect eval {task} --model {shlex.quote(judge.model.name)}"
        for judge in study.spec.judges
        if judge.model is not None
    }


def _folder(design: Design, judge: str | None) -> Path:
    """Returns where the run goes: as the person says, or beside the judge file, which names its prompts from there."""
    beside = FOLDER if judge is None else Path(judge).parent
    return Path(design["folder"] or beside).resolve()


def _words(said: str | Sequence[str]) -> list[str]:
    """Returns a list that the command line gave as words between commas."""
    return [word.strip() for word in said.split(",") if word.strip()] if isinstance(said, str) else list(said)


def _given(design: Design, *names: str) -> dict[str, Any]:
    return {name: design[name] for name in names if design[name] is not None}
