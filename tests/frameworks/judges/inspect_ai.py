"""Scorers of Inspect: its own model-graded one, and one that a user has written."""

from tests.frameworks.specimen import Specimen
from umpirical.domain.scales import GradeScale

OWN = "Rate from 0 to 1 how well this does the task. {rubric}\n<task>{task}</task>\n<answer>{answer}</answer>"


def model(base_url):
    from inspect_ai.model import GenerateConfig, get_model

    # Without these, Inspect retries for ever.
    config = GenerateConfig(max_retries=0, max_connections=64)
    return get_model(
        "openai-api/local/simulated", base_url=base_url, api_key="none", config=config, memoize=False, max_retries=0
    )


def graded(base_url, rubric):
    from inspect_ai.scorer import model_graded_qa

    template = f"{rubric}\n<task>{{question}}</task>\n<answer>{{answer}}</answer>\n{{criterion}}\n{{instructions}}"
    return model_graded_qa(template=template, partial_credit=True, model=model(base_url))


def written(base_url, rubric):
    from inspect_ai.scorer import Score, mean, scorer

    @scorer(metrics=[mean()])
    def rated(rubric):
        grader = model(base_url)

        async def score(state, target):  # noqa: ARG001
            said = await grader.generate(
                OWN.format(rubric=rubric, task=state.input_text, answer=state.output.completion)
            )
            return Score(value=float(said.completion.removeprefix("Rating: ")), explanation=said.completion)

        return score

    return rated(rubric)


def stranger():
    from inspect_ai.scorer import model_graded_qa

    return model_graded_qa


READS = r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>"

SPECIMENS = [
    Specimen(
        "model_graded_qa",
        graded,
        reads=READS,
        says=lambda grade: f"It has its merits.\n\nGRADE: {grade}",
        plants="noisy-grader",
        stranger=stranger,
        off_scale=("D", "5", "", None),
    ),
    Specimen(
        "@scorer",
        written,
        reads=READS,
        says=lambda grade: f"Rating: {grade}",
        plants="noisy-grader",
        stranger=stranger,
        entry={"scale": GradeScale("interval", low=0.0, high=1.0)},
        off_scale=(99, -0.1, "nan", "inf", "banana", None),
    ),
]
