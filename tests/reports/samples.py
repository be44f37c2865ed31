"""Datasheets to render: the published counts of a real judge, a simulated one, and one with everything missing."""

from umpirical.reports.record import (
    AuditRow,
    Datasheet,
    EstimateRecord,
    IntervalRecord,
    JudgeRecord,
    MeasureRecord,
    RunRecord,
    TroubleRecord,
    UndefinedRecord,
)
from umpirical.stats.wilson import wilson

TITLES = {
    "dark-current": ("Dark current", "How often the judge prefers a side when there is nothing to judge.", "higher"),
    "raw-false-preference": ("Raw false preference", "Preference between candidates of equal quality.", "higher"),
    "stable-cross-sensitivity": ("Stable cross-sensitivity", "The same candidate wins in both orders.", "higher"),
    "positional-false-preference": ("Positional false preference", "The same slot wins in both orders.", "higher"),
    "one-sided-commit": ("One-sided commit", "A preference in one order and a tie in the other.", "higher"),
    "no-preference": ("No preference", "A tie in both orders, as is right at equal quality.", "lower"),
    "tie-rate": ("Tie rate", "How often the judge calls a tie, by the true difference.", "depends"),
    "target-sensitivity": ("Target sensitivity", "How often the better candidate wins.", "lower"),
    "detection-threshold": ("Detection threshold Δ75", "The difference seen three times in four.", "higher"),
    "unparsed-rate": ("Unparsed answers", "Answers in which no verdict could be read.", "higher"),
    "failure-rate": ("Failed calls", "Calls that brought no answer.", "higher"),
}  # fmt: skip

# Qwen32B as published (golden_dark_current.json); the counts at Δ2 to Δ4 and by vacuum class are ours.
QWEN32B = [
    ("dark-current", "", 0, 120, "prompt"),
    ("dark-current", "empty", 0, 40, "prompt"),
    ("dark-current", "whitespace", 0, 40, "prompt"),
    ("dark-current", "identical", 0, 40, "prompt"),
    ("raw-false-preference", "", 31, 120, "call"),
    ("stable-cross-sensitivity", "", 0, 60, "pair"),
    ("positional-false-preference", "", 5, 60, "pair"),
    ("one-sided-commit", "", 21, 60, "pair"),
    ("no-preference", "", 34, 60, "pair"),
    ("tie-rate", "0", 89, 120, "call"),
    ("tie-rate", "1", 6, 100, "call"),
    ("tie-rate", "2", 1, 80, "call"),
    ("tie-rate", "3", 0, 60, "call"),
    ("tie-rate", "4", 0, 40, "call"),
    ("tie-rate", "5", 0, 20, "call"),
    ("target-sensitivity", "1", 94, 100, "call"),
    ("target-sensitivity", "2", 79, 80, "call"),
    ("target-sensitivity", "3", 60, 60, "call"),
    ("target-sensitivity", "4", 40, 40, "call"),
    ("target-sensitivity", "5", 20, 20, "call"),
    ("unparsed-rate", "", 3, 540, "call"),
    ("failure-rate", "", 0, 540, "call"),
]

LLAMA8B = {
    "dark-current": {"": 80, "empty": 40, "whitespace": 40, "identical": 0},
    "raw-false-preference": {"": 120},
    "stable-cross-sensitivity": {"": 2},
    "positional-false-preference": {"": 58},
    "one-sided-commit": {"": 0},
    "no-preference": {"": 0},
    "tie-rate": dict.fromkeys("012345", 0),
    "target-sensitivity": {"1": 61, "2": 50, "3": 44, "4": 30, "5": 20},
    "unparsed-rate": {"": 0},
    "failure-rate": {"": 0},
}


