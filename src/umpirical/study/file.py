"""Studies and judges as a person names them: reads a study file, checks it before anything is sent, finds a judge."""

import ast
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError
from pydantic.json_schema import models_json_schema

from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.renamed import now_called
from umpirical.domain.stimuli import GateResult
from umpirical.domain.trials import BASELINE
from umpirical.judges.simulated.model import refuse_unknown_profile
from umpirical.judges.simulated.profiles import GRADER_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import adapter_for
from umpirical.protocols.catalogue import PROTOCOLS, protocol_of_study
from umpirical.protocols.protocol import STUDY_FILE, Protocol, Study, StudyCheck
from umpirical.store.yaml_files import YamlDocument, load_yaml, parse_yaml
from umpirical.study.prepare import MAX_CALLS, count_calls
from umpirical.study.trust import Agree, ensure_trusted
from umpirical.text.problems import plain_problem

UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
"""Pydantic's error types for a key that a model, or a dataclass, does not have."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|xai|gsk|hf|AIza|ghp)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}")


def load_study(path: Path, agree: Agree, *, outside: bool = False, max_calls: int | None = None) -> Study[Any]:
    """Reads a study file, or the study file in a folder, for use: raises NotTrusted unless `agree` agrees to it.

    `outside` allows files that it names, such as a dataset, to be outside its folder. A stranger's study file must not
    be able to send any file on this machine to a model, so a person has to allow it. `max_calls` is how
    many calls one judge may take, if not as many as usual.
    """
    study = replace(read_study(path, outside=outside), max_calls=MAX_CALLS if max_calls is None else max_calls)
    ensure_trusted(study, agree)
    return study


def read_study(path: Path, *, outside: bool = False) -> Study[Any]:
    """Reads a study file, only to look at it. Resolves its prompts, so every file that it names exists.

    Nobody has agreed to it: nothing may be sent, imported or read outside its folder on its behalf.
    """
    file = path / STUDY_FILE if path.is_dir() else path
    study = parse_study(load_yaml(file), file.parent, outside=outside)
    if file.name == STUDY_FILE:
        return study
    run, named = "umpirical run ", f"umpirical run {shlex.quote(file.name)} "
    judges = [each.name for each in study.spec.judges]
    return replace(study, commands={judge: study.command(judge).replace(run, named, 1) for judge in judges})


def parse_study(document: YamlDocument | str, folder: Path, *, outside: bool = False) -> Study[Any]:
    """Returns a study from the text of its file."""
    if isinstance(document, str):
        document = parse_yaml(document, name=STUDY_FILE)
    _refuse_keys(document)
    try:
        return parse_study_data(document.data, folder, outside=outside)
    except ValidationError as error:
        raise _config_error(document, error, protocol_of_study(document.data).spec) from None


def parse_study_data(data: Mapping[str, Any], folder: Path, *, outside: bool = False) -> Study[Any]:
    protocol = protocol_of_study(data)
    study: Study[Any] = protocol.open(protocol.spec.model_validate(data), folder, outside=outside)
    return study


def read_judge(document: YamlDocument, name: str) -> dict[str, Any]:
    """Returns a judge file's contents as an entry of a study file; `name` is used if the file gives no name."""
    _refuse_keys(document)
    data = {"name": name, **document.data}
    try:
        JudgeSpec.model_validate(data)
    except ValidationError as error:
        raise _config_error(document, error, JudgeSpec) from None
    return data


def study_schema() -> dict[str, Any]:
    specs: list[tuple[type[BaseModel], Literal["validation"]]] = [(each.spec, "validation") for each in PROTOCOLS]
    references, shared = models_json_schema(specs)
    return {"type": "object", "anyOf": [references[each] for each in specs], **shared}


@dataclass(frozen=True, slots=True)
class CheckedStudy:
    """What was found in a study."""

    problems: list[str]
    gates: list[GateResult]
    calls: dict[str, int]
    """How many calls each judge takes."""
    notes: list[str]
    """Remarks that prevent nothing."""


def check_study(study: Study[Any], environment: Mapping[str, str]) -> CheckedStudy:
    """Returns problems in words, gates, and the number of calls. A file that cannot be read raises ConfigError."""
    checked: StudyCheck = study.protocol.check(study)
    problems = [*checked.problems, *_missing_keys(study, environment)]
    return CheckedStudy(problems, checked.gates, _calls(study, checked), checked.notes)


