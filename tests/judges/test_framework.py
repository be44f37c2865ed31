"""What the adapters of frameworks share: identities without secrets, scales that objects tell, values that stay."""

import gc
import json
import weakref
from dataclasses import dataclass
from enum import Enum

import pytest

from umpirical.domain.digests import canonical_json
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.integrations.frameworks.description import (
    judged,
    keep_client,
    on_scale,
    ordered_scale,
    pair_labels,
    versions_of,
    written,
)
from umpirical.judges.adapters.catalogue import JUDGE_ADAPTERS
from umpirical.judges.arguments import named_arguments
from umpirical.judges.failures import Unreadable
from umpirical.judges.spec import JudgeSpec

COMPARE = JudgeSpec(name="j", callable="m:f")


def grading(**scale):
    return JudgeSpec.model_validate({"name": "j", "callable": "m:f", "kind": "grade", "scale": scale})


class Client:
    """A client of a model, as packages have them."""

    def __init__(self):
        self.model, self.api_key, self.pool = "a-model", "sk-secret", object()
        self.base_url = "https://user:sk-secret@example.org:8443/v1?key=sk-secret"


@dataclass
class Metric:
    rubric: str
    model: Client
    api_key: str = "sk-secret"
    extra_headers: tuple = ("Bearer sk-secret",)
    max_tokens: int = 9


class Level(Enum):
    GOOD = "good"


def test_an_identity_has_what_tells_judges_apart_and_no_secret():
    found = written(
        {"metric": Metric("be exact", Client()), "level": Level.GOOD, "token": "sk-secret", "set": {"b", "a"}}
    )
    assert found == {
        "metric": {
            "type": "Metric",
            "rubric": "be exact",
            "model": {"type": "Client", "model": "a-model", "address": "https://example.org:8443/v1"},
            "max_tokens": 9,
        },
        "level": "good",
        "set": ["a", "b"],
    }
    assert "sk-secret" not in canonical_json(found)


def test_a_client_that_is_kept_is_never_collected_and_kept_once():
    dropped, kept = Client(), Client()
    seen, used = weakref.ref(dropped), weakref.ref(kept)
    for _ in range(2):
        keep_client(kept)
    held = len(gc.get_referrers(kept))
    keep_client(kept)
    assert len(gc.get_referrers(kept)) == held
    del dropped, kept
    gc.collect()
    assert seen() is None
    assert used() is not None


def test_the_client_of_an_adapted_judge_of_phoenix_outlives_the_judge():
    class Llm:
        def __init__(self):
            self._async_client = Client()

    class Fields:
        model_fields = dict.fromkeys(("input", "answer_a", "answer_b"))

    class Evaluator:
        input_schema = Fields

        def __init__(self):
            self.llm = Llm()

        async def async_evaluate(self): ...

    judge = Evaluator()
    client, whole = weakref.ref(judge.llm._async_client), weakref.ref(judge)
    JUDGE_ADAPTERS.get("phoenix").adapt(judge, COMPARE)
    del judge
    gc.collect()
    assert whole() is None
    assert client() is not None


def test_an_object_that_holds_itself_can_be_written_down():
    loop = {}
    loop["again"] = loop
    assert json.dumps(written(loop))


def test_versions_are_those_installed():
    assert versions_of("pytest", "no-such-package")["no-such-package"] is None
    assert versions_of("pytest")["pytest"] == pytest.__version__


@pytest.mark.parametrize(
    ("scores", "kind", "labels"),
    [
        ({"good": 1, "bad": 0}, "binary", ["bad", "good"]),
        ({"A": 0.4, "B": 0.6, "C": 1, "D": 0, "E": 1}, "ordinal", ["0", "0.4", "0.6", "1"]),
    ],
)
def test_words_with_scores_are_a_scale(scores, kind, labels):
    assert ordered_scale(scores) == {"kind": kind, "labels": labels}


@pytest.mark.parametrize("scores", [{}, {"only": 1}, {"a": 1, "b": 1}, {"a": None, "b": 1}])
def test_words_without_an_order_are_none(scores):
    assert ordered_scale(scores) is None


@pytest.mark.parametrize(
    ("words", "labels"),
    [
        (["A", "B", "tie"], {"A": "1", "B": "2", "tie": "tie"}),
        (["first", "second"], {"first": "1", "second": "2"}),
        (["1", "2", "tie"], None),
        (["A", "maybe"], None),
        (["A", "first"], None),
        ([], None),
    ],
)
def test_words_of_pairs_are_known_or_left_to_the_user(words, labels):
    assert pair_labels(words) == ({} if labels is None else {"answer": {"labels": labels}})


@pytest.mark.parametrize(
    ("spec", "value", "word", "said"),
    [
        (grading(kind="interval", low=0, high=1), 9.9, "good", 9.9),
        (grading(kind="interval", low=0, high=1), None, "good", None),
        (grading(kind="binary", labels=["bad", "good"]), 1, "good", "good"),
        (grading(kind="ordinal", labels=["0", "0.4", "1"]), 0.4, "A", "0.4"),
        (grading(kind="ordinal", labels=["0", "1"]), 1.0, None, "1"),
        (grading(kind="binary", labels=["false", "true"]), True, None, "true"),
        (grading(kind="binary", labels=["no", "yes"]), None, None, None),
        (COMPARE, None, "banana", "banana"),
        (COMPARE, 0.0, "2", "2"),
    ],
)
def test_what_is_said_is_in_the_terms_of_the_scale_and_nothing_is_made_to_fit(spec, value, word, said):
    assert on_scale(spec, value, word) == said


def test_a_judgment_is_found_in_mappings_and_objects():
    assert judged({"key": "k", "score": 0.5, "comment": "so"}) == (0.5, "so")
    assert judged(Judgment()) == (None, "why")
    with pytest.raises(Unreadable, match="without a value"):
        judged({"anything": 1})


class Judgment:
    value = None
    rationale = "why"


def test_variables_of_a_prompt_are_filled_by_what_they_are_called():
    shown = Presented("t", "a", "b")
    assert named_arguments(["inputs", "answer_b", "answer_a"], COMPARE).of(shown) == (
        [],
        {"inputs": "t", "answer_b": "b", "answer_a": "a"},
    )
    with pytest.raises(UsageError, match="context"):
        named_arguments(["inputs", "first", "second", "context"], COMPARE)
