"""docs/automate/gates.md: its tables are what was drawn, what was drawn is drawn again, and its promises hold."""

import re

import pytest

from tests.docs.reading import ROOT, blocks, load_script, table
from umpirical.cli.results import gate_command
from umpirical.reports.decision import EXIT_CODES
from umpirical.reports.gate import GATE_TITLES, INCOMPLETE, REGRESSION
from umpirical.reports.regressions import MARGIN

GUIDE = ROOT / "docs" / "automate" / "gates.md"

write = load_script(ROOT / "docs" / "automate" / "gates" / "write.py", "gates_write")

RUNS, CELLS = write.kept_counts()

SAME = [cell for cell in write.all_cells() if cell.kind == "same"]
WORSE = [cell for cell in write.all_cells() if cell.kind == "worse"]


def share(count, cell):
    return count(CELLS[cell]) / CELLS[cell].total()


def error(chance: float, runs: int) -> float:
    """A share of so many runs is off by less than this in 99 of 100 cases."""
    return 2.6 * (chance * (1 - chance) / runs) ** 0.5


# What is drawn.


def test_the_tables_are_what_the_counts_say():
    assert write.page_text() == GUIDE.read_text(encoding="utf-8")
    assert list(CELLS) == write.all_cells()


def test_every_judge_was_measured_twice_five_hundred_times():
    assert all(CELLS[cell].total() >= 500 for cell in SAME)
    assert all(CELLS[cell].total() >= 200 for cell in WORSE)


@pytest.mark.parametrize("cell", SAME, ids=str)
def test_no_judge_passes_and_then_fails_and_none_is_called_worse_too_often(cell):
    assert write.turned(CELLS[cell]) == 0
    assert share(write.shown, cell) <= 0.05 + error(0.05, CELLS[cell].total())


@pytest.mark.parametrize("cell", [cell for cell in SAME if cell.size == "full"], ids=str)
def test_at_the_full_size_at_most_one_gate_in_twenty_on_a_sound_judge_differs(cell):
    assert share(write.differing, cell) <= 0.05


def test_at_the_standard_size_a_sound_judge_may_lie_between_two_verdicts_as_the_page_says():
    assert share(write.differing, write.Cell("same", write.CAREFUL, "standard")) <= 0.10
    assert share(write.differing, write.Cell("same", write.SOUND, "standard")) > 0.30


@pytest.mark.parametrize("judge", list(write.worse_judges()))
def test_a_large_regression_is_caught_and_nothing_worse_is_let_through(judge):
    """None of these judges meets the policy: what is not caught is left open, and never passes."""
    for size in ("standard", "full"):
        counts = CELLS[write.Cell("worse", judge, size)]
        passed = sum(times for ruled, times in counts.items() if ruled.second == write.USED)
        assert passed / counts.total() <= 0.05


@pytest.mark.slow
@pytest.mark.parametrize("cell", [SAME[0], SAME[2], WORSE[1], WORSE[5]], ids=str)
def test_the_counts_are_what_is_drawn(cell):
    """A few once more: a check or a rule that has moved, or counts that were kept too long, show here."""
    again, kept = write.draw_cell(cell, 40), CELLS[cell]
    for count in (write.differing, write.caught, write.shown):
        chance, drawn = count(kept) / kept.total(), count(again) / again.total()
        assert abs(drawn - chance) <= 4 * (max(chance, 1 / kept.total()) * 1 / again.total()) ** 0.5


@pytest.mark.slow
@pytest.mark.parametrize("cell", [SAME[0], WORSE[2]], ids=str)
def test_as_many_as_were_kept_are_drawn_again(cell):
    again, kept = write.draw_cell(cell, 500), CELLS[cell]
    assert write.turned(again) <= (0 if cell.kind == "same" else again.total())
    chance = write.caught(kept) / kept.total()
    assert abs(write.caught(again) / again.total() - chance) <= 2 * error(max(chance, 0.01), again.total())


def test_the_figures_in_the_text_are_those_of_the_tables():
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    pairs = sum(CELLS[cell].total() for cell in SAME)
    assert f"In none of {pairs:,} pairs did the judge pass first and fail second." in text
    assert f"called worse in more than {percent(max(share(write.shown, cell) for cell in SAME))} of its pairs" in text
    full = [cell for cell in SAME if cell.size == "full"]
    assert f"At `full`, at most {percent(max(share(write.differing, cell) for cell in full))} of verdicts" in text
    careful, lapses = (write.Cell("same", judge, "standard") for judge in (write.CAREFUL, write.SOUND))
    assert f"{percent(share(write.differing, careful))} differ for `simulated:careful` and" in text
    assert f"{percent(share(write.differing, lapses))} for a judge with 1% lapses" in text
    rises = {(dark, size): share(write.caught, write.Cell("worse", f"dark current .01 → {dark}", size))
             for dark in ("0.15", "0.20") for size in ("standard", "full")}  # fmt: skip
    assert [rises["0.20", "standard"], rises["0.20", "full"], rises["0.15", "full"]] == [1, 1, 1]
    assert f"caught in {percent(rises['0.15', 'standard'])} of pairs at `standard` and always at `full`" in text
    assert not any(ruled.second == write.USED for cell in WORSE for ruled in CELLS[cell])


def percent(value: float) -> str:
    return f"{value:.1%}"


# What the page says of the command.


def test_the_exit_codes_are_those_of_the_code():
    told = {
        (verdict, int(code))
        for code, verdicts, _ in table(GUIDE, "exit code")
        for verdict in re.findall(r"`([\w-]+)`", verdicts)
    }
    assert told == {*EXIT_CODES.items(), ("not-enough-data", INCOMPLETE), ("regression", REGRESSION)}
    assert {verdict for verdict, _ in told} == set(GATE_TITLES)


def test_every_option_is_on_the_page_and_the_margin_is_the_one_that_is_used():
    text = GUIDE.read_text(encoding="utf-8")
    for option in gate_command.params:
        assert option.name == "target" or option.opts[0] in text, option.opts
    [margin] = [option for option in gate_command.params if option.name == "margin"]
    assert margin.default == MARGIN
    assert f"`--margin` is {MARGIN:g}, or {100 * MARGIN:g} percentage points" in text


def test_the_example_in_python_is_measured(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    [example] = blocks(GUIDE, "python")
    exec(compile(example, "docs/automate/gates.md", "exec"), {})  # noqa: S102  # our own example
    assert capsys.readouterr().out == "use 0 []\n"
