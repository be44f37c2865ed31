"""Labelled pairs: a dataset of two answers to each prompt, of which one was chosen, in the shape of RewardBench."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from umpirical.datasets.items import read_items
from umpirical.datasets.readers import READERS, Source, format_of
from umpirical.datasets.spec import ColumnsSpec, DatasetSpec, LimitsSpec, OptionValue, SampleSpec
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.scales import GradeScale
from umpirical.domain.stimuli import Item
from umpirical.text.problems import plain_problem

Side = Literal["chosen", "rejected"]

NAMES: Mapping[str, tuple[str, ...]] = {
    "task": ("prompt", "task", "question", "instruction", "input", "query"),
    "chosen": ("chosen",),
    "rejected": ("rejected",),
    "id": ("id",),
    "strata": ("subset",),
}
"""What columns are called in RewardBench and sets like it, likeliest names first."""

LONGER = "longer"
"""The stratum that says which answer has more characters. No column of the data may be called so."""

SAME, REPEATED, CONTRADICTED = (
    "both answers are the same text",
    "duplicates an earlier pair",
    "another row chooses the answer rejected here",
)
"""Why a row is no labelled pair."""

EITHER = GradeScale("binary", ("rejected", "chosen"))


class PairColumnsSpec(BaseModel):
    """Which column holds what. Columns that are not named are looked for by their names in RewardBench."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    task: str | None = Field(default=None, description="The column with the task. Default: prompt, if there is one.")
    chosen: str | None = Field(default=None, description="The column with the better answer. Default: chosen.")
    rejected: str | None = Field(default=None, description="The column with the other answer. Default: rejected.")
    id: str | None = Field(default=None, description="A unique id for each row. Default: id, or the file and line.")
    cluster: str | None = Field(
        default=None, description="Rows with the same value are not independent. Default: rows with the same prompt."
    )
    strata: tuple[str, ...] | None = Field(
        default=None, description="Columns to group results by. Default: subset, if there is one."
    )

    @model_validator(mode="after")
    def _distinct(self) -> "PairColumnsSpec":
        named = [column for column in (self.task, self.chosen, self.rejected) if column is not None]
        if len(set(named)) != len(named):
            raise ValueError("task, chosen and rejected must be three different columns")
        if LONGER in (self.strata or ()):
            raise ValueError(f"strata: {LONGER!r} is reserved for which answer is longer: rename the column")
        return self


class PairDatasetSpec(BaseModel):
    """Pairs of answers of the user's own, or a public set of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str = Field(min_length=1, description="A file, a folder, or for huggingface a name on the hub.")
    format: str | None = Field(
        default=None,
        description="csv, jsonl, parquet, huggingface, or a format from a plugin. Default: from the file ending.",
    )
    columns: PairColumnsSpec = Field(default=PairColumnsSpec(), description="The column for each role.")
    task_text: str | None = Field(default=None, description="The task, if it is the same for every row.")
    sample: SampleSpec = Field(default=SampleSpec(), description="The rows to use. Default: all.")
    options: dict[str, OptionValue] = Field(
        default_factory=dict, description="Options of the format. For huggingface: split and config_name."
    )
    limits: LimitsSpec = Field(default=LimitsSpec(), description="Limits on the size of the data.")


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two answers to one prompt, of which one was chosen."""

    name: str
    task: str
    chosen: str
    rejected: str
    cluster: str
    """Pairs of one cluster are not independent: those of one prompt, unless a column says otherwise."""
    strata: Mapping[str, str]

    @property
    def longer(self) -> str:
        """Which answer has more characters: `chosen`, `rejected` or `neither`."""
        difference = len(self.chosen) - len(self.rejected)
        return "chosen" if difference > 0 else "rejected" if difference < 0 else "neither"


@dataclass(frozen=True, slots=True)
class ReadPairs:
    """The labelled pairs of a dataset, and what is no labelled pair."""

    pairs: tuple[LabelledPair, ...]
    rows: int
    """Rows of the whole file."""
    taken: int
    """Rows of the sample."""
    excluded: Mapping[str, int]
    """Rows of the sample that are no pair, by reason."""
    columns: Mapping[str, str]
    """The columns that were read, by role."""


def read_pairs(spec: PairDatasetSpec, folder: Path, *, seed: int = 1) -> ReadPairs:
    """Reads the pairs of a dataset, in its order and sampled as its spec says.

    A row that cannot be read is an error and never left out. Left out and counted is what is no question to a judge, or
    the same question again: two answers that are the same text, and pairs that repeat or contradict another.
    """
    columns = _columns(spec, folder)
    items, summary = read_items(
        _as_items(spec, columns), folder, seed=seed, columns=_shown_id(spec, columns), texts=[columns["rejected"]]
    )
    pairs = [_pair(item, spec, columns) for item in items]
    kept, excluded = _distinct(pairs)
    return ReadPairs(
        tuple(_clustered(kept, by_prompt=spec.task_text is None)), summary.rows, len(items), excluded, columns
    )


