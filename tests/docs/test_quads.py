"""The page of crossed pairs shows them as they are made: the texts, and which one is better under which version."""

from collections import Counter

from tests.docs.reading import ROOT, load_script
from umpirical.stimuli.controlled.family_files import builtin_families

write = load_script(ROOT / "docs" / "explanation" / "crossed-pairs" / "write.py", "quads_write")
QUADS = list(write.quads())


def test_the_page_is_what_the_stimuli_give():
    assert write.render_page() == write.PAGE.read_text(encoding="utf-8")


def test_there_are_two_quads_of_each_domain_at_every_step():
    domains = {family.domain for family in builtin_families()}
    assert Counter(crossed_pair.twin.domain for crossed_pair in QUADS) == dict.fromkeys(domains, 2)
    assert {crossed_pair.stimuli[0].delta for crossed_pair in QUADS} == {1, 2, 3, 4, 5}
    assert {crossed_pair.twin.kind for crossed_pair in QUADS} == {"asked", "figures"}


def test_the_better_text_under_one_version_is_the_lesser_one_under_the_other():
    for crossed_pair in QUADS:
        first, second = crossed_pair.stimuli
        assert first.candidates == second.candidates == crossed_pair.texts
        assert {first.expectation.candidate, second.expectation.candidate} == {0, 1}


def test_a_page_that_says_something_else_is_found(tmp_path, monkeypatch, capsys):
    page = tmp_path / "quads.md"
    page.write_text(write.PAGE.read_text(encoding="utf-8").replace("is better", "is worse", 1), encoding="utf-8")
    shown = write.render_page()
    monkeypatch.setattr(write, "PAGE", page)
    monkeypatch.setattr(write, "render_page", lambda: shown)
    assert write.main(["--check"]) == 1
    assert "run python docs/explanation/crossed-pairs/write.py" in capsys.readouterr().err
    assert write.main([]) == 0
    assert write.main(["--check"]) == 0
