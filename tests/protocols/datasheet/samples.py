"""Datasheets to render: the published counts of a real judge, a simulated one, and one with everything missing."""

from decimal import Decimal

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.protocols.datasheet.record import AnswerRecord, Datasheet, ExampleRecord, GradeRow, StimuliRecord
from umpirical.protocols.datasheet.report import held_to
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.record import (
    AuditRow,
    GateRecord,
    JudgeRecord,
    MeasureRecord,
    RevisionRecord,
    RunRecord,
    SpendRecord,
    TroubleRecord,
)
from umpirical.stats.intervals import wilson

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
    "wrong-choice-rate": ("Wrong choice rate", "How often the lesser candidate wins.", "higher"),
    "excess-stable": ("Excess stable", "Stable cross-sensitivity above chance.", "higher"),
    "criterion-shift": ("Criterion shift", "How much more often it ties than under its own prompt.", "depends"),
    "resolution": ("Resolution", "How far one requirement moves it.", "lower"),
    "criterion": ("Criterion", "How far it has to be moved to name a winner.", "depends"),
    "slot-bias": ("Slot bias", "How far slot 1 moves it.", "depends"),
    "lapse": ("Lapse rate", "How often it answers at random.", "higher"),
    "goodness-of-fit": ("Goodness of fit", "How likely counts like these are if the model holds.", "lower"),
    "grade-spread": ("Same-quality spread", "How far apart the grades of equal answers are.", "higher"),
    "grade-concordance": ("Grade concordance", "How often the better answer gets more.", "lower"),
    "grade-slope": ("Grade slope", "What one requirement more is worth.", "lower"),
}  # fmt: skip

SCALES = {
    "detection-threshold": "requirements",
    "excess-stable": "difference",
    "criterion-shift": "difference",
    "resolution": "latent",
    "criterion": "latent",
    "slot-bias": "latent",
    "goodness-of-fit": "p-value",
    "grade-spread": "steps",
    "grade-slope": "steps",
}

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
    planning = Interval(low=wider.low, high=wider.high, level=0.95, method="Wilson, intra-task correlation 0.05")
    return Estimate(
        **{
            "value": value,
            "numerator": numerator,
            "denominator": denominator,
            "unit": unit,
            "interval": Interval(low=bounds.low, high=bounds.high, level=0.95, method="cluster-Wilson"),
            "clusters": 10,
            "design_effect": None if at_edge else 1.38,
            "planning_interval": planning if at_edge else None,
            "planning_effect": 1.5,
        }
        | more
    )


def threshold(value=1.0, censoring="left", low=None, high=1.0):
    limits = Interval(low=low, high=high, level=0.95, method="task bootstrap, percentile")
    return Estimate(
        value=value, numerator=value, denominator=300, unit="call", interval=limits, clusters=10, censoring=censoring
    )


def undefined(reason="no pair of this step was asked", **excluded):
    return Undefined(reason=reason, excluded=excluded)


def measure(name, result, stratum="", variant="baseline", true_value=None):
    title, about, worse = TITLES.get(name, (name, "", "depends"))
    return MeasureRecord(
        name=name, title=title, about=about, worse=worse, variant=variant, stratum=stratum, result=result,
        true_value=true_value,
        scale=SCALES.get(name, "rate"),
    )  # fmt: skip


def fitted(value, low, high, unit="pair", n=270, **more):
    """An estimate that is no share."""
    limits = Interval(low=low, high=high, level=0.95, method="jackknife over tasks")
    return Estimate(
        **{"value": value, "numerator": value * n, "denominator": n, "unit": unit, "interval": limits, "clusters": 10}
        | more
    )


def qwen_measures(variant="baseline"):
    """As published, with three unparsed answers left out of one denominator."""
    measures = [measure(name, estimate(k, n, unit), stratum, variant) for name, stratum, k, n, unit in QWEN32B]
    measures.insert(20, measure("detection-threshold", threshold(), "", variant))
    excluded = estimate(30.5, 117, "call", excluded={"unparsed": 3}, bounds=(0.254, 0.28))
    measures[4] = measure("raw-false-preference", excluded, "", variant)
    return measures


def llama_measures(variant="baseline", true_value=True):
    """A judge whose defects are known: one true value lies outside its interval."""
    measures = [
        measure(name, estimate(LLAMA8B[name][s], n, unit), s, variant, LLAMA8B[name][s] / n if true_value else None)
        for name, s, _, n, unit in QWEN32B
    ]
    uncensored = threshold(4.0, "none", 2.714286, 4.0)
    measures.insert(20, measure("detection-threshold", uncensored, "", variant, 3.5 if true_value else None))
    if true_value:
        measures[15] = measure("target-sensitivity", estimate(61, 100), "1", variant, 0.45)
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
            "variants": ["baseline"],
            "repeats": 1,
            "trials": 540,
            "responses_sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            "command": "umpirical report studies/qwen32b --run 2026-01-01-qwen32b-5f2c --html datasheet.html",
        }
        | more
    )  # fmt: skip


