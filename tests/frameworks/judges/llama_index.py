"""Evaluators of LlamaIndex: pairs in the order that they are given in, and correctness."""

from tests.frameworks.specimen import Specimen


def llm(base_url):
    from llama_index.llms.openai_like import OpenAILike

    return OpenAILike(model="simulated", api_base=base_url, api_key="none", is_chat_model=True, max_retries=0)


def pairs(base_url, rubric):
    from llama_index.core.evaluation import PairwiseComparisonEvaluator

    template = f"{rubric}\n<task>{{query}}</task>\n<A>{{answer_1}}</A>\n<B>{{answer_2}}</B>\nSay [[A]], [[B]] or [[C]]."
    return PairwiseComparisonEvaluator(llm=llm(base_url), eval_template=template, enforce_consensus=False)


def correctness(base_url, rubric):
    from llama_index.core.evaluation import CorrectnessEvaluator

    template = f"{rubric}\n<task>{{query}}</task>\n<answer>{{generated_answer}}</answer>\nA score from 1 to 5."
    return CorrectnessEvaluator(llm=llm(base_url), eval_template=template)


def stranger():
    from llama_index.core.evaluation import EvaluationResult

    return EvaluationResult()


SPECIMENS = [
    Specimen(
        "PairwiseComparisonEvaluator, in one order",
        pairs,
        reads=r"<task>(?P<task>.*)</task>\n<A>(?P<first>.*)</A>\n<B>(?P<second>.*)</B>",
        says=lambda verdict: f"Both try. [[{ {'1': 'A', '2': 'B', 'tie': 'C'}.get(verdict, verdict) }]]",
        plants="slot-locked",
        stranger=stranger,
        off_scale=("D", "A or B", None),
    ),
    Specimen(
        "CorrectnessEvaluator",
        correctness,
        reads=r"<task>(?P<task>.*)</task>\n<answer>(?P<response>.*)</answer>",
        says=lambda grade: f"{grade}\nIt tries.",
        plants="noisy-grader",
        stranger=stranger,
        off_scale=(99, 0, "nan", "banana", None),
    ),
]
