"""The page: the same bytes for the same record, everything in it, and nothing that runs or is fetched."""

import re
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from jinja2 import UndefinedError

from tests.cases import each
from tests.reports.dissection import Page, luminance
from tests.reports.payloads import HIDDEN, PAYLOADS, infected
from umpirical import reports
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.datasheet import page as page_module
from umpirical.protocols.datasheet.page import render_html
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.report import NON_CLAIMS
from umpirical.reports.pages import environment
from umpirical.reports.record import record_json
from umpirical.text.inert import inert

from .samples import (
    SAMPLES,
    audit,
    audit_row,
    datasheet,
    estimate,
    fitted,
    grading,
    incomplete,
    judge,
    measure,
    nothing,
    paper,
    run,
    simulated,
    two_variants,
)

PACKAGE = "umpirical.protocols.datasheet"
FOLDERS = [Path(module.__file__).parent / "templates" for module in (page_module, reports)]
TEMPLATES = sorted(path for folder in FOLDERS for path in folder.rglob("*") if path.is_file())


def words(sheet):
    return " ".join(Page(render_html(sheet)).text.split())


@pytest.fixture(params=sorted(SAMPLES))
def sheet(request):
    return SAMPLES[request.param]()


def test_the_same_record_gives_the_same_bytes(sheet):
    first = render_html(sheet).encode()
    environment.cache_clear()
    assert render_html(Datasheet.model_validate_json(record_json(sheet))).encode() == first


def test_the_page_is_well_formed_and_its_ids_are_unique(sheet):
    page = Page(render_html(sheet))
    assert page.open == []
    ids = Counter(value for _, name, value in page.attributes if name == "id")
    assert max(ids.values()) == 1
    named = [id_ for _, name, value in page.attributes if name == "aria-labelledby" for id_ in value.split()]
    assert set(named) <= set(ids)


def test_every_hatch_that_is_used_is_defined(sheet):
    page = Page(render_html(sheet))
    ids = {value for _, name, value in page.attributes if name == "id"}
    assert {value[5:-1] for _, name, value in page.attributes if name in {"fill", "marker-end"}} <= ids


def test_nothing_runs_and_nothing_is_fetched(sheet):
    source = render_html(sheet)
    page = Page(source)
    assert "<script" not in source.lower()
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    links = {"src", "srcset", "href", "xlink:href", "action", "data", "poster"}
    assert {value for _, name, value in page.attributes if name in links and not value.startswith("#")} == {"data:,"}
    assert not re.search(r"https?:|@import|url\((?!#)", source)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert ("meta", "content", policy) in page.attributes


def test_the_page_is_small(sheet):
    assert len(render_html(sheet).encode()) < 300_000


def test_every_drawing_is_named_or_hidden_and_has_a_table():
    page = Page(render_html(two_variants()))
    drawings = [(names, after) for (tag, names), (after, _) in pairwise(page.skeleton) if tag == "svg"]
    assert all(after == "title" or "aria-hidden" in names for names, after in drawings)
    tags = [tag for tag, _ in page.skeleton]
    assert tags.count("figure") == 5
    for start in (i for i, tag in enumerate(tags) if tag == "figure"):
        figure = tags[start : tags.index("/figure", start)]
        assert "svg" in figure
        assert "table" in figure


def test_the_published_counts_are_shown():
    text = words(datasheet())
    for expected in (
        "0/120", "[0, 3]", "5/60", "8%", "[4, 18]", "94/100", "94%", "[88, 97]", "20/20",
        "[84, 100]", "≤ 1 (left-censored)", "below 1", "30.5/117", "excluded: 3 unparsed", "bounds [25, 28]",
        "planning [0, 5]", "21 · 35% preference in one order only", "0 · 0% same answer in both orders", "1.38",
        "9f0c1b7de2a44d0c8a39b1b52f0e6c7d", "2026-01-01-qwen32b-5f2c", "10 · 540 · 1", "dark-current/1", "20260101",
        "umpirical report studies/qwen32b", "3 unparsed", "no verdict found", "Answer 1 is <b>clearer</b>",
    ):  # fmt: skip
        assert expected in text
    assert "Incomplete" not in text
    assert "True value" not in text


def test_a_planted_value_is_shown_inside_or_outside_its_interval():
    text = words(simulated())
    assert "45% outside" in text
    assert "67% inside" in text
    assert "3.50 inside" in text


