"""Two records of the same measurement are the same bytes, whatever has been moved in between."""

import json

import pytest

from tests.parity.studies import RECORDS, digests, records


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return records(tmp_path_factory.mktemp("parity"))


def test_every_study_gives_the_record_it_always_gave(found):
    expected = json.loads(RECORDS.read_text(encoding="utf-8"))
    now = {name: digests(record) for name, record in found.items()}
    assert now.keys() == expected.keys()
    differing = {
        f"{name}: {part}"
        for name in expected
        for part in expected[name].keys() | now[name].keys()
        if expected[name].get(part) != now[name].get(part)
    }
    assert not differing
    # A part may have moved within its record.
    assert {name: list(parts) for name, parts in now.items()} == {n: list(parts) for n, parts in expected.items()}


def test_a_change_of_one_digit_is_seen(found):
    name, record = next((name, record) for name, record in found.items() if name.endswith("datasheet.json"))
    changed = json.loads(json.dumps(record))
    changed["measures"][0]["result"]["numerator"] += 1
    before, after = digests(record), digests(changed)
    [part] = [part for part in before if before[part] != after[part]]
    assert part.startswith("measures[0] dark-current"), name
