"""Studies from what a caller of the Python API gives: a judge, data, and a few words about them."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from umpirical.api.data import Data, data_file
from umpirical.api.options import DatasheetKeywords, PairsKeywords, Scale, StressKeywords, StudyKeywords
from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale, JudgeKind
from umpirical.judges.adapters.catalogue import judge_adapter_of
from umpirical.judges.promptfoo import promptfoo
from umpirical.judges.reply_formats import parsed_format
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import load_user_object
from umpirical.protocols.datasheet.spec import design_keys
from umpirical.protocols.protocol import STUDY_FILE, Study
from umpirical.stimuli.controlled.datasheet_set import DECIDED, STANDARD, recipe
from umpirical.store.files import write_text
from umpirical.store.yaml_files import load_yaml
from umpirical.study.file import WAYS, judge_entry, judge_name, judges_study, parse_study_data
from umpirical.study.trust import Agree, agree_if, ensure_trusted
from umpirical.text.problems import first_problem


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """What the caller says about a judge, besides the judge itself."""

    name: str | None = None
    kind: JudgeKind | None = None
    scale: Scale | None = None
    deadline: float | None = None
    answer: Mapping[str, Any] | None = None
    """How its replies are parsed, as `answer` of a study file."""

    def of(self, judge: object, folder: Path) -> tuple[dict[str, Any], object]:
        """Returns the judge's entry as in a study file, and the object itself if it cannot be found any other way."""
        found: object = None
        if isinstance(judge, Mapping):
            entry = {"name": "judge", **judge}
        elif isinstance(judge, str | Path):
            entry = _named_entry(_from_folder(str(judge), folder), folder)
        elif judge is None:
            raise UsageError("the judge is None", fix=f"name {WAYS}, or pass a function or a judge object")
        else:
            found, named = judge, judge if hasattr(judge, "__qualname__") else type(judge)
            path = f"{named.__module__}:{getattr(named, '__qualname__', 'judge')}"
            entry = {"name": _name(getattr(named, "__name__", "judge")), "callable": _word(path)}
            entry |= _described(judge)
        kind = self.kind or ("grade" if self.scale is not None else None)
        said = {"name": self.name, "kind": kind, "deadline": self.deadline, "answer": self.answer}
        entry |= {key: value for key, value in said.items() if value is not None}
        return entry | ({"scale": _scale(self.scale)} if self.scale is not None else {}), found

    def told(self) -> dict[str, object]:
        """What of it the caller has said."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}


def _described(judge: object) -> dict[str, Any]:
    told = dict(judge_adapter_of(judge).describe(judge))
    return told | ({"name": _name(told["name"])} if "name" in told else {})


def datasheet_study(judges: Sequence[object], options: DatasheetKeywords, agree: Agree | None = None) -> Study[Any]:
    """Returns a study of judges on controlled stimuli, in a folder, as a study file would describe it.

    Raises NotTrusted unless `agree`, or what the options say of trust, agrees to what files say about the judges.
    """
    folder, variants, repeats, seed = Path(options.folder), options.variants, options.repeats, options.seed
    until = options.until or ("asked" if (options.size or DECIDED) != DECIDED else "decided")
    size = options.size or (DECIDED if until == "decided" else STANDARD)
    recipe(size)
    if options.design and (options.size or options.until or variants):
        raise UsageError(
            f"the design {options.design} has its own size and prompt variants", fix="omit size, until and variant"
        )
    # A mapping may say more than an option of the command line can.
    typed_answer = () if isinstance(options.answer, Mapping) else tuple(options.answer)
    answer = options.answer if isinstance(options.answer, Mapping) else parsed_format(typed_answer)
    entry = JudgeEntry(options.name, options.kind, options.scale, options.deadline, answer or None)
    named = ("baseline", *(variant for variant in dict.fromkeys(variants) if variant != "baseline"))
    design: Mapping[str, Any] = {"size": size, "until": until, "variants": named}
    if options.design:
        design = design_keys(options.design)
    targets = [_from_folder(str(judge), folder) for judge in judges if isinstance(judge, str | Path)]
    written = []
    if len(targets) < len(judges) or entry.told():
        written = [entry.of(judge, folder) for judge in judges]
    study = judges_study(
        targets,
        folder,
        protocol="datasheet",
        keys={"design": {**design, "repeats": repeats}},
        defaults={"seed": seed, "concurrency": options.concurrency},
        entries=[entry for entry, _ in written],
    )
    names = [judge.name for judge in study.spec.judges]
    typed = [name for name, judge in zip(names, judges, strict=True) if _is_typed(judge, folder)]
    ensure_trusted(study, agree or agree_if(trust=options.trust), named=typed)
    found = {name: each for name, (_, each) in zip(names, written, strict=False) if each is not None}
    study = _as_they_say(replace(study, found=found))
    said = [name if name in targets else target for name, target in zip(names, targets, strict=False)]
    if (not written or (typed_answer and [*entry.told()] == ["answer"])) and not found and seed == 1:
        words = [
            *(f"--as {name}" for name in [options.design] if name),
            *([f"--size {size}"] if size != DECIDED else []),
            *([f"--until {until}"] if (until == "decided") == (size != DECIDED) else []),
            *(f"--max-calls {most}" for most in [options.max_calls] if most),
            *(f"--variant {variant}" for variant in named if variant != "baseline"),
        ]
        words += [f"--repeats {repeats}"] if repeats > 1 else []
        words += [f"--answer {shlex.quote(word)}" for word in typed_answer]
        again = [" ".join(["umpirical datasheet", shlex.quote(target), *words]) for target in said]
    else:
        # What the command line has no option for can only be said in Python.
        told = {
            name: getattr(options, name)
            for name in ("size", "until", "design", "max_calls", "policy", "repeats", "seed")
        }
        told |= {"variants": list(variants), **entry.told()}
        usual = {"variants": [], "repeats": 1, "seed": 1, "policy": ""}
        words = [f"{key}={value!r}" for key, value in told.items() if value != usual.get(key)]
        objects = names if found else [repr(target) for target in targets] or names
        again = [f"umpirical.datasheet({', '.join([judge, *words])})" for judge in objects]
    commands = dict(zip(names, again, strict=True))
    return replace(study, commands=commands, found=found, max_calls=options.max_calls, policy=options.policy)


def _as_they_say(study: Study[Any]) -> Study[Any]:
    """Completes judges that are named by their place in code with what the objects tell: a kind, a scale.

    They are imported for it, so the study must be trusted by now.
    """
    said = {}
    for judge in study.spec.judges:
        if judge.name in study.found or judge.model_fields_set & {"kind", "scale"}:
            continue
        told: dict[str, Any] = {}
        if judge.callable:
            told = _described(load_user_object(judge.callable, study.folder))
            told.pop("name", None)
        elif judge.promptfoo:
            told = dict(promptfoo().describe(judge.promptfoo, study.folder))
        if told:
            said[judge.name] = JudgeSpec.model_validate({**judge.model_dump(exclude_unset=True), **told})
    judges = [said.get(judge.name, judge) for judge in study.spec.judges]
    return replace(study, spec=study.spec.model_copy(update={"judges": judges})) if said else study


def stress_study(judge: object, data: Data, options: StressKeywords) -> Study[Any]:
    """Returns a study of a judge on changed versions of the caller's data, in a folder, as a file would describe it.

    Raises NotTrusted unless the options trust what files say about the judge.
    """
    folder = Path(options.folder)
    dataset = _dataset_entry(data, options)
    chosen, found = JudgeEntry(options.name, "grade", None, options.deadline).of(judge, folder)
    texts = {"rubric": options.rubric, "instruction": options.instruction}
    written = {key: _write_text_file(folder, key, text) for key, text in texts.items() if text}
    stressed = {"repeats": options.repeats, **({} if options.tests is None else {"tests": list(options.tests)})}
    plain = {key: value for key, value in chosen.items() if key not in ("kind", "scale")}
    keys = {"study": "stress", "seed": options.seed, "concurrency": options.concurrency, "stress": stressed}
    keys |= {"judges": [plain], **written, "dataset": dataset}
    return _data_study(keys, judge, found, options, guide="docs/data/stress-tests.md")


def pairs_study(judge: object, data: Data, options: PairsKeywords) -> Study[Any]:
    """Returns a study of a judge on the caller's labelled pairs, in a folder, as a file would describe it.

    Raises NotTrusted unless the options trust what files say about the judge.
    """
    folder = Path(options.folder)
    path = data_file(data, folder)
    chosen, found = JudgeEntry(options.name, "compare", None, options.deadline).of(judge, folder)
    roles = ("chosen", "rejected", "task", "cluster", "strata")
    columns = _said({role: getattr(options, role) for role in roles})
    dataset: dict[str, Any] = {"path": str(path.resolve()), "columns": columns}
    dataset |= {} if options.sample is None else {"sample": {"size": options.sample}}
    keys = {"study": "pairs", "protocol": "pairs", "seed": options.seed, "concurrency": options.concurrency}
    keys |= _said({"edits": options.edits, "policy": options.policy})
    keys |= {"dataset": dataset, "design": {"repeats": options.repeats}, "judges": [chosen]}
    return _data_study(keys, judge, found, options, guide="docs/data/labelled-pairs.md")


def _said(given: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in given.items() if value is not None}


def _data_study(
    keys: Mapping[str, Any], judge: object, found: object, options: StudyKeywords, guide: str
) -> Study[Any]:
    """Returns the study of one judge on the caller's data. Raises NotTrusted unless the options trust it."""
    folder = Path(options.folder)
    # A caller who names a file wants it read, wherever it is.
    try:
        study = parse_study_data(keys, folder, outside=True)
    except ValidationError as error:
        raise UsageError(first_problem(error), fix=f"see {guide} for the allowed values") from None
    name = keys["judges"][0]["name"]
    typed = [name] if _is_typed(judge, folder) else []
    ensure_trusted(study, agree_if(trust=options.trust), named=typed, data=False)
    return replace(study, found={name: found} if found is not None else {})


