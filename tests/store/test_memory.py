"""What was worked out before is kept for the user, and is never another number than the one computed."""

import math
import os

import pytest
from jinja2 import DictLoader
from pydantic import TypeAdapter

from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.reports import pages
from umpirical.store.memory import MOST, kept_folder, remembered

CODE = ("umpirical.domain",)
NUMBERS = TypeAdapter(list[float])


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


class Counted:
    """A computation that counts how often it is made."""

    def __init__(self, found):
        self.found, self.times = found, 0

    def __call__(self):
        self.times += 1
        return self.found


def kept():
    return sorted(kept_folder("numbers").glob("*.json"))


def test_the_same_counts_are_computed_once_and_others_again():
    compute = Counted([0.1, 1 / 3, -0.0])
    found = [remembered("numbers", made_of, CODE, NUMBERS, compute) for made_of in ("a", "a", "b")]
    assert found == [compute.found] * 3
    assert compute.times == 2
    remembered("numbers", "a", ("umpirical.text",), NUMBERS, compute)
    assert compute.times == 3


def test_measures_come_back_as_they_were():
    interval = Interval(None, 0.1 + 0.2, method="Wilson")
    measures = [
        Measure("m", Estimate(1 / 3, 1, 3, "pair", interval, 2, excluded={"tied": 1}, per_task=((1.0, 2.0, 3),))),
        Measure("n", Undefined("no pairs"), "strict", "5", "language=en"),
    ]
    compute = Counted(measures)
    adapter = TypeAdapter(list[Measure])
    assert [remembered("measures", "x", CODE, adapter, compute) for _ in range(2)] == [measures, measures]
    assert compute.times == 1


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_json_would_change_is_computed_each_time(number):
    compute = Counted([number])
    for _ in range(2):
        assert repr(remembered("numbers", "a", CODE, NUMBERS, compute)) == repr([number])
    assert (compute.times, kept()) == (2, [])


def test_a_damaged_file_is_computed_again_and_replaced():
    compute = Counted([1.0])
    remembered("numbers", "a", CODE, NUMBERS, compute)
    [file] = kept()
    file.write_text('["not a number"]')
    assert remembered("numbers", "a", CODE, NUMBERS, compute) == [1.0]
    assert (compute.times, file.read_text()) == (2, "[1.0]")


def test_only_the_newest_are_kept():
    folder = kept_folder("numbers")
    for number in range(MOST + 5):
        path = folder / f"{number}.json"
        path.write_text("[]")
        os.utime(path, (number, number))
    remembered("numbers", "a", CODE, NUMBERS, Counted([1.0]))
    assert len(kept()) == MOST
    assert not (folder / "0.json").exists()


def test_a_folder_that_others_can_write_to_is_not_believed():
    compute = Counted([1.0])
    remembered("numbers", "a", CODE, NUMBERS, compute)
    [file] = kept()
    file.write_text("[2.0]")
    file.parent.chmod(0o777)
    assert remembered("numbers", "a", CODE, NUMBERS, compute) == [1.0]
    assert compute.times == 2


def test_without_a_folder_to_write_to_everything_is_computed(tmp_path):
    (tmp_path / "state").write_text("a file where the folder should be")
    compute = Counted([1.0])
    assert [remembered("numbers", "a", CODE, NUMBERS, compute) for _ in range(2)] == [[1.0], [1.0]]
    assert (compute.times, kept_folder("numbers")) == (2, None)


def test_a_template_that_does_not_escape_is_neither_kept_nor_taken(tmp_path):
    place = tmp_path / "compiled"
    place.mkdir()
    escaping = pages.environment("umpirical.protocols.datasheet").overlay(
        loader=DictLoader({"page": "{{ text }}"}), bytecode_cache=pages._Compiled(str(place))
    )
    unescaped = escaping.overlay(autoescape=False)
    assert unescaped.get_template("page").render(text="<b>") == "<b>"
    assert list(place.iterdir()) == []
    assert escaping.get_template("page").render(text="<b>") == "&lt;b&gt;"
    assert len(list(place.iterdir())) == 1
    assert escaping.overlay(autoescape=False).get_template("page").render(text="<b>") == "<b>"
