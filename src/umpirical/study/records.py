"""The facts of a run, as the datasheet holds them."""

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from importlib.metadata import version
from typing import Any

from umpirical.domain.stimuli import TIER_2, GivenWinner, Stimulus
from umpirical.domain.tallies import Tallies
from umpirical.judges.factory import build_reader
from umpirical.judges.spec import JudgeSpec
from umpirical.reports.record import JudgeRecord, RunRecord, TroubleRecord
from umpirical.reports.record_sources import AnswerRecord, ExampleRecord, GateRecord, SpendRecord, StimuliRecord
from umpirical.runs.failures import Failure
from umpirical.runs.judgments import Reading, Spent
from umpirical.store.stimulus_sets import StimulusSet

__all__ = ["example_records", "judge_record", "run_record", "spend_record", "stimuli_record", "trouble_records"]

PACKAGES = ("duckdb", "numpy", "scipy")
"""Packages that can change a number."""


def judge_record(spec: JudgeSpec, fingerprint: str, reading: Reading) -> JudgeRecord:
    model = f"{spec.model.adapter}: {spec.model.name}" if spec.model else f"python: {spec.callable}"
    return JudgeRecord(
        name=spec.name,
        kind=spec.kind,
        model=model,
        fingerprint=fingerprint,
        served_by=sorted(reading.served_by),
        decoding=dict(spec.decoding.build().sent()) if spec.model else {},
        instruction="\n\n".join(spec.prompts.values()),
        answer_schema=build_reader(spec).schema(),
        capabilities=spec.capabilities.build().as_dict(),
        prompts=spec.prompts,
        scale=_scale(spec),
    )


def run_record(spec: JudgeSpec, manifest: Mapping[str, Any], reading: Reading, tallies: Tallies) -> RunRecord:
    return RunRecord(
        id=manifest["id"],
        created=manifest["created"],
        umpirical_version=manifest["umpirical"],
        protocol=manifest["protocol"],
        stimuli=manifest["stimuli"],
        seed=manifest["seed"],
        tasks=sorted({tally.task_id for tally in tallies.calls}),
        arms=manifest["arms"],
        repeats=manifest["repeats"],
        trials=reading.planned,
        responses_sha256=reading.responses_sha256,
        command=manifest.get("command", f"umpirical run --judge {spec.name}"),
        python=platform.python_version(),
        packages={name: version(name) for name in PACKAGES},
    )


def trouble_records(reading: Reading) -> list[TroubleRecord]:
    """What was no verdict, the most frequent first."""
    return [
        TroubleRecord.model_validate({"outcome": outcome, "why": why, "count": count, "example": example})
        for (outcome, why), count in sorted(reading.trouble.items(), key=lambda entry: (-entry[1], entry[0]))
        for example in [reading.examples[outcome, why]]
    ]


def stimuli_record(stimuli: StimulusSet, orders: Sequence[Mapping[str, Any]]) -> StimuliRecord:
    """How the stimuli were made, and what the gates said: those of the set, and `orders` of the plan."""
    manifest = stimuli.manifest
    counts, makers, carriers = Counter[str](), set[str](), set[str]()
    for stimulus in stimuli:
        counts[stimulus.family] += 1
        makers.add(stimulus.maker)
        if stimulus.family in TIER_2:
            carriers.add(stimulus.task_id)
    return StimuliRecord(
        tiers=_tiers(counts, len(carriers)),
        tasks=len(manifest.get("tasks", [])),
        task_families=manifest.get("task_families", {}),
        domains=manifest.get("domains", {}),
        counts=dict(counts),
        makers=sorted(makers),
        gates=[GateRecord.model_validate(gate) for gate in (*manifest.get("gates", []), *orders)],
    )


def _tiers(counts: Mapping[str, int], carriers: int) -> list[str]:
    """From the families there are."""
    tiers = ["T1: answers made from templates"] if counts.keys() - TIER_2 else []
    if carriers:
        tiers.append(f"T2: {carriers} real answers of the user's, with claims deleted or corrupted, or laid out anew")
    return tiers


def spend_record(spent: Spent) -> SpendRecord:
    """What the calls took. A cost is given only if that of every call is known."""
    known = spent.calls > 0 and spent.priced == spent.calls
    latencies = sorted(spent.latencies)
    per_1000 = (spent.cost * 1000 / spent.calls).quantize(Decimal("0.0001"), ROUND_HALF_UP) if known else None
    return SpendRecord(
        calls=spent.calls,
        cost=spent.cost if known else None,
        cost_per_1000=per_1000,
        price_table=", ".join(sorted(filter(None, spent.price_tables))),
        latency_p50_ms=_quantile(latencies, 0.50),
        latency_p95_ms=_quantile(latencies, 0.95),
        input_tokens=spent.input_tokens or None,
        output_tokens=spent.output_tokens or None,
    )


def example_records(failures: Sequence[Failure]) -> list[ExampleRecord]:
    return [
        ExampleRecord(
            measure=failure.measure,
            arm=failure.arm,
            family=failure.stimulus.family,
            stratum=failure.stimulus.stratum,
            delta=failure.stimulus.delta,
            task_id=failure.stimulus.task_id,
            task=failure.stimulus.task,
            candidate_u=failure.stimulus.candidates[0],
            candidate_v=failure.stimulus.candidates[-1],
            expectation=_expected(failure.stimulus),
            answers=[
                AnswerRecord(order=answer.order.value, repeat=answer.repeat, said=answer.said, words=answer.words)
                for answer in failure.answers
            ],
        )
        for failure in failures
    ]


def _expected(stimulus: Stimulus) -> str:
    if isinstance(stimulus.expectation, GivenWinner):
        return f"{'uv'[stimulus.expectation.candidate]} is better"
    return "neither is better"


def _scale(spec: JudgeSpec) -> str:
    if spec.scale is None:
        return ""
    if spec.scale.kind == "interval":
        return f"from {spec.scale.low:g} to {spec.scale.high:g}"
    return f"{spec.scale.kind}: {', '.join(spec.scale.labels)}"


def _quantile(ordered: list[float], share: float) -> float | None:
    """The nearest rank: a time that a call did take."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None
