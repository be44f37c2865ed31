"""Holds everything that a run has on disk to its digests, to the plan, and to what was published about it."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from umpirical.domain.errors import StoreError, UmpiricalError
from umpirical.judges.judge import prompt_id, trial_id
from umpirical.protocols.catalogue import protocol_of_run
from umpirical.protocols.protocol import DecidesByPolicy
from umpirical.reports.record import Record
from umpirical.runs.plan import request_for
from umpirical.runs.run import Run, open_run
from umpirical.store.reuse import reused_answers, reused_counts
from umpirical.store.snapshots import RunSnapshot, snapshot
from umpirical.study.estimate import PRECISION, expected_precision, kept_precision

READ_WITH = ("umpirical_version", "python", "packages", "revisions")
"""Parts of a record's run that say when and with what it was written, and not what was found."""


@dataclass(frozen=True, slots=True)
class Check:
    """One part of a run, and whether it is what was written."""

    part: str
    holds: bool
    found: str
    """What was checked, or what is wrong with it."""


def verify_run(folder: Path, *, record: Path | None = None) -> Iterator[Check]:
    """Yields one check after another. Damage in one part does not hide that of another.

    `record` is a published datasheet or report; by default, the one in the run's folder, if there is one.
    """
    opened = _check("run.json", lambda: _opened(folder))
    yield from _files(*opened)
    if opened[1] is None:
        return
    run: Run = opened[1]
    published = record or run.folder / f"{protocol_of_run(run.store).name}.json"
    if record is not None or published.exists():
        yield _check(published.name, lambda: _record(run, published))[0]


def verify_files(folder: Path) -> Iterator[Check]:
    """Yields the checks of everything that a report is made from: all but what was published."""
    yield from _files(*_check("run.json", lambda: _opened(folder)))


def _files(opened: Check, run: Run | None) -> Iterator[Check]:
    yield opened
    if run is None:
        return
    yield _check("stimuli", lambda: _stimuli(run))[0]
    yield _check("plan", lambda: _plan(run))[0]
    if (run.folder / "plan" / PRECISION).exists():
        yield _check(PRECISION, lambda: _precision(run))[0]
    yield _check("responses", lambda: _responses(run))[0]
    if reused_counts(run.store):
        yield _check("reused", lambda: _reused(run))[0]


def _check(part: str, work: Callable[[], tuple[str, Any]]) -> tuple[Check, Any]:
    try:
        found, made = work()
    except (UmpiricalError, OSError, ValueError, LookupError) as error:
        return Check(part, holds=False, found=str(error).partition("\n")[0]), None
    return Check(part, holds=True, found=found), made


def _opened(folder: Path) -> tuple[str, Run]:
    run = open_run(folder)
    protocol = protocol_of_run(run.store)
    return f"judge {run.judge.name}, protocol {protocol.version}", run


def _stimuli(run: Run) -> tuple[str, None]:
    state, count = hashlib.sha256(), 0
    for stimulus in run.stimuli:
        # A copy has no id yet: it is made from the content, whatever the file says.
        state.update(replace(stimulus).id.encode())
        count += 1
    if state.hexdigest()[:32] != run.stimuli.digest:
        raise StoreError("they do not match their manifest")
    return f"{count:,} test cases, digest {run.stimuli.digest}", None


def _plan(run: Run) -> tuple[str, None]:
    """The judge's own prompts are rendered again; code of the user's is not run for it."""
    call = replace(run.call, answer_key=protocol_of_run(run.store).answer_key)
    judge = call.open_judge() if run.judge.model is not None else None
    count, first_in = 0, dict[str, int]()
    for shard in range(run.shards):
        elsewhere = run.store.asked_elsewhere(shard)
        if (asked := run.store.count_asked(shard)) != run.store.asked(shard):
            raise StoreError(
                f"shard {shard} has {asked:,} questions, but its manifest lists {run.store.asked(shard):,}"
            )
        for trial, part in run.store.plan_shard(shard):
            count += 1
            stimulus = run.stimuli.part(part)[trial.stimulus_id]
            if trial.id != trial_id(trial.prompt_id, repeat=trial.presentation.repeat):
                raise StoreError(f"trial {trial.id} of shard {shard} has a different id than its question")
            if judge is not None and prompt_id(request_for(judge, stimulus, trial.presentation)) != trial.prompt_id:
                raise StoreError(f"trial {trial.id} of shard {shard} was planned with a different prompt")
            if first_in.setdefault(trial.id, shard) != elsewhere.get(trial.id, shard):
                raise StoreError(f"trial {trial.id} of shard {shard} is in a different shard than planned")
    if count != run.trials:
        raise StoreError(f"{count:,} trials, but its manifest lists {run.trials:,}")
    rendered = "" if judge is not None else "; the prompts of your own judge are not rebuilt"
    shards = "1 shard" if run.shards == 1 else f"{run.shards:,} shards"
    return f"{count:,} trials in {shards}{rendered}", None


