"""The study file."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from umpirical.datasets.spec import DatasetSpec
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.judges.factory import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.store.yaml_files import YamlDocument, load_yaml, parse_yaml
from umpirical.study.reviewing.spec import ReviewSpec
from umpirical.study.stress.spec import StressSpec
from umpirical.study.texts import read_named_text

__all__ = [
    "STUDY_FILE",
    "DesignSpec",
    "Study",
    "StudySpec",
    "load_study",
    "parse_study",
    "parse_study_data",
    "read_judge",
    "study_path",
]

STUDY_FILE = "umpirical.yaml"

INSTRUCTION = "Grade the answer by how well it does what the task asks for."
"""Where a study of the user's own data names none."""

NO_RUBRIC = "There is none but the instruction above."
"""Where a study names an instruction alone."""

LONGEST_TEXT = 200_000
"""Bytes of an instruction or a rubric."""

_KEY_LIKE = re.compile(r"\b(?:sk|pk|xai|gsk|hf|AIza|ghp)[-_][A-Za-z0-9_-]{16,}|\bAIza[A-Za-z0-9_-]{30,}")


class DesignSpec(BaseModel):
    """How often everything is asked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    size: str = Field(default="standard", description="How much is asked: screen, paper, standard or full.")
    repeats: int = Field(default=1, ge=1, le=10_000)
    arms: tuple[str, ...] = Field(
        default=("baseline",),
        min_length=1,
        description="For judges that name no prompts: baseline, strict, forced-choice, each a built-in instruction.",
    )


class StudySpec(BaseModel):
    """What the user writes: which judges are measured, and how."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: str = Field(description="A name for the study.")
    seed: int = Field(default=1, description="Decides every random draw.")
    tasks: list[str] | None = Field(
        default=None,
        description="Task files (.yaml) beside the study file, or built-in tasks or families. Default: by size.",
    )
    carriers: str | None = Field(
        default=None,
        description="A file beside the study file with answers of your own and the claims in them that you verified.",
    )
    dataset: DatasetSpec | None = Field(
        default=None, description="Responses of your own: the judges are stressed on them, and grade."
    )
    instruction: str | None = Field(
        default=None, description="A text file: what judges are told to do, {{instruction}} in a prompt."
    )
    rubric: str | None = Field(default=None, description="A text file: what they go by, {{rubric}} in a prompt.")
    stress: StressSpec | None = Field(default=None, description="Which stress tests the dataset is put to.")
    review: ReviewSpec = Field(default=ReviewSpec(), description="How people review what a generator wrote.")
    judges: list[JudgeSpec] = Field(min_length=1)
    design: DesignSpec = DesignSpec()
    concurrency: int = Field(default=16, ge=1, le=4096, description="Calls in flight at a time.")

    @model_validator(mode="before")
    @classmethod
    def _graded(cls, data: Any) -> Any:  # noqa: ANN401  # what the file holds
        """In a study of the user's own data every judge grades, on the dataset's scale unless it names its own."""
        scale = (data.get("dataset") or {}).get("scale") if isinstance(data, dict) else None
        if not isinstance(scale, dict) or not isinstance(data.get("judges"), list):
            return data
        grades = {"kind": "grade", "scale": scale}
        judges = [
            grades | judge if isinstance(judge, dict) and judge.get("kind") != "compare" else judge
            for judge in data["judges"]
        ]
        return {**data, "judges": judges}

    @model_validator(mode="after")
    def _stressed(self) -> "StudySpec":
        if self.dataset is None:
            if self.stress is not None or self.rubric is not None or self.instruction is not None:
                raise ValueError("stress, rubric and instruction are for a study with a dataset")
            if self.review != ReviewSpec():
                raise ValueError("review is for a study with a dataset")
            return self
        if self.tasks is not None or self.carriers is not None:
            raise ValueError("a study has a dataset, or tasks and carriers: one study file for each")
        if compares := [judge.name for judge in self.judges if judge.kind != "grade"]:
            raise ValueError(f"judge {compares[0]} compares: a dataset of single responses is for judges that grade")
        for judge in self.judges:
            if judge.scale is not None and judge.scale.build() != self.dataset.scale:
                raise ValueError(f"judge {judge.name}: its scale is not that of the dataset")
        if self.stress is not None and self.stress.generated and not self.rubric:
            raise ValueError("rubric: a validator has to see what the judges go by; name the file")
        tests = () if self.stress is None else self.stress.tests
        if stray := [name for name in self.review.sensitive if name not in tests]:
            raise ValueError(f"review.sensitive: {stray[0]!r} is no test of this study; its tests: {', '.join(tests)}")
        return self

    @model_validator(mode="after")
    def _distinct(self) -> "StudySpec":
        names = [judge.name for judge in self.judges]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two judges are named {', '.join(sorted(doubled))}")
        if self.tasks is not None and len(set(self.tasks)) != len(self.tasks):
            raise ValueError("a task is named twice")
        return self