def _columns(spec: PairDatasetSpec, folder: Path) -> dict[str, str]:
    said = spec.columns
    named = {role: column for role in NAMES if role != "strata" and (column := getattr(said, role)) is not None}
    if spec.task_text is not None:
        if said.task is not None:
            raise UsageError("give the task either as a column or as task_text", fix="remove one of them")
        named["task"] = ""
    wanted = [role for role in NAMES if role not in named and not (role == "strata" and said.strata is not None)]
    there = _names(spec, folder) if wanted else []
    folded = {name.casefold(): name for name in reversed(there) if name not in named.values()}
    for role in wanted:
        if found := next((folded[name] for name in NAMES[role] if name in folded), ""):
            named[role] = found
    for role in ("chosen", "rejected"):
        if role not in named:
            raise ConfigError(
                f"no column {role!r}; columns: {', '.join(there[:30]) or 'none'}",
                where=Path(spec.path).name,
                fix=f"set it under dataset:  columns: {{{role}: COLUMN}}",
            )
    return {role: column for role, column in named.items() if column}


def _names(spec: PairDatasetSpec, folder: Path) -> list[str]:
    """Returns the columns of the table; of one without a head, those of its first row."""
    name = Path(spec.path).name
    source = Source(folder / spec.path, name, limits=spec.limits, options=spec.options, written=spec.path)
    table = READERS.get(format_of(spec.path, folder, named=spec.format)).open(source)
    if table.columns is not None:
        return list(table.columns)
    first = next(table.rows, None)
    if first is None:
        raise ConfigError("the file has no rows", where=name, fix="check that it is the right file")
    return list(first.values)


def _as_items(spec: PairDatasetSpec, columns: Mapping[str, str]) -> DatasetSpec:
    """Returns the dataset as one of single responses, the chosen ones; the rejected ones come beside them."""
    said = spec.columns
    guessed = (columns["strata"],) if "strata" in columns else ()
    try:
        return DatasetSpec(
            path=spec.path,
            format=spec.format,
            columns=ColumnsSpec(
                response=columns["chosen"],
                task=columns.get("task"),
                # A column that is merely called id may hold numbers that begin again in every subset.
                id=said.id,
                cluster=said.cluster,
                strata=guessed if said.strata is None else said.strata,
            ),
            scale=EITHER,
            task_text=spec.task_text,
            sample=spec.sample,
            options=spec.options,
            limits=spec.limits,
        )
    except ValidationError as error:
        message = plain_problem(error.errors()[0])
        raise UsageError(f"dataset: {message}", fix="umpirical schema config  lists the keys") from None


def _shown_id(spec: PairDatasetSpec, columns: Mapping[str, str]) -> list[str]:
    return [columns["id"]] if "id" in columns and spec.columns.id is None else []


def _pair(item: Item, spec: PairDatasetSpec, columns: Mapping[str, str]) -> LabelledPair:
    shown = "".join(item.columns[column] for column in _shown_id(spec, columns))
    return LabelledPair(
        name=f"{shown} ({item.name})" if shown else item.name,
        task=item.task,
        chosen=item.response,
        rejected=item.columns[columns["rejected"]],
        cluster=item.cluster,
        strata=item.strata,
    )


def _distinct(pairs: Sequence[LabelledPair]) -> tuple[list[LabelledPair], dict[str, int]]:
    """Returns the pairs that are questions of their own, and how many are not, by reason."""
    chosen: dict[tuple[str, frozenset[str]], set[str]] = {}
    for pair in pairs:
        chosen.setdefault(_question(pair), set()).add(pair.chosen.strip())
    kept, excluded, seen = list[LabelledPair](), Counter[str](), set[tuple[str, frozenset[str]]]()
    for pair in pairs:
        question = _question(pair)
        if len(question[1]) == 1:
            excluded[SAME] += 1
        elif len(chosen[question]) > 1:
            excluded[CONTRADICTED] += 1
        elif question in seen:
            excluded[REPEATED] += 1
        else:
            kept.append(pair)
            seen.add(question)
    return kept, dict(excluded)


def _question(pair: LabelledPair) -> tuple[str, frozenset[str]]:
    """Returns what a judge is asked, whichever answer is shown first. Blanks around a text make it no other."""
    return pair.task.strip(), frozenset((pair.chosen.strip(), pair.rejected.strip()))


def _clustered(pairs: Iterable[LabelledPair], *, by_prompt: bool) -> Iterable[LabelledPair]:
    """Names the cluster of each pair: as the data says, or the first pair with the same prompt."""
    first: dict[str, str] = {}
    for pair in pairs:
        prompt = pair.task.strip() if by_prompt else ""
        yield replace(pair, cluster=pair.cluster or first.setdefault(prompt or pair.name, pair.name))