def estimate(numerator, denominator, unit="call", /, **more):
    bounds = wilson(numerator, denominator)
    value = numerator / denominator
    at_edge = value in {0, 1}
    wider = wilson(numerator / 1.5, denominator / 1.5)
    planning = IntervalRecord(low=wider.low, high=wider.high, level=0.95, method="Wilson, intra-task correlation 0.05")
    return EstimateRecord(
        **{
            "value": value,
            "numerator": numerator,
            "denominator": denominator,
            "unit": unit,
            "interval": IntervalRecord(low=bounds.low, high=bounds.high, level=0.95, method="cluster-Wilson"),
            "clusters": 10,
            "design_effect": None if at_edge else 1.38,
            "planning_interval": planning if at_edge else None,
        }
        | more
    )


def threshold(value=1.0, censoring="left", low=None, high=1.0):
    limits = IntervalRecord(low=low, high=high, level=0.95, method="task bootstrap, percentile")
    return EstimateRecord(
        value=value, numerator=value, denominator=300, unit="call", interval=limits, clusters=10, censoring=censoring
    )


def undefined(reason="no pair of this step was asked", **left_out):
    return UndefinedRecord(reason=reason, left_out=left_out)


def measure(name, result, stratum="", arm="baseline", planted=None):
    title, about, worse = TITLES.get(name, (name, "", "depends"))
    return MeasureRecord(
        name=name, title=title, about=about, worse=worse, arm=arm, stratum=stratum, result=result, planted=planted
    )


def qwen_measures(arm="baseline"):
    """As published, with three unparsed answers left out of one denominator."""
    measures = [measure(name, estimate(k, n, unit), stratum, arm) for name, stratum, k, n, unit in QWEN32B]
    measures.insert(20, measure("detection-threshold", threshold(), "", arm))
    left_out = estimate(30.5, 117, "call", left_out={"unparsed": 3}, bounds=(0.254, 0.28))
    measures[4] = measure("raw-false-preference", left_out, "", arm)
    return measures


def llama_measures(arm="baseline", planted=True):
    """A judge whose defects are known: one planted value lies outside its interval."""
    measures = [
        measure(name, estimate(LLAMA8B[name][s], n, unit), s, arm, LLAMA8B[name][s] / n if planted else None)
        for name, s, _, n, unit in QWEN32B
    ]
    uncensored = threshold(4.0, "none", 2.714286, 4.0)
    measures.insert(20, measure("detection-threshold", uncensored, "", arm, 3.5 if planted else None))
    if planted:
        measures[15] = measure("target-sensitivity", estimate(61, 100), "1", arm, 0.45)
    return measures


def judge(**more):
    return JudgeRecord(
        **{
            "name": "Qwen2.5-32B-Instruct, pairwise",
            "kind": "compare",
            "model": "vllm/Qwen/Qwen2.5-32B-Instruct",
            "fingerprint": "9f0c1b7de2a44d0c8a39b1b52f0e6c7d",
            "served_by": ["vLLM 0.11.0, Qwen/Qwen2.5-32B-Instruct"],
            "decoding": {"temperature": 0.0, "top_p": 1.0, "max_tokens": 512, "seed": 20260101, "stop": None},
            "instruction": "You compare two answers to one task.\n\nTask:\n{{task}}\n\nAnswer 1:\n{{first}}\n\n"
            "Answer 2:\n{{second}}\n\nSay which fulfils more of the requirements, or say that they are equal.",
            "answer_schema": '{"type": "object", "properties": {"verdict": {"enum": ["1", "2", "tie"]}}}',
            "capabilities": {"structured output": True, "seed": True, "log probabilities": False},
        }
        | more
    )


