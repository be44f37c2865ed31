"""The public face of every module."""

import importlib
import pkgutil

import pytest

import umpirical

MODULES = ["umpirical", *(found.name for found in pkgutil.walk_packages(umpirical.__path__, "umpirical."))]


def test_the_walk_finds_the_modules():
    assert len(MODULES) > 80
    assert {"umpirical.domain.stimuli", "umpirical.judges.simulated.model", "umpirical.cli"} <= set(MODULES)


@pytest.mark.parametrize("name", MODULES)
def test_what_a_module_offers_is_named_sorted_and_there(name):
    module = importlib.import_module(name)
    own = {
        thing
        for thing, value in vars(module).items()
        if not thing.startswith("_") and getattr(value, "__module__", None) == name
    }
    if not hasattr(module, "__all__"):
        assert not own, f"{name} defines {own} and has no __all__"
        return
    # Constants first, then classes, then functions, each by alphabet.
    assert module.__all__ == sorted(module.__all__, key=lambda thing: (not thing.isupper(), thing[0].islower(), thing))
    assert len(set(module.__all__)) == len(module.__all__)
    assert [thing for thing in module.__all__ if not hasattr(module, thing)] == []
