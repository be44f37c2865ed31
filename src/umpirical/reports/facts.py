"""The facts of a run that every record holds."""

import platform
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from decimal import ROUND_HALF_UP, Decimal
from importlib.metadata import version
from typing import Any

from umpirical.domain.tallies import CallTally, Tallies
from umpirical.judges.factory import build_reader
from umpirical.judges.prompt import prompt_text
from umpirical.judges.spec import JudgeSpec
from umpirical.reports.record import (
    AuditRow,
    BudgetRecord,
    ContradictionRecord,
    JudgeRecord,
    ReasoningRecord,
    RunRecord,
    SpendRecord,
    TroubleRecord,
)
from umpirical.runs.judgments import Reading, Spent
from umpirical.runs.run import Run
from umpirical.store.budget import Budget
from umpirical.text.inert import one_line

MOST_NAMES = 20
"""How many of the names that servers gave themselves are listed: a server may give another one each time."""

LONGEST_NAME = 300
"""Characters of each."""

PACKAGES = ("duckdb", "numpy", "scipy")
"""Packages that can change a number."""


def run_facts(run: Run, reading: Reading, tallies: Tallies) -> dict[str, Any]:
    """Returns the parts that the records of all protocols on the user's own data share, by their names there."""
    audit = audit_rows(tallies.calls, by=("variant", "family"))
    return {
        "judge": judge_record(run, reading),
        "run": run_record(run, reading, tallies),
        "complete": not any(row.unasked for row in audit),
        "audit": audit,
        "trouble": trouble_records(reading),
        "reasoning": reasoning_record(reading),
        "spend": spend_record(run, reading.spent),
    }


def judge_record(run: Run, reading: Reading) -> JudgeRecord:
    """The judge that a run asked."""
    return spec_record(run.judge, run.manifest["fingerprint"], _names(reading.served_by))


def spec_record(spec: JudgeSpec, fingerprint: str, served_by: list[str]) -> JudgeRecord:
    """The judge that a spec describes."""
    prompts = {variant: prompt_text(prompt) for variant, prompt in spec.prompts.items()}
    return JudgeRecord(
        name=spec.name,
        kind=spec.kind,
        model=": ".join(spec.made_of) + (f", from {one_line(spec.source)}" if spec.source else ""),
        fingerprint=fingerprint,
        served_by=served_by,
        decoding=dict(spec.decoding.sent()) if spec.model else {},
        instruction="\n\n".join(prompts.values()),
        answer_schema=build_reader(spec).schema() if spec.answer.shape in ("", "field") else "",
        capabilities=spec.capabilities.as_dict(),
        prompts=prompts,
        test_prompts={test: prompt_text(prompt) for test, prompt in spec.test_prompts.items()},
        scale=_scale(spec),
        grades=len(spec.scale.labels) or None if spec.scale else None,
    )


def run_record(run: Run, reading: Reading, tallies: Tallies) -> RunRecord:
    """The run that a record was read from."""
    spec, manifest = run.judge, run.manifest
    return RunRecord(
        id=manifest["id"],
        created=manifest["created"],
        umpirical_version=manifest["umpirical"],
        protocol=manifest["protocol"],
        stimuli=manifest["stimuli"],
        seed=manifest["seed"],
        tasks=sorted({tally.cluster for tally in tallies.calls}),
        variants=manifest["variants"],
        steps=manifest.get("steps", {}),
        repeats=manifest["repeats"],
        trials=reading.planned,
        responses_sha256=reading.responses_sha256,
        command=manifest.get("command", f"umpirical run --judge {spec.name}"),
        python=platform.python_version(),
        looks=manifest.get("looks", 0),
        packages={name: version(name) for name in PACKAGES},
    )


def trouble_records(reading: Reading) -> list[TroubleRecord]:
    """Returns the answers that are no verdict, the most frequent kind first."""
    return [
        TroubleRecord.model_validate({"outcome": outcome, "why": why, "count": count, "example": example})
        for (outcome, why), count in sorted(reading.trouble.items(), key=lambda entry: (-entry[1], entry[0]))
        for example in [reading.examples[outcome, why]]
    ]


