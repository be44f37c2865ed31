"""Fine differences: every detail can be worked out, one of two answers has it wrong, and only the task tells which."""

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from umpirical.domain.stimuli import GivenWinner
from umpirical.domain.tallies import PairTally, Tallies
from umpirical.measures.contrasts import contrasts_between
from umpirical.measures.sensitivity import detection_threshold, fine_sensitivity
from umpirical.reports.significance import difference_p
from umpirical.stats.simulation.judge import LatentJudge, correct_rate
from umpirical.stimuli.controlled.datasheet_set import recipe
from umpirical.stimuli.controlled.fine import REQUIREMENTS, fine_stimuli, read, worked_families, worked_out, written
from umpirical.stimuli.controlled.gates import BLIND, fine_differences
from umpirical.view.trial_words import purpose

FAMILIES = worked_families()
MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
KINDS = {"dates", "times", "rates", "percentages", "units", "rules", "comparisons", "counts", "sums"}


@pytest.fixture(scope="module")
def stimuli():
    return list(fine_stimuli(FAMILIES, 72, seed=3))


def family_of(stimulus):
    return next(family for family in FAMILIES if family.id == stimulus.task_family)


def right_of(stimulus):
    return [family_of(stimulus).right_in(stimulus.task, text) for text in stimulus.candidates]


def test_a_guest_house_by_hand():
    family = next(family for family in FAMILIES if family.id == "guest-house")
    prompt = family.prompt(
        {"breakfast": read("07:10", "time"), "quota": read("12", "number"), "km": read("$0.45", "money")}
        | {"service": read("10", "number"), "lead": read("37", "number")},
        [],
    ).replace(
        "\n\n\n",
        "\n\n- Dr Lopez: booked on February 22, arrives on April 24 and stays 11 nights. Bicycle: 31 kilometers. Bar, "
        "before service: $52. Taxi: 112 minutes after breakfast begins.\n\n",
    )
    [case] = family.cases_in(prompt)
    # 24 + 11 - 30 days of April; 19 kilometers at 45 cents; 52 and a tenth; 7:10 and 1:52; 61 days before is early.
    assert family.values(case) == ["May 5", "$8.55", "$57.20", "09:02", "yes"]
    report = (
        "Dr Lopez leaves on May 5. The ride on our bicycle comes to $8.55, and with service the bar gets $57.20. The "
        "taxi is due at 09:02; the basket of fruit is included."
    )
    assert family.right_in(prompt, report) == 5
    assert family.right_in(prompt, report.replace("May 5", "May 4").replace("is included", "is not included")) == 3


WRITTEN = {
    "February 28": "date",
    "December 31": "date",
    "23:59": "time",
    "$10.80": "money",
    "$7": "money",
    "2.5": "number",
}


def test_what_is_written_is_read_again():
    assert [written(read(text, form), form) for text, form in WRITTEN.items()] == list(WRITTEN)


@pytest.mark.parametrize(
    ("rule", "form"), [(["over", 10, 3], "number"), (["minus", 1, 2], "money"), (1440, "time"), (365, "date")]
)
def test_what_nobody_would_write_is_refused(rule, form):
    with pytest.raises(ValueError, match=r"cannot be written|more than a"):
        written(worked_out(rule, {}), form)


def test_every_family_has_five_details_of_known_kinds_and_answers_in_several_forms():
    for family in FAMILIES:
        assert len(family.details) == REQUIREMENTS, family.id
        assert {detail.kind for detail in family.details} <= KINDS, family.id
        assert len(set(family.data["answers"])) >= 4, family.id
        assert len(set(family.data["openings"])) >= 2, family.id
        assert all(len(texts) >= 3 for detail in family.details for texts in detail.wordings.values()), family.id
    assert Counter(detail.kind for family in FAMILIES for detail in family.details).keys() == KINDS
    assert len({family.domain for family in FAMILIES}) == len(FAMILIES) >= 12


def test_each_answer_has_as_many_details_right_as_it_was_made_to_have(stimuli):
    for stimulus in stimuli:
        details = int(stimulus.stratum.split("/")[1])
        assert right_of(stimulus) == [round(level * details / REQUIREMENTS) for level in stimulus.levels]
        better = stimulus.expectation.candidate
        assert right_of(stimulus)[better] - right_of(stimulus)[1 - better] == round(stimulus.delta * details / 5)


def test_most_pairs_have_details_that_are_wrong_in_both_answers(stimuli):
    fewer = [stimulus.base + stimulus.delta < REQUIREMENTS for stimulus in stimuli]
    assert fewer == [stimulus.stratum.endswith("shared") for stimulus in stimuli]
    assert 0.5 < np.mean(fewer) < 0.8


def test_nothing_but_figures_tells_the_versions_apart(stimuli):
    """So a judge that has memorized the texts with names and figures masked says the same under both versions."""

    def masked(text):
        return re.sub(rf"\d+(\.\d+)?|{MONTHS}", "#", text)

    for one, other in zip(stimuli[::2], stimuli[1::2], strict=True):
        assert one.crossed_pair == other.crossed_pair
        assert one.candidates == other.candidates
        assert masked(one.task) == masked(other.task)
        assert one.task != other.task
        assert {one.expectation.candidate, other.expectation.candidate} == {0, 1}


def test_blind_judges_are_right_exactly_half_of_the_time_at_every_size_and_length(stimuli):
    def part(stimulus):
        return stimulus.delta, stimulus.stratum.split("/")[1]

    def points(judge, stimulus):
        said = judge(stimulus.task, *stimulus.candidates)
        return 0.5 if said == "tie" else float("12"[stimulus.expectation.candidate] == said)

    for name, judge in BLIND.items():
        for shape in {part(stimulus) for stimulus in stimuli}:
            found = [points(judge, stimulus) for stimulus in stimuli if part(stimulus) == shape]
            assert np.mean(found) == 0.5, (name, shape)


