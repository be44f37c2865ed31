"""Folders and texts of a stranger: nothing in them runs, leads out of the folder, or takes the other pages away."""

import json
import shutil
from html.parser import HTMLParser

import pytest

from tests.hostile import HOSTILE
from umpirical.store.manifests import read_manifest, write_manifest
from umpirical.text.inert import inert
from umpirical.view.catalogue import Catalogue, opened
from umpirical.view.index_page import SANDBOX

from . import studies
from .serving import viewing

SECRET = "the content of a file elsewhere"  # noqa: S105  # of no use to anybody


class Page(HTMLParser):
    """The elements of a page that could run something, and its text."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.handlers, self.images, self.words = [], [], 0, ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.images += tag in {"img", "svg", "iframe", "object", "embed", "video", "audio", "base"}
        self.scripts += [dict(attrs).get("src")] if tag == "script" else []
        self.handlers += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]

    def handle_data(self, data):
        self.words += data


def check_inert(text):
    page = Page(text)
    assert page.scripts in ([], ["/static/view.js"])
    assert (page.handlers, page.images) == ([], 0)
    assert inert(text) == text
    return page


@pytest.fixture(scope="module")
def infected(tmp_path_factory):
    """A run in progress whose answers are all hostile, in a folder with a hostile name."""
    folder = tmp_path_factory.mktemp("infected") / "<img src=x onerror=window.fired=1>\u202e"
    texts = list(HOSTILE)
    run = studies.datasheet_run(
        folder, answer=lambda run: studies.journalled(run, len(texts), texts=texts), measure=False
    )
    manifest = read_manifest(run.folder / "run.json")
    manifest["study"] = manifest["created"] = HOSTILE[0]
    write_manifest(run.folder / "run.json", manifest)
    return run, texts


def test_hostile_answers_and_names_are_text_on_every_page(infected):
    run, texts = infected
    with viewing(run.folder.parents[2]) as found:
        for path in ("/", found.run, f"{found.run}/trials", f"{found.run}/trials?outcome=unparsed"):
            check_inert(found.get(path).text)
        places = {trial.id: place for place, (trial, _) in reversed(list(enumerate(run.store.plan_shard(0))))}
        trials = studies.planned(run, 0)
        for trial_id, text in list(zip(trials, texts, strict=False))[::6]:
            page = check_inert(found.get(f"{found.run}/trials/{places[trial_id]}").text)
            assert inert(text) in page.words


def test_hostile_stimuli_are_text_in_the_prompt_and_beside_it(tmp_path):
    run = studies.stress_run(tmp_path / "essays", HOSTILE[:3])
    with viewing(tmp_path) as found:
        for place in range(0, run.trials, 4):
            page = check_inert(found.get(f"{found.run}/trials/{place}").text)
        assert any(inert(text) in page.words for text in HOSTILE[:3])
        check_inert(found.get(found.run).text)


def test_a_strangers_document_is_served_in_a_sandbox(measured, tmp_path):
    run = studies.copied(measured, tmp_path / "parcels")
    (run / "datasheet.html").write_text("<script>window.fired=1</script><form action=//evil.example>")
    with viewing(tmp_path) as found:
        [link] = [each for each in found.get(found.run).links if "/documents/" in each]
        answer = found.ask("GET", link)
        assert (answer.status, answer.headers["content-security-policy"]) == (200, SANDBOX)
        assert "script-src" not in SANDBOX
        assert SANDBOX.startswith("sandbox; default-src 'none'")
        (run / "datasheet.html").unlink()
        (run / "datasheet.html").symlink_to(tmp_path / "elsewhere")
        (tmp_path / "elsewhere").write_text(SECRET)
        assert found.ask("GET", link).status == 404


@pytest.mark.parametrize("part", ["judgments.parquet", "responses/00000-0.parquet", "plan/00000.parquet", "run.json"])
def test_a_link_in_a_run_is_not_followed(measured, tmp_path, part):
    run = studies.copied(measured, tmp_path / "here" / "parcels")
    (run / part).rename(tmp_path / "moved")
    (run / part).symlink_to(tmp_path / "moved")
    with viewing(tmp_path / "here") as found:
        address = f"/runs/{run.name}"
        assert "is a link" in found.get(address).text
        for path in (f"{address}/trials", f"{address}/trials/0"):
            assert found.get(path).status == 409


def test_a_run_that_is_a_link_and_a_study_that_is_one_are_not_listed(measured, tmp_path):
    here = tmp_path / "here"
    studies.copied(measured, here / "parcels")
    (here / "linked").symlink_to(measured.folder.parents[1])
    (here / "parcels" / "runs" / "linked").symlink_to(measured.folder)
    [study] = Catalogue(here).studies()
    assert [run.folder.name for run in study.runs] == [measured.folder.name]
    assert Catalogue(here).run("linked") is None
    assert Catalogue(here).run("../../etc") is None


def test_stimuli_outside_the_study_are_refused(measured, tmp_path):
    run = studies.copied(measured, tmp_path / "here" / "parcels")
    shutil.move(run.parents[1] / "stimuli", tmp_path / "here" / "stimuli")
    catalogue = Catalogue(tmp_path / "here")
    with pytest.raises(Exception, match="outside its study"):
        opened(catalogue.run(run.name))
    manifest = read_manifest(run / "run.json")
    write_manifest(run / "run.json", manifest | {"stimuli_folder": f"../../stimuli/{manifest['stimuli_folder']}"})
    with pytest.raises(Exception, match="outside its study"):
        opened(catalogue.run(run.name))


def test_a_run_that_is_deleted_meanwhile_takes_no_other_page_away(measured, tmp_path):
    run = studies.copied(measured, tmp_path / "here" / "parcels")
    studies.copied(measured, tmp_path / "here" / "other")
    with viewing(tmp_path / "here") as found:
        studies_before = found.view.catalogue.studies()
        [address] = [f"/runs/{each.key}" for study in studies_before for each in study.runs if each.folder == run]
        assert found.get(f"{address}/trials").status == 200
        shutil.rmtree(run)
        for path in (address, f"{address}/trials", f"{address}/trials/0", f"{address}/events"):
            assert found.get(path).status == 404
        assert found.get("/").status == 200


@pytest.mark.parametrize("name", ["judgments.parquet", "datasheet.json", "run.json", "journal.sqlite"])
def test_a_torn_file_is_named_and_nothing_else_is_lost(measured, tmp_path, name):
    run = studies.copied(measured, tmp_path / "parcels")
    (run / name).write_bytes((run / name).read_bytes()[:-500] if (run / name).exists() else b"SQLite format 3\x00torn")
    with viewing(tmp_path) as found:
        assert found.get("/").status == 200
        answers = [found.get(path) for path in (f"/runs/{run.name}", f"/runs/{run.name}/trials")]
        assert all(answer.status in (200, 409) for answer in answers)
        assert any("cannot be read" in each.text or "DAMAGED" in each.text for each in answers)
        assert all(answer.status != 500 for answer in answers)


def test_a_table_with_a_value_for_each_trial_is_refused(measured, tmp_path, monkeypatch):
    run = studies.copied(measured, tmp_path / "parcels")
    monkeypatch.setattr("umpirical.view.table.MOST_COMBINATIONS", 10)
    with viewing(tmp_path) as found:
        answer = found.get(f"/runs/{run.name}/trials")
        assert answer.status == 409
        assert "too many different values" in answer.text


def test_looking_changes_nothing(measured, tmp_path):
    run = studies.copied(measured, tmp_path / "parcels")
    before = {path: path.stat().st_mtime_ns for path in sorted(run.parents[1].rglob("*"))}
    with viewing(tmp_path) as found:
        for path in ("/", f"/runs/{run.name}", f"/runs/{run.name}/trials", f"/runs/{run.name}/trials/3"):
            assert found.get(path).status == 200
    assert {path: path.stat().st_mtime_ns for path in sorted(run.parents[1].rglob("*"))} == before
    assert json.loads((run / "datasheet.json").read_text())["complete"] is True
