"""Crossed families as files hold them: what is misspelt or missing is named, and nothing is passed over."""

import json

import pytest

from umpirical.domain.errors import ConfigError
from umpirical.stimuli.controlled.family_files import builtin_families, read_family
from umpirical.store.yaml_files import YamlDocument, dump_yaml, parse_yaml


def family(**changes):
    data = json.loads(json.dumps(builtin_families()[0].data)) | changes
    return data, YamlDocument(data, "f.yaml", "")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: data.update(given=["x"]), "given: is not a key of a family; the keys are id, domain"),
        (lambda data: data["requirements"][1].update(abuot="x"), "abuot: is not a key of a requirement"),
        (lambda data: data["requirements"][0]["facts"][2].update(fillers=[]), "fillers: is not a key of a fact"),
        (lambda data: data["requirements"][0]["facts"].pop(), "expected four facts, got 3"),
        (lambda data: data["parameters"][2].update(extra="x"), "every set needs the same names, and"),
        (lambda data: data.update(layout="html"), "layout: expected one of prose, json"),
        (lambda data: data.update(language="fr"), "language: expected one of en, de, es"),
        (lambda data: data.pop("requirements"), "'requirements' is missing"),
    ],
)
def test_a_family_that_is_not_one_is_refused_with_the_reason(change, words):
    data, document = family()
    change(data)
    with pytest.raises(ConfigError, match=words):
        read_family(document)


def test_every_twin_of_a_family_halves_and_figures_by_set():
    [lease] = [family for family in builtin_families() if family.id == "flat-lease"]
    twins = [*lease.twins()]
    assert [twin.kind for twin in twins] == ["asked", "figures"] * len(lease.sets)
    assert twins[0].id == "flat-lease.harrow"
    assert twins[1].id == "flat-lease.harrow.truro"


def test_a_family_is_read_again_from_what_it_holds():
    [lease] = [family for family in builtin_families() if family.id == "flat-lease"]
    text = dump_yaml(json.loads(json.dumps(lease.data)))
    assert [*read_family(parse_yaml(text, name="f.yaml")).twins()] == [*lease.twins()]