def _precision(run: Run) -> tuple[str, None]:
    kept, protocol = kept_precision(run), protocol_of_run(run.store)
    if kept is None:
        return "from another version or judge; it is computed again when needed", None
    planned = protocol.planned(run.judge)
    for shard in range(run.shards):
        for trial, part in run.store.plan_shard(shard):
            planned.add(trial, run.stimuli.part(part)[trial.stimulus_id])
    if kept != tuple(expected_precision(planned.tallies(), kind=run.judge.kind, protocol=protocol.name)):
        raise StoreError("it does not follow from the plan")
    return f"follows from the plan, {len(kept)} rows", None


def _responses(run: Run) -> tuple[str, None]:
    with snapshot(run.store) as now:
        answered = failed = 0
        for shard, responses in now.walk():
            planned = {trial.id for trial, _ in run.store.plan_shard(shard)}
            if strange := responses.keys() - planned:
                raise StoreError(f"shard {shard} has {len(strange):,} responses to trials that are not in its plan")
            lost = sum(response.failure is not None for response in responses.values())
            answered, failed = answered + len(responses) - lost, failed + lost
        _count(now)
        gaps = [
            shard
            for shard in range(run.shards)
            if [receipt.generation for receipt in now.receipts(shard)] != list(range(now.next_generation(shard)))
        ]
        unsigned = sum(not receipt.file_sha256 for receipt in now.receipts())
    if gaps:
        raise StoreError(f"shards {gaps} lack an earlier file of answers")
    old = f"; {unsigned} files have no receipt, so only the texts of their answers are checked" if unsigned else ""
    return f"{answered:,} answered, {failed:,} failed, of {run.trials:,} trials{old}", None


def _count(now: RunSnapshot) -> None:
    for receipt in now.receipts():
        rows = [row["failure"] for row in now.store.rows(receipt)]
        failed = sum(failure is not None for failure in rows)
        if (len(rows) - failed, failed) != (receipt.answered, receipt.failed):
            raise StoreError(f"the receipt of shard {receipt.shard} does not match its answers")


def _reused(run: Run) -> tuple[str, None]:
    count = sum(len(reused_answers(run.store, shard)) for shard in range(run.shards))
    counts = reused_counts(run.store)
    if count != sum(counts.values()):
        raise StoreError(f"{count:,} answers, but its manifest lists {sum(counts.values()):,}")
    sources = ", ".join(f"{found:,} from {name}" for name, found in sorted(counts.items()))
    return sources, None


def _record(run: Run, path: Path) -> tuple[str, None]:
    protocol = protocol_of_run(run.store)
    published = protocol.parse(path.read_text(encoding="utf-8"))
    policy = ""
    if isinstance(protocol, DecidesByPolicy):
        protocol.refuse_forged(published)
        policy = f"; policy {protocol.policy_words(published)}"
    measured = protocol.report(run)
    if isinstance(protocol, DecidesByPolicy):
        measured = protocol.as_published(measured, published)
    one, other = _content(published), _content(measured)
    if differ := [name for name in one if one[name] != other.get(name)]:
        names = ", ".join(differ)
        raise StoreError(f"{path} does not match its responses: {names}")
    return f"follows from the responses, digest {published.run.responses_sha256[:16]}{policy}", None


def _content(record: Record) -> dict[str, Any]:
    content: dict[str, Any] = record.model_dump(mode="json")
    content["run"] = {name: value for name, value in content["run"].items() if name not in READ_WITH}
    return content