def test_a_planted_value_without_an_interval_is_neither():
    alone = measure("dark-current", estimate(1, 2, interval=None), true_value=0.5)
    assert "50% no interval" in words(datasheet(measures=[alone]))


def test_what_is_missing_is_said():
    text = words(incomplete())
    assert "Incomplete run. 3 of 540 planned calls have no response." in text
    assert "Undefined : no call of step 5 was answered excluded: 3 unasked" in text
    empty = words(nothing())
    for expected in (
        "Some planned calls have no response",
        "Not measured. at most 5% essential N/A",
        "The record does not say how the test cases were made",
        "The record has no cost or latency.",
        "This record has no examples.",
        "Not enough data",
        "No chart: accuracy by size of the difference was not measured.",
        "No chart: “same answer in both orders” was not measured.",
        "None. Every reply was a verdict or an abstention.",
        "None of the rules applies",
        "The record lists none.",
    ):
        assert expected in empty


def test_the_variants_are_shown_apart():
    text = words(two_variants())
    order = ("Prompt variant: baseline", "0/120", "Prompt variant: strict", "80/120")
    assert [text.index(each) for each in order] == sorted(text.index(each) for each in order)


def test_an_variant_that_was_only_planned_is_shown():
    sheet = datasheet(run=run(variants=["baseline", "strict"]))
    assert "Prompt variant: strict" in words(sheet)
    old = sheet.model_copy(update={"checks": []})
    assert "Prompt variant: strict Nothing was measured with this prompt variant." in words(old)


def test_a_record_without_the_newer_parts_still_has_a_page():
    sheet = datasheet().model_copy(update={"checks": [], "decision": None, "profile": None})
    text = words(sheet)
    assert "This record has no verdict" in text
    assert "REPORT" in text
    assert "PASS" not in text


def test_the_mock_of_the_paper_is_judged_as_it_should_be():
    text = words(paper())
    for expected in (
        "Not enough data",
        "Policy ranking, digest ",
        ". Ranking systems by many verdicts, where style may be part of what is judged.",
        "0/120 prompts 0% [0, 3]",
        "at most 5% essential PASS",
        "31/120 calls 26% [19, 34]",
        "at most 10% essential FAIL",
        "5/60 pairs 8% [4, 18]",
        "at most 10% essential INCONCLUSIVE about 6,250 more pairs bound 29%",
        "94/100 calls 94% [88, 97]",
        "at least 80% essential PASS",
        "20/20 calls 100% [84, 100]",
        "at least 90% essential INCONCLUSIVE about 44 more calls bound 77%",
        "vacuum-clean and target-sensitive",
        "Cost of 1,000 calls $0.53",
    ):
        assert expected in text, expected


def test_every_part_of_a_full_record_is_on_the_page():
    text = words(paper())
    for expected in (
        "Prompt variant strict, with its placeholders",
        "Say tie unless it is plain.",
        "By change of wording or layout",
        "How each prompt variant changes the judge",
        "Criterion shift Δ1 n = 100 +44 points [+33, +55]",
        "p < 0.001",
        "2.78 [2.41, 3.20]",
        "trivial judge: prompt overlap 0.610 0.45 to 0.55 reported only REPORT",
        "Positional false preference : bike-puncture, equal sentence order , Δ0",
        "Answer 1 is <b>better organised</b>",
        "(empty)",
        "312 ms · 1,205 ms",
        "512,345 · 11,700",
        "What would change the verdict",
        "about 6,310 pairs in total would most likely make it pass",
        "It passes if the bound meets the threshold, even with every missing answer counted against the judge.",
        "numpy 2.3.1, scipy 1.16.0",
        "Parser reads fenced JSON.",
        "Python 3.11.7",
    ):
        assert expected.replace(" :", ":").replace(" ,", ",") in text.replace(" :", ":").replace(" ,", ","), expected


def test_controls_have_a_table_of_their_own_and_are_no_transforms():
    names = ("stable-cross-sensitivity", "positional-false-preference", "one-sided-commit", "no-preference")
    parts = [measure(name, estimate(6 + place, 40, "pair"), "different-subset") for place, name in enumerate(names)]
    sheet = paper()
    sheet = sheet.model_copy(update={"measures": [*sheet.measures, *parts]})
    [variant, *_] = page_module.page_of(sheet).variants
    assert "different-subset" not in [row.name for row in variant.transforms]
    assert [[part.result.numerator for part in row.parts] for row in variant.controls] == [[6, 7, 8, 9]]
    heads = "Control Pairs Same answer Same position One order only No preference"
    assert f"{heads} different-subset 40 15%" in words(sheet)
    assert page_module.page_of(paper()).variants[0].controls == ()


