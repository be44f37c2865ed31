"""Studies to look at: runs whose answers are made up without asking, finished, in progress and hostile."""

import json
import shutil

from tests.protocols.pairs.pair_studies import labelled
from tests.protocols.pairs.pair_studies import write_rows as write_pairs
from tests.stimuli.built import lend_stimuli
from umpirical.domain.responses import Response, Usage
from umpirical.store.journal import Journal
from umpirical.store.parquet import read_rows
from umpirical.study.file import parse_study
from umpirical.study.prepare import prepare_run

DATASHEET = """\
study: parcels
design: {size: screen}
judges:
  - {name: stub, model: {adapter: openai-compatible, name: stub, base_url: 'http://127.0.0.1:9/v1', price: free}}
"""

STRESS = """\
study: essays
dataset:
  path: items.jsonl
  columns: {task: task, response: response, label: label}
  scale: {kind: ordinal, labels: ["1", "2", "3"]}
stress: {tests: [vertical-spacing, inline-spacing]}
judges:
  - {name: grader, kind: grade, scale: {kind: ordinal, labels: ["1", "2", "3"]}, model: {adapter: openai-compatible,
     name: stub, base_url: 'http://127.0.0.1:9/v1', price: free}}
"""

PAIRS = """\
study: labels
dataset: {path: pairs.jsonl}
judges:
  - {name: stub, kind: compare, model: {adapter: openai-compatible, name: stub, base_url: 'http://127.0.0.1:9/v1',
     price: free}}
"""

ANSWERS = ("1", "1", "1", "2", "2", "tie", "tie", "abstain")


def made_up(trial_id, *, grade=False, text=None):
    """An answer of one kind or another, by the id of the trial."""
    drawn = int(trial_id[:8], 16)
    shared = {"latency_ms": 100.0, "asked_at": "2026-01-01T00:00:00+00:00", "served_by": "stub"}
    if text is not None:
        return Response(trial_id, text, finish_reason="stop", usage=Usage(12, 6), **shared)
    if drawn % 23 == 0:
        return Response(trial_id, None, failure="timeout", failure_detail="no answer within 30 s", **shared)
    if drawn % 19 == 0:
        return Response(trial_id, "Hard to say.", finish_reason="stop", usage=Usage(12, 6), **shared)
    said = {"grade": str(1 + drawn % 3)} if grade else {"verdict": ANSWERS[drawn // 23 % len(ANSWERS)]}
    return Response(trial_id, json.dumps(said), finish_reason="stop", usage=Usage(12, 6), **shared)


def planned(run, shard):
    rows = list(read_rows(run.folder / "plan" / f"{shard:05d}.parquet", ["trial_id", "asked_in"]))
    return list(dict.fromkeys(row["trial_id"] for row in rows if row["asked_in"] == shard))


def sealed(run, **options):
    """Answers everything that a run asks, and seals it."""
    for shard in range(run.shards):
        run.store.seal(shard, 0, [made_up(trial_id, **options) for trial_id in planned(run, shard)])


def journalled(run, count, *, texts=()):
    """Answers the first questions of a run, and leaves them in its journal, as a run in progress does."""
    journal = Journal(run.folder / "journal.sqlite")
    trials = planned(run, 0)[:count]
    given = dict(zip(trials, texts, strict=False))
    journal.commit((0, 0, made_up(trial_id, text=given.get(trial_id))) for trial_id in trials)
    journal.close()


def datasheet_run(folder, *, answer=sealed, measure=True):
    """A run of the smallest datasheet study."""
    folder.mkdir(parents=True, exist_ok=True)
    lend_stimuli(folder)
    study = parse_study(DATASHEET, folder)
    run = prepare_run(study, study.spec.judges[0], stimuli=study.protocol.stimuli(study))
    (folder / "umpirical.yaml").write_text(DATASHEET)
    answer(run)
    if measure:
        study.protocol.write(study.protocol.report(run), run.folder)
    return run


def stress_run(folder, texts):
    """A run of a stress study on these texts, each a task and a response."""
    folder.mkdir(parents=True, exist_ok=True)
    items = [{"task": f"{text}\nIs it good?", "response": f"One.\n\nTwo {text}", "label": "2"} for text in texts]
    (folder / "items.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    study = parse_study(STRESS, folder)
    run = prepare_run(study, study.spec.judges[0], stimuli=study.protocol.stimuli(study))
    sealed(run, grade=True)
    study.protocol.write(study.protocol.report(run), run.folder)
    return run


def pairs_run(folder, *, answer=sealed, measure=True):
    """A run on labeled pairs."""
    write_pairs(folder / "pairs.jsonl", labelled(40))
    study = parse_study(PAIRS, folder)
    run = prepare_run(study, study.spec.judges[0], stimuli=study.protocol.stimuli(study))
    answer(run)
    if measure:
        study.protocol.write(study.protocol.report(run), run.folder)
    return run


def copied(run, place):
    """The study of a run, copied; returns the folder of the run in the copy."""
    shutil.copytree(run.folder.parent.parent, place, symlinks=True)
    return place / "runs" / run.folder.name
