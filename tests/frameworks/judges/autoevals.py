"""Judges of autoevals: a classifier that grades, one that compares, and Battle, which has only one side."""

import json

from tests.frameworks.specimen import Specimen

SCORES = {"E": 0, "D": 0.25, "C": 0.5, "B": 0.75, "A": 1}
GRADE = (
    "Grade how well this does the task. {rubric}\n<task>{{{{input}}}}</task>\n<answer>{{{{output}}}}</answer>\n"
    "A is best and E is worst."
)
COMPARE = (
    "Which is better? {rubric}\n<task>{{{{input}}}}</task>\n<answer A>{{{{answer_a}}}}</answer A>\n"
    "<answer B>{{{{answer_b}}}}</answer B>"
)


def client(base_url, kind="OpenAI"):
    import openai

    return getattr(openai, kind)(base_url=base_url, api_key="none", max_retries=0)


def grade(base_url, rubric):
    from autoevals import LLMClassifier

    return LLMClassifier("grades", GRADE.format(rubric=rubric), SCORES, model="simulated", client=client(base_url))


def compare(base_url, rubric):
    from autoevals import LLMClassifier

    choices = {"A": 1, "tie": 0.5, "B": 0}
    asynchronous = client(base_url, "AsyncOpenAI")
    return LLMClassifier("pairs", COMPARE.format(rubric=rubric), choices, model="simulated", client=asynchronous)


def battle(base_url, rubric):
    from autoevals import Battle

    # It has no rubric of its own: another judge is one of another model.
    return Battle(model="simulated" if rubric == "Be exact." else "other", client=client(base_url))


def stranger():
    from autoevals import Levenshtein

    return Levenshtein()


def chosen(choice):
    arguments = json.dumps({"reasons": "So it is.", "choice": choice})
    call = {"id": "c", "type": "function", "function": {"name": "select_choice", "arguments": arguments}}
    return {"content": None, "tool_calls": [call]}


SPECIMENS = [
    Specimen(
        "LLMClassifier",
        grade,
        reads=r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>",
        says=chosen,
        plants="lenient-on-nothing",
        stranger=stranger,
        off_scale=("F", "", 0.5),
        # It asks 100 times, and the deadline comes first.
        faults={"rate-limit": "timeout"},
    ),
    Specimen(
        "LLMClassifier, of pairs",
        compare,
        reads=r"<task>(?P<task>.*)</task>\n<answer A>(?P<first>.*)</answer A>\n<answer B>(?P<second>.*)</answer B>",
        says=lambda verdict: chosen({"1": "A", "2": "B"}.get(verdict, verdict)),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("C",),
        faults={"rate-limit": "timeout"},
    ),
    Specimen(
        "Battle",
        battle,
        reads=r"\[Instruction 1\]\n(?P<task>.*?)\n\[Response 1\]\n(?P<first>.*)\n\n\[Instruction 2\]\n.*?"
        r"\[Response 2\]\n(?P<second>.*)\n\n\nIs the first",
        says=lambda verdict: chosen({"1": "Yes", "2": "No", "tie": "No"}.get(verdict, verdict)),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("Maybe",),
        one_sided=True,
        faults={"rate-limit": "timeout"},
    ),
]
