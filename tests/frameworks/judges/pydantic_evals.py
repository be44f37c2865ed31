"""Judges of pydantic-evals: an LLMJudge that passes or fails, one that scores, and GEval."""

import json

from tests.frameworks.specimen import Specimen

READS = r"<Input>\n(?P<task>.*)\n</Input>\n<Output>\n(?P<response>.*)\n</Output>"


def model(base_url):
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    return OpenAIChatModel("simulated", provider=OpenAIProvider(openai_client=client))


def passes(base_url, rubric):
    from pydantic_evals.evaluators import LLMJudge

    return LLMJudge(rubric=f"It does the task. {rubric}", model=model(base_url), include_input=True)


def scores(base_url, rubric):
    from pydantic_evals.evaluators import LLMJudge

    told = {"score": {"include_reason": True}, "assertion": False}
    return LLMJudge(rubric=f"It does the task. {rubric}", model=model(base_url), include_input=True, **told)


def steps(base_url, rubric):
    from pydantic_evals.evaluators import GEval

    return GEval(
        criteria=f"It does the task. {rubric}",
        evaluation_steps=["Count what it does of the task."],
        score_range=(1, 5),
        include_input=True,
        model=model(base_url),
    )


def stranger():
    from pydantic_evals.evaluators import LLMJudge

    return LLMJudge


def called(**arguments):
    call = {"name": "final_result", "arguments": json.dumps({"reason": "So it is.", **arguments})}
    return {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": call}]}


def truth(label):
    return {"true": True, "false": False}.get(label, label)


SPECIMENS = [
    Specimen(
        "LLMJudge",
        passes,
        reads=READS,
        says=lambda label: called(**{"pass": truth(label), "score": 1.0 if truth(label) is True else 0.0}),
        plants="lenient-on-nothing",
        stranger=stranger,
        off_scale=("perhaps", None),
        # What its model answers is asked for again, once, if it cannot be read.
        requests=2,
    ),
    Specimen(
        "LLMJudge, with a score",
        scores,
        reads=READS,
        says=lambda grade: called(**{"pass": True, "score": grade}),
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(99, -1, None),
        requests=2,
    ),
    Specimen(
        "GEval",
        steps,
        reads=READS,
        says=lambda grade: called(score=grade),
        plants="compressed-grader",
        stranger=stranger,
        off_scale=(9, 0, None),
        requests=2,
    ),
]
