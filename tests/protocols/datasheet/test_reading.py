"""What a newcomer is told: contents that lead somewhere, sentences with the chart's numbers, commands that exist."""

import re
import shlex

import pytest
from click import Context

from tests.reports.dissection import Page
from umpirical.cli import COMMANDS, cli
from umpirical.protocols.datasheet.page import page_of, render_html
from umpirical.protocols.datasheet.reading import (
    WORDS,
    curve_words,
    equal_words,
    grade_words,
    next_steps,
    prompt_words,
    words_of,
)
from umpirical.reports.pages import folds_of

from .samples import SAMPLES, datasheet, estimate, grading, held, judge, measure, run, two_variants, undefined


@pytest.fixture(params=sorted(SAMPLES))
def sheet(request):
    return SAMPLES[request.param]()


def test_every_link_of_the_page_leads_somewhere(sheet):
    page = Page(render_html(sheet))
    ids = {value for _, name, value in page.attributes if name == "id"}
    links = [value[1:] for tag, name, value in page.attributes if (tag, name) == ("a", "href")]
    assert links
    assert set(links) <= ids


def test_every_section_is_folded_under_its_own_heading(sheet):
    source = render_html(sheet)
    folds = re.findall(
        r'<details class="fold"><summary>(.*?)</summary>\s*<section[^>]*>\s*<h2 id="[^"]*">(.*?)</h2>', source
    )
    assert [summary for summary, _ in folds] == [heading for _, heading in folds]
    assert len(folds) == source.count('<details class="fold">') > 10


def test_a_heading_with_markup_is_text_in_a_summary_and_an_empty_section_is_dropped():
    from markupsafe import Markup

    found = Markup('<h2 id="a" class="b">Δ &lt;b&gt; <span>two</span></h2>')
    assert [fold.title for fold in folds_of([found, Markup(" \n"), Markup("<p>x</p>")])] == ["Δ &lt;b&gt; two", "More"]


def test_the_sentence_under_the_curve_has_the_chart_s_numbers():
    measures = [
        measure("target-sensitivity", estimate(30, 40), "1"),
        measure("target-sensitivity", estimate(39, 40), "5"),
        measure("target-sensitivity", undefined(), "2"),
    ]
    assert curve_words(measures, "compare") == (
        "At a 1-requirement difference, it picks the better answer in 75% of calls. "
        "At a 5-requirement difference, it picks the better answer in 98% of calls."
    )
    assert "the higher grade" in curve_words(measures, "grade")
    assert curve_words([measure("target-sensitivity", undefined(), "1")], "compare") == ""


def test_the_sentence_under_equal_answers_leaves_out_what_is_not_measured():
    measures = [
        measure("no-preference", estimate(12, 24, "pair")),
        measure("positional-false-preference", estimate(6, 24, "pair")),
        measure("stable-cross-sensitivity", undefined()),
    ]
    assert equal_words(measures) == (
        "24 pairs of equally good answers: no preference 50%, same position in both orders 25%."
    )
    assert equal_words([]) == ""


def test_pages_of_graders_speak_of_grades():
    sheet = grading()
    text = " ".join(Page(render_html(sheet)).text.split())
    assert "gives the better answer the higher grade" in text
    assert "prefers the better answer" not in text
    assert grade_words(page_of(sheet).variants[0].levels) in text
    assert grade_words([]) == ""


def test_another_prompt_is_told_by_what_it_changes():
    own = {("raw-false-preference", ""): measure("raw-false-preference", estimate(12, 40))}
    strict = {("raw-false-preference", ""): measure("raw-false-preference", estimate(4, 40), variant="strict")}
    assert list(prompt_words({"baseline": own, "strict": strict})) == [
        "With strict, it names a winner between equally good answers in 10% instead of 30%."
    ]
    assert list(prompt_words({"strict": strict})) == []
    text = " ".join(Page(render_html(two_variants())).text.split())
    said = list(prompt_words(page_of(two_variants()).by_variant))
    assert said
    assert all(sentence in text for sentence in said)


def test_what_to_do_next_names_commands_that_exist(sheet):
    for step in next_steps(sheet):
        assert step.words.endswith(".")
        if not step.command:
            continue
        program, name, *arguments = shlex.split(step.command)
        assert (program, name in COMMANDS) == ("umpirical", True)
        command = cli.get_command(Context(cli), name)
        known = {option for each in command.params for option in each.opts}
        assert {one for one in arguments if one.startswith("--")} <= known


def test_a_hostile_judge_s_name_is_one_word_of_the_command():
    sheet = held(datasheet(judge=judge(name="x; rm -rf $HOME")))
    commands = [step.command for step in next_steps(sheet) if "runs/" in step.command]
    assert commands
    for command in commands:
        assert [word for word in shlex.split(command) if "rm" in word] == [f"runs/x; rm -rf $HOME-{sheet.run.id}"]


def test_a_jury_has_no_run_of_its_own_to_name():
    sheet = datasheet(run=run(command="umpirical jury runs/a runs/b runs/c --rule majority"))
    assert not any("runs/" in step.command for step in next_steps(sheet))


def test_the_words_are_short_and_are_on_the_page():
    text = " ".join(Page(render_html(datasheet())).text.split())
    assert words_of(datasheet()) == WORDS
    assert "Position" not in words_of(grading())
    for word, meaning in WORDS.items():
        assert f"{word} {meaning}" in text
        assert len(meaning) <= 110