def _config_error(document: YamlDocument, error: ValidationError, model: type[BaseModel]) -> ConfigError:
    """Returns an error about the first problem, with its line and the name that was probably meant."""
    # A misspelt key is also a missing one: the misspelling says where to look. Where there are alternatives, each has
    # an error, and that the value is of another kind says the least.
    problem = min(error.errors(), key=lambda each: (each["type"] not in UNKNOWN, each["type"].endswith("_type")))
    path = _in_file(document.data, problem["loc"])
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    message, fix = plain_problem(problem), ""
    if problem["type"] == "missing":
        fix = "list the keys with  umpirical schema config"
    if problem["type"] in UNKNOWN:
        message = "unknown key"
        near = get_close_matches(str(path[-1]), _names(model, path[:-1]), n=1)
        hint = f"did you mean {near[0]!r}?" if near else "list the keys with  umpirical schema config"
        fix = now_called(path[-1]) or hint
        if len(path) == 1 and (owners := _owners(str(path[0]), model)):
            message = f"this key is for studies of protocol {' or '.join(owner.name for owner in owners)}"
            marks = dict.fromkeys(owner.mark for owner in owners if owner.mark and owner.mark != _mark(model))
            fix = (
                f"such a study has the key {' or '.join(marks)}" if marks else f"this study has the key {_mark(model)}"
            )
    return ConfigError(f"{place}: {message}" if place else message, where=document.where(path), fix=fix)


def _in_file(data: Any, loc: Iterable[str | int]) -> tuple[str | int, ...]:  # noqa: ANN401  # what the file holds
    """Returns the place of a problem without the names of alternatives, which are classes of ours."""
    path: list[str | int] = []
    for step in loc:
        try:
            data = data[step]
        except (LookupError, TypeError):
            if str(step)[:1].isupper():
                continue
        path.append(step)
    return tuple(path)


def _owners(key: str, model: type[BaseModel]) -> list[Protocol[Any, Any]]:
    """Returns the other protocols whose study files have this key."""
    others = [protocol for protocol in PROTOCOLS if protocol.spec is not model]
    return [protocol for protocol in others if key in protocol.spec.model_fields]


def _mark(model: type[BaseModel]) -> str:
    return next(protocol.mark for protocol in PROTOCOLS if protocol.spec is model)


def _names(model: type[BaseModel], path: tuple[str | int, ...]) -> set[str]:
    """Returns every key allowed at a place in a study file; if that cannot be determined, every key of the schema."""
    schema: dict[str, Any] = model.model_json_schema()
    definitions: dict[str, Any] = schema.get("$defs", {})
    parts = [schema]
    for step in path:
        inner = [part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step) for part in parts]
        parts = [found for part in inner if part for found in _meant(part, definitions)]
    here = {name for part in parts for name in part.get("properties", {})}
    return here or {name for part in (schema, *definitions.values()) for name in part.get("properties", {})}


def _meant(part: dict[str, Any], definitions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Returns a part of a schema with its reference resolved, and each of its alternatives."""
    if "$ref" in part:
        return _meant(definitions[part["$ref"].rpartition("/")[2]], definitions)
    options = [option for name in ("anyOf", "oneOf", "allOf") for option in part.get(name, ())]
    return [part, *(found for option in options for found in _meant(option, definitions))]


def _refuse_keys(document: YamlDocument) -> None:
    for path, text in _texts(document.data, ()):
        if _KEY_LIKE.search(text):
            raise ConfigError(
                "this looks like an API key; keys must not be in the study file",
                where=document.where(path),
                fix="put it in an environment variable, and set api_key_env to the name of the variable",
            )


def _texts(node: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:  # noqa: ANN401
    if isinstance(node, str):
        yield path, node
    elif isinstance(node, dict):
        for key, value in node.items():
            yield from _texts(value, (*path, key))
    elif isinstance(node, list):
        for place, value in enumerate(node):
            yield from _texts(value, (*path, place))


def _calls(study: Study[Any], checked: StudyCheck) -> dict[str, int]:
    designs = ((judge, study.protocol.design(study, judge).over(checked.stimuli)) for judge in study.spec.judges)
    return {judge.name: count_calls(study, judge, checked.stimuli, design) for judge, design in designs}


def _missing_keys(study: Study[Any], environment: Mapping[str, str]) -> Iterator[str]:
    judges = [(f"judge {judge.name}", judge.model) for judge in study.spec.judges]
    for name, model in (*judges, *study.protocol.models(study)):
        variable = model.api_key_env if model else None
        if variable and not environment.get(variable):
            yield f"{name}: the environment variable {variable} is not set"


# Turns what a person types into a judge: a name in a study, a file, a function, a model or a simulated judge.


GRADES = {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
"""The scale of a simulated judge that grades, if none is given."""

WAYS = (
    "a judge in umpirical.yaml, a judge file (judge.yaml), a function (module:function or file.py:function), a model "
    "(provider/model) or simulated:NAME"
)


def judges_study(
    targets: Sequence[str],
    folder: Path,
    *,
    protocol: str,
    keys: Mapping[str, Any],
    defaults: Mapping[str, Any],
    entries: Sequence[dict[str, Any]] = (),
) -> Study[Any]:
    """Returns a study of the named judges, in `folder`, by a protocol.

    `keys` are further keys of its file; `defaults` are keys that a study file in the folder may override. `entries` are
    judges written out in full, which replace the named ones.
    """
    if len(set(targets)) != len(targets):
        again = next(target for target in targets if targets.count(target) > 1)
        raise UsageError(f"two judges are named {again}", fix="name each judge once")
    known = read_study(folder) if not entries and (folder / STUDY_FILE).is_file() else None
    if known is not None and known.protocol is not PROTOCOLS.get(protocol):
        raise UsageError(
            f"the study file in this folder is for protocol {known.protocol.name}",
            fix=f"run it with  umpirical run, or use another folder for a {protocol}: --folder DIR",
        )
    data: dict[str, Any] = {"study": protocol, "protocol": protocol, **defaults}
    chosen = list(entries)
    if known is not None and all(target in {judge.name for judge in known.spec.judges} for target in targets):
        # A judge that names no prompts has the variants of the design, so the file is parsed again with this design.
        data = dict(load_yaml(folder / STUDY_FILE).data)
        chosen = [entry for entry in data["judges"] if entry["name"] in targets]
    elif not chosen:
        names = [judge.name for judge in known.spec.judges] if known else []
        chosen = [judge_entry(target, folder, names) for target in targets]
    try:
        study = parse_study_data({**data, **keys, "judges": chosen, "juries": ()}, folder)
    except ValidationError as error:
        problem = plain_problem(error.errors()[0])
        named = ", ".join(targets) or ", ".join(str(entry.get("name")) for entry in entries)
        raise UsageError(f"{named}: {problem}", fix=f"name {WAYS}") from None
    _refuse_unasked_variants(study)
    return study


def judge_name(target: str) -> str:
    """Makes a judge's name from what the user typed: letters, digits and a few punctuation marks."""
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in target)[:64]


