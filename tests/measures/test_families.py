"""A measure is one decorated function: in a copy of the source, it takes no other edit to have one more."""

import inspect
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from umpirical.domain.measures import Measure, Undefined
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import (
    BY_PART,
    FAMILIES,
    MEASURES,
    MeasureFamily,
    MeasureSpec,
    Part,
    measures_in,
    whole_contract,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "umpirical" / "measures"

ONE_MORE = '''

@EQUAL.measure("Any winner", "How often it names a winner in one order at least.", worse="higher")
def any_winner(tally: PairTally) -> float:
    """Share of pairs of equal quality with a winner in one order at least.

    Formula: (pairs - no preference) / pairs. Bounds: 0 to 1, higher is worse.
    """
    return tally.pairs - tally.no_preference
'''

CHECK = """
from umpirical.measures.catalogue import MEASURES
from umpirical.testing import check_measure
names = MEASURES.names()
assert MEASURES.is_built_in("any-winner")
assert names[names.index("slot-2-rate") + 1] == "any-winner"
check_measure(MEASURES.get("any-winner"))
"""


def test_one_more_measure_is_one_function(tmp_path):
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
    with (source / "umpirical" / "measures" / "preferences.py").open("a", encoding="utf-8") as file:
        file.write(ONE_MORE)
    env = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run([sys.executable, "-c", CHECK], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_every_module_of_measures_is_in_the_list():
    """One that is not would have measures that nobody finds."""
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__", "catalogue"}
    assert {name for name in modules if measures_in(f"umpirical.measures.{name}")} == set(FAMILIES)


def test_every_measure_of_a_module_is_found_where_it_is_defined():
    for family in FAMILIES:
        module = import_module(f"umpirical.measures.{family}")
        for spec in measures_in(module.__name__):
            assert MEASURES.get(spec.name) is getattr(module, spec.compute.__name__)
            assert spec.compute.__name__ == spec.name.replace("-", "_")


def test_no_measure_is_looked_for_before_one_is_asked_for():
    script = (
        "import sys; import umpirical.measures.catalogue as c; print('umpirical.measures.gold' in sys.modules);"
        "c.MEASURES.names(); print('umpirical.measures.gold' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def halves(tallies, _, function):
    return [Part(function(tallies)), Part(function(tallies), "half", "group=1")]


def test_what_a_function_gives_has_the_name_of_its_measure_and_the_variant():
    family = MeasureFamily(halves, kinds=("grade",), protocols=("stress",), scale="steps", contract="Level: call.")

    @family.measure("A title", "What it says.", worse="lower", kinds=("compare",), symbol="S")
    def a_name(_: Tallies) -> Undefined:
        """What it measures.

        Formula: none. Reference: ours.
        """
        return Undefined("a reason")

    why = Undefined("a reason")
    assert isinstance(a_name, MeasureSpec)
    assert a_name.compute(Tallies(), "strict") == [
        Measure("a-name", why, "strict"),
        Measure("a-name", why, "strict", "half", "group=1"),
    ]
    assert (a_name.kinds, a_name.protocols, a_name.scale) == (("compare",), ("stress",), "steps")
    assert (a_name.title, a_name.about, a_name.worse, a_name.symbol) == ("A title", "What it says.", "lower", "S")
    assert a_name.compute.__module__ == __name__
    assert inspect.getdoc(a_name.compute) == "What it measures.\n\nFormula: none. Level: call. Reference: ours."


@pytest.mark.parametrize(
    ("worse", "words"),
    [("higher", "higher is worse"), ("lower", "lower is worse"), ("depends", "neither direction is bad in itself")],
)
def test_a_contract_says_the_direction_of_each_measure(worse, words):
    assert whole_contract("Formula: x.", "Bounds: 0 to 1, {worse}.", worse) == f"Formula: x. Bounds: 0 to 1, {words}."


def test_an_estimator_of_its_own_has_a_contract_of_its_own():
    assert BY_PART.contract == ""
    assert inspect.getdoc(MEASURES.get("detection-threshold").compute).count("Interval:") == 1
