"""The sketch: the paper's names for the paper's judges, by rule."""

from dataclasses import replace

import pytest

from umpirical.protocols.datasheet.findings import RULES, sketch
from umpirical.protocols.datasheet.record import ProfileRecord
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks

from .samples import STRICT, estimate, llama_measures, measure, paper_measures, qwen_measures, undefined

QWEN14B = {
    "raw-false-preference": (119, 120),
    "stable-cross-sensitivity": (27, 60),
    "positional-false-preference": (32, 60),
    "one-sided-commit": (1, 60),
    "no-preference": (0, 60),
}


def qwen14b():
    changed = [measure(name, estimate(*counts)) for name, counts in QWEN14B.items()]
    return [*(m for m in paper_measures() if m.name not in QWEN14B), *changed]


NAMES = {
    "stable": "stable-cross-sensitivity",
    "positional": "positional-false-preference",
    "dark": "dark-current",
    "target": "target-sensitivity",
    "tie": "tie-rate",
    "raw": "raw-false-preference",
    "concordance": "grade-concordance",
}


def sketched(measures):
    """By the checks of the default policy for either kind of judge."""
    held = [check for kind in ("compare", "grade") for check in hold_checks(preset(), kind, measures, ["baseline"])]
    return sketch(measures, held)


def rates(**counts):
    """`target_1=(90, 100)` is target sensitivity at step 1."""
    parts = [(*key.partition("_"), found) for key, found in counts.items()]
    return [measure(NAMES[name], estimate(k, n), stratum) for name, _, stratum, (k, n) in parts]


def few_grades(low, high):
    interval = replace(estimate(30, 60).interval, low=low, high=high)
    return measure("effective-grades", replace(estimate(30, 60), value=low, interval=interval))


@pytest.mark.parametrize(
    ("measures", "name", "vacuum"),
    [
        (llama_measures(), "presentation-conflicted", "Its blank-input preference (dark current) is high."),
        (qwen14b(), "mixed stable-positional", "It rarely prefers a blank answer."),
        (qwen_measures(), "vacuum-clean and target-sensitive", "It rarely prefers a blank answer."),
    ],
)
def test_the_judges_of_the_paper(measures, name, vacuum):
    found = sketched(measures)
    assert found.name == name
    assert found.description.endswith(vacuum)


@pytest.mark.parametrize(
    ("measures", "name"),
    [
        (rates(positional=(58, 60), stable=(1, 60), target_1=(50, 100)), "slot-driven"),
        (rates(positional=(30, 60), stable=(30, 60), target_5=(20, 40)), "target-blind"),
        (rates(positional=(1, 60), stable=(30, 60), target_1=(90, 100)), "surface-driven"),
        (rates(raw=(0, 120), tie_1=(50, 100), target_1=(50, 100)), "conservative"),
        (rates(positional=(5, 60)), "not sketched"),
        (rates(dark=(0, 120), target_1=(94, 100)), "not sketched"),
        (rates(dark=(0, 120), concordance=(299, 300)), "vacuum-clean and concordant"),
        ([*rates(dark=(0, 120)), few_grades(1.2, 1.6)], "one grade for most"),
        ([*rates(dark=(0, 120)), few_grades(1.6, 2.4)], "not sketched"),
        ([], "not sketched"),
        ([measure("dark-current", undefined())], "not sketched"),
    ],
)
def test_the_other_rules(measures, name):
    assert sketched(measures).name == name


def test_the_strict_prompt_of_the_paper_is_conservative():
    measures = [measure(name, estimate(k, n, unit), stratum, "strict") for name, stratum, k, n, unit in STRICT]
    assert sketched(measures).name == "conservative"


def test_the_sketch_is_of_the_judges_own_prompt():
    assert sketched([*llama_measures("strict"), *qwen_measures()]).name == "vacuum-clean and target-sensitive"


def test_every_rule_says_when_it_holds():
    assert len({rule.name for rule in RULES}) == len(RULES)
    for rule in RULES:
        ProfileRecord(name=rule.name, description=rule.description, rule=rule.rule)