@dataclass(frozen=True, slots=True)
class Study:
    """A study file that has been read, and where it lies."""

    folder: Path
    spec: StudySpec
    commands: Mapping[str, str] = field(default_factory=dict)
    """Judge to the command that measures it, where that is not `umpirical run`."""
    instruction: str = ""
    """Text of the file that the study names."""
    rubric: str = ""
    guideline: str = ""
    """What reviewers are to go by."""

    @property
    def stress(self) -> StressSpec | None:
        """The stress tests, if this is a study of the user's own data."""
        return None if self.spec.dataset is None else self.spec.stress or StressSpec()

    def command(self, judge: str) -> str:
        return self.commands.get(judge, f"umpirical run --judge {judge}")

    def judge(self, name: str) -> JudgeSpec:
        for judge in self.spec.judges:
            if judge.name == name:
                return judge
        raise UsageError(f"no judge {name!r} in the study", fix=f"known: {', '.join(j.name for j in self.spec.judges)}")


def load_study(path: Path, *, outside: bool = False) -> Study:
    """Reads a study file, or the study file in a folder. Prompts are resolved, so every file it names exists.

    `outside`: its dataset, rubric and instruction may lie outside its folder. Somebody else's study file must not
    send any file of this machine to a model, so that takes a person's word.
    """
    file = path / STUDY_FILE if path.is_dir() else path
    return parse_study(load_yaml(file), file.parent, outside=outside)


def parse_study(document: YamlDocument | str, folder: Path, *, outside: bool = False) -> Study:
    if isinstance(document, str):
        document = parse_yaml(document, name=STUDY_FILE)
    _refuse_keys(document)
    try:
        return parse_study_data(document.data, folder, outside=outside)
    except ValidationError as error:
        raise _config_error(document, error) from None


def read_judge(document: YamlDocument, name: str) -> dict[str, Any]:
    """What a file with one judge in it says, as it would stand in a study file; `name` is its name if it has none."""
    _refuse_keys(document)
    data = {"name": name, **document.data}
    try:
        JudgeSpec.model_validate(data)
    except ValidationError as error:
        raise _config_error(document, error) from None
    return data


def parse_study_data(data: Mapping[str, Any], folder: Path, *, outside: bool = False) -> Study:
    """A study from what its file would hold."""
    spec = StudySpec.model_validate(data)
    if spec.dataset is not None:
        study_path(folder, spec.dataset.path, outside=outside)
    instruction = _text(folder, spec.instruction, outside=outside) or INSTRUCTION
    rubric = _text(folder, spec.rubric, outside=outside)
    named = spec.instruction is not None or spec.rubric is not None
    shared = {"instruction": instruction, "rubric": rubric or NO_RUBRIC} if named else {}
    judges = [resolve_prompts(judge, folder, spec.design.arms, shared) for judge in spec.judges]
    # What reproduces a run has to say so too.
    commands = {judge.name: f"umpirical run --outside --judge {judge.name}" for judge in judges} if outside else {}
    guideline = _text(folder, spec.review.guideline, outside=outside)
    return Study(folder, spec.model_copy(update={"judges": judges}), commands, instruction, rubric, guideline)


def study_path(folder: Path, name: str, *, outside: bool = False) -> Path:
    """A file that a study names, from its folder. Raises if it lies elsewhere, unless that is allowed."""
    path = (folder / name).resolve()
    if not outside and not path.is_relative_to(folder.resolve()):
        raise UsageError(f"the file {name} lies outside the study folder", fix="copy it in, or add --outside")
    return path


def _text(folder: Path, name: str | None, *, outside: bool) -> str:
    if name is None:
        return ""
    return read_named_text(study_path(folder, name, outside=outside), name=name, most=LONGEST_TEXT)


def _config_error(document: YamlDocument, error: ValidationError) -> ConfigError:
    """The first problem, with its line, and the name that was probably meant."""
    problem = error.errors()[0]
    path = tuple(problem["loc"])
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    message, fix = problem["msg"].removeprefix("Value error, "), ""
    if problem["type"] == "extra_forbidden":
        message = "is not known here"
        near = get_close_matches(str(path[-1]), _names(StudySpec, path[:-1]), n=1)
        fix = f"did you mean {near[0]!r}?" if near else "umpirical schema config  lists what there is"
    return ConfigError(f"{place}: {message}" if place else message, where=document.where(path), fix=fix)


def _names(model: type[BaseModel], path: tuple[str | int, ...]) -> set[str]:
    """Every key that may stand at a place of a study file; wherever that cannot be told, every key there is."""
    schema: dict[str, Any] = model.model_json_schema()
    definitions: dict[str, Any] = schema.get("$defs", {})
    parts = [schema]
    for step in path:
        inner = [part.get("items") if isinstance(step, int) else part.get("properties", {}).get(step) for part in parts]
        parts = [found for part in inner if part for found in _meant(part, definitions)]
    here = {name for part in parts for name in part.get("properties", {})}
    return here or {name for part in (schema, *definitions.values()) for name in part.get("properties", {})}


def _meant(part: dict[str, Any], definitions: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A part of a schema without references, and each of the alternatives it may have."""
    if "$ref" in part:
        return _meant(definitions[part["$ref"].rpartition("/")[2]], definitions)
    options = [option for name in ("anyOf", "oneOf", "allOf") for option in part.get(name, ())]
    return [part, *(found for option in options for found in _meant(option, definitions))]


def _refuse_keys(document: YamlDocument) -> None:
    for path, text in _texts(document.data, ()):
        if _KEY_LIKE.search(text):
            raise ConfigError(
                "this looks like an API key; keys are read from the environment only",
                where=document.where(path),
                fix="put it into an environment variable and name that in api_key_env",
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