def reasoning_record(reading: Reading) -> ReasoningRecord | None:
    """Returns what the reasonings of a run say of its verdicts; None if no verdict came with one."""
    reasons = reading.reasons
    if not reasons.reasoned:
        return None
    return ReasoningRecord(
        reasoned=reasons.reasoned,
        stated=reasons.stated,
        contradicted=reasons.contradicted,
        examples=[ContradictionRecord(**asdict(each)) for each in reasons.contradictions],
    )


def spend_record(run: Run, spent: Spent) -> SpendRecord:
    """Returns what the calls took. A cost is given only if the cost of every call is known.

    What 1,000 calls cost is that of the calls made here: a reused answer has a price, which another run has paid.
    """
    known = spent.calls > 0 and spent.priced == spent.calls
    latencies = sorted(spent.latencies)
    per_1000 = (
        (spent.cost * 1000 / spent.asked).quantize(Decimal("0.0001"), ROUND_HALF_UP) if known and spent.asked else None
    )
    return SpendRecord(
        calls=spent.calls,
        reused=spent.reused,
        cost=spent.cost if known else None,
        cost_per_1000=per_1000,
        budget=_budget_record(run),
        price_table=", ".join(sorted(filter(None, spent.price_tables))),
        latency_p50_ms=quantile(latencies, 0.50),
        latency_p95_ms=quantile(latencies, 0.95),
        input_tokens=spent.input_tokens or None,
        output_tokens=spent.output_tokens or None,
    )


def _names(served_by: Collection[str]) -> list[str]:
    listed = [name[:LONGEST_NAME] for name in sorted(served_by)[:MOST_NAMES]]
    more = len(served_by) - len(listed)
    return [*listed, f"and {more:,} more"] if more else listed


def _budget_record(run: Run) -> BudgetRecord | None:
    bill = Budget(run.call.folder).bill_of(run.name)
    if bill is None:
        return None
    return BudgetRecord(
        spent=bill.total,
        billed=bill.billed,
        uncertain=bill.uncertain,
        billed_calls=bill.billed_calls,
        uncertain_calls=bill.uncertain_calls,
        faults=dict(bill.faults),
    )


def _scale(spec: JudgeSpec) -> str:
    if spec.scale is None:
        return ""
    if spec.scale.kind == "interval":
        return f"from {spec.scale.low:g} to {spec.scale.high:g}"
    return f"{spec.scale.kind}: {', '.join(spec.scale.labels)}"


def quantile(ordered: list[float], share: float) -> float | None:
    """Returns the quantile by nearest rank, so that it is a time that a call really took."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else None


# The audit: every planned trial by outcome, so that what was left out is visible.


OUTCOMES = ("position_1", "position_2", "tie", "graded", "abstained", "unparsed", "failed", "unasked")
"""The possible outcomes of a trial. In every row they add up to what was planned."""

PARTS = ("variant", "family", "stratum", "delta")
"""Parts of a design, from the largest to the smallest."""


def audit_rows(calls: Iterable[CallTally], *, by: Sequence[str] = PARTS) -> list[AuditRow]:
    """Adds up the tallies of all tasks, one row for each part of the design, in the order of first occurrence."""
    rows: dict[tuple[object, ...], dict[str, int]] = {}
    for tally in calls:
        sums = rows.setdefault(tuple(getattr(tally, name) for name in by), dict.fromkeys(("planned", *OUTCOMES), 0))
        for name in sums:
            sums[name] += getattr(tally, name)
    empty = {"variant": "", "family": "", "stratum": "", "delta": None}
    return [AuditRow.model_validate({**empty, **dict(zip(by, key, strict=True)), **sums}) for key, sums in rows.items()]


def unbalanced(rows: Iterable[AuditRow]) -> tuple[AuditRow, ...]:
    """Returns rows whose outcomes do not add up to what was planned: a record that contradicts itself."""
    return tuple(row for row in rows if row.planned != sum(getattr(row, outcome) for outcome in OUTCOMES))
