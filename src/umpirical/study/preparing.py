"""From a judge in a study to a planned run on disk. Nothing is asked here."""

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from umpirical import __version__
from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.judges.spec import JudgeSpec
from umpirical.runs.call_spec import CallSpec
from umpirical.runs.design import Design
from umpirical.runs.planning import write_plan
from umpirical.stimuli.datasheet_set import datasheet_stimuli
from umpirical.stimuli.tasks import Task, builtin_tasks
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import StimulusSet, write_stimuli
from umpirical.study.files import Study

__all__ = ["PlannedRun", "chosen_tasks", "open_run", "prepare_run", "write_stimulus_set"]

PROTOCOL = "umpirical-datasheet/1"


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


def prepare_run(study: Study, judge: JudgeSpec, *, folder: Path | None = None) -> PlannedRun:
    """Plans the run of one judge. The same judge, stimuli and design always lead to the same run, so this resumes.

    `folder` is where the run goes; by default `runs/NAME-ID` in the study.
    """
    if judge.kind != "compare":
        raise UsageError(f"judge {judge.name} is a grade judge", fix="the datasheet measures compare judges so far")
    stimuli = write_stimulus_set(study)
    call = CallSpec(judge, study.folder, stimuli.folder, study.spec.seed)
    asked = call.open_judge()
    design = Design(repeats=study.spec.design.repeats, arms=asked.arms)
    run_id = digest(
        "run",
        {
            "questions": asked.question_fingerprint,
            "stimuli": stimuli.digest,
            "design": design.as_json(),
            "seed": study.spec.seed,
            "protocol": PROTOCOL,
        },
    )[:12]
    store = RunStore(folder or study.folder / "runs" / f"{judge.name}-{run_id}")
    if store.plan_size() is None:
        store.write_manifest(
            {
                "id": run_id,
                "protocol": PROTOCOL,
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "umpirical": __version__,
                "python": platform.python_version(),
                "study": study.spec.study,
                "judge": judge.model_dump(mode="json"),
                "fingerprint": asked.fingerprint,
                "stimuli": stimuli.digest,
                "stimuli_folder": stimuli.folder.name,
                "seed": study.spec.seed,
                "repeats": design.repeats,
                "arms": list(design.arms),
            }
        )
        write_plan(store, asked, stimuli, design)
    size = store.plan_size()
    assert size is not None  # noqa: S101  # just written
    return PlannedRun(store, call, *size)


def open_run(folder: Path) -> tuple[RunStore, JudgeSpec, StimulusSet]:
    """A run that is there already: its record, its judge, its stimuli."""
    store = RunStore(folder)
    if not (folder / "run.json").is_file():
        raise UsageError(f"{folder} is not a run", fix="umpirical runs  lists the runs of a study")
    manifest = store.manifest
    stimuli = _stimuli_beside(folder, manifest["stimuli_folder"])
    return store, JudgeSpec.model_validate(manifest["judge"]), stimuli


def write_stimulus_set(study: Study) -> StimulusSet:
    """The study's stimuli, built once for each set of tasks and seed."""
    stimuli = list(datasheet_stimuli(chosen_tasks(study), seed=study.spec.seed))
    name = digest("stimuli", [stimulus.id for stimulus in stimuli])[:12]
    folder = study.folder / "stimuli" / name
    if (folder / "manifest.json").exists():
        return StimulusSet(folder)
    return write_stimuli(folder, stimuli)


def chosen_tasks(study: Study) -> list[Task]:
    if study.spec.tasks is None:
        return list(builtin_tasks())
    known = {task.id: task for task in builtin_tasks()}
    if missing := [name for name in study.spec.tasks if name not in known]:
        raise UsageError(f"no task named {', '.join(missing)}", fix=f"known: {', '.join(known)}")
    return [known[name] for name in study.spec.tasks]


def _stimuli_beside(run: Path, name: str) -> StimulusSet:
    """The study's stimuli are found from the run's folder upwards, so a study can be moved."""
    for folder in run.resolve().parents:
        if (folder / "stimuli" / name / "manifest.json").is_file():
            return StimulusSet(folder / "stimuli" / name)
    raise UsageError(f"the stimuli {name} of run {run.name} are not there", fix="keep stimuli/ beside runs/")
