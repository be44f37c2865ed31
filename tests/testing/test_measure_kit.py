"""The conformance kit for measures: what is sound passes, and each promise can be broken."""

from dataclasses import fields, replace
from functools import wraps
from itertools import count
from typing import get_args

import pytest

import umpirical.testing
from umpirical.domain.measures import Estimate, Interval, Measure, Undefined
from umpirical.domain.stimuli import Family
from umpirical.domain.tallies import Tallies
from umpirical.measures.catalogue import MEASURES, MeasureSpec
from umpirical.measures.estimates.rates import Counted, clustered_rate
from umpirical.testing import check_measure
from umpirical.testing.measures import Promise
from umpirical.testing.sample_tallies import (
    PARTS,
    agent_pair_tallies,
    agent_tallies,
    backwards,
    clusters,
    compare_tallies,
    copied,
    doubled,
    grade_tallies,
    labelled_tallies,
    of_task,
    stress_tallies,
    unanswered,
)

NAME = "ladder-ties"


def ladder_ties(tallies, variant):
    """Share of calls on the ladder that are a tie.

    Formula: ties / calls. Level: pair. Bounds: 0 to 1. Undefined without a pair. Interval: cluster-Wilson over tasks.
    """
    return [Measure(NAME, share(ladder(tallies, variant)), variant)]


def ladder(tallies, variant):
    return [tally for tally in tallies.pairs if tally.variant == variant and tally.family == Family.GRADED]


def share(chosen):
    return clustered_rate(
        [Counted(tally.cluster, tally.tie_calls / 2, tally.pairs) for tally in chosen],
        unit="pair",
        empty="no pair was answered",
        excluded={"without an answer": sum(tally.incomplete for tally in chosen)},
    )


SOUND = MeasureSpec(
    name=NAME,
    title="Ladder ties",
    about="How often it names no winner on the ladder.",
    worse="depends",
    compute=ladder_ties,
)


def computed(function):
    """The sound measure computed otherwise, its docstring kept."""

    @wraps(ladder_ties)
    def compute(tallies, variant):
        return function(tallies, variant)

    return {"compute": compute}


def result(change):
    """The sound measure with every result changed, Undefined ones included."""
    return computed(
        lambda tallies, variant: [replace(m, result=change(m.result)) for m in ladder_ties(tallies, variant)]
    )


def estimate(**changes):
    """The sound measure with other fields in its estimates; a function is called with the estimate."""

    def change(found):
        if isinstance(found, Undefined):
            return found
        return replace(found, **{name: new(found) if callable(new) else new for name, new in changes.items()})

    return result(change)


def broken_by(spec, tallies=()):
    with pytest.raises(AssertionError) as caught:
        check_measure(spec, tallies)
    return str(caught.value)


@pytest.mark.parametrize("name", MEASURES.names())
def test_every_measure_there_is_keeps_its_promises(name):
    check_measure(MEASURES.get(name), [of_two_prompts()] if name == "complexity-shift" else [])


def of_two_prompts():
    """The run of a judge that was asked with the shortest prompt and the longest."""
    tallies, names = compare_tallies(), {"baseline": "short", "strict": "example"}
    return Tallies(
        **{part: tuple(replace(one, variant=names[one.variant]) for one in getattr(tallies, part)) for part in PARTS}
    )


def test_what_is_sound_passes_with_and_without_tallies_of_ones_own():
    check_measure(SOUND)
    check_measure(SOUND, [compare_tallies()])
    check_measure(SOUND, iter([doubled(compare_tallies())]))


def test_the_kit_is_exported():
    assert "check_measure" in umpirical.testing.__all__
    assert umpirical.testing.__all__ == sorted(umpirical.testing.__all__)


def test_what_is_no_measure_is_said_to_be_none():
    assert broken_by("ladder-ties") == "expected a MeasureSpec, got str"


# What a broken measure does.


def raises(tallies, variant):
    chosen = ladder(tallies, variant)
    rate = sum(tally.tie_calls for tally in chosen) / sum(tally.pairs for tally in chosen)
    return ladder_ties(tallies, variant) if rate >= 0 else []


def raises_for_grades(tallies, variant):
    if tallies.grade_pairs:
        raise KeyError("graded")
    return ladder_ties(tallies, variant)


