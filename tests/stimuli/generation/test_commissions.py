"""Commissions and terms: what makes two of them the same, and what cannot be one."""

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.cases import each
from tests.stimuli.generation.wanted import BINARY, TERMS, original, wanted
from umpirical.stimuli.generation.commissions import Commission, GenerationTerms, Writer
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS


def test_steps_of_temperature():
    assert [TERMS.temperature(number) for number in range(TERMS.attempts)] == [0.7, 0.7, 0.9, 0.9, 1.1, 1.1]
    steps = replace(TERMS, temperatures=(0.2,), tries=3)
    assert (steps.attempts, steps.temperature(2)) == (3, 0.2)


@pytest.mark.parametrize("number", [-1, 6, 100])
def test_there_is_no_temperature_for_an_attempt_that_is_not_made(number):
    with pytest.raises(ValueError, match=f"attempt {number} is not one of the 6"):
        TERMS.temperature(number)


@pytest.mark.parametrize("wrong", [{"agree": 4}, {"agree": 0}, {"temperatures": ()}, {"tries": 0}])
def test_terms_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match=r"cannot agree|at least one"):
        replace(TERMS, **wrong)


@pytest.mark.parametrize(
    ("test", "target"), [("label-flip", ""), ("label-flip", "7"), ("synthetic-ordinal", "pass"), ("paraphrase", "3")]
)
def test_a_target_has_to_fit(test, target):
    with pytest.raises(ValueError, match="target"):
        Commission(PERTURBATIONS.get(test), TERMS, original(), target)


def test_a_test_that_keeps_the_verdict_has_no_grade_to_be_validated_by():
    odd = replace(PERTURBATIONS.get("paraphrase"), validation="target-grade")
    with pytest.raises(ValueError, match="no target to validate"):
        Commission(odd, TERMS, original())


OTHERS = {
    "test": lambda commission: replace(commission, perturbation=PERTURBATIONS.get("hedging")),
    "version": lambda commission: replace(commission, perturbation=replace(commission.perturbation, version=2)),
    "prompt": lambda commission: replace(
        commission, perturbation=replace(commission.perturbation, prompt="{{response}} {{fence}}")
    ),
    "checks": lambda commission: replace(
        commission, perturbation=replace(commission.perturbation, checks=commission.perturbation.checks[1:])
    ),
    "validation": lambda commission: replace(
        commission, perturbation=replace(commission.perturbation, validation="none")
    ),
    "source": lambda commission: replace(commission, source=original("Another text.")),
    "examples": lambda commission: replace(commission, examples=("An example.",)),
    "example label": lambda commission: replace(commission, example_label="2"),
    "number": lambda commission: replace(commission, number=1),
}
CHANGED_TERMS = {
    "instruction": "Grade.",
    "rubric": "Be kind.",
    "scale": BINARY,
    "generator": Writer("writer-2", "loopback", 900),
    "validator": Writer("reader-1", "elsewhere", 40),
    "votes": 5,
    "agree": 3,
    "validator_temperature": 0.0,
    "temperatures": (0.7, 0.9),
    "tries": 1,
    "fallback": Writer("other", "loopback", 40),
    "rubric_column": "rubric",
    "reference_column": "reference",
}


@pytest.mark.parametrize("what", OTHERS)
def test_a_commission_is_another_if_anything_is_that_decides_what_becomes_of_it(what):
    commission = wanted()
    assert OTHERS[what](commission).id != commission.id


@each("what", CHANGED_TERMS)
def test_a_commission_on_other_terms_is_another(what):
    assert {*CHANGED_TERMS, "own_generator"} == set(GenerationTerms.__slots__)
    commission = wanted()
    assert wanted(**{what: CHANGED_TERMS[what]}).id != commission.id


def test_the_judges_own_model_decides_only_what_it_writes():
    own = Writer("own", "loopback", 900)
    assert wanted("own-words", own_generator=own).id != wanted("own-words").id
    assert wanted("other-words", own_generator=own).id == wanted("other-words").id
    assert wanted("own-words", own_generator=own).generator is own


def test_targets_tell_commissions_apart():
    assert wanted("label-flip", target="1").id != wanted("label-flip", target="2").id


PRINT_IDS = """
from tests.stimuli.generation.wanted import drive, wanted, PARAPHRASE, SAME
commission = wanted()
settled, asks = drive(commission, 3, text=PARAPHRASE, opinions=[SAME, SAME])
print(commission.id, *[ask.id for ask in asks], *[ask.request.decoding.seed for ask in asks], settled.stimulus.id)
"""


def test_ids_and_seeds_are_the_same_in_every_process():
    printed = {
        subprocess.run(
            [sys.executable, "-c", PRINT_IDS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join([".", "src"])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(printed) == 1
    assert wanted().id in printed.pop()
