"""Judges of MLflow: made by make_judge, of answers and of pairs, and Guidelines."""

import ast
import json
import os
import re
from typing import Literal

from tests.frameworks.specimen import Specimen
from umpirical.domain.trials import Presented


def judge(base_url, instructions, values):
    from mlflow.genai.judges import make_judge

    os.environ["OPENAI_API_KEY"] = "none"
    # The address of a judge is the whole endpoint.
    endpoint = f"{base_url}/chat/completions"
    return make_judge(
        name="measured",
        instructions=instructions,
        model="openai:/simulated",
        base_url=endpoint,
        feedback_value_type=values,
    )


def grade(base_url, rubric):
    instructions = f"For the task in {{{{ inputs }}}}, grade {{{{ outputs }}}} from 1 to 5. {rubric}"
    return judge(base_url, instructions, Literal["1", "2", "3", "4", "5"])


def compare(base_url, rubric):
    instructions = f"For the task in {{{{ inputs }}}}, which of {{{{ outputs }}}} is better? {rubric}"
    return judge(base_url, instructions, Literal["first", "second", "tie"])


def guidelines(base_url, rubric):
    from mlflow.genai.scorers import Guidelines

    os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_API_BASE": base_url}
    return Guidelines(name="done", guidelines=[f"The response does the task. {rubric}"], model="openai:/simulated")


def stranger():
    from mlflow.entities import Feedback

    return Feedback(name="f", value=1)


def graded(prompt):
    found = re.search(r"\n\ninputs: (\{.*\n\})\noutputs: (\".*\")\Z", prompt, re.DOTALL)
    return Presented(json.loads(found[1])["task"], json.loads(found[2]), None)


def compared(prompt):
    found = re.search(r"\n\ninputs: (\{.*\n\})\noutputs: (\{.*\n\})\Z", prompt, re.DOTALL)
    outputs = json.loads(found[2])
    return Presented(json.loads(found[1])["task"], outputs["first"], outputs["second"])


def guided(prompt):
    found = re.search(r"<request>(.*)</request>\n<response>(.*)</response>\n\nPlease", prompt, re.DOTALL)
    return Presented(ast.literal_eval(found[1])["task"], found[2], None)


def result(value):
    return json.dumps({"rationale": "So it is.", "result": value})


def in_json(text):
    return json.dumps(text, ensure_ascii=False)[1:-1]


# Ten retries, 1 to 30 s apart: the deadline comes first.
SLOW = {"rate-limit": "timeout", "server-error": "timeout"}

SPECIMENS = [
    Specimen(
        "make_judge",
        grade,
        reads=graded,
        says=result,
        plants="noisy-grader",
        stranger=stranger,
        off_scale=("maybe", "6", None),
        shows=in_json,
        faults=SLOW,
    ),
    Specimen(
        "make_judge, of pairs",
        compare,
        reads=compared,
        says=lambda verdict: result({"1": "first", "2": "second"}.get(verdict, verdict)),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("both", None),
        shows=in_json,
        faults=SLOW,
    ),
    Specimen(
        "Guidelines",
        guidelines,
        reads=guided,
        says=result,
        plants="lenient-on-nothing",
        stranger=stranger,
        off_scale=("maybe", None),
        one_address=True,
        faults=SLOW,
    ),
]