def _from_folder(target: str, folder: Path) -> str:
    elsewhere = target.endswith((".yaml", ".yml")) and not (folder / target).is_file() and Path(target).is_file()
    return os.path.relpath(target, folder) if elsewhere else target


def _is_typed(judge: object, folder: Path) -> bool:
    """Whether the caller has said everything about a judge, and not named a file that says it."""
    if not isinstance(judge, str | Path):
        return not (isinstance(judge, Mapping) and "promptfoo" in judge)
    return not str(judge).endswith((".yaml", ".yml")) and not _known_entries(str(judge), folder)


def _named_entry(target: str, folder: Path) -> dict[str, Any]:
    """Returns a judge by its name in the folder's study file, if there is one, or by any other way to name a judge."""
    known = _known_entries(target, folder)
    return known[0] if known else judge_entry(target, folder)


def _known_entries(target: str, folder: Path) -> list[dict[str, Any]]:
    file = folder / STUDY_FILE
    judges = load_yaml(file).data.get("judges") if file.is_file() else None
    entries = [entry for entry in judges if isinstance(entry, Mapping)] if isinstance(judges, list) else []
    return [dict(entry) for entry in entries if entry.get("name") == target]


def _word(text: str) -> str:
    """Keeps letters, digits, dots and colons, which a path to an object may have; replaces the rest."""
    return re.sub(r"[^\w.:]", "_", text)