def test_the_page_of_a_grader_speaks_of_grades_and_not_of_slots():
    text = words(grading())
    assert "Grades by quality" in text
    assert "5 10 3.90 3: 10% · 4: 90%" in text
    assert "1 poor 2 3 4 5 excellent" in text
    assert "Equal-quality pairs" not in text
    assert "First Second" not in text
    assert "Total 540 537 0 3 0 0" in text


def test_of_a_probe_only_what_has_a_check_is_rated():
    rated = words(paper()).partition("Prompt variant: strict")[2].partition("Chart: the dot")[0]
    assert "Raw false preference" in rated
    assert "Dark current Not measured. at most 5% essential N/A" in rated
    assert "One-sided commit" not in rated


def test_a_measure_nobody_knows_is_shown_like_any_other():
    unknown = measure("moon-phase", estimate(3, 40), "", "baseline")
    stratum = measure("moon-phase", estimate(1, 20), "full")
    text = words(datasheet(measures=[unknown, stratum]))
    assert "moon-phase 3/40 calls 8%" in text
    assert "full 1/20" in text


def test_the_prompt_of_a_record_without_prompts_is_its_instruction():
    assert "Instruction, as sent" in words(datasheet())
    assert "Instruction, as sent" not in words(datasheet(judge=judge(prompts={"baseline": "x"})))


def test_the_audit_has_totals_and_says_when_it_does_not_add_up():
    text = words(datasheet())
    assert "Total 540 163 161 213 0 3 0 0" in text
    assert "Graded" not in text
    assert "does not add up" not in text
    wrong = audit_row("graded", "step 1", 1, 100).model_copy(update={"failed": 7})
    assert "The audit does not add up in 1 row of the record" in words(datasheet(audit=[*audit(), wrong]))


def test_the_steps_of_a_ladder_are_shown_with_their_parts_together():
    rows = [audit_row("graded", part, step, 10, 4, 3) for step in (1, 2) for part in ("list", "order", "spelling")]
    text = words(datasheet(audit=[*rows, audit_row("equal", "list", 0, 8), audit_row("equal", "order", 0, 6)]))
    assert "baseline graded all 1 30 12 9 9" in text
    assert "baseline equal list 0 8" in text
    assert "Total 74 24 18 32" in text