def audit_row(family, stratum, delta, planned, *slots, unparsed=0, unasked=0):
    position_1, position_2 = slots or (0, 0)
    tie = planned - position_1 - position_2 - unparsed - unasked
    return AuditRow(
        variant="baseline", family=family, stratum=stratum, delta=delta, planned=planned, position_1=position_1,
        position_2=position_2,
        tie=tie, abstained=0, unparsed=unparsed, failed=0, unasked=unasked,
    )  # fmt: skip


def audit(unasked=0):
    return [
        audit_row("blank", "empty", None, 40),
        audit_row("blank", "whitespace", None, 40),
        audit_row("blank", "identical", None, 40),
        audit_row("graded", "same quality", 0, 120, 17, 14, unparsed=3),
        audit_row("graded", "step 1", 1, 100, 47, 47),
        audit_row("graded", "step 2", 2, 80, 39, 40),
        audit_row("graded", "step 3", 3, 60, 30, 30),
        audit_row("graded", "step 4", 4, 40, 20, 20),
        audit_row("graded", "step 5", 5, 20, 10, 10 - unasked, unasked=unasked),
    ]


def held(sheet):
    """With what follows from its measures by the default policy, as `assemble` does it; its findings stay."""
    return held_to(sheet, preset()).model_copy(update={"findings": sheet.findings})


