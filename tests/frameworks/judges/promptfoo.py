"""Assertions of promptfoo: each is a config, which promptfoo's own command runs."""

import json
import re

from tests.frameworks.specimen import Specimen

SCORE = {"kind": "grade", "scale": {"kind": "interval", "low": 0.0, "high": 1.0}}
STEPS = "<criterion>"


def config(assertion, base_url):
    provider = {"id": "openai:chat:simulated", "config": {"apiBaseUrl": base_url, "apiKey": "none"}}
    return json.dumps({"defaultTest": {"options": {"provider": provider}, "assert": [assertion]}})


def rubric(base_url, rubric):
    value = f"It does well what is asked for. {rubric}\n<task>{{{{task}}}}</task>"
    return config({"type": "llm-rubric", "value": value}, base_url)


def best(base_url, rubric):
    prompt = (
        "Which one is better? {{criteria}}\n<task>{{task}}</task>\n<first>{{outputs[0]}}</first>\n"
        "<second>{{outputs[1]}}</second>\nSay 0 or 1."
    )
    assertion = {"type": "select-best", "value": f"It does what is asked for. {rubric}", "rubricPrompt": prompt}
    return config(assertion, base_url)


def g_eval(base_url, rubric):
    evaluate = (
        "{{criteria}}\n{{steps}}\n<task>{{input}}</task>\n<answer>{{output}}</answer>\nA score of 0 to {{maxScore}}."
    )
    prompts = {"steps": f"How is it judged? {STEPS}{{{{criteria}}}}", "evaluate": evaluate}
    assertion = {"type": "g-eval", "value": f"It does what is asked for. {rubric}", "rubricPrompt": prompts}
    return config(assertion, base_url)


def stranger():
    return config({"type": "contains", "value": "a word"}, "http://127.0.0.1:9/v1")


def passed(grade):
    """Returns the answer of a model that passes or fails what it is shown."""
    said = {"true": True, "false": False}.get(grade, grade)
    return json.dumps({"reason": "It tries.", "pass": said, "score": int(said is True)})


def tens(score):
    return score * 10 if isinstance(score, int | float) else score


SPECIMENS = [
    Specimen(
        "llm-rubric",
        rubric,
        reads=r".*<Output>\n(?P<response>.*)\n</Output>\n<Rubric>.*<task>(?P<task>.*)</task>",
        says=passed,
        plants="lenient-on-nothing",
        stranger=stranger,
        off_scale=("maybe", None),
        is_config=True,
    ),
    Specimen(
        "select-best",
        best,
        reads=r"<task>(?P<task>.*)</task>\n<first>(?P<first>.*)</first>\n<second>(?P<second>.*)</second>",
        says=lambda verdict: {"1": "0", "2": "1"}.get(verdict, str(verdict)),
        plants="slot-locked",
        stranger=stranger,
        off_scale=("neither", "2 is better", None),
        variant="forced-choice",
        is_config=True,
    ),
    Specimen(
        "g-eval, by its score",
        g_eval,
        reads=r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>",
        says=lambda score: json.dumps({"reason": "It tries.", "score": tens(score)}),
        plants="lenient-on-nothing",
        stranger=stranger,
        entry=SCORE,
        off_scale=(9.9, "banana", None),
        requests=2,
        aside=lambda prompt: '{"steps": ["Look at it."]}' if re.search(STEPS, prompt) else None,
        is_config=True,
    ),
]