def test_another_seed_has_other_texts(stimuli):
    again = list(fine_stimuli(FAMILIES, 72, seed=3))
    assert [s.id for s in again] == [s.id for s in stimuli]
    other = list(fine_stimuli(FAMILIES, 72, seed=4))
    assert not {text for s in stimuli for text in s.candidates} & {text for s in other for text in s.candidates}


def test_the_gate_passes_and_finds_what_is_wrong(stimuli):
    assert fine_differences(FAMILIES, stimuli).passed
    first, second = stimuli[:2]
    swapped = replace(first, expectation=GivenWinner(1 - first.expectation.candidate))
    assert not fine_differences(FAMILIES, [swapped, *stimuli[1:]]).passed
    other = replace(first, candidates=first.candidates[::-1])
    assert not fine_differences(FAMILIES, [other, second]).passed
    assert not fine_differences(FAMILIES, [first]).passed
    added = replace(first, candidates=tuple(f"{text} This one is better." for text in first.candidates))
    assert not fine_differences(FAMILIES, [added, replace(second, candidates=added.candidates)]).passed


# The measure.


def pairs(family, delta, stratum, right, count, task="a"):
    return PairTally(task, "baseline", family, delta, count, correct_calls=right, stratum=stratum)


def test_accuracy_is_given_by_size_by_kind_and_by_shape():
    tallies = Tallies(
        pairs=tuple(
            tally
            for task in "abcdefgh"
            for tally in (
                pairs("fine", 0.25, "dates/20/shared", 3, 2, task),
                pairs("fine", 0.25, "sums/100", 2, 2, task),
                pairs("fine", 0.05, "dates/100", 1, 2, task),
                pairs("graded", 1.0, "", 4, 2, task),
            )
        )
    )
    found = {one.stratum: one.result for one in fine_sensitivity.compute(tallies, "baseline")}
    assert {stratum: (result.numerator, result.denominator) for stratum, result in found.items()} == {
        "": (24, 48),
        "0.05": (4, 16),
        "0.25": (20, 32),
        "dates": (16, 32),
        "sums": (8, 16),
        "1 of 20": (12, 16),
        "1 of 100": (4, 16),
        "5 of 100": (8, 16),
        "no shared errors": (12, 32),
        "shared errors": (12, 16),
    }
    # 75% lies between 0.25 (5 in 8) and 1 (all): a third of the way.
    [threshold] = detection_threshold.compute(tallies, "baseline")
    assert threshold.result.value == pytest.approx(0.25 + 0.75 / 3)
    graded = Tallies(pairs=tuple(tally for tally in tallies.pairs if tally.family == "graded"))
    assert not fine_sensitivity.compute(graded, "baseline")


def test_a_part_that_no_maker_of_ours_gives_is_in_the_total_alone():
    forged = ("", "dates", "dates/x", "<b>/20", f"dates/{'9' * 5000}", "dates/20/more")
    tallies = Tallies(pairs=tuple(pairs("fine", 0.25, part, 1, 2, task) for part in forged for task in "ab"))
    found = [one.stratum for one in fine_sensitivity.compute(tallies, "baseline")]
    assert found == ["", "0.25"]
    assert {purpose("fine", part) for part in forged} == {"one long answer with more details right"}


# Telling good judges apart.


def judged(counts, judge, rng):
    """The pairs of a judge that sees nothing but the size of a difference."""
    return Tallies(
        pairs=tuple(
            pairs(
                "fine", delta, stratum, float(rng.binomial(2 * count, float(correct_rate(judge, delta)))), count, task
            )
            for (task, delta, stratum), count in counts.items()
        )
    )


def share_told_apart(stimuli, one, other, runs, level):
    """How often `compare` shows the difference, corrected for as many rows as its policies check."""
    counts = Counter((stimulus.cluster, stimulus.delta, stimulus.stratum) for stimulus in stimuli)
    rng, shown = np.random.default_rng(1), 0
    for _ in range(runs):
        tallies = [judged(counts, judge, rng) for judge in (one, other)]
        found = contrasts_between(*tallies, "baseline", "baseline")
        [whole] = [each for each in found if (each.measure.name, each.measure.stratum) == ("fine-sensitivity", "")]
        shown += difference_p(whole.measure.result) < level
    return shown / runs


ROWS = 13
"""What the policies check of a judge that compares, and accuracy on fine differences."""


def judge_with(threshold):
    def short(k):
        return float(correct_rate(LatentJudge(k, 0.3, surface=0.15, lapse=0.002), threshold)) - 0.75

    return LatentJudge(brentq(short, 0.1, 100), 0.3, surface=0.15, lapse=0.002)


@pytest.fixture(scope="module")
def standard():
    return list(fine_stimuli(FAMILIES, recipe("standard").fine, seed=1))


def test_two_judges_that_see_a_tenth_and_three_tenths_of_a_requirement_are_told_apart(standard):
    assert share_told_apart(standard, judge_with(0.1), judge_with(0.3), 60, 0.05 / ROWS) >= 0.8


def test_the_same_judge_twice_is_not_told_apart(standard):
    assert share_told_apart(standard, judge_with(0.2), judge_with(0.2), 60, 0.05 / ROWS) <= 0.05


@pytest.mark.slow
def test_judges_are_told_apart_in_nine_of_ten_runs(standard):
    assert share_told_apart(standard, judge_with(0.1), judge_with(0.3), 300, 0.05 / ROWS) >= 0.9
    assert share_told_apart(standard, judge_with(0.2), judge_with(0.2), 1000, 0.05) <= 0.07
