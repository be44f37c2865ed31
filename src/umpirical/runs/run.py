"""A run on disk: planned, in progress or finished."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.errors import StoreError, UsageError
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ADAPTERS
from umpirical.runs.call import CallSpec
from umpirical.store.reuse import answered_trials
from umpirical.store.runs import RunStore
from umpirical.store.stimulus_sets import StimulusSet

MADE_ELSEWHERE = "use the version of umpirical that wrote it, or run the judge again"


@dataclass(frozen=True)
class Run:
    """One judge asked about one stimulus set in one design: its store, and what is needed to keep asking."""

    store: RunStore
    call: CallSpec

    @property
    def folder(self) -> Path:
        return self.store.folder

    @property
    def name(self) -> str:
        return self.store.folder.name

    @property
    def manifest(self) -> Mapping[str, Any]:
        return self.store.manifest

    @property
    def judge(self) -> JudgeSpec:
        return self.call.judge

    @property
    def stimuli(self) -> StimulusSet:
        return self.call.stimulus_set

    @property
    def trials(self) -> int:
        return self._size[0]

    @property
    def most_trials(self) -> int:
        """How many trials it can come to: more than are planned, if it is asked in rounds."""
        return max(self.trials, int(self.manifest.get("most_trials", 0)))

    @property
    def shards(self) -> int:
        return self._size[1]

    @property
    def simulated(self) -> bool:
        """Whether asking costs nothing and contacts no server."""
        return self.judge.model is not None and ADAPTERS.get(self.judge.model.adapter).simulated

    def asked(self) -> set[str]:
        return {trial.stimulus_id for shard in range(self.shards) for trial, _ in self.store.plan_shard(shard)}

    def calls_left(self) -> int:
        """Number of trials that have no answer yet, neither here nor reused from another run."""
        left = 0
        for shard, answered in answered_trials(self.store):
            if answered is None:
                continue
            elsewhere = self.store.asked_elsewhere(shard)
            asked = {trial.id for trial, _ in self.store.plan_shard(shard)} - elsewhere.keys()
            left += len(asked - answered)
        return left

    @property
    def _size(self) -> tuple[int, int]:
        return self.store.plan_size() or (0, 0)


def open_run(folder: Path) -> Run:
    """Opens an existing run. The study's stimuli are searched from its folder upwards, so a study can be moved."""
    store = RunStore(folder)
    if not (folder / "run.json").is_file():
        raise UsageError(f"{folder} is not a run", fix="umpirical list  lists the runs of a study")
    manifest = store.manifest
    try:
        name, judge = manifest["stimuli_folder"], JudgeSpec.model_validate(manifest["judge"])
    except (KeyError, ValueError) as error:
        said = str(error).partition("\n")[0]
        raise StoreError(f"{folder / 'run.json'} contains no valid judge: {said}", fix=MADE_ELSEWHERE) from None
    for study in folder.resolve().parents:
        if (study / "stimuli" / name / "manifest.json").is_file():
            run = Run(store, CallSpec(judge, study, study / "stimuli" / name, manifest["seed"]))
            if run.stimuli.digest != manifest["stimuli"]:
                raise StoreError(
                    f"run {folder.name} used other test cases than those in stimuli/{name}",
                    fix="restore both from the same copy of the study",
                )
            return run
    raise UsageError(
        f"the test cases {name} of run {folder.name} are missing", fix="keep the stimuli folder next to the runs folder"
    )