def spoils(tallies, variant):
    found = ladder_ties(tallies, variant)
    for tally in ladder(tallies, variant):
        object.__setattr__(tally, "tie_calls", 0)
    return found


def first_only(tallies, variant):
    """Of several tallies of one task, the first is taken for all."""
    first = {}
    for tally in ladder(tallies, variant):
        first.setdefault(tally.cluster, tally)
    return [Measure(NAME, share(first.values()), variant)]


def gaps_of_the_first(tallies, variant):
    [measure] = ladder_ties(tallies, variant)
    gaps = {"without an answer": 1 + chosen[0].incomplete} if (chosen := ladder(tallies, variant)) else {}
    return [replace(measure, result=replace(measure.result, excluded=gaps))]


def steps_as_they_come(tallies, variant):
    steps = dict.fromkeys(tally.delta for tally in ladder(tallies, variant))
    return [
        Measure(NAME, share([tally for tally in ladder(tallies, variant) if tally.delta == step]), variant, f"{step:g}")
        for step in steps
    ]


def smoothed(found):
    if isinstance(found, Undefined):
        return found
    numerator, denominator = found.numerator + 5, found.denominator + 10
    return replace(found, value=numerator / denominator, numerator=numerator, denominator=denominator, bounds=None)


def nothing_is_zero(found):
    zero = Estimate(0.0, 0.0, 1, "pair", Interval(0.0, 0.5, method="made up"), 1)
    return zero if isinstance(found, Undefined) and not found.excluded else found


def unanswered_is_zero(found):
    zero = Estimate(0.0, 0.0, 1, "pair", Interval(0.0, 0.5, method="made up"), 1, excluded={"without an answer": 1})
    return zero if isinstance(found, Undefined) and found.excluded else found


def says_nothing_of_gaps(found):
    return replace(found, excluded={}) if isinstance(found, Undefined) else found


def only_if_answered(tallies, variant):
    return ladder_ties(tallies, variant) if any(tally.pairs for tally in ladder(tallies, variant)) else []


def one_task_is_enough(found):
    if isinstance(found, Undefined) and "one task" in found.reason:
        return Estimate(0.5, 1.0, 2, "pair", Interval(0.0, 1.0, method="made up"), 2)
    return found


def every_variant(tallies, variant):
    return [Measure(NAME, share([tally for tally in tallies.pairs if tally.family == Family.GRADED]), variant)]


def every_kind(tallies, variant):
    chosen = [tally for tally in tallies.calls if tally.variant == variant]
    found = clustered_rate(
        [Counted(tally.cluster, tally.failed, tally.planned - tally.unasked) for tally in chosen],
        unit="call",
        empty="no call was made",
        excluded={"not asked yet": sum(tally.unasked for tally in chosen)},
    )
    return [Measure(NAME, found, variant)]


TURNS = count(1)

WIDE = Interval(0.0, 1.0, method="made up")

