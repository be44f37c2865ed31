"""Results as parts of records: what is written, and what a file has to say."""

import json

import pytest
from pydantic import ValidationError

from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.reports.record import MeasureRecord

INTERVAL = Interval(0, 1, method="by hand")


def measure(result):
    return MeasureRecord(
        name="a", title="A", about="It.", worse="higher", variant="baseline", stratum="", result=result
    )


def test_an_estimate_is_written_with_its_kind_first_and_without_what_it_seldom_has():
    found = json.loads(measure(Estimate(1, 2, 3, "pair", INTERVAL, 4)).model_dump_json())["result"]
    assert list(found)[:2] == ["kind", "value"]
    assert found["interval"] == {"low": 0.0, "high": 1.0, "level": 0.95, "method": "by hand"}
    assert not {"joint", "heavy_hits", "heavy_misses"} & found.keys()
    full = Estimate(1, 2, 3, "pair", INTERVAL, 4, joint=2, heavy_hits=((1.0, 2.0),))
    found = json.loads(measure(full).model_dump_json())["result"]
    assert (found["joint"], found["heavy_hits"]) == (2.0, [[1.0, 2.0]])


@pytest.mark.parametrize("result", [Estimate(1, 2, 3, "pair", INTERVAL, 4), Undefined("no pair", {"unanswered": 2})])
def test_what_was_written_is_read_back(result):
    written = measure(result)
    assert MeasureRecord.model_validate_json(written.model_dump_json()) == written


def test_an_interval_in_a_file_says_its_level_and_a_result_nothing_that_is_not_known():
    text = measure(Estimate(1, 2, 3, "pair", INTERVAL, 4)).model_dump_json()
    with pytest.raises(ValidationError, match="must state its level"):
        MeasureRecord.model_validate_json(text.replace('"level":0.95,', ""))
    with pytest.raises(ValidationError, match="Unexpected keyword argument"):
        MeasureRecord.model_validate_json(text.replace('"clusters":4', '"clusters":4,"more":1'))
