"""Which studies are found in a folder, and what is listed of each."""

from umpirical.view.catalogue import Catalogue
from umpirical.view.index_page import study_documents

from . import studies


def test_a_study_hides_no_study_below_it(measured, tmp_path):
    studies.copied(measured, tmp_path / "outer")
    studies.copied(measured, tmp_path / "outer" / "later" / "inner")
    # What a study keeps for itself is no study of its own, whatever lies in there.
    studies.copied(measured, tmp_path / "outer" / "stimuli" / "copy")
    found = Catalogue(tmp_path).studies()
    assert [study.name for study in found] == ["outer", "outer/later/inner"]
    assert len({run.key for study in found for run in study.runs}) == 2


def test_comparisons_and_juries_of_a_study_are_listed(measured, tmp_path):
    studies.copied(measured, tmp_path / "outer")
    for file in ("comparisons/ab/comparison.html", "juries/majority-cd/datasheet.html", "juries/other.html"):
        place = tmp_path / "outer" / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("<!doctype html>")
    [study] = Catalogue(tmp_path).studies()
    assert [document.name for document in study_documents(study)] == ["Comparison ab", "Jury majority-cd"]
