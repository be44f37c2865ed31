"""Judges of openevals: graded by a synchronous function, compared by an asynchronous one."""

import json

from tests.frameworks.specimen import Specimen

GRADE = "Rate from 0 to 1 how well this does the task. {rubric}\n<task>{{inputs}}</task>\n<answer>{{outputs}}</answer>"
COMPARE = (
    "Which answer is better? {rubric}\n<task>{{inputs}}</task>\n<answer A>{{first}}</answer A>\n"
    "<answer B>{{second}}</answer B>\nIf neither is, it is a tie."
)
SCHEMA = {
    "type": "object",
    "properties": {"reasoning": {"type": "string"}, "winner": {"type": "string", "enum": ["A", "B", "tie"]}},
    "required": ["reasoning", "winner"],
}


def grade(base_url, rubric):
    from openai import OpenAI
    from openevals.llm import create_llm_as_judge

    return create_llm_as_judge(
        prompt=GRADE.format(rubric=rubric),
        judge=OpenAI(base_url=base_url, api_key="none", max_retries=0),
        model="simulated",
        continuous=True,
    )


def compare(base_url, rubric):
    from openai import AsyncOpenAI
    from openevals.llm import create_async_llm_as_judge

    return create_async_llm_as_judge(
        prompt=COMPARE.format(rubric=rubric),
        judge=AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0),
        model="simulated",
        output_schema=SCHEMA,
    )


def stranger():
    from openevals.types import EvaluatorResult

    return EvaluatorResult


SPECIMENS = [
    Specimen(
        "create_llm_as_judge",
        grade,
        reads=r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>",
        says=lambda grade: json.dumps({"reasoning": "So it is.", "score": grade}),
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(99, "banana", None),
    ),
    Specimen(
        "create_async_llm_as_judge, of pairs",
        compare,
        reads=r"<task>(?P<task>.*)</task>\n<answer A>(?P<first>.*)</answer A>\n<answer B>(?P<second>.*)</answer B>",
        says=lambda verdict: json.dumps(
            {"reasoning": "So it is.", "winner": {"1": "A", "2": "B"}.get(verdict, verdict)}
        ),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("C", "A or B", None),
    ),
]
