"""The stimuli of a datasheet study: built once, gated, and kept on disk."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.long_work import counted
from umpirical.domain.stimuli import TIER_2, GateResult, Stimulus
from umpirical.domain.stimuli import Family as StimulusFamily
from umpirical.judges.simulated.examiner import PAIR_AUDITOR_PROFILES
from umpirical.judges.simulated.profiles import EXAMINER_PROFILES
from umpirical.judges.spec import JudgeSpec
from umpirical.protocols.datasheet.record import StimuliRecord
from umpirical.protocols.datasheet.spec import DatasheetStudy
from umpirical.reports.record import GateRecord
from umpirical.runs.run import Run
from umpirical.stimuli.controlled.carriers import crossing as carrier_crossing
from umpirical.stimuli.controlled.carriers import pairs as carrier_pairs
from umpirical.stimuli.controlled.carriers.carrier import PREFIX, Carrier, read_carriers
from umpirical.stimuli.controlled.carriers.crossing import carrier_quads, carriers_checked
from umpirical.stimuli.controlled.carriers.pairs import carrier_stimuli
from umpirical.stimuli.controlled.datasheet_set import MAKERS, Recipe, datasheet_stimuli, recipe
from umpirical.stimuli.controlled.family_files import (
    Family,
    builtin_families,
    families_digest,
    filler_tasks,
    load_family,
)
from umpirical.stimuli.controlled.gates import refuse_unsound, try_gates
from umpirical.stimuli.controlled.materials import Materials, builtin_materials, crossed_materials
from umpirical.stimuli.controlled.tasks import Task
from umpirical.store.files import inside
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli
from umpirical.store.yaml_files import load_yaml

T = TypeVar("T")

FILES = (".yaml", ".yml")

RELEASED = Path(str(files("umpirical.stimuli.controlled") / "released"))
"""The sets of the built-in tasks with seed 1, made and checked by `just released`. A test does both again."""


def write_stimulus_set(study: DatasheetStudy) -> StimulusSet:
    """Returns the study's stimuli, built once for each set of tasks, size and seed. Raises if a gate fails."""
    size, seed, own_answers = study.spec.design.size, study.spec.seed, chosen_own_answers(study)
    released = None if own_answers is not None else released_set(study, size, seed)
    name = released.folder.name if released else set_name(chosen_materials(study), recipe(size), seed, own_answers)
    folder = study.folder / "stimuli" / name
    if (folder / "manifest.json").exists():
        return StimulusSet(folder)
    if released:
        about = {key: value for key, value in released.manifest.items() if key != "made_of"}
        return write_stimuli(folder, released, about=about)
    stimuli, gates = build_stimuli(study, size, seed=seed, own_answers=own_answers)
    refuse_unsound(gates)
    return write_stimuli(folder, stimuli, about=about_set(size, seed, chosen_materials(study), gates))


def set_name(materials: Materials, size: Recipe, seed: int, own_answers: Sequence[Carrier] | None = None) -> str:
    """Returns the name of a set's folder: a digest of all that it is made of."""
    made_of = {"tasks": _tasks_json(materials), "size": asdict(size), "seed": seed, "makers": MAKERS}
    if own_answers is not None:
        makers = [*MAKERS, carrier_pairs.MAKER, carrier_crossing.MAKER]
        made_of |= {"own_answers": [asdict(carrier) for carrier in own_answers], "makers": makers}
    return digest("stimulus set", made_of)[:12]


def build_stimuli(
    study: DatasheetStudy, size: str, *, seed: int, own_answers: Sequence[Carrier] | None = None
) -> tuple[list[Stimulus], list[GateResult]]:
    """Builds the stimuli and checks every gate: those of tier 1 on the tasks, one of tier 2 on the carriers."""
    if (released := released_set(study, size, seed)) is not None:
        stimuli, gates = list(released), [GateResult(**gate) for gate in released.manifest["gates"]]
    else:
        built, tried = _from_tasks(chosen_materials(study), recipe(size), seed)
        stimuli, gates = list(built), list(tried)
    if own_answers is None:
        return stimuli, gates
    carried, again = (
        [*carrier_stimuli(own_answers, seed=seed), *carrier_quads(own_answers, seed=seed)] for _ in ("once", "again")
    )
    return stimuli + carried, [*gates, carriers_checked(own_answers, carried, again)]


def released_set(study: DatasheetStudy, size: str, seed: int) -> StimulusSet | None:
    """Returns the set that ships with the package, if the study is about just its tasks."""
    if study.spec.tasks is not None or study.spec.design.graded != "crossed":
        return None
    found = _released().get((size, seed))
    return found if found and found.manifest["made_of"] == release_digest(size, seed) else None


@cache
def _released() -> dict[tuple[str, int], StimulusSet]:
    found = [StimulusSet(folder) for folder in sorted(RELEASED.glob("*"))]
    return {(each.manifest["size"], each.manifest["seed"]): each for each in found}


