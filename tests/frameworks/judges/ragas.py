"""Metrics of Ragas: numbers, and words about a pair."""

import json

from tests.frameworks.specimen import Specimen
from umpirical.judges.user_code import silence_telemetry

# Ragas begins to report when it is imported.
silence_telemetry()

GRADE = "{rubric}\n<task>{{question}}</task>\n<answer>{{response}}</answer>"
COMPARE = "{rubric}\n<task>{{question}}</task>\n<A>{{answer_a}}</A>\n<B>{{answer_b}}</B>\nWhich is better?"


def llm(base_url):
    from openai import AsyncOpenAI
    from ragas.llms import llm_factory

    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    # No turns in which its model repairs an answer.
    return llm_factory("simulated", client=client, max_retries=0)


def numeric(base_url, rubric):
    from ragas.metrics import NumericMetric

    metric = NumericMetric(name="quality", allowed_values=(0.0, 1.0), prompt=GRADE.format(rubric=rubric))
    metric.llm = llm(base_url)
    return metric


def pairs(base_url, rubric):
    from ragas.metrics import DiscreteMetric

    metric = DiscreteMetric(name="winner", allowed_values=["A", "B", "tie"], prompt=COMPARE.format(rubric=rubric))
    metric.llm = llm(base_url)
    return metric


def stranger():
    from ragas.metrics.result import MetricResult

    return MetricResult(value=1)


def says(value):
    return json.dumps({"reason": "So it is.", "value": value})


SPECIMENS = [
    Specimen(
        "NumericMetric",
        numeric,
        reads=r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>",
        says=says,
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(99, -0.1, "banana", None),
    ),
    Specimen(
        "DiscreteMetric, of pairs",
        pairs,
        reads=r"<task>(?P<task>.*)</task>\n<A>(?P<first>.*)</A>\n<B>(?P<second>.*)</B>",
        says=lambda verdict: says({"1": "A", "2": "B"}.get(verdict, verdict)),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("C", "A or B", None),
    ),
]
