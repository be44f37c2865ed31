"""A stress study in which a real model writes, validates and judges: every stage ends, and nothing is lost."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.llm.bench_study import rows, umpirical
from umpirical.protocols.stress.record import StressReport
from umpirical.store.generation import GenerationStore

pytestmark = [pytest.mark.llm, pytest.mark.slow]

ESSAYS = Path(__file__).parents[3] / "shared" / "data" / "persuade"


@pytest.fixture(scope="module")
def folder(server, tmp_path_factory):
    """Two essays, with a format test, one that the model writes, and the same question again."""
    if not ESSAYS.is_dir():
        pytest.skip("needs the PERSUADE essays beside the project")
    folder = tmp_path_factory.mktemp("essays")
    common = {"adapter": "openai-compatible", "base_url": server.base_url, "price": "free", "timeout": 900}
    model = {"model": {"name": server.name, **common}}
    columns = {"response": "full_text", "task": "assignment", "label": "holistic_essay_score", "id": "essay_id"}
    scale = {"kind": "ordinal", "labels": ["1", "2", "3", "4", "5", "6"]}
    study = {
        "study": "essays",
        "seed": 3,
        "dataset": {
            "path": str(ESSAYS / "essays.csv"), "columns": columns, "scale": scale, "positive": ["5", "6"],
            "sample": {"size": 2},
        },
        "instruction": str(ESSAYS / "instruction.txt"),
        "rubric": str(ESSAYS / "rubric.txt"),
        "stress": {
            "tests": ["vertical-spacing", "paraphrase", "stability"], "repeats": 2, "tries": 1, "temperatures": [0.7],
            "generator": {**model, "max_tokens": 200}, "validator": {**model, "max_tokens": 20},
        },
        "judges": [{"name": "smollm2", **model, "decoding": {"max_tokens": 32}}],
        "concurrency": 1,
    }  # fmt: skip
    (folder / "umpirical.yaml").write_text(json.dumps(study))
    for stage in ("check", "generate", "run"):
        done = umpirical(stage, ".", "--outside", folder=folder)
        assert done.returncode == 0, (stage, done.stdout, done.stderr)
    return folder


def test_every_commission_is_settled_with_a_reason_or_a_stimulus(folder):
    store = GenerationStore(folder / "generated")
    attempts = list(store.attempts())
    store.close()
    assert len({attempt.commission for attempt in attempts}) == 2
    assert all(attempt.rejected or attempt.stimulus for attempt in attempts)


def test_every_trial_has_one_outcome_and_the_report_says_what_was_made(folder):
    [run] = (folder / "runs").iterdir()
    planned = [row["trial_id"] for row in rows(run, "plan")]
    assert Counter(row["trial_id"] for row in rows(run, "judgments")) == Counter(planned)
    report = StressReport.model_validate_json((run / "stress.json").read_text(encoding="utf-8"))
    made = {test.name: test.made for test in report.tests}
    assert made["vertical-spacing"].proved == 2
    assert made["paraphrase"].accepted + made["paraphrase"].given_up == 2
    assert report.complete