def _name(text: str) -> str:
    """Makes a judge's name from that of an object: `lambda` for `<lambda>`, and `judge` if no letter is left."""
    return judge_name(re.sub(r"[^A-Za-z0-9._-]", "-", text)).strip("._-") or "judge"


def grade_scale(scale: Scale) -> GradeScale:
    if isinstance(scale, GradeScale):
        return scale
    said = _scale(scale)
    return GradeScale(said["kind"], tuple(said.get("labels", ())), said.get("low"), said.get("high"))


def _scale(scale: Scale) -> dict[str, Any]:
    if isinstance(scale, GradeScale):
        labels = {"labels": list(scale.labels)} if scale.labels else {"low": scale.low, "high": scale.high}
        return {"kind": scale.kind, **labels}
    first = scale[0]
    if isinstance(first, str):
        return {"kind": "ordinal", "labels": list(scale)}
    return {"kind": "interval", "low": first, "high": scale[1]}


def _dataset_entry(data: Data, options: StressKeywords) -> dict[str, Any]:
    """Returns the `dataset` part of a study file: what the caller said, and guesses for the rest."""
    from umpirical.datasets.guess import guess_dataset

    path = data_file(data, Path(options.folder))
    told = _said({"response": options.response, "label": options.label, "task": options.task})
    guess = guess_dataset(path, told=told)  # type: ignore[arg-type]  # the roles are those of the parameters
    return {
        "path": str(path.resolve()),
        "columns": dict(guess.columns),
        "scale": _scale(guess.scale.scale if options.scale is None else options.scale),
        **({} if options.sample is None else {"sample": {"size": options.sample}}),
    }


def _write_text_file(folder: Path, key: str, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{key}-{digest('text', text)[:12]}.txt"
    write_text(folder / name, text)
    return name
