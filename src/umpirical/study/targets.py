"""From what a person types to a judge: a name in a study, a file, a function, a model or a simulated judge."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import BASELINE
from umpirical.judges.simulated.profiles import GRADER_PROFILES
from umpirical.models.adapters.catalogue import adapter_for
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.protocols.study import STUDY_FILE, Study
from umpirical.store.yaml_files import load_yaml
from umpirical.study.file import load_study, parse_study_data, read_judge

__all__ = ["WAYS", "judge_entry", "judge_name", "judges_study"]

GRADES = {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5"]}
"""The scale of a simulated judge that grades, where none is given."""

WAYS = (
    "a judge of the study file here, a file with a judge in it (judge.yaml), a function (module:function), "
    "a model (provider/model) or simulated:NAME"
)


def judges_study(  # noqa: PLR0913  # each by its name
    targets: Sequence[str],
    folder: Path,
    *,
    protocol: str,
    keys: Mapping[str, Any],
    defaults: Mapping[str, Any],
    entries: Sequence[dict[str, Any]] = (),
) -> Study[Any]:
    """A study of the judges that are named, in `folder`, by a protocol.

    `keys` is what its file would say besides, and `defaults` what it would say unless a study file there has its own.
    `entries` are judges that are written out, in place of those that are named.
    """
    if len(set(targets)) != len(targets):
        raise UsageError(f"two judges are named {targets[0]}", fix="name another one after --against")
    known = load_study(folder) if not entries and (folder / STUDY_FILE).is_file() else None
    if known is not None and known.protocol is not PROTOCOLS.get(protocol):
        raise UsageError(
            f"the study file here is one of protocol {known.protocol.name}, and its judges are measured by that",
            fix=f"umpirical run  does so; for a {protocol} use another folder: --folder DIR",
        )
    data: dict[str, Any] = {"study": protocol, "protocol": protocol, **defaults}
    chosen = list(entries)
    if known is not None and all(target in {judge.name for judge in known.spec.judges} for target in targets):
        # The arms of a judge that names no prompts are those of the design, so the file is read anew with it.
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
    """A name for a judge, from what it was called by: letters, figures and a few signs."""
    return "".join(letter if letter.isalnum() or letter in "._-" else "-" for letter in target)[:64]


def _refuse_unasked_arms(study: Study[Any]) -> None:
    """An arm that was asked for and would not be asked is not dropped without a word."""
    for judge in study.spec.judges:
        missing = [arm for arm in study.spec.design.arms if arm != BASELINE and arm not in judge.prompts]
        if missing:
            raise UsageError(
                f"judge {judge.name} has no prompt for arm {missing[0]}",
                fix=f"add it to its prompts, as {missing[0]}: FILE; a function, and a judge that grades, has none",
            )


def judge_entry(target: str, folder: Path) -> dict[str, Any]:
    """A judge as it would stand in a study file, from what a person calls it by."""
    if target.endswith((".yaml", ".yml")):
        return read_judge(load_yaml(folder / target), Path(target).stem)
    if target.startswith("simulated:"):
        name = target.removeprefix("simulated:")
        judge: dict[str, Any] = {"name": name, "model": {"adapter": "simulated", "name": name}}
        return judge | ({"kind": "grade", "scale": GRADES} if name in GRADER_PROFILES else {})
    if ":" in target and "/" not in target:
        return {"name": judge_name(target), "callable": target}
    if "/" in target:
        return {"name": judge_name(target), "model": {"adapter": adapter_for(base_url=None), "name": target}}
    raise UsageError(f"no judge {target!r}", fix=f"name {WAYS}")
