"""The judge spec: what cannot be meant is refused, with the reason."""

import pytest
from pydantic import ValidationError

from tests.cases import each
from umpirical.judges.spec import JudgeSpec

MODEL = {"adapter": "simulated", "name": "careful"}
REMOTE = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:1/v1"}
INSPECT = {"adapter": "inspect", "name": "openai/gpt-4o"}


@each(
    ("changes", "message"),
    [
        ({"model": None}, "exactly one of model, callable, exec, http and promptfoo"),
        ({"callable": "a:b"}, "exactly one of model, callable, exec, http and promptfoo"),
        (
            {"model": None, "callable": "a:b", "prompts": {"baseline": "p.md"}},
            "remove prompts, test_prompts and values",
        ),
        ({"model": None, "callable": "a.b"}, "pattern"),
        ({"kind": "grade"}, "needs a scale"),
        ({"scale": {"kind": "binary", "labels": ["a", "b"]}}, "has no scale: remove scale"),
        ({"kind": "grade", "scale": {"kind": "binary", "labels": ["a"]}}, "at least two different labels"),
        ({"name": "../../etc"}, "pattern"),
        ({"name": ""}, "pattern"),
        ({"model": REMOTE | {"base_url": None}}, "needs base_url"),
        ({"model": REMOTE | {"base_url": "file:///etc/passwd"}}, "must start with http"),
        ({"model": REMOTE | {"attempts": 0}}, "greater than or equal to 1"),
        ({"model": REMOTE | {"timeout": 0}}, "greater than 0"),
        ({"model": MODEL | {"api_key": "secret"}}, "Extra inputs"),
        ({"model": INSPECT | {"name": "gpt-4o"}}, "by provider and model"),
        ({"model": INSPECT | {"name": "openai/"}}, "by provider and model"),
        (
            {"model": INSPECT | {"model_args": {"api_key": "secret"}}},
            "set api_key_env",
        ),
        ({"model": INSPECT | {"model_args": {"memoize": True}}}, "memoize is not allowed here"),
        ({"model": INSPECT | {"model_args": {"http_client": {"a": 1}}}}, "model_args"),
        ({"model": REMOTE | {"batch": True}}, "this adapter does not support batch or model_args"),
        ({"model": REMOTE | {"model_args": {"max_retries": 1}}}, "this adapter does not support batch or model_args"),
        ({"model": MODEL | {"batch": True}}, "this adapter does not support batch or model_args"),
        ({"decoding": {"temperature": -0.1}}, "greater than or equal to 0"),
        ({"decoding": {"temprature": 0}}, "Unexpected keyword argument"),
        ({"answer": {"pattern": "(1|2|tie)"}}, "group named answer"),
        ({"answer": {"labels": {"A": "first"}}}, "'first' is not one of 1, 2, tie, abstain"),
        (
            {"kind": "grade", "scale": {"kind": "binary", "labels": ["a", "b"]}, "answer": {"labels": {"x": "c"}}},
            "'c' is not one of a, b, abstain",
        ),
        (
            {"kind": "grade", "scale": {"kind": "interval", "low": 0, "high": 1}, "answer": {"labels": {"x": "1"}}},
            "'1' is not one of abstain",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(changes, message):
    with pytest.raises(ValidationError, match=message):
        JudgeSpec.model_validate({"name": "j", "model": MODEL} | changes)


def test_a_pattern_that_does_not_compile_is_refused():
    with pytest.raises(ValidationError, match="not a valid"):
        JudgeSpec.model_validate({"name": "j", "model": MODEL, "answer": {"pattern": "(?P<answer>"}})


def test_a_spec_survives_json():
    spec = JudgeSpec.model_validate(
        {
            "name": "j",
            "kind": "grade",
            "model": REMOTE | {"api_key_env": "KEY"},
            "scale": {"kind": "ordinal", "labels": ["bad", "good"]},
            "answer": {"labels": {"B": "bad", "G": "good", "-": "abstain"}},
            "decoding": {"temperature": None, "seed": 7},
        }
    )
    assert JudgeSpec.model_validate_json(spec.model_dump_json()) == spec
    assert JudgeSpec.model_validate(spec.model_dump(mode="json")) == spec


def test_an_inspect_model_keeps_its_arguments_as_they_were_written():
    arguments = {"responses_api": False, "max_retries": 1, "ratio": 0.5, "service_tier": "flex"}
    spec = JudgeSpec.model_validate({"name": "j", "model": INSPECT | {"batch": True, "model_args": arguments}})
    assert {name: type(value) for name, value in spec.model.model_args.items()} == {
        name: type(value) for name, value in arguments.items()
    }
    assert JudgeSpec.model_validate_json(spec.model_dump_json()) == spec
