"""Which tests a study has: its own, those of the harness under its names, or a suite by default."""

import pytest
from pydantic import ValidationError

from umpirical.protocols.stress.spec import HARNESS_NAMES, HARNESS_SUITE, REPEAT_TESTS, WITHOUT_GENERATOR, StressSpec
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

WRITERS = {
    name: {"model": {"adapter": "simulated-writer", "name": name}, "max_tokens": 100}
    for name in ("generator", "validator")
}


def test_the_suite_of_the_harness_is_the_default_where_there_is_a_generator():
    assert StressSpec.model_validate(WRITERS).tests == HARNESS_SUITE
    assert {"label-flip", "paraphrase", "verbosity-long", "verbosity-short"} <= set(HARNESS_SUITE)


def test_without_a_generator_the_default_needs_no_model():
    assert StressSpec.model_validate({}).tests == WITHOUT_GENERATOR
    assert not StressSpec.model_validate({"validator": WRITERS["validator"]}).generated


def test_what_a_study_names_is_not_added_to():
    assert StressSpec.model_validate({**WRITERS, "tests": ["typos"]}).tests == ("typos",)


def test_the_harness_s_names_stand_for_tests_that_exist():
    assert set(HARNESS_NAMES.values()) <= {*PERTURBATIONS.names(), *REPEAT_TESTS}
    spec = StressSpec.model_validate({**WRITERS, "tests": list(HARNESS_NAMES)})
    assert spec.tests == tuple(HARNESS_NAMES.values())


def test_a_test_under_both_of_its_names_is_named_twice():
    with pytest.raises(ValidationError, match="listed twice"):
        StressSpec.model_validate({"tests": ["format_invariance_1", "vertical-spacing"]})


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("format_invariance_4", "did you mean 'format_invariance_"),
        ("agent_perturbation", "unknown test 'agent_perturbation'"),
        (3, "string"),
    ],
)
def test_a_name_that_is_none_is_refused(test, said):
    with pytest.raises(ValidationError, match=said):
        StressSpec.model_validate({"tests": [test]})