def _refuse_unasked_variants(study: Study[Any]) -> None:
    """Refuses a variant that a judge has no prompt for, rather than dropping it silently."""
    for judge in study.spec.judges:
        missing = [
            variant for variant in study.spec.design.variants if variant != BASELINE and variant not in judge.prompts
        ]
        if missing:
            raise UsageError(
                f"judge {judge.name} has no prompt for prompt variant {missing[0]}",
                fix=f"add {missing[0]}: FILE to its prompts; a function or a grade judge has no prompt variants",
            )


def judge_entry(target: str, folder: Path, known: Sequence[str] = ()) -> dict[str, Any]:
    """Returns a judge's entry, as in a study file, from what the user typed. `known` are names to suggest."""
    if target.endswith((".yaml", ".yml")):
        if not (folder / target).is_file():
            raise ConfigError("no such file", where=target, fix=f"name {WAYS}")
        return read_judge(load_yaml(folder / target), Path(target).stem)
    if target.startswith("simulated:"):
        name = target.removeprefix("simulated:")
        refuse_unknown_profile(name)
        judge: dict[str, Any] = {"name": name, "model": {"adapter": "simulated", "name": name}}
        return judge | ({"kind": "grade", "scale": GRADES} if name in GRADER_PROFILES else {})
    if ".py:" in target or (":" in target and "/" not in target):
        return {"name": judge_name(target), "callable": target}
    if "/" in target:
        return {"name": judge_name(target), "model": {"adapter": adapter_for(base_url=None), "name": target}}
    raise UsageError(f"unknown judge {target!r}", fix=_hint(target, folder, known) + f"name {WAYS}")


def _hint(target: str, folder: Path, known: Sequence[str]) -> str:
    """Names what the person may have meant: a judge of the study, a simulated one, a model, or a function of a file."""
    from umpirical.models.prices import known_prices

    makers = ("openai", "anthropic", "google")
    providers = sorted({price.provider for price in known_prices(target)}, key=lambda name: (name not in makers, name))
    meant = [*get_close_matches(target, known, n=1), *(f"{provider}/{target}" for provider in providers)]
    with suppress(UsageError):
        refuse_unknown_profile(target)
        meant.append(f"simulated:{target}")
    return f"did you mean {meant[0]}? Otherwise " if meant else _function_hint(target, folder)


def _function_hint(target: str, folder: Path) -> str:
    """Names the functions of a Python file that was named without one. They are read from its text: nothing runs."""
    name = target if target.endswith(".py") else f"{target}.py"
    try:
        tree = ast.parse((folder / name).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = " or ".join(f"{name}:{function}" for function in functions[:3] if not function.startswith("_"))
    return f"name a function in that file: {named}; otherwise " if named else ""
