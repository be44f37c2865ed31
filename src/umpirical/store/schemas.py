"""The columns of every Parquet file, and the records they hold."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any, get_type_hints

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import Response, Usage
from umpirical.domain.stimuli import Stimulus, expectation_from_json, expectation_json
from umpirical.domain.trials import FACTORS, Layout, Order, Presentation, Trial

if TYPE_CHECKING:
    import pyarrow as pa


STIMULUS_COLUMNS = {
    **dict.fromkeys(("id", "task_id", "task"), "string"),
    "candidates": "list<string>",
    "expectation": "expectation",
    **dict.fromkeys(("maker", "family", "stratum"), "string"),
    **dict.fromkeys(("delta", "base"), "double"),
    **dict.fromkeys(("parent", "gold", "gold_from", "evidence", "strata", "task_family", "crossed_pair"), "string"),
    **dict.fromkeys(("version", "columns", "parts"), "string"),
}
"""Types by name, as in `_schema`. The names are those of the fields of a stimulus."""

AS_JSON = ("evidence", "strata", "columns", "parts")
"""Their keys are the user's columns and the perturbation's checks, which differ between sets."""


def _schema(columns: Mapping[str, str], *, factors_after: str = "") -> "pa.Schema":
    """Returns a schema; the factors of a presentation follow the column `factors_after`, if there is one."""
    import pyarrow as pa

    types = {
        "string": pa.string(),
        "list<string>": pa.list_(pa.string()),
        "double": pa.float64(),
        "int32": pa.int32(),
        "int64": pa.int64(),
        "expectation": pa.struct([("kind", pa.string()), ("candidate", pa.int32()), ("label", pa.string())]),
    }
    found: list[tuple[str, pa.DataType]] = []
    for name, kind in columns.items():
        found += [(name, types[kind]), *(_factor_columns() if name == factors_after else ())]
    return pa.schema(found)


def stimulus_schema() -> "pa.Schema":
    return _schema(STIMULUS_COLUMNS)


def stimulus_row(stimulus: Stimulus) -> dict[str, Any]:
    row = {name: getattr(stimulus, name) for name in STIMULUS_COLUMNS}
    shaped = {"candidates": list(stimulus.candidates), "expectation": expectation_json(stimulus.expectation)}
    return row | shaped | {name: canonical_json(dict(row[name])) for name in AS_JSON}


def stimulus_from_row(row: Mapping[str, Any]) -> Stimulus:
    # A row may be older than a column, and has no id of its own: that follows from the rest.
    known = {name: row[name] for name in STIMULUS_COLUMNS if name != "id" and row.get(name) is not None}
    shaped = {"candidates": tuple(row["candidates"]), "expectation": expectation_from_json(row["expectation"])}
    return Stimulus(**{**known, **shaped, **{name: _mapping(row.get(name)) for name in AS_JSON}})


def _mapping(text: str | None) -> Mapping[str, str]:
    found: Mapping[str, str] = json.loads(text) if text and text != "{}" else {}
    return found


_FACTOR_TYPES = get_type_hints(Presentation)


def _factor_columns() -> "list[tuple[str, pa.DataType]]":
    """Returns a column for each factor of a presentation; optional integers are wide, because seeds are."""
    import pyarrow as pa

    parts = {str: pa.string(), bool: pa.bool_(), int: pa.int32()}
    layout = pa.struct([(name, parts[kind]) for name, kind in get_type_hints(Layout).items()])
    kinds = {int: pa.int32(), int | None: pa.int64(), Layout | None: layout}
    return [(name, kinds.get(_FACTOR_TYPES[name], pa.string())) for name in FACTORS]


# Many trials are presented alike.
@lru_cache(maxsize=1 << 12)
def factor_row(presentation: Presentation) -> Mapping[str, Any]:
    """Returns the factors by name, as plain values."""
    values = {name: getattr(presentation, name) for name in FACTORS}
    return {name: _plain(value) for name, value in values.items()}


def _plain(value: Any) -> Any:  # noqa: ANN401  # a factor is of any type
    if isinstance(value, Enum):
        return value.value
    return _parts(value) if isinstance(value, Layout) else value


# Many trials share one layout.
@lru_cache(maxsize=256)
def _parts(layout: Layout) -> dict[str, Any]:
    return asdict(layout)


def presentation_from_row(row: Mapping[str, Any]) -> Presentation:
    """Returns the presentation of a row; a row older than a factor gets that factor's default."""
    known = {name: row[name] for name in FACTORS if name in row}
    layout = known.get("layout")
    made = {"order": Order(known["order"]), "layout": None if layout is None else Layout(**layout)}
    return Presentation(**{**known, **made})


