"""The simulated generator and validator: what they write passes the checks, and what is built in in them is found."""

import asyncio
from dataclasses import replace

import pytest
from pydantic import ValidationError

from tests.cases import each
from tests.stimuli.generation.wanted import BINARY, ESSAY, ORDINAL, TERMS, original, wanted
from umpirical.domain.responses import Response
from umpirical.models.spec import ADAPTERS, Calling, ModelSpec, open_model
from umpirical.stimuli.generation.attempt import attempt
from umpirical.stimuli.generation.commissions import Writer
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, GeneratedPerturbation

GENERATED = [test.name for test in PERTURBATIONS if isinstance(test, GeneratedPerturbation)]

SIMULATED = replace(
    TERMS,
    generator=Writer("generator", "simulated", 900, simulated=True),
    validator=Writer("validator", "simulated", 40, simulated=True),
)


def simulated(name, seed=1, **faults):
    spec = ModelSpec(adapter="simulated-writer", name=name, model_args=faults)
    tests = [PERTURBATIONS.get(test) for test in GENERATED]
    return open_model(spec, Calling(answer_key=lambda: tests, seed=seed))


def settled(commission, number=0, generator=None, validator=None):
    """One attempt by simulated models, from the first question to the end."""
    writer = generator or simulated("generator")
    models = {"generator": writer, "own-generator": writer, "validator": validator or simulated("validator")}

    async def asked():
        protocol = attempt(commission, number)
        ask = next(protocol)
        try:
            while True:
                ask = protocol.send(await models[ask.role].generate(ask.request, trial_id=ask.id))
        except StopIteration as end:
            return end.value

    return asyncio.run(asked())


def attempts(test="paraphrase", count=60, **models):
    sources = [original(f"{ESSAY} It was the year {1500 + n}.", name=f"n{n}") for n in range(count)]
    return [settled(wanted(test, source=source, terms=SIMULATED), **models) for source in sources]


@each("test", GENERATED)
def test_what_is_written_passes_every_check_and_the_validator(test):
    done = settled(wanted(test, terms=SIMULATED))
    assert not done.rejected
    assert done.stimulus.candidates[0] != ESSAY


@each("test", GENERATED)
def test_what_misses_its_aim_is_never_taken(test):
    done = settled(wanted(test, terms=SIMULATED), generator=simulated("generator", misses=1.0))
    assert done.stimulus is None
    assert "validators" in done.rejected or "passage of" in done.rejected


@pytest.mark.parametrize("scale", [ORDINAL, BINARY])
def test_levels_are_told_apart_on_any_scale_of_labels(scale):
    for target in scale.labels:
        source = original(gold=next(label for label in scale.labels if label != target))
        commission = wanted("label-flip", source=source, target=target, terms=replace(SIMULATED, scale=scale))
        done = settled(commission)
        assert (done.stimulus.gold, set(done.opinions)) == (target, {target})


def test_the_evidence_says_that_it_was_simulated():
    evidence = settled(wanted(terms=SIMULATED)).stimulus.evidence
    assert evidence["generator"].startswith("simulated generator")
    assert evidence["validators"].startswith("simulated validator")


def test_a_share_of_texts_misses():
    missed = sum(done.stimulus is None for done in attempts(generator=simulated("generator", misses=0.3)))
    assert 8 <= missed <= 28


def test_a_generator_that_refuses_a_text_refuses_it_every_time():
    generator = simulated("generator", refusals=0.5)
    first = [done.rejected for done in attempts(count=20, generator=generator)]
    assert {word.partition(":")[0] for word in first} == {"", "the generator refused"}
    assert first == [done.rejected for done in attempts(count=20, generator=generator)]


def test_a_copy_is_found_out():
    [done] = attempts(count=1, generator=simulated("generator", copies=1.0))
    assert "not a copy" in done.rejected


def test_a_validator_that_errs_is_outvoted_or_believed_but_its_opinions_are_kept():
    done = attempts(validator=simulated("validator", errors=0.25))
    assert any("different" in each.opinions for each in done)
    assert any("different" in each.opinions and each.stimulus for each in done)


@pytest.mark.parametrize(("faults", "said"), [({"refusals": 1.0}, "refused"), ({"unread": 1.0}, "unread")])
def test_a_validator_without_an_opinion_agrees_with_nothing(faults, said):
    [done] = attempts(count=1, validator=simulated("validator", **faults))
    assert done.stimulus is None
    assert set(done.opinions) == {said}


def test_a_text_of_someone_else_has_no_grade_for_a_simulated_validator():
    """A validator that waves through what it cannot read would be worse than none."""
    done = settled(wanted("label-flip", terms=SIMULATED), generator=_Foreign())
    assert done.stimulus is None
    assert set(done.opinions) == {"unread"}


class _Foreign:
    async def generate(self, _request, *, trial_id):
        return Response(trial_id, f"Quite another text. {ESSAY}", finish_reason="stop")


def test_the_same_question_has_the_same_answer_in_any_process():
    one, other = (settled(wanted("synthetic-ordinal", terms=SIMULATED)).text for _ in range(2))
    assert one == other


@pytest.mark.parametrize(
    ("name", "faults", "said"),
    [
        ("writer", {}, "choose generator, other-generator, validator"),
        ("generator", {"errors": 0.1}, "choose one of: misses, refusals, copies"),
        ("validator", {"errors": 1.5}, "a number from 0 to 1"),
        ("validator", {"errors": True}, "a number from 0 to 1"),
    ],
)
def test_what_cannot_be_planted_is_refused(name, faults, said):
    with pytest.raises(ValidationError, match=said):
        ModelSpec(adapter="simulated-writer", name=name, model_args=faults)


def test_a_simulated_writer_is_no_judge_and_a_simulated_judge_does_not_write():
    assert not ADAPTERS.get("simulated-writer").judges
    assert not ADAPTERS.get("simulated").writes
