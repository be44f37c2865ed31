"""The dataset as a study file names it: where it lies, what its columns mean, and which of its rows are taken."""

from collections.abc import Iterable
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails

from umpirical.domain.scales import GradeScale
from umpirical.models.spec import ADAPTERS, ModelSpec

LABEL = "label"
"""In `sample.by`, the label itself, whatever its column is called."""

Allocation = Literal["proportional", "even"]
"""How many rows of each kind: in proportion to the file, or equally many."""

OptionValue = str | int | float | bool
"""What an option of a reader may be set to."""

SHORTHANDS = {
    "split": "Short for options.split (huggingface only): the split to read, such as test.",
    "config_name": "Short for options.config_name (huggingface only): the configuration of the dataset.",
}
"""Options of the format huggingface that may also stand directly under dataset."""

_ENDINGS = {
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".xlsx": "xlsx",
}


class _Spec(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnsSpec(_Spec):
    """Which column holds what. Columns that are not named are not read."""

    response: str | None = Field(
        default=None,
        description="The column with the text to judge. Omit it if a model writes the responses: dataset.responses.",
    )
    task: str | None = Field(
        default=None, description="The column with the task. Omit it if the task is the same for all rows."
    )
    label: str | None = Field(
        default=None,
        description="The column with the reference label, which must be on the scale. An empty cell means no label.",
    )
    id: str | None = Field(default=None, description="A unique id for each row. Default: the file and line.")
    cluster: str | None = Field(
        default=None,
        description="Rows with the same value are not independent, such as responses by one author. Default: all rows "
        "are independent.",
    )
    strata: tuple[str, ...] = Field(
        default=(), description="Columns to group results by. Each should have few different values."
    )
    rubric: str | None = Field(
        default=None, description="Criteria for the row, in place of one rubric for all rows: {{rubric}} in a prompt."
    )
    reference: str | None = Field(
        default=None, description="A reference answer for the row, shown with the rubric: {{reference}} in a prompt."
    )

    @model_validator(mode="after")
    def _distinct(self) -> "ColumnsSpec":
        if len(set(self.strata)) != len(self.strata):
            raise ValueError("strata: a column is named twice")
        if self.response is not None and self.response in (self.label, self.id):
            raise ValueError(
                f"the response and its {'label' if self.response == self.label else 'id'} are in the same column"
            )
        for role, column in self.by_row.items():
            if column in (self.response, self.task, self.label):
                raise ValueError(f"{role}: {column!r} is already used for the response, the task or the label")
        return self

    @property
    def by_row(self) -> dict[str, str]:
        named = {"rubric": self.rubric, "reference": self.reference}
        return {role: column for role, column in named.items() if column is not None}

    def named(self) -> tuple[str, ...]:
        single = (self.response, self.task, self.label, self.id, self.cluster)
        return tuple(dict.fromkeys(name for name in (*single, *self.strata) if name is not None))


class SampleSpec(_Spec):
    """Which rows are taken. The same rows for the same seed, whatever their order in the file."""

    size: int | None = Field(default=None, ge=1, description="Number of rows; null for all rows.")
    per: int | None = Field(
        default=None, ge=1, description="Number of rows of each group of `by`. An error if a group has fewer."
    )
    by: tuple[str, ...] = Field(
        default=(), description="Columns to stratify the sample by: label, or columns named under strata."
    )
    allocation: Allocation = Field(
        default="proportional", description="Sample each group in proportion to the file, or equally many rows of each."
    )
    seed: int | None = Field(default=None, description="Determines which rows are drawn; null for the study's seed.")
    ids: tuple[str, ...] = Field(default=(), description="Use only these rows, by columns.id: a sample chosen by hand.")

    @field_validator("ids", mode="before")
    @classmethod
    def _spelled(cls, ids: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        named = ids if isinstance(ids, list | tuple) else ()
        # YAML has made a number of 01 before we see it: its spelling is lost.
        if others := [name for name in named if not isinstance(name, str)]:
            raise ValueError(f'an id must be text, got {others[0]!r}: put it in quotes, such as "{others[0]}"')
        return ids

    @model_validator(mode="after")
    def _by_hand(self) -> "SampleSpec":
        if len(set(self.ids)) != len(self.ids):
            raise ValueError("ids: a row is named twice")
        if self.ids and (self.size is not None or self.by):
            raise ValueError("ids: a sample is either listed or drawn: remove size and by")
        if self.per is not None and (self.size is not None or not self.by):
            raise ValueError("per: name the columns of the groups in by, and remove size")
        return self


class ResponsesSpec(_Spec):
    """The model that writes the responses, where the dataset has tasks only."""

    model: ModelSpec = Field(description="The model that writes the responses.")
    prompt: str | None = Field(
        default=None, description="A text file with {{task}} in it: the prompt for the model. Default: only the task."
    )
    max_tokens: int = Field(
        default=2000, ge=1, description="Maximum length of a response. Truncated responses are discarded."
    )
    temperature: float = Field(default=0.0, ge=0, description="Sampling temperature for the responses.")
    labels: str | None = Field(
        default=None,
        description="A file with id, response and label: human labels of the responses. Default: no labels.",
    )

    @model_validator(mode="after")
    def _writes(self) -> "ResponsesSpec":
        if not ADAPTERS.get(self.model.adapter).writes:
            raise ValueError(
                "model: a simulated judge cannot write responses: use a model on a server, or simulated-writer"
            )
        return self


class LimitsSpec(_Spec):
    """Size limits. Anything larger is rejected, never truncated."""

    bytes: int = Field(default=1 << 30, ge=1, description="Maximum size of the file.")
    rows: int = Field(default=1_000_000, ge=1, description="Maximum number of rows.")
    field: int = Field(default=1_000_000, ge=1, le=100_000_000, description="Maximum number of characters in a value.")
    depth: int = Field(default=32, ge=1, le=200, description="Maximum nesting depth in a line of JSON.")


def _with_shorthands(schema: dict[str, Any]) -> None:
    text = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
    schema["properties"] |= {name: {**text, "description": about} for name, about in SHORTHANDS.items()}


class DatasetSpec(_Spec):
    """Responses of the user's own, with what is known about them."""

    model_config = ConfigDict(json_schema_extra=_with_shorthands)

    path: str = Field(
        min_length=1,
        description="A file, relative to the study file or absolute; for huggingface also a folder, or a name on the "
        "hub.",
    )
    format: str | None = Field(
        default=None,
        description="csv, jsonl, parquet, xlsx, huggingface, or a format from a plugin. Default: from the file ending.",
    )
    columns: ColumnsSpec = Field(description="The column for each role.")
    scale: GradeScale = Field(description="The scale of the labels and of the judges' grades.")
    task_text: str | None = Field(default=None, description="The task, if it is the same for every row.")
    responses: ResponsesSpec | None = Field(
        default=None, description="The model that writes the responses, if the data contains only tasks."
    )
    positive: tuple[str, ...] = Field(
        default=(), description="Labels that count as positive, for false positive and false negative rates."
    )
    sample: SampleSpec = Field(default=SampleSpec(), description="The rows to use. Default: all.")
    options: dict[str, OptionValue] = Field(
        default_factory=dict,
        description="Options of the format. For huggingface: split and config_name; for xlsx: sheet.",
    )
    limits: LimitsSpec = Field(default=LimitsSpec(), description="Limits on the size of the data.")

    @model_validator(mode="wrap")
    @classmethod
    def _folded(cls, data: Any, handler: ModelWrapValidatorHandler["DatasetSpec"]) -> "DatasetSpec":  # noqa: ANN401
        """Options that stand directly under dataset are moved to the others."""
        if not isinstance(data, dict) or not SHORTHANDS.keys() & data.keys():
            return handler(data)
        short = {name: data[name] for name in SHORTHANDS if data.get(name) not in (None, "")}
        _raise_if_any(
            InitErrorDetails(type="string_type", loc=(name,), input=value)
            for name, value in short.items()
            if not isinstance(value, str)
        )
        rest = {name: value for name, value in data.items() if name not in SHORTHANDS}
        options = data.get("options") or {}
        if isinstance(options, dict):
            if doubled := short.keys() & options.keys():
                raise ValueError(f"{min(doubled)} is set both under dataset and under options: remove one of them")
            rest["options"] = options | short
        spec = handler(rest)
        if short and (spec.format or format_by_ending(spec.path)) != "huggingface":
            raise ValueError("split and config_name require format: huggingface")
        return spec

    @field_validator("scale", mode="before")
    @classmethod
    def _spelled(cls, scale: Any) -> Any:  # noqa: ANN401  # whatever the file holds
        """Says what is wrong with a scale in terms of the file that it stands in."""
        if not isinstance(scale, dict):
            return scale
        known = {field.name for field in fields(GradeScale)}
        _raise_if_any(
            InitErrorDetails(type="extra_forbidden", loc=(name,), input=value)
            for name, value in scale.items()
            if name not in known
        )
        labels = scale.get("labels")
        problems = filter(None, map(_label_problem, labels if isinstance(labels, list | tuple) else ()))
        _raise_if_any(
            InitErrorDetails(type="value_error", loc=("labels",), input=labels, ctx={"error": ValueError(problem)})
            for problem in islice(problems, 1)
        )
        return scale

    @model_validator(mode="after")
    def _whole(self) -> "DatasetSpec":
        if self.columns.task is not None and self.task_text is not None:
            raise ValueError("give the task either as a column or as task_text, not both")
        if (self.columns.response is None) == (self.responses is None):
            raise ValueError(
                "columns.response: name the column with the texts to judge or, if there is none, the model that writes "
                "them under responses"
            )
        if self.responses is not None:
            self._check_responses()
        return self

    def _check_responses(self) -> None:
        if self.columns.task is None:
            raise ValueError("responses: a model answers the task of each row, so name the task column in columns.task")
        # The same label for whatever a model might write would be wrong without anybody noticing.
        if self.columns.label is not None:
            raise ValueError(
                "`columns.label` cannot be used here: the responses have not been generated yet. Have people label the "
                "responses, and set responses.labels to that file"
            )

    @model_validator(mode="after")
    def _positive_on_scale(self) -> "DatasetSpec":
        known = self.scale.labels
        if unknown := [label for label in self.positive if label not in known]:
            raise ValueError(
                f"positive: {unknown[0]!r} is not one of {', '.join(known) or 'the labels (there are none)'}"
            )
        if self.positive and set(self.positive) == set(known):
            raise ValueError("positive: at least one label must be negative")
        return self

    @model_validator(mode="after")
    def _sampled_by(self) -> "DatasetSpec":
        if self.sample.ids and self.columns.id is None:
            raise ValueError("sample.ids: name the id column in columns.id")
        known = [*([LABEL] if self.columns.label else []), *self.columns.strata]
        for name in self.sample.by:
            if name not in known:
                raise ValueError(
                    f"sample.by: {name!r} is not one of {', '.join(known) or 'none'}; name its column in columns.strata"
                )
            if name == LABEL and self.scale.kind == "interval":
                raise ValueError("sample.by: an interval scale has no labels to stratify by")
        return self


def _label_problem(label: object) -> str:
    """What is wrong with a label, in words; empty if nothing is."""
    # YAML has made a number of 01 and a boolean of true before we see them: their spelling is lost.
    if not isinstance(label, str):
        return f'a label must be text, got {label!r}: put it in quotes, such as "{label}"'
    return "" if label.strip() else "a label cannot be empty: an empty cell means no label"


def _raise_if_any(problems: Iterable[InitErrorDetails]) -> None:
    """Raises what pydantic would raise, so that each problem keeps its place in the file."""
    if found := list(problems):
        raise ValidationError.from_exception_data("DatasetSpec", found)


def format_by_ending(path: str) -> str | None:
    return _ENDINGS.get(Path(path).suffix.lower())
