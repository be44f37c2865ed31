"""Damage: a changed byte, a missing file, an edited answer. It is named, and never becomes a number."""

import json
import random
import shutil
import sqlite3

import pytest

from tests.attack.runs import copy_study, said, unseal
from tests.trusting import trusting
from umpirical.cli import main
from umpirical.domain.errors import StoreError
from umpirical.runs.run import open_run
from umpirical.store.manifests import Damaged, read_manifest, write_manifest
from umpirical.store.parquet import read_metadata, read_rows, write_rows
from umpirical.store.runs import RunStore
from umpirical.store.schemas import plan_schema, response_schema

FLIPS = [40, pytest.param(1200, marks=pytest.mark.attack)]


@pytest.fixture(scope="module")
def truth(sound, tmp_path_factory):
    return said(copy_study(sound, tmp_path_factory.mktemp("sound") / "study"))


@pytest.fixture
def run(sound, tmp_path):
    """A copy of it, to damage."""
    return copy_study(sound, tmp_path / "study")


@pytest.fixture
def umpirical(capsys):
    def umpirical(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(trusting(arguments))
        out = capsys.readouterr()
        return stop.value.code, out.out, out.err

    return umpirical


def flip(path, rng):
    """Flips one bit of a file; returns how to undo it."""
    before = path.read_bytes()
    place = rng.randrange(len(before))
    changed = bytearray(before)
    changed[place] ^= 1 << rng.randrange(8)
    path.write_bytes(changed)
    return before


@pytest.mark.parametrize("state", ["sealed", "in the journal"])
@pytest.mark.parametrize("flips", FLIPS)
def test_a_changed_bit_is_named_or_changes_nothing(run, truth, state, flips):
    if state == "in the journal":
        unseal(run)
        assert said(run) == truth
    study, rng, named = run.parent.parent, random.Random(flips), 0  # noqa: S311  # not secrets
    files = [path for path in study.rglob("*") if path.is_file() and is_record(path)]
    for _ in range(flips):
        path = rng.choice(files)
        before = flip(path, rng)
        found = said_or_named(run)
        # A bit in the unused space of a database, or in white space, changes nothing that is read.
        assert found == truth or (isinstance(found, str) and path.stem.partition("-")[0] in found), (path, found)
        named += isinstance(found, str)
        path.write_bytes(before)
    assert said(run) == truth
    assert named > flips / 2


def said_or_named(run):
    """What a run says, or what is said of its damage."""
    try:
        return said(run)
    except StoreError as error:
        return str(error)


def is_record(path):
    """Whether a file is read to make a report; documents are made from it, and locks and shared memory hold nothing."""
    made = path.name.startswith("datasheet") or path.name in ("umpirical.yaml", "lock", "judgments.parquet")
    return path.stat().st_size > 0 and not made and path.suffix != ".sqlite-shm"


def edit_rows(path, schema, change):
    rows, about = list(read_rows(path)), read_metadata(path)
    for row in rows:
        change(row)
    write_rows(path, rows, schema, metadata=about)


def test_rewritten_answers_are_named_with_what_is_lost(run, umpirical):
    path = run / "responses" / "00000-0.parquet"
    edit_rows(path, response_schema(), lambda row: row.update(text='{"verdict": "tie"}'))
    for what in ("report", "rescore"):
        code, out, err = umpirical(what, run)
        assert (code, out) == (1, "")
        assert "00000-0.parquet has been changed since it was written; this affects 336 answers of shard 0" in err
    code, out, _ = umpirical("verify", run)
    assert code == 1
    assert "DAMAGED  responses" in out


@pytest.mark.parametrize("column", ["finish_reason", "logprobs", "served_by", "failure_detail"])
def test_every_column_of_an_answer_is_held_not_only_its_text(run, column):
    path = run / "responses" / "00000-0.parquet"
    edit_rows(path, response_schema(), lambda row: row.update({column: "length"}))
    with pytest.raises(Damaged, match="has been changed"):
        said(run)


def test_swapped_labels_in_the_manifest_are_named(run, umpirical):
    path = run / "run.json"
    manifest = json.loads(path.read_text())
    manifest["judge"]["name"] = "another"
    path.write_text(json.dumps(manifest, indent=1) + "\n")
    code, out, err = umpirical("report", run)
    assert (code, out) == (1, "")
    assert "run.json has been changed since it was written" in err


def test_a_plan_with_other_orders_is_named(run):
    def swap(row):
        row["order"] = "ba" if row["order"] == "ab" else "ab"

    edit_rows(run / "plan" / "00000.parquet", plan_schema(), swap)
    with pytest.raises(Damaged, match=r"00000\.parquet has been changed since it was written; this affects the plan"):
        said(run)


def test_stimuli_of_another_set_are_named(run):
    [stimuli] = (run.parent.parent / "stimuli").iterdir()
    write_manifest(stimuli / "manifest.json", {**read_manifest(stimuli / "manifest.json"), "digest": "0" * 32})
    with pytest.raises(StoreError, match="other test cases"):
        said(run)


@pytest.mark.parametrize("name", ["run.json", "plan/plan.json", "stimuli"])
def test_a_later_format_is_not_read_as_this_one(run, name):
    [stimuli] = (run.parent.parent / "stimuli").iterdir()
    path = stimuli / "manifest.json" if name == "stimuli" else run / name
    path.write_text(path.read_text().replace('"format": 2', '"format": 3'))
    with pytest.raises(StoreError, match="has format 3, but this version reads formats up to 2"):
        said(run)


def test_a_later_protocol_is_not_read_as_this_one(run, umpirical):
    store = RunStore(run)
    store.write_manifest({**store.manifest, "protocol": "umpirical-datasheet/3"})
    code, out, err = umpirical("report", run)
    assert (code, out) == (2, "")
    assert "was made by protocol 'umpirical-datasheet/3'" in err


def test_an_unreadable_file_is_named_and_is_no_bug(run, umpirical):
    path = run / "responses" / "00000-0.parquet"
    path.write_bytes(path.read_bytes()[:-9])
    for suffix in (".json", ""):
        code, out, err = umpirical("report", run)
        assert (code, out) == (1, "")
        assert "00000-0.parquet" in err
        assert "bug" not in err
        # Without its receipt it is held to its own footer, which is cut off.
        path.with_suffix(suffix or ".parquet").unlink()


def test_a_broken_file_beside_a_run_in_progress_loses_no_answer(run, truth, umpirical):
    unseal(run)
    broken = run / "responses" / "00000-0.parquet"
    broken.write_bytes(b"PAR1 not really PAR1")
    for what in (("list", run.parent.parent), ("report", run), ("rescore", run), ("plan", run.parent.parent)):
        umpirical(*what)
    with sqlite3.connect(run / "journal.sqlite") as db:
        assert db.execute("select count(*) from response").fetchone() == (336,)
    broken.unlink()
    assert said(run) == truth


def test_a_missing_generation_is_asked_again_and_the_run_ends(run, truth, umpirical):
    store = RunStore(run)
    rows = list(read_rows(run / "responses" / "00000-0.parquet"))
    shutil.rmtree(run / "responses")
    store.seal_rows(0, 1, rows[:7])
    code, _, _ = umpirical("report", run)
    assert code == 5
    code, out, _ = umpirical("verify", run)
    assert code == 1
    assert "shards [0] lack an earlier file of answers" in out
    code, _, err = umpirical("run", run.parent.parent)
    assert code in (0, 4), err
    assert said(run) == truth
    assert open_run(run).calls_left() == 0


def test_a_missing_file_is_named_with_what_is_lost(run, umpirical):
    (run / "responses" / "00000-0.parquet").unlink()
    code, out, err = umpirical("report", run)
    assert (code, out) == (1, "")
    assert "00000-0.parquet is missing; this affects 336 answers of shard 0" in err


@pytest.mark.parametrize("name", ["run.json", "plan/plan.json", "responses/00000-0.json", "datasheet.json"])
def test_one_damaged_run_is_listed_as_such_beside_the_others(run, umpirical, name):
    other = run.with_name("other-000000000000")
    shutil.copytree(run, other)
    (other / name).write_text("{")
    code, out, err = umpirical("list", run.parent.parent)
    assert code == 0, err
    assert "336/336 answered" in out
    assert "other-000000000000  DAMAGED: " in out
    listed = json.loads(umpirical("list", run.parent.parent, "--json")[1])
    [damaged] = [state for state in listed if state["name"] == other.name]
    assert {damaged[name] for name in ("judge", "created", "trials", "answered", "failed")} == {None}


@pytest.mark.parametrize(
    ("name", "lie"),
    [
        ("run.json", {"judge": None}),
        ("run.json", {"judge": {"name": 3}, "created": 3}),
        ("plan/plan.json", {"trials": "many"}),
        ("plan/plan.json", {"shards": 10**9}),
        ("plan/plan.json", {"files": [1]}),
        ("responses/00000-0.json", {"answered": -1}),
        ("responses/00000-0.json", {"failed": "none"}),
        ("responses/00000-0.json", {"sha256": 7}),
    ],
)
def test_a_manifest_that_was_written_anew_with_a_lie_stops_no_list(run, umpirical, name, lie):
    write_manifest(run / name, read_manifest(run / name) | lie)
    code, out, err = umpirical("list", run.parent.parent)
    assert (code, err) == (0, "")
    assert f"{run.name}  DAMAGED: " in out or lie.get("created") == 3


def test_a_published_datasheet_is_held_to_its_responses(run, umpirical, tmp_path):
    code, out, _ = umpirical("verify", run)
    assert (code, out.count("  ok ")) == (0, 5)
    published = tmp_path / "published.json"
    record = json.loads((run / "datasheet.json").read_text())
    published.write_text(json.dumps(record))
    assert umpirical("verify", run, "--record", published)[0] == 0
    record["decision"]["verdict"] = "use"
    record["measures"][0]["result"]["value"] = 0.5
    published.write_text(json.dumps(record))
    code, out, _ = umpirical("verify", run, "--record", published, "--json")
    assert code == 1
    [bad] = [check for check in json.loads(out) if not check["holds"]]
    assert (bad["part"], "measures, decision" in bad["found"]) == ("published.json", True)


def test_a_datasheet_by_another_policy_is_held_to_that_policy(run, umpirical):
    before = json.loads((run / "datasheet.json").read_text())["policy"]
    umpirical("report", run, "--policy", "claim")
    assert json.loads((run / "datasheet.json").read_text())["policy"] != before
    assert umpirical("verify", run)[0] == 0
