"""Stimulus sets that many tests look at: each is made once in a session, since making one takes seconds."""

import hashlib
import pickle
import shutil
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType

from tests.sharing import locked, shared_folder
from umpirical.domain.stimuli import Stimulus
from umpirical.protocols.datasheet.stimuli import write_stimulus_set
from umpirical.stimuli.controlled.datasheet_set import RECIPES, datasheet_stimuli
from umpirical.stimuli.controlled.materials import Ladder, Materials, builtin_materials
from umpirical.stimuli.controlled.tasks import Task
from umpirical.study.file import parse_study


@cache
def materials_of(size: str, ladder: Ladder = "crossed") -> Materials:
    return builtin_materials(ladder, RECIPES[size].tasks)


@cache
def tasks_of(size: str, ladder: Ladder = "crossed") -> dict[str, Task]:
    """Every task that a stimulus of this size may show, by id."""
    return {task.id: task for task in materials_of(size, ladder).all_tasks}


@cache
def built(size: str, seed: int = 1, ladder: Ladder = "crossed") -> tuple[Stimulus, ...]:
    found: tuple[Stimulus, ...] = remembered(_built)(size, seed, ladder)  # type: ignore[assignment]
    return found


def _built(size: str, seed: int, ladder: Ladder) -> tuple[Stimulus, ...]:
    return tuple(datasheet_stimuli(materials_of(size, ladder), RECIPES[size], seed=seed))


def lend_stimuli(folder: Path, *, size: str = "screen", seed: int = 1) -> None:
    """Puts the stimuli beside a study of the built-in tasks that will ask for them."""
    shutil.copytree(_written(size, seed), folder / "stimuli", dirs_exist_ok=True)


@cache
def _written(size: str, seed: int) -> Path:
    folder = shared_folder() / f"{size}-{seed}"
    judge = "{name: any, model: {adapter: simulated, name: careful}}"
    study = parse_study(f"study: s\nseed: {seed}\ndesign: {{size: {size}}}\njudges: [{judge}]\n", folder)
    with locked(folder.with_suffix(".lock")):
        return write_stimulus_set(study).folder.parent


def remember_stimuli(module: ModuleType) -> None:
    """Lets whatever this process measures take stimuli that some process of the session has built before.

    A study of its own folder would else build them again, which takes longer than measuring a simulated judge.
    """
    if build := getattr(module, "_from_tasks", None):
        module._from_tasks = lru_cache(maxsize=8)(remembered(build.__wrapped__))


def remembered(build: Callable[..., object]) -> Callable[..., object]:
    """The same function, which looks first for what it returned elsewhere in the session."""

    def look_first(*arguments: object) -> object:
        file = shared_folder() / f"built-{hashlib.sha256(repr(arguments).encode()).hexdigest()[:24]}"
        with locked(file.with_suffix(".lock")):
            if not file.exists():
                file.write_bytes(pickle.dumps(build(*arguments)))
            return pickle.loads(file.read_bytes())  # noqa: S301  # written by this session

    return look_first
