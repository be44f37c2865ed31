"""From a judge in a study to a planned run on disk. Nothing is asked here."""

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from umpirical import __version__
from umpirical.domain.digests import Json, canonical_json, digest
from umpirical.domain.errors import UsageError
from umpirical.domain.gates import GateResult
from umpirical.judges.judge import Judge
from umpirical.judges.spec import JudgeSpec
from umpirical.runs.call import CallSpec
from umpirical.runs.design import Design, presentations
from umpirical.runs.plan import write_plan
from umpirical.stimuli.controlled.gates.design import both_orders
from umpirical.stimuli.controlled.gates.suite import refuse_unsound
from umpirical.store.reuse import find_answers
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.files import Study
from umpirical.study.stimuli import write_stimulus_set
from umpirical.study.stress.making import write_stress_set

__all__ = ["DATASHEET", "STRESS", "PlannedRun", "open_run", "prepare_run", "run_design", "study_stimuli"]

DATASHEET = "umpirical-datasheet/1"
"""The protocol of a run on controlled stimuli."""

STRESS = "umpirical-stress/1"
"""The protocol of a run on the user's own data."""


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A run that is ready to be asked, or to be resumed."""

    store: RunStore
    call: CallSpec
    trials: int
    shards: int

    @property
    def simulated(self) -> bool:
        """Asking costs nothing and reaches nobody."""
        return self.call.judge.model is not None and self.call.judge.model.adapter == "simulated"


def prepare_run(
    study: Study,
    judge: JudgeSpec,
    *,
    folder: Path | None = None,
    fresh: bool = False,
    stimuli: StimulusSet | None = None,
) -> PlannedRun:
    """Plans the run of one judge. The same judge, stimuli and design always lead to the same run, so this resumes.

    Trials that another run of the study has an answer to are not asked again, unless `fresh`: then a new run is
    planned, everything in it is asked, and it is the one that is resumed from then on. `folder` is where the run goes;
    by default `runs/NAME-ID` in the study. `stimuli` are the study's, where they have been made before.
    """
    if study.stress is None and judge.scale is not None and judge.scale.kind == "nominal":
        raise UsageError(f"judge {judge.name}: labels without an order cannot be measured", fix="use an ordinal scale")
    stimuli = stimuli or study_stimuli(study)
    call = CallSpec(judge, study.folder, stimuli.folder, study.spec.seed)
    asked = call.open_judge()
    design = run_design(study, judge)
    orders = _gate_orders(asked, stimuli, design) if study.stress is None else []
    protocol = DATASHEET if study.stress is None else STRESS
    run_id = digest(
        "run",
        {
            "questions": asked.question_fingerprint,
            "stimuli": stimuli.digest,
            "design": design.as_json(),
            "seed": study.spec.seed,
            "protocol": protocol,
        },
    )[:12]
    store = RunStore(folder or _run_folder(study.folder / "runs", f"{judge.name}-{run_id}", fresh=fresh))
    planned = store.plan_size() is not None
    _describe(
        store,
        judge,
        asked.fingerprint,
        {
            "protocol": protocol,
            "id": run_id,
            "study": study.spec.study,
            "stimuli": stimuli.digest,
            "stimuli_folder": stimuli.folder.name,
            "seed": study.spec.seed,
            "repeats": design.repeats,
            "arms": list(design.arms),
            "command": study.command(judge.name),
            "gates": [asdict(gate) for gate in orders],
            **_stress_manifest(study, design),
        },
    )
    if not planned:
        write_plan(store, asked, stimuli, design)
    if not fresh and not asked.capabilities.stateful and not store.started():
        find_answers(store, _comparable_runs(store, judge, study.spec.seed))
    size = store.plan_size()
    assert size is not None  # noqa: S101  # just written
    return PlannedRun(store, call, *size)


def run_design(study: Study, judge: JudgeSpec) -> Design:
    """How often and in which arms a judge of a study is asked everything."""
    design = Design(repeats=study.spec.design.repeats, arms=tuple(judge.prompts) or ("baseline",))
    stress = study.stress
    if stress is None:
        return design
    # A function has no seed that could be set, so nothing is asked of it with other seeds.
    seeds = stress.seeds if "seeds" in stress.tests and judge.model is not None else 0
    first = 1 if judge.decoding.seed is None or not seeds else judge.decoding.seed + 1
    return replace(design, original_repeats=stress.repeats, seeds=seeds, first_seed=first)


def study_stimuli(study: Study) -> StimulusSet:
    """What the judges of a study are asked about, made and written once."""
    return write_stimulus_set(study) if study.stress is None else write_stress_set(study)


def _stress_manifest(study: Study, design: Design) -> dict[str, Json]:
    """What a stress report says besides: nothing of it decides what is asked."""
    stress, dataset = study.stress, study.spec.dataset
    if stress is None or dataset is None:
        return {}
    about: dict[str, Json] = {
        "tests": list(stress.tests),
        "margin": stress.margin,
        "positive": list(dataset.positive),
        "dataset": Path(dataset.path).name,
        "original_repeats": design.original_repeats,
        "seeds": design.seeds,
    }
    return {"stress": about}


def _gate_orders(judge: Judge, stimuli: StimulusSet, design: Design) -> list[GateResult]:
    """Both orders of every pair are in the plan, unless the judge cannot be shown both."""
    if judge.kind == "compare" and not judge.capabilities.order_controllable:
        return []
    ways = ((s, way) for s in stimuli for way in presentations(s, design, judge.capabilities, judge.kind))
    gates = [both_orders(ways)]
    refuse_unsound(gates)
    return gates


def _describe(store: RunStore, judge: JudgeSpec, fingerprint: str, design: dict[str, Json]) -> None:
    """Writes the manifest. When a run is resumed only its judge may have changed, by another way to read answers."""
    begun = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "umpirical": __version__,
        "python": platform.python_version(),
    }
    if store.plan_size() is not None:
        begun = {name: store.manifest[name] for name in begun}
    store.write_manifest({**begun, **design, "judge": judge.model_dump(mode="json"), "fingerprint": fingerprint})


def _run_folder(runs: Path, name: str, *, fresh: bool) -> Path:
    """`NAME-ID`, or the newest of its fresh successors, `NAME-ID.2`, `NAME-ID.3`; if `fresh`, the next of them.

    A successor that nothing was asked of, because somebody thought better of it, is not resumed: it would ask anew
    what its predecessor knows.
    """
    newest, number = runs / name, 2
    while RunStore(after := runs / f"{name}.{number}").started():
        newest, number = after, number + 1
    return after if fresh and newest.exists() else newest


def _comparable_runs(store: RunStore, judge: JudgeSpec, seed: int) -> list[RunStore]:
    """Other runs whose answers would be answers here: given by the same server, or by the same simulation."""
    mine, found = _origin(judge.model_dump(mode="json"), seed), []
    for manifest in sorted(store.folder.parent.glob("*/run.json")):
        other = RunStore(manifest.parent)
        if other.folder != store.folder and _origin(other.manifest["judge"], other.manifest["seed"]) == mine:
            found.append(other)
    return found


def _origin(judge: Mapping[str, Any], seed: int) -> tuple[object, ...]:
    """Who answers. A function is known by its source, which is in the trial's id; a simulation answers by its seed."""
    model = judge["model"]
    if model is None:
        return ("function",)
    # What a provider's client is opened with may change its answers, and is in no trial's id.
    client = canonical_json(model.get("model_args") or {})
    return model["adapter"], model["base_url"], client, seed if model["adapter"] == "simulated" else None


def open_run(folder: Path) -> tuple[RunStore, JudgeSpec, StimulusSet]:
    """A run that is there already: its record, its judge, its stimuli."""
    store = RunStore(folder)
    if not (folder / "run.json").is_file():
        raise UsageError(f"{folder} is not a run", fix="umpirical runs  lists the runs of a study")
    manifest = store.manifest
    stimuli = _stimuli_beside(folder, manifest["stimuli_folder"])
    return store, JudgeSpec.model_validate(manifest["judge"]), stimuli


def _stimuli_beside(run: Path, name: str) -> StimulusSet:
    """The study's stimuli are found from the run's folder upwards, so a study can be moved."""
    for folder in run.resolve().parents:
        if (folder / "stimuli" / name / "manifest.json").is_file():
            return StimulusSet(folder / "stimuli" / name)
    raise UsageError(f"the stimuli {name} of run {run.name} are not there", fix="keep stimuli/ beside runs/")
