"""`umpirical compare` on runs of stress tests: judges of one study against each other, and studies side by side."""

import json
import shutil

import pytest

from tests.browsing import visit
from tests.protocols.stress.end_to_end.rehearsals import notes_study
from tests.reports.payloads import HIDDEN, PAYLOADS, _replaced
from umpirical import compare, run
from umpirical.domain.errors import UsageError
from umpirical.protocols.stress.comparison import (
    StressComparison,
    _outcome,
    render_stress_comparison_html,
    render_stress_comparison_markdown,
    study_titles,
)
from umpirical.protocols.stress.policy import NO_THRESHOLD
from umpirical.reports.record import record_json

MORE = "  - {name: severe, model: {adapter: simulated, name: severe}}"


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    """Two studies with the same two judges, on different texts."""
    folder = tmp_path_factory.mktemp("studies")
    for name, tests, rows in (("notes", "typos, indentation, stability", 60), ("letters", "typos, stability", 30)):
        notes_study(folder / name, rows=rows, more=MORE, stress=f"  tests: [{tests}]\n  repeats: 2")
        if name == "letters":
            file = folder / name / "umpirical.yaml"
            file.write_text(file.read_text().replace("notes", name))
            (folder / name / "notes.csv").rename(folder / name / "letters.csv")
        run(folder / name, trust=True, progress=False)
    return folder


@pytest.fixture(scope="module")
def compared(studies):
    return compare(studies / "notes", studies / "letters").record


def test_judges_of_one_study_are_compared_and_studies_stand_side_by_side(compared):
    assert [judge.name for judge in compared.judges] == ["severe", "sound"]
    assert [study.dataset.name for study in compared.studies] == ["notes.csv", "letters.csv"]
    for study in compared.studies:
        assert {(one.first, one.second) for one in study.differences} == {(0, 1)}
        accuracy = next(o for o in study.differences if (o.measure, o.stratum) == ("accuracy", "original"))
        assert (accuracy.words, accuracy.family) == ("second better", "primary")
        deciding = {(one.measure, one.stratum) for one in study.differences if one.family == "primary"}
        assert {("change-rate", "typos"), ("flip-rate", "stability"), ("accuracy", "original")} <= deciding
        assert ("accuracy", "typos") not in deciding, "what a text is called after the change is exploratory"


def test_a_difference_is_that_of_the_two_reports(compared):
    study = compared.studies[0]
    known = [{(m.name, m.stratum): m.result for m in side.measures} for side in study.sides]
    row = next(one for one in study.differences if (one.measure, one.stratum) == ("accuracy", "original"))
    values = [each["accuracy", "original"].value for each in known]
    assert row.difference.value == pytest.approx(values[1] - values[0])


def test_one_correction_is_made_for_all_studies_of_the_page(studies, compared):
    """Who would cheat: a page that looks at many studies, each with a correction of its own."""
    alone = compare(studies / "letters").record
    key = ("accuracy", "original")
    rows = [
        next(one for one in study.differences if (one.measure, one.stratum) == key)
        for study in (alone.studies[0], compared.studies[1])
    ]
    assert rows[0].p_value == rows[1].p_value
    assert rows[0].adjusted_p < rows[1].adjusted_p


def test_the_command_writes_page_record_and_card(studies, umpirical, tmp_path):
    code, out, _ = umpirical("compare", studies / "notes", studies / "letters", "--out", tmp_path / "out")
    assert code == 0
    assert "notes.csv: sound is significantly better than severe in" in out
    found = StressComparison.model_validate_json((tmp_path / "out" / "comparison.json").read_text())
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert page == render_stress_comparison_html(found)
    assert "2 judges in 2 studies" in page
    assert "| severe |" in (tmp_path / "out" / "comparison.md").read_text()
    code, out, _ = umpirical("compare", studies / "notes", "--json", "--out", tmp_path / "out")
    assert json.loads(out)["format"] == "stress-comparison/2"


