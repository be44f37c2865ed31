"""Judges of DeepEval: GEval with written steps, a DAGMetric, and ArenaGEval for pairs."""

import json
import re

from tests.frameworks.specimen import Specimen
from umpirical.domain.trials import Presented

WRITES_STEPS = "evaluation steps based on the criteria below"


def model(base_url):
    from deepeval.models import LocalModel

    return LocalModel(model="simulated", base_url=base_url, api_key="none")


def params():
    from deepeval.test_case import SingleTurnParams

    return [SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT]


def g_eval(base_url, rubric):
    from deepeval.metrics import GEval

    criteria = f"The actual output does what the input asks for. {rubric}"
    return GEval(name="exactness", criteria=criteria, evaluation_params=params(), model=model(base_url))


def dag(base_url, rubric):
    from deepeval.metrics import DAGMetric
    from deepeval.metrics.dag import BinaryJudgementNode, DeepAcyclicGraph, VerdictNode

    verdicts = [VerdictNode(verdict=False, score=0), VerdictNode(verdict=True, score=10)]
    criteria = f"Is everything done that the input asks for? {rubric}"
    root = BinaryJudgementNode(criteria=criteria, children=verdicts, evaluation_params=params())
    return DAGMetric(name="done", dag=DeepAcyclicGraph(root_nodes=[root]), model=model(base_url))


def arena(base_url, rubric):
    from deepeval.metrics import ArenaGEval

    steps = [f"Choose the contestant whose actual output does more of what the input asks for. {rubric}"]
    return ArenaGEval(name="preference", evaluation_steps=steps, evaluation_params=params(), model=model(base_url))


def stranger():
    from deepeval.test_case import LLMTestCase

    return LLMTestCase(input="a", actual_output="b")


def contestants(prompt):
    """Returns the task, and the contestants by name, in their order."""
    found = re.search(r"Contestants:\n(\{.*?\n\})\n\nParameters:", prompt, re.DOTALL)
    shown = json.loads(found[1])
    return shown["input"], {name: json.loads(each)["actual_output"] for name, each in shown["arena_test_cases"].items()}


def compared(prompt):
    task, answers = contestants(prompt)
    return Presented(task, *answers.values())


def winner(verdict, prompt):
    _, answers = contestants(prompt)
    named = dict(zip(("1", "2"), answers, strict=True)).get(verdict, verdict)
    return json.dumps({"winner": named, "reason": f"${named}$ does more."})


def aside(prompt):
    if WRITES_STEPS in prompt:
        return json.dumps({"steps": ["Count what is done of the input."]})
    if "rewritten_reason" in prompt:
        return json.dumps({"rewritten_reason": "It does more."})
    if "DAG Traversal:" in prompt:
        return json.dumps({"reason": "So it is."})
    return None


SPECIMENS = [
    Specimen(
        "GEval",
        g_eval,
        reads=r"Test Case:\nInput:\n(?P<task>.*) \n\nActual Output:\n(?P<response>.*) \n\n\n\nParameters:",
        # From 0 to 10, of which the metric makes 0 to 1.
        says=lambda grade: json.dumps({"reason": "So it is.", "score": grade and round(grade * 10)}),
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(9.9, -0.1, None),
        aside=aside,
        asides=1,
    ),
    Specimen(
        "DAGMetric",
        dag,
        reads=r"\nInput:\n(?P<task>.*)\nActual Output:\n(?P<response>.*)\n\n\n\*\*\nIMPORTANT",
        says=lambda label: json.dumps(
            {"reason": "So it is.", "verdict": label == "1" if label in ("0", "1") else label}
        ),
        plants="lenient-on-nothing",
        stranger=stranger,
        entry={"scale": {"kind": "binary", "labels": ["0", "1"]}},
        off_scale=("perhaps", None),
        requests=2,
        aside=aside,
    ),
    Specimen(
        "ArenaGEval",
        arena,
        reads=compared,
        says=winner,
        names=True,
        plants="llama-8b",
        variant="forced-choice",
        stranger=stranger,
        off_scale=("tie", "Nobody", None),
        requests=2,
        aside=aside,
        shows=lambda text: json.dumps(json.dumps(text))[1:-1],
    ),
]