def plan_schema() -> "pa.Schema":
    text = dict.fromkeys(("trial_id", "prompt_id", "stimulus_id"), "string")
    return _schema({**text, "stimulus_part": "int32", "asked_in": "int32"}, factors_after="asked_in")


def trial_row(trial: Trial, stimulus_part: int, asked_in: int) -> dict[str, Any]:
    return {
        "trial_id": trial.id,
        "prompt_id": trial.prompt_id,
        "stimulus_id": trial.stimulus_id,
        "stimulus_part": stimulus_part,
        # Several stimuli may share one question, which is asked in the first shard that has it.
        "asked_in": asked_in,
        **factor_row(trial.presentation),
    }


def trial_from_row(row: Mapping[str, Any]) -> Trial:
    return Trial(row["trial_id"], row["prompt_id"], row["stimulus_id"], presentation_from_row(row))


_RESPONSE = {
    **dict.fromkeys(("trial_id", "text", "failure", "failure_detail", "finish_reason"), "string"),
    **dict.fromkeys(("input_tokens", "output_tokens", "cached_tokens"), "int64"),
    **dict.fromkeys(("logprobs", "sent", "served_by"), "string"),
    "latency_ms": "double",
    **dict.fromkeys(("attempts", "rate_limited"), "int32"),
    **dict.fromkeys(("cost", "price_table", "asked_at"), "string"),
}

RESPONSE_COLUMNS = tuple(_RESPONSE)


def response_schema() -> "pa.Schema":
    return _schema(_RESPONSE)


def response_values(response: Response) -> tuple[Any, ...]:
    """Returns what is stored of a response, in the order of its columns."""
    usage = response.usage
    return (
        response.trial_id,
        None if response.text is None else storable(response.text),
        response.failure,
        storable(response.failure_detail),
        storable(response.finish_reason),
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        storable(response.logprobs),
        storable(response.sent),
        storable(response.served_by),
        float(response.latency_ms),
        response.attempts,
        response.rate_limited,
        # As text: exact, and the same in SQLite and Parquet.
        None if response.cost is None else str(response.cost),
        storable(response.price_table),
        response.asked_at,
    )


def response_row(response: Response) -> dict[str, Any]:
    return dict(zip(RESPONSE_COLUMNS, response_values(response), strict=True))


def response_from_row(row: Mapping[str, Any]) -> Response:
    kept = {name: row[name] for name in RESPONSE_COLUMNS}
    usage = Usage(kept.pop("input_tokens"), kept.pop("output_tokens"), kept.pop("cached_tokens"))
    cost = kept.pop("cost")
    return Response(**kept, usage=usage, cost=None if cost is None else Decimal(cost))


def storable(text: str) -> str:
    """Returns text with lone surrogates escaped, since neither Parquet nor SQLite can store them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def judgment_schema(facts: Mapping[str, str]) -> "pa.Schema":
    """Returns the schema of judgments: one row per planned trial, rebuilt from the responses whenever they are read.

    `facts` maps a protocol's own columns to the name of their type: double, int32, string or list<string>.
    """
    asked = dict.fromkeys(("trial_id", "prompt_id", "stimulus_id", "cluster", "family", "stratum"), "string")
    outcome = {
        **dict.fromkeys(("outcome", "choice", "label"), "string"),
        **dict.fromkeys(("value", "score", "confidence"), "double"),
        **dict.fromkeys(("why", "reasoning"), "string"),
    }
    return _schema({**asked, "delta": "double", **outcome, **facts}, factors_after="delta")