def test_what_was_never_asked_passes_nothing(studies, tmp_path, umpirical):
    """Who would cheat: a run that stopped before its first call, which fails no test."""
    folder = tmp_path / "notes"
    shutil.copytree(studies / "notes", folder)
    [severe], [sound] = folder.glob("runs/severe-*"), folder.glob("runs/sound-*")
    for name in ("responses", "reused"):
        shutil.rmtree(severe / name, ignore_errors=True)
    for path in severe.glob("journal*"):
        path.unlink()
    code, out, _ = umpirical("compare", severe, sound)
    assert code == 0
    assert (
        "severe passes none of 4 tests, fails none, is inconclusive in none and could not be tested in 4; "
        "the run is incomplete." in out
    )


def test_a_test_that_could_not_be_judged_is_neither_passed_nor_open(compared):
    study = compared.studies[0]
    side = study.sides[0]
    held = [cell for cell in side.verdicts if cell.why != NO_THRESHOLD]
    blind = [cell.model_copy(update={"verdict": "N/A", "why": "nothing was measured"}) for cell in held]
    told = _outcome(side.model_copy(update={"verdicts": blind, "complete": False}), {})
    assert told == (
        "passes none of 4 tests, fails none, is inconclusive in none and could not be tested in 4; "
        "the run is incomplete"
    )
    assert f"severe {_outcome(side, {t.name: t.title for t in side.tests})}." in compared.findings[0]


def test_studies_on_the_same_data_are_told_apart(compared):
    study = compared.studies[0]
    assert study_titles([study]) == ["notes.csv"]
    assert study_titles([study, study.model_copy(update={"stimuli": "0123456789"})]) == [
        f"notes.csv ({study.stimuli[:8]})",
        "notes.csv (01234567)",
    ]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--policy", "ranking"], "--policy applies to judges tested on controlled test cases"),
        (["--reference", "sound"], "--reference applies to judges tested on controlled test cases"),
    ],
)
def test_what_stress_tests_do_not_have_is_refused(studies, umpirical, more, said):
    code, _, err = umpirical("compare", studies / "notes", *more)
    assert code == 2
    assert said in err


def test_a_judge_is_not_held_against_itself(studies, tmp_path):
    folder = tmp_path / "notes"
    shutil.copytree(studies / "notes", folder)
    [severe] = folder.glob("runs/severe-*")
    shutil.copytree(severe, folder / "runs" / "severe-again")
    with pytest.raises(UsageError, match="the same judge on the same texts"):
        compare(folder / "runs" / severe.name, folder / "runs" / "severe-again")
    with pytest.raises(UsageError, match="at least two runs"):
        compare(severe)
    with pytest.raises(UsageError, match="invalid margin 2"):
        compare(folder / "runs" / severe.name, next(folder.glob("runs/sound-*")), margin=2)


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_is_inert(compared, payload):
    tree = _replaced(compared, payload, {"variant", "variants"})
    for study, before in zip(tree["studies"], compared.studies, strict=True):
        for one, old in zip(study["differences"], before.differences, strict=True):
            one["stratum"] = old.stratum
        for side, old in zip(study["sides"], before.sides, strict=True):
            for test, name in zip(side["tests"], old.tests, strict=True):
                test["name"] = name.name
            for measure, name in zip(side["measures"], old.measures, strict=True):
                measure["stratum"], measure["name"] = name.stratum, name.name
    infected = StressComparison.model_validate(tree)
    page = render_stress_comparison_html(infected)
    assert "<script" not in page
    assert "<img" not in page
    card = render_stress_comparison_markdown(infected)
    assert HIDDEN.search(page + card) is None
    card.encode()


@pytest.mark.browser
def test_the_page_is_quiet_fits_and_is_readable_by_everyone(compared, tmp_path, browser):
    from axe_playwright_python.sync_playwright import Axe

    path = tmp_path / "page.html"
    path.write_text(render_stress_comparison_html(compared), encoding="utf-8")
    for width in (390, 1200):
        requests, complaints, (document, body, window), scripts = visit(browser, path, width)
        assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
        assert (complaints, scripts) == ([], 0)
        assert max(document, body) <= window
    for scheme in ("light", "dark"):
        page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(page).response["violations"]
        page.close()
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


def test_the_same_record_gives_the_same_bytes(compared):
    again = StressComparison.model_validate_json(record_json(compared))
    assert render_stress_comparison_html(again) == render_stress_comparison_html(compared)
