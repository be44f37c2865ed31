"""Turns what a person types into a judge: a name in a study, a file, a function, a model or a simulated judge."""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.trials import BASELINE
from umpirical.judges.simulated.profiles import GRADER_PROFILES
from umpirical.models.adapters.catalogue import adapter_for
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.protocol import STUDY_FILE, Study
from umpirical.store.yaml_files import load_yaml
from umpirical.study.file import parse_study_data, read_judge, read_study

GRADES = {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
"""The scale of a simulated judge that grades, if none is given."""

WAYS = (
    "a judge of the study file here, a file with a judge in it (judge.yaml), a function (module:function or "
    "file.py:function), a model (provider/model) or simulated:NAME"
)


def judges_study(  # each by its name
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
        raise UsageError(f"two judges are named {targets[0]}", fix="name another one after --against")
    known = read_study(folder) if not entries and (folder / STUDY_FILE).is_file() else None
    if known is not None and known.protocol is not PROTOCOLS.get(protocol):
        raise UsageError(
            f"the study file here is for protocol {known.protocol.name}, and its judges are measured by that protocol",
            fix=f"umpirical run  does that; for a {protocol} use another folder: --folder DIR",
        )
    data: dict[str, Any] = {"study": protocol, "protocol": protocol, **defaults}
    chosen = list(entries)
    if known is not None and all(target in {judge.name for judge in known.spec.judges} for target in targets):
        # A judge that names no prompts has the arms of the design, so the file is parsed again with this design.
        data = dict(load_yaml(folder / STUDY_FILE).data)
        chosen = [entry for entry in data["judges"] if entry["name"] in targets]
    elif not chosen:
        chosen = [judge_entry(target, folder) for target in targets]
    try:
        study = parse_study_data({**data, **keys, "judges": chosen}, folder)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        named = ", ".join(targets) or ", ".join(str(entry.get("name")) for entry in entries)
        raise UsageError(f"{named}: {problem}", fix=f"name {WAYS}") from None
    _refuse_unasked_arms(study)
    return study


def judge_name(target: str) -> str:
    """Makes a judge's name from what the user typed: letters, digits and a few punctuation marks."""
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in target)[:64]


def _refuse_unasked_arms(study: Study[Any]) -> None:
    """Refuses an arm that a judge has no prompt for, rather than dropping it silently."""
    for judge in study.spec.judges:
        missing = [arm for arm in study.spec.design.arms if arm != BASELINE and arm not in judge.prompts]
        if missing:
            raise UsageError(
                f"judge {judge.name} has no prompt for arm {missing[0]}",
                fix=f"add {missing[0]}: FILE to its prompts; a function or a judge that grades has none",
            )


def judge_entry(target: str, folder: Path) -> dict[str, Any]:
    """Returns a judge's entry, as in a study file, from what the user typed."""
    if target.endswith((".yaml", ".yml")):
        if not (folder / target).is_file():
            raise ConfigError("no such file", where=target, fix=f"name {WAYS}")
        return read_judge(load_yaml(folder / target), Path(target).stem)
    if target.startswith("simulated:"):
        name = target.removeprefix("simulated:")
        judge: dict[str, Any] = {"name": name, "model": {"adapter": "simulated", "name": name}}
        return judge | ({"kind": "grade", "scale": GRADES} if name in GRADER_PROFILES else {})
    if ".py:" in target or (":" in target and "/" not in target):
        return {"name": judge_name(target), "callable": target}
    if "/" in target:
        return {"name": judge_name(target), "model": {"adapter": adapter_for(base_url=None), "name": target}}
    raise UsageError(f"no judge {target!r}", fix=_function_hint(target, folder) + f"name {WAYS}")


def _function_hint(target: str, folder: Path) -> str:
    """Names the functions of a Python file that was named without one. They are read from its text: nothing runs."""
    name = target if target.endswith(".py") else f"{target}.py"
    try:
        tree = ast.parse((folder / name).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return ""
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    named = " or ".join(f"{name}:{function}" for function in functions[:3] if not function.startswith("_"))
    return f"a function in that file is named like this: {named}; otherwise " if named else ""
