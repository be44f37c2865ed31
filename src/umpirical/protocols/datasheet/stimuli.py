"""The stimuli of a datasheet study: built once, gated, and kept on disk."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from umpirical.domain.digests import Json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.gates import GateResult
from umpirical.domain.stimuli import TIER_2, Stimulus
from umpirical.protocols.datasheet.record import StimuliRecord
from umpirical.protocols.datasheet.spec import DatasheetStudy
from umpirical.reports.record import GateRecord
from umpirical.stimuli.controlled.carriers import pairs as carrier_pairs
from umpirical.stimuli.controlled.carriers.carrier import PREFIX, Carrier, read_carriers
from umpirical.stimuli.controlled.carriers.pairs import carrier_stimuli
from umpirical.stimuli.controlled.datasheet_set import MAKERS, datasheet_stimuli, spread_over_families
from umpirical.stimuli.controlled.gates.carriers import carriers_checked
from umpirical.stimuli.controlled.gates.suite import refuse_unsound, try_gates
from umpirical.stimuli.controlled.recipes import Recipe, recipe
from umpirical.stimuli.controlled.tasks import Task, builtin_tasks, load_tasks
from umpirical.store.files import inside
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli
from umpirical.store.yaml_files import load_yaml

__all__ = ["build_stimuli", "chosen_carriers", "chosen_tasks", "stimuli_record", "write_stimulus_set"]


def write_stimulus_set(study: DatasheetStudy) -> StimulusSet:
    """Returns the study's stimuli, built once for each set of tasks, size and seed. Raises if a gate fails."""
    tasks, size, seed = chosen_tasks(study), recipe(study.spec.design.size), study.spec.seed
    carriers = chosen_carriers(study)
    made_of = {"tasks": _tasks_json(tasks), "size": asdict(size), "seed": seed, "makers": MAKERS}
    if carriers is not None:
        made_of |= {"carriers": [asdict(carrier) for carrier in carriers], "makers": [*MAKERS, carrier_pairs.MAKER]}
    folder = study.folder / "stimuli" / digest("stimulus set", made_of)[:12]
    if (folder / "manifest.json").exists():
        return StimulusSet(folder)
    stimuli, gates = build_stimuli(tasks, size, seed=seed, carriers=carriers)
    refuse_unsound(gates)
    return write_stimuli(folder, stimuli, about=_about(study, tasks, gates))


def build_stimuli(
    tasks: Sequence[Task], size: Recipe, *, seed: int, carriers: Sequence[Carrier] | None = None
) -> tuple[list[Stimulus], list[GateResult]]:
    """Builds the stimuli and checks every gate: those of tier 1 on the tasks, one of tier 2 on the carriers."""
    stimuli = list(datasheet_stimuli(tasks, size, seed=seed))
    gates = list(try_gates(tasks, stimuli, datasheet_stimuli(tasks, size, seed=seed)))
    if carriers is None:
        return stimuli, gates
    carried = list(carrier_stimuli(carriers, seed=seed))
    return stimuli + carried, [*gates, carriers_checked(carriers, carried, carrier_stimuli(carriers, seed=seed))]


def chosen_carriers(study: DatasheetStudy) -> list[Carrier] | None:
    """Returns the user's own answers, if the study names a file of them."""
    if study.spec.carriers is None:
        return None
    path = inside(study.folder, study.spec.carriers)
    if not path.is_file():
        raise UsageError(f"no carriers file {study.spec.carriers}", fix=f"create {path}, or leave carriers out")
    return read_carriers(load_yaml(path))


def chosen_tasks(study: DatasheetStudy) -> list[Task]:
    """Returns the built-in tasks for the study's size, or the tasks, families and files that the study names."""
    if study.spec.tasks is None:
        return spread_over_families(builtin_tasks(), recipe(study.spec.design.size).tasks)
    chosen: dict[str, Task] = {}
    for name in study.spec.tasks:
        if name.endswith((".yaml", ".yml")):
            found = load_tasks(inside(study.folder, name))
        else:
            # Read only where one is named: that takes longer than reading a whole study.
            found = [task for task in builtin_tasks() if name in (task.id, task.family)]
        if not found:
            families = ", ".join(dict.fromkeys(task.family for task in builtin_tasks()))
            raise UsageError(f"no task named {name}", fix=f"name a .yaml file, or a family: {families}")
        if doubled := [task.id for task in found if task.id in chosen]:
            raise UsageError(f"task {doubled[0]} is chosen twice", fix="name it once in tasks")
        if named := [task.id for task in found if task.id.startswith(PREFIX)]:
            raise UsageError(f"task {named[0]}: {PREFIX} is reserved for your own answers", fix="choose another id")
        chosen.update((task.id, task) for task in found)
    return list(chosen.values())


def _tasks_json(tasks: Sequence[Task]) -> Json:
    return [
        # A draft must not find the set that was made after its review.
        [task.id, task.prompt, [list(map(list, (f.check, f.forms, f.fillers))) for f in task.facts]]
        + ([] if task.reviewed else ["draft"])
        for task in tasks
    ]


def _about(study: DatasheetStudy, tasks: Sequence[Task], gates: Sequence[GateResult]) -> dict[str, Json]:
    return {
        "size": study.spec.design.size,
        "seed": study.spec.seed,
        "tasks": [task.id for task in tasks],
        "task_families": dict(Counter(task.family for task in tasks)),
        "domains": dict(Counter(task.domain for task in tasks)),
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
            carriers.add(stimulus.task_id)
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
        tiers.append(f"T2: {carriers} real answers of the user's, with claims deleted or corrupted, or laid out anew")
    return tiers
