"""Evaluators of LangChain: pairs of strings, scores, and a criterion."""

from tests.frameworks.specimen import Specimen


def llm(base_url):
    from langchain_openai import ChatOpenAI

    return ChatOpenAI(model="simulated", base_url=base_url, api_key="none", max_retries=0)


def loaded(kind, **arguments):
    from langchain_classic.evaluation import load_evaluator

    return load_evaluator(kind, **arguments)


def pairs(base_url, rubric):
    return loaded("pairwise_string", llm=llm(base_url), criteria={"quality": rubric})


def scores(base_url, rubric):
    return loaded("score_string", llm=llm(base_url), criteria={"quality": rubric})


def stranger():
    from langchain_classic.evaluation import EvaluatorType

    return EvaluatorType.QA


ANSWER = r"\[The Start of Assistant{0}'s Answer\]\n(?P<{1}>.*)\n\[The End of Assistant{0}'s Answer\]"

SPECIMENS = [
    Specimen(
        "pairwise_string",
        pairs,
        reads=rf"\[User Question\]\n(?P<task>.*)\n\n{ANSWER.format(' A', 'first')}\n\n{ANSWER.format(' B', 'second')}",
        says=lambda verdict: f"Both try. [[{ {'1': 'A', '2': 'B', 'tie': 'C'}.get(verdict, verdict) }]]",
        plants="slot-locked",
        stranger=stranger,
        off_scale=("D", "A or B", None),
    ),
    Specimen(
        "score_string",
        scores,
        reads=rf"\[Question\]\n(?P<task>.*)\n\n{ANSWER.format('', 'response')}",
        says=lambda grade: f"It tries. Rating: [[{grade}]]",
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(0, 11, "seven", None),
    ),
]