def release_digest(size: str, seed: int) -> str:
    """Returns a digest of what a released set was made of: the shipped text of the families, recipe, seed, makers."""
    return digest("release", [families_digest(), asdict(recipe(size)), seed, MAKERS])


# Several studies of one process, such as those of a notebook, mostly have the same tasks, size and seed.
@lru_cache(maxsize=2)
def _from_tasks(materials: Materials, size: Recipe, seed: int) -> tuple[tuple[Stimulus, ...], tuple[GateResult, ...]]:
    once, again = (
        counted(datasheet_stimuli(materials, size, seed=seed), f"test cases made{turn}")
        for turn in ("", " again to check")
    )
    stimuli = tuple(once)
    return stimuli, tuple(counted(try_gates(materials, stimuli, again), "gates tried"))


def recipe_of(run: Run) -> Mapping[str, Json] | None:
    """Returns what the stimuli of a run are made from; None unless they are all built in, as one set."""
    manifest, tasks = run.stimuli.manifest, run.manifest.get("own_tasks")
    own = any(name.endswith(FILES) for name in tasks or ()) or any(one.family in TIER_2 for one in run.stimuli)
    if own or "follows" in manifest:
        return None
    made = {"size": manifest["size"], "seed": manifest["seed"], "graded": run.manifest["graded"]}
    return made | {"tasks": tasks, "makers": MAKERS}


def check_recipe(recipe: Mapping[str, Any]) -> None:
    """Raises unless a recipe names built-in tasks alone: a stranger's must not have any file read."""
    if any(str(name).endswith(FILES) for name in recipe.get("tasks") or ()):
        raise UsageError("the recipe names files, which are never read", fix="use the package as published")
    if (makers := recipe.get("makers")) != MAKERS:
        raise UsageError(
            f"the test cases were made by {makers}, but this version has {MAKERS}",
            fix="check it with the version of umpirical that wrote it",
        )


def made_again(study: DatasheetStudy) -> Sequence[Stimulus]:
    """Makes the stimuli of a study of built-in tasks, without its gates: they were checked before they were used."""
    size, seed = study.spec.design.size, study.spec.seed
    if (released := released_set(study, size, seed)) is not None:
        return list(released)
    return list(counted(datasheet_stimuli(chosen_materials(study), recipe(size), seed=seed), "test cases made"))


def chosen_own_answers(study: DatasheetStudy) -> list[Carrier] | None:
    """Returns the user's own answers, if the study names a file of them."""
    if study.spec.own_answers is None:
        return None
    path = inside(study.folder, study.spec.own_answers)
    if not path.is_file():
        raise UsageError(
            f"no file of your own answers {study.spec.own_answers}", fix=f"create {path}, or remove `own_answers`"
        )
    return read_carriers(load_yaml(path))


def chosen_materials(study: DatasheetStudy) -> Materials:
    """Returns the built-in tasks for the study's size, or the tasks, families and files that the study names."""
    ladder, names = study.spec.design.graded, study.spec.tasks
    if names is None:
        return builtin_materials(ladder, recipe(study.spec.design.size).tasks)
    if ladder == "filler":
        return Materials(tasks=tuple(_once(task for name in names for task in _filler_tasks(study, name))))
    return crossed_materials(_once(place for name in names for place in _places(study, name)))


Place = tuple[Family, int]
"""A family, and one of its sets of parameters."""


def _places(study: DatasheetStudy, name: str) -> list[Place]:
    if name.endswith(FILES):
        family = load_family(inside(study.folder, name))
        if not isinstance(family, Family):
            raise UsageError(
                f"{name}: its tasks have fillers, but do not say what asks for each fact",
                fix="add context, request, about and asks, or set design: {graded: filler}",
            )
        return [(family, place) for place in range(len(family.sets))]
    # Read only where one is named: that takes longer than reading a whole study.
    known = builtin_families()
    places = [(family, place) for family in known for place in range(len(family.sets))]
    return _known(name, [place for place in places if name in (place[0].id, _name(place))], (f.id for f in known))


def _filler_tasks(study: DatasheetStudy, name: str) -> list[Task]:
    if name.endswith(FILES):
        tasks = load_family(inside(study.folder, name))
        if isinstance(tasks, Family):
            raise UsageError(f"{name}: its tasks have no fillers", fix="remove design: {graded: filler}")
        return tasks
    known = filler_tasks()
    return _known(name, [task for task in known if name in (task.id, task.family)], (task.family for task in known))


def _known(name: str, found: list[T], families: Iterable[str]) -> list[T]:
    if not found:
        fix = f"name a .yaml file or one of these families: {', '.join(dict.fromkeys(families))}"
        raise UsageError(f"unknown task {name!r}", fix=fix)
    return found


