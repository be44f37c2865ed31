"""The dataset as a study file names it."""

import pytest
from pydantic import ValidationError

from tests.cases import each
from tests.datasets.described import COLUMNS, described
from umpirical.datasets.spec import DatasetSpec
from umpirical.domain.scales import GradeScale

ORDINAL = {"kind": "ordinal", "labels": ["1", "2", "3"]}


def test_the_scale_is_that_of_judges_and_measures():
    assert described(scale=ORDINAL).scale == GradeScale("ordinal", ("1", "2", "3"))
    interval = described(scale={"kind": "interval", "low": 0, "high": 100})
    assert interval.scale == GradeScale("interval", low=0, high=100)


@each(
    ("parts", "message"),
    [
        ({"colums": {}}, "Extra inputs"),
        ({"path": ""}, "at least 1 character"),
        ({"columns": {"label": "label"}}, "columns.response: name the column with the texts to judge"),
        ({"columns": {"response": "a", "label": "a"}}, "the response and its label are in the same column"),
        ({"columns": {"response": "a", "id": "a"}}, "the response and its id are in the same column"),
        ({"columns": {"response": "a", "strata": ["b", "b"]}}, "a column is named twice"),
        (
            {"scale": {"kind": "ordinal", "labels": [1, 2]}},
            'a label must be text, got 1: put it in quotes, such as "1"',
        ),
        ({"scale": {"kind": "binary", "labels": [True, False]}}, "a label must be text, got True"),
        ({"scale": {"kind": "binary", "labels": ["yes", " "]}}, "a label cannot be empty"),
        ({"scale": {"kind": "binary", "labels": ["yes"]}}, "at least two different labels"),
        ({"scale": {"kind": "binary", "labels": ["a", "b", "c"]}}, "a binary scale has two labels, got 3"),
        ({"scale": {"kind": "interval", "low": 1, "high": 1}}, "needs low < high"),
        ({"positive": ["maybe"]}, "positive: 'maybe' is not one of no, yes"),
        ({"positive": ["no", "yes"]}, "at least one label must be negative"),
        (
            {"scale": {"kind": "interval", "low": 0, "high": 1}, "positive": ["1"]},
            "is not one of the labels (there are none)",
        ),
        ({"columns": {**COLUMNS, "task": "t"}, "task_text": "Why?"}, "either as a column or as task_text"),
        ({"split": "test"}, "split and config_name require format: huggingface"),
        ({"config_name": "small", "format": "parquet"}, "split and config_name require format: huggingface"),
        ({"split": 3, "format": "huggingface"}, "split\n  Input should be a valid string"),
        (
            {"split": "a", "options": {"split": "a"}, "format": "huggingface"},
            "split is set both under dataset and under options: remove one of them",
        ),
        ({"options": {"split": ["a"]}}, "options.split"),
        ({"scale": {"kind": "binary", "labels": ["no", "yes"], "lowest": 1}}, "scale.lowest\n  Extra inputs"),
        ({"sample": {"size": 0}}, "greater than or equal to 1"),
        ({"sample": {"size": 5, "by": ["grade"]}}, "'grade' is not one of label; name its column in columns.strata"),
        ({"columns": {"response": "text"}, "sample": {"by": ["label"]}}, "'label' is not one of none"),
        (
            {"scale": {"kind": "interval", "low": 0, "high": 1}, "sample": {"by": ["label"]}},
            "an interval scale has no labels to stratify by",
        ),
        ({"sample": {"allocation": "random"}}, "'proportional' or 'even'"),
        ({"limits": {"rows": 0}}, "greater than or equal to 1"),
        ({"limits": {"depth": 10_000}}, "less than or equal to 200"),
    ],
)
def test_what_cannot_be_meant_is_refused(parts, message):
    with pytest.raises(ValidationError) as refused:
        described(**parts)
    assert message in str(refused.value)


def test_all_that_may_be_said_can_be_said_together():
    spec = described(
        path="org/name",
        format="huggingface",
        split="test",
        config_name="small",
        columns={**COLUMNS, "id": "i", "cluster": "author", "strata": ["topic"], "task": "prompt"},
        positive=["yes"],
        sample={"size": 10, "by": ["label", "topic"], "allocation": "even", "seed": 4},
        limits={"bytes": 10, "rows": 10, "field": 10, "depth": 10},
    )
    assert spec.columns.named() == ("text", "prompt", "label", "i", "author", "topic")
    assert spec.options == {"split": "test", "config_name": "small"}
    assert spec.sample.seed == 4


@pytest.mark.parametrize(
    ("parts", "options"),
    [
        ({}, {}),
        ({"split": None, "config_name": None}, {}),
        ({"options": {"split": "test"}}, {"split": "test"}),
        ({"split": "test", "options": {"config_name": "x"}}, {"split": "test", "config_name": "x"}),
        ({"split": "test", "options": None}, {"split": "test"}),
        ({"options": {"a": 1, "b": 1.5, "c": True, "d": "1"}}, {"a": 1, "b": 1.5, "c": True, "d": "1"}),
    ],
)
def test_options_of_a_reader_keep_their_types_and_may_have_short_names(parts, options):
    found = described(path="org/name", format="huggingface", **parts).options
    assert found == options
    assert list(map(type, found.values())) == list(map(type, options.values()))


def test_an_option_may_be_named_for_any_format_as_the_reader_decides():
    assert described(options={"split": "test"}).options == {"split": "test"}


def test_every_key_is_explained_in_the_schema():
    schema = DatasetSpec.model_json_schema()
    parts = [schema, *schema["$defs"].values()]
    unexplained = [name for part in parts for name, entry in part["properties"].items() if "description" not in entry]
    assert unexplained == []
    assert {"path", "columns", "scale", "positive", "sample", "options", "split"} <= schema["properties"].keys()


def test_a_spec_cannot_be_changed():
    with pytest.raises(ValidationError):
        described().path = "other.csv"
