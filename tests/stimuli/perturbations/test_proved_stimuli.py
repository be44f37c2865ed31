"""Stimuli made by program, each with its proof."""

import hashlib
from dataclasses import replace

import pytest

from umpirical.domain.stimuli import GivenLabel, SameVerdict, Stimulus
from umpirical.stats.seeds import generator
from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS, ProvedPerturbation
from umpirical.stimuli.perturbations.proof import ProofFailed, prove, proved_stimuli

SPACING = PERTURBATIONS.get("inline-spacing")
SHOUTING = ProvedPerturbation(
    name="shouting",
    title="Shouting",
    about="All is in capitals.",
    version=3,
    change=lambda text, _: text.upper(),
    normal=str.lower,
)


def original(text, task_id="t1"):
    return Stimulus(
        task_id=task_id,
        task="Say something.",
        candidates=(text,),
        expectation=GivenLabel("4"),
        maker="original/1",
        family="original",
        parent="an item",
        gold="4",
        gold_from="label",
        strata={"grade": "8"},
    )


def test_the_evidence_names_the_form_its_digest_and_the_extent():
    assert prove(SHOUTING, "one Two", "ONE TWO") == {
        "proof": "equal after shouting/3 normal form",
        "normal form sha256": hashlib.sha256(b"one two").hexdigest(),
        "changed": "2 of 2 words, 0 of 3 gaps",
    }


@pytest.mark.parametrize(
    ("name", "original", "changed", "extent"),
    [
        ("typos", "it goes on", "it geos on", "1 of 3 words, 0 of 4 gaps"),
        ("inline-spacing", "a b c", "a  b   c", "0 of 3 words, 2 of 4 gaps"),
        ("indentation", "a", "\ta", "0 of 1 words, 1 of 2 gaps"),
        ("list-or-prose", "One ends. Two ends.", "- One ends.\n- Two ends.", "4 words became 6"),
        ("typos", "", "", "0 of 0 words, 0 of 1 gaps"),
    ],
)
def test_the_extent_is_counted_in_words_and_gaps(name, original, changed, extent):
    assert prove(PERTURBATIONS.get(name), original, changed)["changed"] == extent


def test_a_text_that_differs_elsewhere_is_no_stimulus_and_the_place_is_shown():
    with pytest.raises(ProofFailed, match=r"inline-spacing/1: .* at character 4: got 'two one', expected 'two 1'"):
        prove(SPACING, "two 1", "two one")
    with pytest.raises(ProofFailed, match="at character 3: got 'two!', expected 'two'"):
        prove(SPACING, "two", "two!")
    assert issubclass(ProofFailed, ValueError)


def test_lone_surrogates_have_a_digest_too():
    assert len(prove(SHOUTING, "\ud800", "\ud800")["normal form sha256"]) == 64


def test_a_stimulus_is_its_original_but_for_the_text():
    source = original("one two three")
    [(same, made)] = proved_stimuli(SPACING, [source], seed=7)
    assert same is source
    text = SPACING.change("one two three", generator(7, source.content, "inline-spacing"))
    assert made == replace(
        source,
        candidates=(text,),
        expectation=SameVerdict(),
        maker="inline-spacing/1",
        family="inline-spacing",
        parent=source.id,
        evidence=prove(SPACING, "one two three", text),
    )


def test_each_original_comes_with_its_change_or_with_none():
    sources = [original("one two"), original("one"), original("three four")]
    made = list(proved_stimuli(SPACING, sources, seed=1))
    assert [source for source, _ in made] == sources
    assert [changed is None for _, changed in made] == [False, True, False]


def test_the_same_seed_makes_the_same_and_another_seed_another():
    source = original("one two three four five six seven eight nine ten " * 5)
    ids = [[made.id for _, made in proved_stimuli(SPACING, [source], seed=seed)] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]


def test_one_original_changes_in_the_same_way_whatever_stands_beside_it():
    one, other = original("one two three four five " * 9), original("six seven eight nine ten " * 9)
    alone = [made for _, made in proved_stimuli(SPACING, [other], seed=1)]
    assert [made for _, made in proved_stimuli(SPACING, [one, other], seed=1)][1:] == alone


def test_a_pair_cannot_be_perturbed():
    pair = replace(original("one"), candidates=("one", "two"))
    with pytest.raises(ValueError, match="has 2 candidates"):
        list(proved_stimuli(SPACING, [pair], seed=1))


def test_a_change_that_is_not_proved_ends_it():
    lying = replace(SHOUTING, normal=str)
    with pytest.raises(ProofFailed, match="shouting/3"):
        list(proved_stimuli(lying, [original("one")], seed=1))