def run(**more):
    return RunRecord(
        **{
            "id": "2026-01-01-qwen32b-5f2c",
            "created": "2026-01-01T12:00:00+00:00",
            "umpirical_version": "0.1.0",
            "protocol": "dark-current/1",
            "stimuli": "b6d1f2c6a8d94f15a4b1a6f4a4f8a3c2d0e5b7d9c1f3a5b7c9d1e3f5a7b9c1d3",
            "seed": 7,
            "tasks": ["bike-puncture", "bread-rise", "fern-repotting", "tides-beach", "tax-letter", "chess-opening",
                      "solar-panel", "sourdough", "router-setup", "violin-care"],
            "arms": ["baseline"],
            "repeats": 1,
            "trials": 540,
            "responses_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "command": "umpirical report studies/qwen32b --run 2026-01-01-qwen32b-5f2c --html datasheet.html",
        }
        | more
    )  # fmt: skip


def audit_row(family, stratum, delta, planned, *slots, unparsed=0, unasked=0):
    slot_1, slot_2 = slots or (0, 0)
    tie = planned - slot_1 - slot_2 - unparsed - unasked
    return AuditRow(
        arm="baseline", family=family, stratum=stratum, delta=delta, planned=planned, slot_1=slot_1, slot_2=slot_2,
        tie=tie, abstained=0, unparsed=unparsed, failed=0, unasked=unasked,
    )  # fmt: skip


def audit(unasked=0):
    return [
        audit_row("vacuum", "empty", None, 40),
        audit_row("vacuum", "whitespace", None, 40),
        audit_row("vacuum", "identical", None, 40),
        audit_row("ladder", "same quality", 0, 120, 17, 14, unparsed=3),
        audit_row("ladder", "step 1", 1, 100, 47, 47),
        audit_row("ladder", "step 2", 2, 80, 39, 40),
        audit_row("ladder", "step 3", 3, 60, 30, 30),
        audit_row("ladder", "step 4", 4, 40, 20, 20),
        audit_row("ladder", "step 5", 5, 20, 10, 10 - unasked, unasked=unasked),
    ]


def datasheet(**more):
    """Qwen32B with the counts of the paper."""
    return Datasheet(
        **{
            "judge": judge(),
            "run": run(),
            "complete": True,
            "measures": qwen_measures(),
            "audit": audit(),
            "trouble": [
                TroubleRecord(
                    outcome="unparsed", why="no verdict found", count=3,
                    example="Both answers are well written.\nAnswer 1 is <b>clearer</b>, but it depends\u2026",
                )
            ],
            "findings": [
                "Dark current: no preference on 120 prompts without content; the rate is below 0.031.",
                "At equal quality the judge commits in 0.261 [0.188, 0.343] of calls; most of it in one order only.",
                "A difference of one requirement is seen in 0.940 [0.875, 0.972] of calls: Δ75 is 1 or less.",
                "20 of 20 at Δ5 leaves room for 0.839.",
            ],
            "non_claims": [
                "Nothing is said about tasks, languages or lengths that were not asked.",
                "A low dark current is no proof that the judge prefers for the right reason.",
                "The intervals hold for this configuration; another prompt is another judge.",
            ],
        }
        | more
    )  # fmt: skip


def simulated():
    """A simulated judge: every measure has a planted value."""
    return datasheet(
        judge=judge(name="simulated: slot-biased", model="simulated/slot-bias", served_by=[]),
        measures=llama_measures(),
        trouble=[],
    )


def two_arms():
    arms = [*qwen_measures("baseline"), *llama_measures("strict", planted=False)]
    return datasheet(run=run(arms=["baseline", "strict"]), measures=arms)


def incomplete():
    """Stopped early: some steps are undefined, and so is the threshold."""
    measures = [
        measure(m.name, undefined("no call of step 5 was answered", unasked=3), m.stratum)
        if m.stratum == "5" or m.name == "detection-threshold"
        else m
        for m in qwen_measures()
    ]
    return datasheet(complete=False, measures=measures, audit=audit(unasked=3))


def nothing():
    """Nothing measured, nothing to say."""
    return datasheet(measures=[], audit=[], trouble=[], findings=[], non_claims=[], complete=False)


SAMPLES = {f.__name__: f for f in (datasheet, simulated, two_arms, incomplete, nothing)}
