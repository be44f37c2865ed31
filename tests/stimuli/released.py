"""`just released` makes the sets that ship with the package, and tries every gate on them: after a change of tasks."""

import shutil
from collections.abc import Iterable
from pathlib import Path

from umpirical.domain.digests import Json
from umpirical.domain.stimuli import GateResult, Stimulus
from umpirical.protocols.datasheet.stimuli import RELEASED, about_set, release_digest, set_name
from umpirical.stimuli.controlled.datasheet_set import DECIDED, RECIPES, datasheet_stimuli, recipe
from umpirical.stimuli.controlled.gates import refuse_unsound, try_gates
from umpirical.stimuli.controlled.materials import Materials, builtin_materials
from umpirical.store.stimulus_sets import write_stimuli

SEED = 1
SIZES = [*RECIPES, DECIDED]


def materials_for(size: str) -> Materials:
    return builtin_materials("crossed", recipe(size).tasks)


def folder_of(size: str) -> Path:
    return RELEASED / set_name(materials_for(size), recipe(size), SEED)


def made(size: str) -> list[Stimulus]:
    return list(datasheet_stimuli(materials_for(size), recipe(size), seed=SEED))


def gates(size: str, stimuli: list[Stimulus], again: Iterable[Stimulus]) -> list[GateResult]:
    return list(try_gates(materials_for(size), stimuli, again))


def about(size: str, tried: list[GateResult]) -> dict[str, Json]:
    return {**about_set(size, SEED, materials_for(size), tried), "made_of": release_digest(size, SEED)}


def write() -> None:
    shutil.rmtree(RELEASED, ignore_errors=True)
    for size in SIZES:
        stimuli = made(size)
        tried = gates(size, stimuli, made(size))
        refuse_unsound(tried)
        write_stimuli(folder_of(size), stimuli, about(size, tried))


if __name__ == "__main__":
    write()