BROKEN = [
    ("name", {"name": "Ladder ties"}),
    ("name", {"name": "ladder_ties"}),
    ("name", {"name": "ladder--ties"}),
    ("name", {"name": ""}),
    ("name", {"name": "tie-rate"}),
    ("title", {"title": " "}),
    ("title", {"title": "Ladder ties."}),
    ("title", {"title": "TODO"}),
    ("title", {"title": "{title}"}),
    ("about", {"about": ""}),
    ("about", {"about": "How often it names no winner"}),
    ("about", {"about": "how often it names no winner."}),
    ("about", {"about": "How often\nit names no winner."}),
    ("about", {"about": "How often it... names no winner."}),
    ("about", {"about": "Lorem ipsum."}),
    ("worse", {"worse": "more"}),
    ("scale", {"scale": "share"}),
    ("kinds", {"kinds": "compare"}),
    ("kinds", {"kinds": ()}),
    ("kinds", {"kinds": ("compare", "rank")}),
    ("protocols", {"protocols": "datasheet"}),
    ("protocols", {"protocols": ()}),
    ("protocols", {"protocols": ("datasheet", " ")}),
    ("docstring", {"compute": every_variant}),
    ("docstring", {"compute": first_only}),
    ("never raises", computed(raises)),
    ("never raises", computed(raises_for_grades)),
    ("results", computed(lambda tallies, variant: iter(ladder_ties(tallies, variant)))),
    ("results", computed(lambda *_: None)),
    ("results", computed(lambda tallies, variant: [share(ladder(tallies, variant))])),
    ("results", computed(lambda _, variant: [Measure(NAME, 0.5, variant)])),
    (
        "own name",
        computed(lambda tallies, variant: [replace(m, name="tie-rate") for m in ladder_ties(tallies, variant)]),
    ),
    (
        "own variant",
        computed(lambda tallies, variant: [replace(m, variant="baseline") for m in ladder_ties(tallies, variant)]),
    ),
    ("one result per part", computed(lambda tallies, variant: ladder_ties(tallies, variant) * 2)),
    ("reason", result(lambda found: replace(found, reason=" ") if isinstance(found, Undefined) else found)),
    ("numbers", estimate(value=float("nan"))),
    ("numbers", estimate(value="0.5")),
    ("numbers", estimate(numerator=float("inf"))),
    ("numbers", estimate(numerator=None)),
    ("counts", estimate(denominator=lambda found: float(found.denominator))),
    ("counts", estimate(denominator=0)),
    ("unit", estimate(unit="pairs")),
    ("clusters", estimate(clusters=0)),
    ("clusters", estimate(clusters=12.0)),
    ("censoring", estimate(censoring="above")),
    ("rate", estimate(value=lambda found: found.value / 2, interval=WIDE, bounds=None)),
    ("interval", estimate(interval=None)),
    ("interval", {"scale": "p-value"}),
    ("interval", estimate(interval=replace(WIDE, method=" "))),
    ("interval", estimate(interval=replace(WIDE, level=95))),
    ("interval", estimate(interval=Interval(None, None, method="made up"))),
    ("interval", estimate(interval=lambda found: Interval(found.value + 0.01, 1.0, method="made up"))),
    ("interval", estimate(interval=lambda found: Interval(0.0, found.value - 0.01, method="made up"))),
    ("interval", estimate(interval=lambda found: Interval(found.value, found.value, method="made up"))),
    ("on its scale", estimate(interval=Interval(-0.1, 1.0, method="made up"))),
    ("on its scale", estimate(interval=Interval(0.0, 1.1, method="made up"))),
    ("on its scale", estimate(value=7.5, numerator=7.5, denominator=1, interval=Interval(0.0, 9.0, method="made up"))),
    ("bounds", estimate(bounds=(0.99, 1.0))),
    ("left out", estimate(excluded={"": 1})),
    ("left out", estimate(excluded={"without an answer": 0})),
    ("left out", estimate(excluded={"without an answer": 1.5})),
    ("left out", estimate(excluded={}, bounds=None)),
    ("says something", result(lambda _: Undefined("it is never defined", excluded={"without an answer": 1}))),
    ("says something", computed(lambda *_: [])),
    ("says something", {"protocols": ("agents",)}),
    ("input unchanged", computed(spoils)),
    ("same again", estimate(excluded=lambda _: {"without an answer": next(TURNS)})),
    ("order", computed(first_only)),
    ("order", computed(steps_as_they_come)),
    ("order", computed(gaps_of_the_first)),
    ("duplicates", result(smoothed)),
    ("nothing counted", result(nothing_is_zero)),
    ("nothing answered", result(unanswered_is_zero)),
    ("nothing answered", result(says_nothing_of_gaps)),
    ("nothing answered", computed(only_if_answered)),
    ("one task", result(one_task_is_enough)),
    ("another variant", computed(every_variant)),
    ("another kind", computed(every_kind)),
]


@pytest.mark.parametrize(("promise", "changes"), BROKEN)
def test_a_measure_that_breaks_a_promise(promise, changes):
    spec = replace(SOUND, **changes)
    said = broken_by(spec)
    assert said.startswith(f"{spec.name}, promise {promise!r}: "), said
    assert len(said) < 400


def test_every_promise_is_broken_here():
    assert {promise for promise, _ in BROKEN} == set(get_args(Promise))