@each("structure", [False, True])
@each("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload, structure):
    assert_inert(payload, structure=structure)


@pytest.mark.parametrize("structure", [False, True])
@pytest.mark.parametrize("name", ["incomplete", "simulated", "grading"])
def test_text_from_outside_is_inert_wherever_it_stands(name, structure):
    assert_inert("\n".join(PAYLOADS), name, structure=structure)


def assert_inert(payload, *names, structure):
    """The page has the same tags and attributes as with harmless text, and shows the payload as it is."""
    for name in names or ["paper"]:
        source = render_html(infected(SAMPLES[name](), payload, structure=structure))
        source.encode()
        page = Page(source)
        # pytest takes seconds to show how two long lists differ.
        alike = page.skeleton == harmless_skeleton(name, structure=structure)
        assert alike, f"{name}: not the tags and attributes of a page with harmless text"
        assert not HIDDEN.search(source)
        assert inert(payload) in page.text


@cache
def harmless_skeleton(name, *, structure):
    return Page(render_html(infected(SAMPLES[name](), "harmless", structure=structure))).skeleton


def test_without_escaping_the_test_above_fails(monkeypatch):
    """The mutation that the test is there to catch."""
    unescaped = environment(PACKAGE).overlay(autoescape=False)
    monkeypatch.setattr(page_module, "environment", lambda _: unescaped)
    for payload in ("<script>alert(1)</script>", "<svg onload=alert(1)>", "</style><script>alert(1)</script>"):
        with pytest.raises(AssertionError):
            assert_inert(payload, structure=False)


def test_without_finalize_the_test_above_fails(monkeypatch):
    unfiltered = environment(PACKAGE).overlay(finalize=lambda value: value)
    monkeypatch.setattr(page_module, "environment", lambda _: unfiltered)
    with pytest.raises(AssertionError):
        assert_inert("safe\u202etxt.exe", structure=False)


@pytest.mark.parametrize("value", [0.5, None, True])
def test_a_template_cannot_print_what_was_not_formatted(value):
    with pytest.raises(TypeError, match="numbers"):
        environment(PACKAGE).from_string("{{ value }}").render(value=value)


def test_a_template_cannot_print_what_is_not_there():
    with pytest.raises(UndefinedError):
        environment(PACKAGE).from_string("{{ missing }}").render()


@each("template", TEMPLATES)
def test_no_template_goes_around_escaping(template):
    source = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*(safe|e|escape|forceescape|join|tojson|xmlattr)\b|autoescape|Markup", source)


@each("scheme", [0, 1])
@each(
    ("front", "back", "least"),
    [
        ("ink", "paper", 7),
        ("quiet", "paper", 4.5),
        ("ink", "tint", 7),
        ("ink", "warn", 7),
        ("mark", "paper", 3),
        ("true_value", "paper", 3),
        ("pass", "paper", 4.5),
        ("fail", "paper", 4.5),
        ("open", "paper", 4.5),
        ("mark", "band", 3),
        ("mark", "allowed", 3),
        *((f"j{judge}", "paper", 4.5) for judge in range(6)),
        *(("ink", back, 7) for back in ("better", "lesser", "alike")),
    ],
)
def test_the_colours_can_be_told_apart(front, back, least, scheme):
    css = "".join(path.read_text(encoding="utf-8") for path in TEMPLATES if path.suffix == ".css")
    pairs = {name: found for name, *found in re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", css)}
    plain = dict(re.findall(r"--(\w+): (#\w+)", css))
    assert plain == {name: light for name, (light, _) in pairs.items()}
    dark, light = sorted(luminance(pairs[name][scheme]) for name in (front, back))
    assert (light + 0.05) / (dark + 0.05) >= least


def test_what_stands_in_lines_of_its_own_does_not_run_together_as_text(sheet):
    """Read aloud, copied or searched for, a page is its text: "about 11 more pairs bound 12%"."""
    assert not re.findall(r'\w</span><span class="small">.{20}', render_html(sheet))


def layout_measures():
    """A judge that is drawn by the label, and by nothing else."""
    effects = {"slot-effect": 0.0, "label-effect": 0.5, "list-effect": 0.02, "tie-place-effect": -0.1}
    spec = {name: MEASURES.get(name) for name in effects}
    return [
        measure(name, fitted(value, value - 0.1, value + 0.1, n=60), part).model_copy(
            update={"title": spec[name].title, "about": spec[name].about, "scale": "difference"}
        )
        for name, value in effects.items()
        for part in ("", "identical")
    ]


def test_slot_label_and_list_are_told_apart_in_a_table_of_their_own():
    text = words(datasheet(measures=[*datasheet().measures, *layout_measures()]))
    table = text.partition("Position, label and list order")[2]
    assert "Position How much more often it names the first of two equally good answers" in table
    assert "+50 points [+40, +60] 60 +50 points [+40, +60]" in table
    rated = text.partition("Position, label and list order")[0]
    assert "Label effect" not in rated


def test_a_layout_that_was_not_varied_has_no_table():
    assert "Position, label and list order" not in words(datasheet())


def test_the_names_of_the_paper_stand_beside_ours():
    tie = [measure("tie-rate", estimate(k, 20), step) for k, step in ((18, "0"), (3, "1"))]
    named = [one.model_copy(update={"symbol": symbol}) for one, symbol in zip(tie, ("C", "MBT"), strict=True)]
    assert "Tie rate (C, MBT)" in words(datasheet(measures=named))
    assert "(C" not in words(datasheet(measures=tie))


def test_a_probe_is_told_with_its_steps():
    told = words(datasheet(run=run(variants=["baseline", "strict"], steps={"strict": [0.0, 0.25, 5.0]})))
    assert "baseline, strict (only at Δ0, Δ0.25, Δ5)" in told


def test_what_the_measures_do_not_show_is_on_every_page():
    text = " ".join(Page(render_html(paper().model_copy(update={"non_claims": NON_CLAIMS}))).text.split())
    assert [claim for claim in NON_CLAIMS if claim not in text] == []
