"""A gallery: an index and a page for each judge, to be opened without a server."""

import json

import pytest

from tests.hostile import HOSTILE
from umpirical.domain.errors import UsageError
from umpirical.protocols.datasheet.tiles import MEASURES
from umpirical.view.gallery import write_gallery

from . import studies
from .test_hostile import check_inert


@pytest.fixture(scope="module")
def gallery(measured, tmp_path_factory):
    folder = tmp_path_factory.mktemp("galleries") / "gallery"
    return write_gallery(measured.folder.parents[1], folder)


def test_it_has_a_card_and_a_page_for_each_judge(gallery, measured):
    folder = gallery.index.parent
    text = gallery.index.read_text()
    assert gallery.pages == 1
    assert {path.name for path in folder.iterdir()} == {"index.html", "gallery.json", f"{measured.name}.html"}
    assert f'href="{measured.name}.html"' in text
    assert "Do not use" in text
    assert [text.count(f">{name}</span>") for name in MEASURES] == [1] * 6
    assert f'href="{measured.name}.html#check-' in text
    assert 'id="check-1"' in (folder / f"{measured.name}.html").read_text()
    page = check_inert(text)
    assert page.scripts == []
    assert "http" not in text.replace("http-equiv", "")


def test_the_page_is_rendered_from_the_record_and_not_copied(measured, tmp_path):
    run = studies.copied(measured, tmp_path / "parcels")
    (run / "datasheet.html").write_text("<script>window.fired=1</script>")
    written = write_gallery(tmp_path, tmp_path / "gallery")
    assert "window.fired" not in (written.index.parent / f"{run.name}.html").read_text()


def test_hostile_names_in_a_record_are_text_on_the_card(measured, tmp_path):
    run = studies.copied(measured, tmp_path / "parcels")
    record = json.loads((run / "datasheet.json").read_text())
    record["judge"] |= {"name": HOSTILE[0], "model": "\n".join(text for text in HOSTILE[:60] if text.isprintable())}
    record["run"]["created"] = HOSTILE[3]
    for measure in record["measures"]:
        measure["title"] = measure["about"] = HOSTILE[5]
    (run / "datasheet.json").write_text(json.dumps(record))
    written = write_gallery(tmp_path, tmp_path / "gallery")
    assert check_inert(written.index.read_text()).scripts == []


def test_a_gallery_is_replaced_and_nothing_else_is(measured, tmp_path):
    study, folder = measured.folder.parents[1], tmp_path / "gallery"
    folder.mkdir()
    write_gallery(study, folder)
    first = folder.stat().st_ino
    write_gallery(study, folder)
    assert folder.stat().st_ino != first
    (folder / "CNAME").write_text("judges.example")
    with pytest.raises(UsageError, match="contains CNAME, which is not part of a gallery"):
        write_gallery(study, folder)
    assert (folder / "CNAME").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["gallery"]


@pytest.mark.parametrize(
    "content", ["{}", '{"format": "umpirical-gallery/1"}', "[", '{"format": 1, "files": ["notes.txt"]}']
)
def test_a_folder_that_is_no_gallery_stays_as_it_is(measured, tmp_path, content):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    (folder / "gallery.json").write_text(content)
    with pytest.raises(UsageError, match="notes"):
        write_gallery(measured.folder.parents[1], folder)
    assert (folder / "notes.txt").read_text() == "mine"


def test_a_gallery_that_cannot_be_written_leaves_the_one_before(measured, tmp_path, monkeypatch):
    study, folder = measured.folder.parents[1], tmp_path / "gallery"
    write_gallery(study, folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("umpirical.view.gallery._write_list", lambda _: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        write_gallery(study, folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["gallery"]


def test_what_is_not_measured_is_excluded_and_said(begun, measured, tmp_path):
    studies.copied(begun, tmp_path / "begun")
    with pytest.raises(UsageError, match="no measured run"):
        write_gallery(tmp_path, tmp_path / "gallery")
    assert not (tmp_path / "gallery").exists()
    studies.copied(measured, tmp_path / "measured")
    written = write_gallery(tmp_path, tmp_path / "gallery")
    assert written.excluded == ((begun.name, "not measured yet"),)


def test_links_are_refused_as_the_place_of_a_gallery(measured, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="is not a folder"):
        write_gallery(measured.folder.parents[1], tmp_path / "link")