def _once(chosen: Iterable[T]) -> list[T]:
    """Returns what was chosen. Raises if a task is chosen twice, or is named as only the user's own answers may be."""
    found: dict[str, T] = {}
    for one in chosen:
        if (name := _name(one)) in found:
            raise UsageError(f"task {name} is chosen twice", fix="name it only once in tasks")
        if name.startswith(PREFIX):
            raise UsageError(f"task {name}: {PREFIX} is reserved for your own answers", fix="choose another id")
        found[name] = one
    return list(found.values())


def _name(chosen: object) -> str:
    match chosen:
        case (Family() as family, int(place)):
            return ".".join(filter(None, (family.id, family.sets[place])))
        case Task(id=name):
            return name
        case _:
            raise TypeError(f"not a task: {chosen!r}")


def _tasks_json(materials: Materials) -> Json:
    return [
        # A draft must not find the set that was made after its review.
        [task.id, task.prompt, [list(map(list, (f.check, f.forms, f.fillers))) for f in task.facts]]
        + ([] if task.reviewed else ["draft"])
        for task in materials.all_tasks
    ] + [[family.id, digest("family", family.data)] for family in materials.worked]


def about_set(size: str, seed: int, materials: Materials, gates: Sequence[GateResult]) -> dict[str, Json]:
    """Returns what the manifest of a set says about it."""
    worked = materials.worked if recipe(size).fine else ()
    return {
        "size": size,
        "seed": seed,
        "graded": "crossed" if materials.twins else "filler",
        "tasks": materials.ids,
        "task_families": dict(Counter([*(task.family for task in materials.of_each()), *(one.id for one in worked)])),
        "domains": dict(Counter(task.domain for task in (*materials.of_each(), *worked))),
        "gates": [asdict(gate) for gate in gates],
    }


def stimuli_record(stimuli: StimulusSet, orders: Sequence[Mapping[str, Any]]) -> StimuliRecord:
    """Returns how the stimuli were made, and what the gates found: those of the set, and `orders` of the plan."""
    manifest = stimuli.manifest
    counts, makers, carriers = Counter[str](), set[str](), set[str]()
    for stimulus in stimuli:
        counts[stimulus.family] += 1
        makers.add(stimulus.maker)
        if stimulus.family in TIER_2:
            carriers.add(stimulus.cluster)
    return StimuliRecord(
        tiers=_tiers(counts, len(carriers)),
        tasks=len(manifest.get("tasks", [])),
        task_families=manifest.get("task_families", {}),
        domains=manifest.get("domains", {}),
        counts=dict(counts),
        makers=sorted(makers),
        gates=[GateRecord.model_validate(gate) for gate in (*manifest.get("gates", []), *orders)],
    )


def _tiers(counts: Mapping[str, int], carriers: int) -> list[str]:
    """Derives the tiers from the families that occur."""
    tiers = ["T1: answers made from templates"] if counts.keys() - TIER_2 else []
    if carriers:
        crossed = ", or crossed with contexts" if StimulusFamily.OWN_FIGURES in counts else ""
        edits = f"with facts deleted or corrupted{crossed}, or with a new layout"
        tiers.append(f"T2: {carriers} of your own answers, {edits}")
    return tiers


def answer_key(judge: JudgeSpec, stimuli: Iterable[Stimulus]) -> Callable[[str, str], float]:
    """Returns a function from a task and a candidate to its quality, for a simulated judge that answers by it."""
    if judge.kind == "grade" and judge.model is not None and judge.model.name in EXAMINER_PROFILES:
        message = "this simulated judge needs a dataset, but this is a datasheet study"
        raise UsageError(message, fix="use it in a study with a dataset")
    if judge.kind == "compare" and judge.model is not None and judge.model.name in PAIR_AUDITOR_PROFILES:
        message = "this simulated judge compares agent runs, but this is a datasheet study"
        raise UsageError(message, fix="use it in a study with transcripts")
    return quality_of(stimuli)


def quality_of(stimuli: Iterable[Stimulus]) -> Callable[[str, str], float]:
    """Returns a function from what a prompt says before its candidates, and a candidate, to the requirements it meets.

    One text may be good under one task and not under another, so the task is looked up in what was said.
    """
    levels: dict[str, dict[str, float]] = {}
    for stimulus in stimuli:
        for text, level in zip(stimulus.candidates, stimulus.levels, strict=True):
            known = levels.setdefault(text, {})
            if known.setdefault(stimulus.task, level) != level:
                raise ValueError(
                    f"one text has two quality levels, {known[stimulus.task]:g} and {level:g}: {text[:60]!r}"
                )

    def quality(said: str, text: str) -> float:
        known = levels[text]
        if len(set(known.values())) == 1:
            return next(iter(known.values()))
        return next(level for task, level in known.items() if task in said)

    return quality