def test_tallies_of_ones_own_are_held_to_the_promises():
    """A measure of two variants that forgets a third."""
    third = tuple(replace(tally, variant="third") for tally in compare_tallies().pairs)
    forgetful = replace(
        SOUND,
        **computed(lambda tallies, variant: ladder_ties(tallies, "baseline" if variant == "third" else variant)),
    )
    check_measure(forgetful)
    assert "promise 'own variant'" in broken_by(forgetful, [Tallies(pairs=third)])


def test_a_measure_for_the_protocol_of_a_plugin_passes_with_a_run_of_that_protocol():
    agents = replace(SOUND, protocols=("agents",))
    assert "pass your own tallies" in broken_by(agents)
    check_measure(agents, [compare_tallies()])


def test_an_estimate_without_an_interval_is_censored_or_a_p_value():
    check_measure(replace(SOUND, scale="p-value", **estimate(interval=None)))
    censored = estimate(interval=None, censoring="right")
    check_measure(replace(SOUND, **censored))


# The tallies.


@pytest.mark.parametrize("made", [compare_tallies, grade_tallies, stress_tallies])
def test_the_same_tallies_each_time(made):
    assert made() == made()
    assert made() is not made()


def test_every_part_of_the_tallies_is_in_a_sample():
    assert [field.name for field in fields(Tallies)] == [*PARTS, "scale", "positive"]
    made = (compare_tallies, grade_tallies, stress_tallies, agent_tallies, agent_pair_tallies, labelled_tallies)
    samples = [each() for each in made]
    assert all(any(getattr(sample, part) for sample in samples) for part in PARTS)
    families = {tally.family for sample in samples for tally in (*sample.pairs, *sample.calls)}
    assert families >= {*Family} - {Family.BLANK}


@pytest.mark.parametrize(
    "made", [compare_tallies, grade_tallies, stress_tallies, agent_tallies, agent_pair_tallies, labelled_tallies]
)
def test_calls_add_up_and_have_gaps_of_every_kind(made):
    calls = made().calls
    for tally in calls:
        answered = tally.position_1 + tally.position_2 + tally.tie + tally.graded + tally.abstained
        assert answered + tally.unparsed + tally.failed + tally.unasked == tally.planned
    assert all(sum(getattr(tally, gap) for tally in calls) for gap in ("unparsed", "failed", "unasked"))


def test_the_orders_of_a_compared_pair_add_up():
    for tally in (*agent_pair_tallies().pairs, *labelled_tallies().pairs):
        assert tally.stable + tally.positional + tally.one_sided + tally.no_preference == tally.pairs
        assert tally.position_1_calls + tally.position_2_calls + tally.tie_calls == 2 * tally.pairs
        assert tally.correct_calls + tally.wrong_calls + tally.tie_calls == 2 * tally.pairs
    for tally in compare_tallies().pairs:
        assert tally.stable + tally.positional + tally.one_sided + tally.no_preference == tally.pairs
        assert tally.position_1_calls + tally.position_2_calls + tally.tie_calls == 2 * tally.pairs
        if tally.delta:
            assert tally.correct_calls + tally.wrong_calls + tally.tie_calls == 2 * tally.pairs
        assert (tally.correct_calls + tally.wrong_calls == 0) or tally.delta


@pytest.mark.parametrize("made", [compare_tallies, grade_tallies, stress_tallies])
def test_a_run_turned_into_another(made):
    tallies = made()
    assert copied(tallies) == tallies
    assert not any(one is other for one, other in zip(copied(tallies).calls, tallies.calls, strict=True))
    assert backwards(backwards(tallies)) == tallies != backwards(tallies)
    assert len(doubled(tallies).calls) == 2 * len(tallies.calls)
    parts = [of_task(tallies, task) for task in clusters(tallies)]
    assert len(parts) >= 12
    assert sum(len(part.calls) for part in parts) == len(tallies.calls)
    silent = unanswered(tallies)
    assert sum(tally.unasked for tally in silent.calls) == sum(tally.planned for tally in tallies.calls)
    assert not any(tally.pairs for tally in (*silent.pairs, *silent.grade_pairs, *silent.changes))
    assert (silent.variants(), silent.scale, silent.positive) == (tallies.variants(), tallies.scale, tallies.positive)
