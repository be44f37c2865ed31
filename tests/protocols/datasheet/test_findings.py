"""Sentences by stated rules."""

import pytest

from umpirical.protocols.datasheet.findings import find
from umpirical.protocols.datasheet.spec import preset
from umpirical.reports.checks import hold_checks

from .samples import estimate, fitted, measure, threshold, undefined


def one(name, result, variant="baseline"):
    measures = [measure(name, result, "", variant)]
    return find(measures, hold_checks(preset(), "compare", measures, [variant]))


@pytest.mark.parametrize(
    ("name", "counts", "start"),
    [
        ("dark-current", (0, 120), "It rarely names a winner between blank"),
        ("dark-current", (5, 120), "Dark current is inconclusive at this size: 4%"),
        ("dark-current", (80, 120), "It names a winner between blank"),
        ("positional-false-preference", (5, 60), "Positional false preference is inconclusive"),
        ("stable-cross-sensitivity", (0, 60), "It shows little wording bias"),
        ("unparsed-rate", (60, 540), "Many of its replies cannot be used"),
    ],
)
def test_a_sentence_for_each_headline(name, counts, start):
    (said,) = one(name, estimate(*counts))
    assert said.startswith(start)


def test_nothing_is_said_of_few_failures_of_strata_or_of_unknown_measures():
    assert one("failure-rate", estimate(0, 540)) == []
    assert one("moon-phase", estimate(1, 2)) == []
    assert find([measure("dark-current", estimate(0, 40), "empty")], []) == []


def test_an_variant_that_is_a_probe_is_named():
    (said,) = one("dark-current", estimate(0, 120), variant="strict")
    assert said.startswith("Prompt variant strict: ")


def test_what_is_undefined_or_has_no_interval_is_not_called_low():
    assert one("dark-current", undefined("no vacuum")) == ["Dark current was not measured: no vacuum."]
    (said,) = one("dark-current", estimate(0, 120, interval=None, planning_effect=None))
    assert "inconclusive" in said


def test_the_threshold():
    assert "at the smallest difference tested (1 requirement)" in one("detection-threshold", threshold())[0]
    assert "Even at a 5-requirement difference" in one("detection-threshold", threshold(5.0, "right", 5.0, None))[0]
    assert "about 2.50 requirements" in one("detection-threshold", threshold(2.5, "none", 2, 3))[0]
    assert "was not measured" in one("detection-threshold", undefined())[0]


EFFECTS = ("slot-effect", "label-effect", "list-effect")


def locked(*effects, part=""):
    """What is said of a judge that names the same position in both orders, with the effects of the layout."""
    found = [measure("positional-false-preference", estimate(50, 60, "pair"))]
    found += [measure(name, effect, part) for name, effect in zip(EFFECTS, effects, strict=True)]
    [said] = find(found, hold_checks(preset(), "compare", found, ["baseline"]))
    assert "the same position in both orders in 83% [" in said
    return said


def pull(value):
    return fitted(value, value - 0.1, value + 0.1, n=60)


NONE = pull(0.02)


@pytest.mark.parametrize(
    ("effects", "start"),
    [
        ((pull(0.8), NONE, NONE), "It follows the first position (slot-effect 80%"),
        ((pull(-0.8), NONE, NONE), "It follows the second position (slot-effect -80%"),
        ((NONE, pull(0.8), NONE), "It follows the label 1, A, X or first ("),
        ((NONE, pull(-0.8), NONE), "It follows the label 2, B, Y or second ("),
        ((NONE, NONE, pull(0.8)), "It follows the option listed first ("),
        ((NONE, NONE, pull(-0.8)), "It follows the option listed last ("),
        ((NONE, NONE, NONE), "Whether position, label or list order causes it is inconclusive, but it picks"),
    ],
)
def test_what_carries_a_preference_for_a_slot_is_named(effects, start):
    assert locked(*effects).startswith(start)


def test_several_pulls_are_named_with_the_strongest_first():
    said = locked(pull(0.2), NONE, pull(-0.6))
    assert said.index("the option listed last") < said.index(" and the first position")


def test_no_pull_is_named_where_slot_label_and_list_went_together():
    unknown = undefined("not varied")
    for effects in ((unknown, unknown, unknown), (pull(0.8), NONE, unknown)):
        assert locked(*effects).startswith("It follows the position, or the label or list place that")
    # Those of identical answers are not about equal pairs.
    assert locked(pull(0.8), NONE, NONE, part="identical").startswith("It follows the position, or the label")


@pytest.mark.parametrize(("following", "praised"), [((60, 60), True), ((3, 60), False)])
def test_a_judge_that_does_not_follow_the_task_is_not_praised_for_a_low_task_blind_preference(following, praised):
    found = [
        measure("task-blind-preference", estimate(0, 120, "crossed-pair")),
        measure("task-following", estimate(*following, "crossed-pair"), "5"),
    ]
    said = find(found, hold_checks(preset(), "compare", found, ["baseline"]))
    assert any("almost never ignores the task" in sentence for sentence in said) == praised
