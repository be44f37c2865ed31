"""Judges that check no fact, or follow length where it is long, are refused on the stimuli that ship.

Each judge is sound but for one fault, and answers every stimulus of `standard`; what it says is counted as the product
counts it.
"""

import re
from collections import defaultdict
from functools import cache

import pytest

from tests.stimuli.built import built
from umpirical.domain.stimuli import Family, GivenWinner
from umpirical.domain.tallies import CallTally, PairTally, PartTally, QuadTally, Tallies, VacuumTally
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet.spec import PRESETS, preset
from umpirical.reports.checks import hold_checks
from umpirical.reports.decision import decide
from umpirical.reports.record import measure_record, part_record

ARM = "baseline"


def sound(stimulus):
    return stimulus.expectation.candidate if isinstance(stimulus.expectation, GivenWinner) else None


def never_checks_a_fact(stimulus):
    """Reads the request and the texts, and not what is given: answers with other figures are as relevant."""
    return None if stimulus.family == Family.FIGURES else sound(stimulus)


def prefers_larger_figures(stimulus):
    if stimulus.family != Family.FIGURES:
        return sound(stimulus)
    sums = [sum(float(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", text)) for text in stimulus.candidates]
    return int(sums[1] > sums[0])


def longer_beyond(ratio):
    def judge(stimulus):
        lengths = [len(text) for text in stimulus.candidates]
        return lengths.index(max(lengths)) if max(lengths) > ratio * min(lengths) > 0 else sound(stimulus)

    return judge


def tallies_of(judge, stimuli):
    """Counts a judge that names the same content, by its place in the stimulus, in both orders; None for a tie."""
    made, quads, parts = defaultdict(list), defaultdict(list), set()
    for stimulus in stimuli:
        family, named = stimulus.cluster, judge(stimulus)
        parts |= {(family, f"{kind}={name}") for kind, name in stimulus.parts.items()}
        made["calls"].append(CallTally(family, ARM, stimulus.family, "", None, planned=2, tie=2))
        if stimulus.family == Family.BLANK:
            prompts = len(set(stimulus.candidates))
            made["vacuum"].append(VacuumTally(family, ARM, stimulus.stratum, prompts, 0.0, 0))
            continue
        better, wins = sound(stimulus), int(named is not None)
        right = wins * (better is not None and named == better)
        made["pairs"].append(
            PairTally(
                family, ARM, stimulus.family, stimulus.delta, 1, stable=wins, no_preference=1 - wins,
                correct_calls=2 * right, wrong_calls=2 * wins * (better is not None) - 2 * right, both_correct=right,
                tie_calls=2 - 2 * wins, position_1_calls=wins, position_2_calls=wins, stratum=stimulus.stratum,
            )
        )  # fmt: skip
        if stimulus.crossed_pair:
            quads[family, stimulus.family, stimulus.delta, stimulus.crossed_pair].append((named, better))
    for (family, kind, delta, _), said in quads.items():
        winners, right = [named for named, _ in said], [named == better for named, better in said]
        counts = dict.fromkeys(("following", "blind", "reversed", "one_version", "neither"), 0)
        settled = winners.count(None)
        way = "neither" if settled == 2 else "one_version" if settled else "blind" if len(set(winners)) == 1 else ""
        counts[way or ("following" if all(right) else "reversed")] = 1
        made["quads"].append(QuadTally(family, ARM, kind, "", delta, 1, **counts))
    made["parts"] = [PartTally(family, ARM, part) for family, part in sorted(parts)]
    return Tallies(**{name: tuple(rows) for name, rows in made.items()})


@cache
def decided(judge):
    """What each policy decides."""
    tallies = tallies_of(judge, built("standard"))
    policies = [preset(name) for name in PRESETS]
    checks = [check for policy in policies for check in policy.compare]
    needs = [need.measure for check in checks for cure in check.cures for need in cure.needs]
    specs = [MEASURES.get(name) for name in dict.fromkeys([*(check.measure for check in checks), *needs])]
    found = [(spec, measure) for spec in specs for measure in spec.compute(tallies, ARM)]
    measures = [(part_record if measure.group else measure_record)(spec, measure) for spec, measure in found]
    return {one.policy: decide(one, hold_checks(one, "compare", measures, [ARM])) for one in policies}


def test_a_judge_without_a_fault_is_accepted_by_every_policy():
    assert {decision.verdict for decision in decided(sound).values()} == {"use"}


@pytest.mark.parametrize("judge", [never_checks_a_fact, prefers_larger_figures])
def test_a_judge_that_checks_no_fact_is_refused_where_facts_decide_and_restricted_elsewhere(judge):
    verdicts = {name: decision.verdict for name, decision in decided(judge).items()}
    assert verdicts == dict.fromkeys(("adjudication", "claim"), "do-not-use") | dict.fromkeys(
        ("ranking", "ci-smoke"), "use-with-restrictions"
    )
    assert any("relevance, not correctness" in words for words in decided(judge)["ranking"].not_for)


@pytest.mark.parametrize("ratio", [1.1, 1.7, 2.5])
def test_a_judge_that_follows_length_is_refused_by_every_policy_wherever_it_begins(ratio):
    assert {decision.verdict for decision in decided(longer_beyond(ratio)).values()} == {"do-not-use"}


def test_what_a_judge_is_good_for_ends_where_length_was_tested():
    assert "Answers of different lengths: tested up to 3 times as long." in decided(sound)["ranking"].good_for