def datasheet(**more):
    """Qwen32B with the counts of the paper."""
    sheet = Datasheet(
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
    return held(sheet)


def simulated():
    """A simulated judge: every measure has a true value."""
    return datasheet(
        judge=judge(name="simulated: slot-biased", model="simulated/slot-bias", served_by=[]),
        measures=llama_measures(),
        trouble=[],
    )


def two_variants():
    variants = [*qwen_measures("baseline"), *llama_measures("strict", true_value=False)]
    return datasheet(run=run(variants=["baseline", "strict"]), measures=variants)


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


def paper_measures(variant="baseline"):
    """The counts of the paper as they are."""
    return [measure(name, estimate(k, n, unit), stratum, variant) for name, stratum, k, n, unit in QWEN32B]


STRICT = [
    ("raw-false-preference", "", 0, 120, "call"),
    ("stable-cross-sensitivity", "", 0, 60, "pair"),
    ("positional-false-preference", "", 0, 60, "pair"),
    ("one-sided-commit", "", 0, 60, "pair"),
    ("no-preference", "", 60, 60, "pair"),
    ("tie-rate", "0", 120, 120, "call"),
    ("tie-rate", "1", 50, 100, "call"),
    ("target-sensitivity", "1", 50, 100, "call"),
    ("target-sensitivity", "5", 20, 20, "call"),
    ("wrong-choice-rate", "1", 0, 100, "call"),
    ("unparsed-rate", "", 0, 240, "call"),
    ("failure-rate", "", 0, 240, "call"),
]
"""Qwen32B under the strict prompt, as published."""

TRANSFORMS = {
    "whitespace": (0, 10),
    "sentence order": (1, 10),
    "list": (3, 10),
    "synonyms": (0, 15),
    "register": (2, 15),
}


def stimuli(**more):
    return StimuliRecord(
        **{
            "tiers": ["T1 templates"],
            "tasks": 10,
            "task_families": {"procedure": 6, "explanation": 4},
            "domains": {"how-to": 5, "science": 3, "finance": 2},
            "counts": {"blank": 120, "equal": 60, "graded": 150},
            "makers": ["vacuum/1", "delta0/2", "ladder/2"],
            "gates": [
                GateRecord(name="checkers agree", passed=True, found="100 %", allowed="100 %", blocks=True),
                GateRecord(name="length gap, tokens", passed=True, found=1.0, allowed=2.0, blocks=True),
                GateRecord(name="trivial: longer", passed=True, found=0.4813, allowed="0.45 to 0.55", blocks=True),
                GateRecord(name="trivial judge: prompt overlap", passed=False, found=0.61, allowed="0.45 to 0.55",
                           blocks=False),
            ],
        }
        | more
    )  # fmt: skip


def spend(**more):
    return SpendRecord(
        **{
            "calls": 780, "cost": Decimal("0.412345"), "cost_per_1000": Decimal("0.528647"),
            "price_table": "genai-prices 0.2.1, 2026-01-01", "latency_p50_ms": 312.4, "latency_p95_ms": 1204.9,
            "input_tokens": 512_345, "output_tokens": 11_700,
        }
        | more
    )  # fmt: skip


def example(**more):
    return ExampleRecord(
        **{
            "measure": "positional-false-preference",
            "variant": "baseline",
            "family": "equal",
            "stratum": "sentence order",
            "delta": 0.0,
            "task_id": "bike-puncture",
            "task": "My bicycle has a slow puncture. Write short instructions.",
            "candidate_a": "Use tyre levers when lifting the tyre. Hold the tube in a bowl of water.",
            "candidate_b": "Hold the tube in a bowl of water. Use tyre levers when lifting the tyre.",
            "expectation": "no preference: both answers state the same facts",
            "answers": [
                AnswerRecord(order="ab", said="a", words="Answer 1 is <b>better organised</b>.\nIgnore the rubric."),
                AnswerRecord(order="ba", said="b", words='{"verdict": "1"}'),
            ],
        }
        | more
    )


def paper():
    """Everything a datasheet can hold: the paper's two prompts, and around them what it does not give."""
    baseline = paper_measures()
    baseline[20:20] = [
        measure("target-sensitivity", estimate(41, 100), "0.25"),
        measure("target-sensitivity", estimate(66, 100), "0.5"),
        measure("target-sensitivity", estimate(83, 100), "0.75"),
        measure("wrong-choice-rate", estimate(0, 100), "1"),
        measure("detection-threshold", fitted(0.63, 0.51, 0.74, "call", 700)),
        *(measure("stable-cross-sensitivity", estimate(k, n, "pair"), name) for name, (k, n) in TRANSFORMS.items()),
        *(measure("positional-false-preference", estimate(1, n, "pair"), name) for name, (_, n) in TRANSFORMS.items()),
        measure("excess-stable", fitted(-0.021, -0.06, 0.018)),
        measure("resolution", fitted(2.78, 2.41, 3.2)),
        measure("criterion", fitted(1.15, 0.94, 1.4)),
        measure("slot-bias", fitted(0.12, -0.05, 0.3)),
        measure("lapse", estimate(4, 400, "call")),
        measure("goodness-of-fit", fitted(0.2312, None, None, interval=None)),
    ]
    strict = [measure(name, estimate(k, n, unit), stratum, "strict") for name, stratum, k, n, unit in STRICT]
    strict += [
        measure("criterion-shift", fitted(0.44, 0.33, 0.55, "call", 100), "1", "strict"),
        measure("resolution", fitted(2.71, 2.3, 3.1), "", "strict"),
        measure("criterion", fitted(2.81, 2.4, 3.3), "", "strict"),
        measure("goodness-of-fit", fitted(0.00004, None, None, interval=None), "", "strict"),
    ]
    prompts = {"baseline": "Which answer is better?\n{{first}}\n{{second}}", "strict": "Say tie unless it is plain.\n…"}
    return datasheet(
        judge=judge(prompts=prompts),
        run=run(
            variants=["baseline", "strict"],
            python="3.11.7",
            packages={"numpy": "2.3.1", "scipy": "1.16.0"},
            revisions=[RevisionRecord(date="2026-01-02", what="Parser reads fenced JSON.", kind="measurement")],
        ),
        measures=[*baseline, *strict],
        stimuli=stimuli(),
        spend=spend(),
        examples=[example(), example(measure="dark-current", family="blank", stratum="empty", delta=None,
                                     candidate_a="", candidate_b="")],
    )  # fmt: skip


GRADED = [
    (0, {0: 9, 1: 1}),
    (1, {0: 2, 1: 6, 2: 2}),
    (2, {1: 2, 2: 7, 3: 1}),
    (3, {2: 2, 3: 7, 4: 1}),
    (4, {3: 3, 4: 7}),
    (5, {3: 1, 4: 9}),
]
"""Requirements met, and how many answers got which grade."""


def grading():
    """A judge that grades one answer at a time."""
    kept = ("dark-current", "raw-false-preference", "tie-rate", "target-sensitivity", "unparsed-rate", "failure-rate")
    measures = [m for m in paper_measures() if m.name in kept]
    measures += [
        measure("grade-spread", fitted(0.21, 0.12, 0.33, "pair", 60)),
        measure("grade-concordance", estimate(291, 300, "pair")),
        measure("grade-slope", fitted(0.78, 0.71, 0.85, "item", 300)),
    ]
    rows = [
        GradeRow(variant="baseline", family="graded", level=level, score=score, answers=answers)
        for level, grades in GRADED
        for score, answers in grades.items()
    ]
    graded = [row.model_copy(update={"position_1": 0, "position_2": 0, "tie": 0, "graded": row.planned - row.unparsed})
              for row in audit()]  # fmt: skip
    return datasheet(
        judge=judge(name="Qwen grader", kind="grade", scale="1 poor\n2\n3\n4\n5 excellent"),
        measures=measures,
        audit=graded,
        grades=rows,
    )


SAMPLES = {f.__name__: f for f in (datasheet, simulated, two_variants, incomplete, nothing, paper, grading)}
