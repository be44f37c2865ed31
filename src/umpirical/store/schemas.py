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


def stimulus_schema() -> "pa.Schema":
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("id", text),
            ("task_id", text),
            ("task", text),
            ("candidates", pa.list_(text)),
            ("expectation", pa.struct([("kind", text), ("candidate", pa.int32()), ("label", text)])),
            ("maker", text),
            ("family", text),
            ("stratum", text),
            ("delta", pa.float64()),
            ("base", pa.float64()),
            ("parent", text),
            ("gold", text),
            ("gold_from", text),
            ("evidence", text),
            ("strata", text),
            ("task_family", text),
            ("crossed_pair", text),
            ("version", text),
            ("columns", text),
            ("parts", text),
        ]
    )


def stimulus_row(stimulus: Stimulus) -> dict[str, Any]:
    return {
        "id": stimulus.id,
        "task_id": stimulus.task_id,
        "task": stimulus.task,
        "candidates": list(stimulus.candidates),
        "expectation": expectation_json(stimulus.expectation),
        "maker": stimulus.maker,
        "family": stimulus.family,
        "stratum": stimulus.stratum,
        "delta": stimulus.delta,
        "base": stimulus.base,
        "parent": stimulus.parent,
        "gold": stimulus.gold,
        "gold_from": stimulus.gold_from,
        # As JSON: their keys are the user's columns and the perturbation's checks, which differ between sets.
        "evidence": canonical_json(dict(stimulus.evidence)),
        "strata": canonical_json(dict(stimulus.strata)),
        "task_family": stimulus.task_family,
        "crossed_pair": stimulus.crossed_pair,
        "version": stimulus.version,
        "columns": canonical_json(dict(stimulus.columns)),
        "parts": canonical_json(dict(stimulus.parts)),
    }


def stimulus_from_row(row: Mapping[str, Any]) -> Stimulus:
    return Stimulus(
        task_id=row["task_id"],
        task=row["task"],
        candidates=tuple(row["candidates"]),
        expectation=expectation_from_json(row["expectation"]),
        maker=row["maker"],
        family=row["family"],
        stratum=row["stratum"],
        delta=row["delta"],
        base=row["base"],
        parent=row["parent"],
        gold=row.get("gold") or "",
        gold_from=row.get("gold_from"),
        evidence=_mapping(row.get("evidence")),
        strata=_mapping(row.get("strata")),
        task_family=row.get("task_family") or "",
        crossed_pair=row.get("crossed_pair") or "",
        version=row.get("version") or "",
        columns=_mapping(row.get("columns")),
        parts=_mapping(row.get("parts")),
    )


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
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [
            ("trial_id", text),
            ("prompt_id", text),
            ("stimulus_id", text),
            ("stimulus_part", pa.int32()),
            ("asked_in", pa.int32()),
            *_factor_columns(),
        ]
    )


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


def response_schema() -> "pa.Schema":
    import pyarrow as pa

    text, whole = pa.string(), pa.int64()
    return pa.schema(
        [
            ("trial_id", text),
            ("text", text),
            ("failure", text),
            ("failure_detail", text),
            ("finish_reason", text),
            ("input_tokens", whole),
            ("output_tokens", whole),
            ("cached_tokens", whole),
            ("logprobs", text),
            ("sent", text),
            ("served_by", text),
            ("latency_ms", pa.float64()),
            ("attempts", pa.int32()),
            ("rate_limited", pa.int32()),
            ("cost", text),
            ("price_table", text),
            ("asked_at", text),
        ]
    )


RESPONSE_COLUMNS = (
    "trial_id",
    "text",
    "failure",
    "failure_detail",
    "finish_reason",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "logprobs",
    "sent",
    "served_by",
    "latency_ms",
    "attempts",
    "rate_limited",
    "cost",
    "price_table",
    "asked_at",
)


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
    return Response(
        trial_id=row["trial_id"],
        text=row["text"],
        failure=row["failure"],
        failure_detail=row["failure_detail"],
        finish_reason=row["finish_reason"],
        usage=Usage(row["input_tokens"], row["output_tokens"], row["cached_tokens"]),
        logprobs=row["logprobs"],
        sent=row["sent"],
        served_by=row["served_by"],
        latency_ms=row["latency_ms"],
        attempts=row["attempts"],
        rate_limited=row["rate_limited"],
        cost=None if row["cost"] is None else Decimal(row["cost"]),
        price_table=row["price_table"],
        asked_at=row["asked_at"],
    )


def storable(text: str) -> str:
    """Returns text with lone surrogates escaped, since neither Parquet nor SQLite can store them."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def judgment_schema(facts: Mapping[str, str]) -> "pa.Schema":
    """Returns the schema of judgments: one row per planned trial, rebuilt from the responses whenever they are read.

    `facts` maps a protocol's own columns to the name of their type: double, int32, string or list<string>.
    """
    import pyarrow as pa

    text = pa.string()
    types = {"double": pa.float64(), "int32": pa.int32(), "string": text, "list<string>": pa.list_(text)}
    return pa.schema(
        [
            ("trial_id", text),
            ("prompt_id", text),
            ("stimulus_id", text),
            ("cluster", text),
            ("family", text),
            ("stratum", text),
            ("delta", pa.float64()),
            *_factor_columns(),
            ("outcome", text),
            ("choice", text),
            ("label", text),
            ("value", pa.float64()),
            ("score", pa.float64()),
            ("confidence", pa.float64()),
            ("why", text),
            ("reasoning", text),
            *((name, types[kind]) for name, kind in facts.items()),
        ]
    )
