"""From a judge in a study to a planned run on disk, within the limit on calls. Nothing is asked here."""

import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from umpirical.domain.digests import Json, canonical_json, digest
from umpirical.domain.errors import StoreError, UsageError
from umpirical.domain.stimuli import Stimulus
from umpirical.judges.spec import JudgeSpec
from umpirical.models.spec import ADAPTERS
from umpirical.protocols.protocol import Study
from umpirical.runs.call import CallSpec
from umpirical.runs.plan import SHARD_SIZE, Design, write_plan
from umpirical.runs.rounds import most_rounds
from umpirical.runs.run import Run
from umpirical.store.reuse import find_answers
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import started
from umpirical.store.stimulus_sets import StimulusSet
from umpirical.study.trust import note_run

MAX_CALLS = 1_000_000
"""Most calls to one judge, unless a person allows more: a line in a study file must not take hours and the disk."""


def refuse_too_many(
    study: Study[Any], judge: JudgeSpec, stimuli: StimulusSet, design: Design, *, planned: int | None
) -> None:
    """Raises UsageError if a judge would take more calls than allowed. Counts them only where it must.

    `planned` is how many trials the plan has, if there is one.
    """
    most, ways = study.max_calls, design.most_ways()
    if most is None or (planned is not None and planned <= most):
        return
    if planned is not None:
        raise _too_many(judge, most)
    if ways is None or ways * stimuli.count > most:
        count_calls(study, judge, stimuli, design)


def count_calls(study: Study[Any], judge: JudgeSpec, stimuli: Iterable[Stimulus], design: Design) -> int:
    """Counts the calls that a judge takes, no further than allowed. Raises UsageError if a study asks for more."""
    most = study.max_calls
    ways = (way for each in stimuli for way in design.presentations(each, judge.capabilities, judge.kind))
    count = sum(1 for _ in (ways if most is None else islice(ways, most + 1)))
    if most is not None and count > most:
        raise _too_many(judge, most)
    return count


def _too_many(judge: JudgeSpec, most: int) -> UsageError:
    return UsageError(
        f"judge {judge.name} would need more than {most:,} calls",
        fix="lower the repeats or the size of the study, or allow more with --max-calls N",
    )


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """How a run is planned, if not as usual."""

    folder: Path | None = None
    """Where the run goes; by default `runs/NAME-ID` in the study."""
    fresh: bool = False
    """Whether a new run is planned in which everything is asked, and which is the one that is resumed from then on."""
    shard_size: int = SHARD_SIZE
    """How many trials are sealed at a time."""
    about: Mapping[str, Json] = field(default_factory=dict)
    """Entries of the manifest to replace."""


def prepare_run(
    study: Study[Any], judge: JudgeSpec, *, stimuli: StimulusSet | None = None, options: PlanOptions | None = None
) -> Run:
    """Plans the run of one judge. The same judge, stimuli and design always give the same run, so this also resumes.

    Trials that another run of the study has already answered are not asked again, unless the run is to be fresh.
    `stimuli` are the study's, if they have already been made.
    """
    protocol, options = study.protocol, options or PlanOptions()
    folder, fresh = options.folder, options.fresh
    protocol.admit(judge)
    stimuli = stimuli or protocol.stimuli(study)
    found = study.found.get(judge.name)
    call = CallSpec(judge, study.folder, stimuli.folder, study.spec.seed, protocol.answer_key, found)
    asked, design = call.open_judge(), protocol.design(study, judge).over(stimuli)
    run_id = digest(
        "run",
        {
            "questions": asked.question_fingerprint,
            "stimuli": stimuli.digest,
            "design": design.as_json(),
            "seed": study.spec.seed,
            "protocol": protocol.version,
        },
    )[:12]
    store = RunStore(folder or _run_folder(study.folder / "runs", f"{judge.name}-{run_id}", fresh=fresh))
    size = store.plan_size()
    # A run that is asked in rounds stops at the limit.
    if design.asked_first(stimuli) is None:
        refuse_too_many(study, judge, stimuli, design, planned=size[0] if size else None)
    # The id of a run covers what its gates depend on, so those of a planned run are not tried again.
    gates = store.manifest.get("gates") if size else None
    if gates is None:
        gates = [asdict(gate) for gate in protocol.gates(asked, stimuli, design)]
    if folder is None and size is None:
        note_run(study.folder, store.folder.name)
    _describe(
        store,
        judge,
        asked.fingerprint,
        {
            "protocol": protocol.version,
            "id": run_id,
            "study": study.spec.study,
            "stimuli": stimuli.digest,
            "stimuli_folder": stimuli.folder.name,
            "seed": study.spec.seed,
            "repeats": design.repeats,
            "variants": list(design.variants),
            "command": study.command(judge.name),
            "gates": gates,
            **(about := {**protocol.about(study, design), **options.about}),
            **_in_rounds(store, study, judge, stimuli, design, about),
        },
    )
    if size is None:
        write_plan(store, asked, stimuli, design, shard_size=options.shard_size)
    if not fresh and not asked.capabilities.stateful and not started(store):
        find_answers(store, _comparable_runs(store, judge, study.spec.seed))
    return Run(store, call)


