"""Metrics of Opik: GEval, and one that is shown task and answer apart."""

import json

from tests.frameworks.specimen import Specimen
from umpirical.judges.user_code import silence_telemetry

# Opik begins to report when it is imported. A judge that is named in a study is imported after this, too.
silence_telemetry()

STEPS = "1. Read the task. 2. Read the answer. 3. Grade it."


def model(base_url):
    from opik.evaluation.models import LiteLLMChatModel

    return LiteLLMChatModel(
        model_name="openai/simulated", base_url=base_url, api_key="none", track=False, max_retries=0, num_retries=0
    )


def geval(base_url, rubric):
    from opik.evaluation.metrics import GEval

    return GEval(task_introduction="You grade answers.", evaluation_criteria=rubric, model=model(base_url), track=False)


def stranger():
    from opik.evaluation.metrics.score_result import ScoreResult

    return ScoreResult(name="a", value=0.5)


SPECIMENS = [
    Specimen(
        "GEval",
        geval,
        reads=r"<opik_solution>\nINPUT: (?P<task>.*)\n\nOUTPUT: (?P<response>.*)\n</opik_solution>",
        says=lambda grade: json.dumps(
            {"score": round(10 * grade, 4) if isinstance(grade, int | float) else grade, "reason": "So."}
        ),
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(1.1, -0.1, "banana", None),
        aside=lambda prompt: STEPS if "Chain of Thought" in prompt else None,
        asides=200,
    )
]
