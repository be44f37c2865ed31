"""From what a person types to a judge: a name in a study, a file, a function, a model or a simulated judge."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import UsageError
from umpirical.judges.simulated.profiles import GRADER_PROFILES
from umpirical.store.yaml_files import load_yaml
from umpirical.study.files import STUDY_FILE, DesignSpec, Study, load_study, parse_study_data, read_judge

__all__ = ["judges_study"]

GRADES = {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
"""The scale of a simulated judge that grades, where none is given."""

WAYS = (
    "a judge of the study file here, a file with a judge in it (judge.yaml), a function (module:function), "
    "a model (provider/model) or simulated:NAME"
)


def judges_study(targets: list[str], folder: Path, design: DesignSpec, *, seed: int = 1) -> Study:
    """A study of the judges that are named, in `folder`, asked by `design`."""
    if len(set(targets)) != len(targets):
        raise UsageError(f"two judges are named {targets[0]}", fix="name another one after --against")
    known = load_study(folder) if (folder / STUDY_FILE).is_file() else None
    if known is not None and known.spec.dataset is not None:
        raise UsageError(
            "the study file here has a dataset, and its judges are stressed on that",
            fix="umpirical run  does so; for a datasheet use another folder: --folder DIR",
        )
    if known is not None and all(target in {judge.name for judge in known.spec.judges} for target in targets):
        # The arms of a judge that names no prompts are those of the design, so the file is read anew with it.
        data = dict(load_yaml(folder / STUDY_FILE).data)
        chosen = [entry for entry in data["judges"] if entry["name"] in targets]
    else:
        chosen = [_judge(target, folder) for target in targets]
        data = {"study": "datasheet", "seed": seed}
    try:
        study = parse_study_data({**data, "judges": chosen, "design": design.model_dump(mode="json")}, folder)
    except ValidationError as error:
        problem = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise UsageError(f"{', '.join(targets)}: {problem}", fix=f"name {WAYS}") from None
    _refuse_unasked_arms(study, design)
    names = [judge["name"] for judge in chosen]
    options = [f"--size {design.size}", *(f"--arm {arm}" for arm in design.arms if arm != "baseline")]
    options += [f"--repeats {design.repeats}"] if design.repeats > 1 else []
    again = {
        name: " ".join(["umpirical datasheet", shlex.quote(target), *options])
        for name, target in _named(names, targets)
    }
    return replace(study, commands=again)


def _named(names: list[str], targets: list[str]) -> list[tuple[str, str]]:
    """Each judge with what was typed for it: its name in the study file, or the target at its place."""
    return [(name, name if name in targets else target) for name, target in zip(names, targets, strict=True)]


def _refuse_unasked_arms(study: Study, design: DesignSpec) -> None:
    """An arm that was asked for and would not be asked is not dropped without a word."""
    for judge in study.spec.judges:
        missing = [arm for arm in design.arms if arm != "baseline" and arm not in judge.prompts]
        if missing:
            raise UsageError(
                f"judge {judge.name} has no prompt for arm {missing[0]}",
                fix=f"add it to its prompts, as {missing[0]}: FILE; a function, and a judge that grades, has none",
            )


def _judge(target: str, folder: Path) -> dict[str, Any]:
    if target.endswith((".yaml", ".yml")):
        return read_judge(load_yaml(folder / target), Path(target).stem)
    if target.startswith("simulated:"):
        name = target.removeprefix("simulated:")
        judge: dict[str, Any] = {"name": name, "model": {"adapter": "simulated", "name": name}}
        return judge | ({"kind": "grade", "scale": GRADES} if name in GRADER_PROFILES else {})
    if ":" in target and "/" not in target:
        return {"name": _plain(target), "callable": target}
    if "/" in target:
        return {"name": _plain(target), "model": {"adapter": "inspect", "name": target}}
    raise UsageError(f"no judge {target!r}", fix=f"name {WAYS}")


def _plain(target: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in target)[:64]