def _in_rounds(  # what a plan is made of
    store: RunStore,
    study: Study[Any],
    judge: JudgeSpec,
    stimuli: StimulusSet,
    design: Design,
    about: Mapping[str, Json],
) -> dict[str, Json]:
    """Returns what the manifest says of a run that may stop early: how much it can come to, and in how many rounds.

    One that is decided stays so, unless it is held to another policy now. One that came to the limit goes on if the
    limit is higher now. How many looks there may be does not depend on the limit, so that raising it is no new test.
    """
    if design.asked_first(stimuli) is None:
        return {}
    limit = study.max_calls or MAX_CALLS
    if (size := store.plan_size()) and store.manifest.get("policy") == about.get("policy"):
        kept = {name: store.manifest[name] for name in ("most_trials", "looks", "capped") if name in store.manifest}
        if kept.get("most_trials") == size[0] and limit <= kept.get("capped", MAX_CALLS):
            return kept
    ways = (way for each in stimuli for way in design.presentations(each, judge.capabilities, judge.kind))
    most = min(sum(1 for _ in ways), MAX_CALLS)
    return {"most_trials": min(most, limit), "looks": most_rounds(most)}


def _describe(store: RunStore, judge: JudgeSpec, fingerprint: str, design: dict[str, Json]) -> None:
    """Writes the manifest. When a run is resumed, only its judge may have changed: it may read answers differently."""
    begun = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "umpirical": version("umpirical"),
        "python": platform.python_version(),
    }
    if store.plan_size() is not None:
        begun = {name: store.manifest[name] for name in begun}
    store.write_manifest({**begun, **design, "judge": judge.model_dump(mode="json"), "fingerprint": fingerprint})


def _run_folder(runs: Path, name: str, *, fresh: bool) -> Path:
    """`NAME-ID`, or the newest of its fresh successors, `NAME-ID.2`, `NAME-ID.3`; if `fresh`, the next of them.

    A successor that was never started, because the user changed their mind, is not resumed: it would ask again what
    its predecessor has already answered.
    """
    newest, number = runs / name, 2
    while started(RunStore(after := runs / f"{name}.{number}")):
        newest, number = after, number + 1
    return after if fresh and newest.exists() else newest


def _comparable_runs(store: RunStore, judge: JudgeSpec, seed: int) -> list[RunStore]:
    """Returns other runs whose answers are valid here: given by the same server, or by the same simulation."""
    mine, found = _origin(judge.model_dump(mode="json"), seed), []
    for manifest in sorted(store.folder.parent.glob("*/run.json")):
        other = RunStore(manifest.parent)
        # Nobody knows who answered in a run whose manifest is damaged.
        with suppress(StoreError):
            if other.folder != store.folder and _origin(other.manifest["judge"], other.manifest["seed"]) == mine:
                found.append(other)
    return found


def _origin(judge: Mapping[str, Any], seed: int) -> tuple[object, ...]:
    """Identifies who answers: a function by its source, which is in the trial's id; a simulation by its seed."""
    model = judge["model"]
    if model is None:
        return ("function",)
    # The arguments of a provider's client may change its answers, and are not part of a trial's id.
    client, adapter = canonical_json(model.get("model_args") or {}), model["adapter"]
    simulated = adapter in ADAPTERS.names() and ADAPTERS.get(adapter).simulated
    return adapter, model["base_url"], client, seed if simulated else None
