"""Judges of Arize Phoenix: a classifier of answers, and one of pairs."""

import json

from tests.frameworks.specimen import Specimen

SCORES = {"useless": 0, "poor": 0.25, "fair": 0.5, "good": 0.75, "excellent": 1}
GRADE = "How well is it done? {rubric}\n<task>{{{{input}}}}</task>\n<answer>{{{{output}}}}</answer>"
COMPARE = (
    "Which is better? {rubric}\n<task>{{{{input}}}}</task>\n<answer A>{{{{answer_a}}}}</answer A>\n"
    "<answer B>{{{{answer_b}}}}</answer B>"
)


def classifier(base_url, prompt, choices):
    from phoenix.evals import LLM, create_classifier

    llm = LLM(
        provider="openai",
        model="simulated",
        base_url=base_url,
        api_key="none",
        initial_per_second_request_rate=1000,
    )
    return create_classifier(name="measured", prompt_template=prompt, llm=llm, choices=choices)


def grade(base_url, rubric):
    return classifier(base_url, GRADE.format(rubric=rubric), SCORES)


def compare(base_url, rubric):
    return classifier(base_url, COMPARE.format(rubric=rubric), ["A", "B", "tie"])


def stranger():
    from phoenix.evals import LLM

    return LLM


def labelled(label):
    return json.dumps({"explanation": "So it is.", "label": label})


SPECIMENS = [
    Specimen(
        "create_classifier",
        grade,
        reads=r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>",
        says=labelled,
        plants="noisy-grader",
        stranger=stranger,
        off_scale=("superb", 1, None),
    ),
    Specimen(
        "create_classifier, of pairs",
        compare,
        reads=r"<task>(?P<task>.*)</task>\n<answer A>(?P<first>.*)</answer A>\n<answer B>(?P<second>.*)</answer B>",
        says=lambda verdict: labelled({"1": "A", "2": "B"}.get(verdict, verdict)),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("C", None),
    ),
]
