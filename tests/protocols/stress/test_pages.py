"""The pages: the same bytes for the same records, linked to each other alone, and nothing that runs or is fetched."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.cases import each
from tests.reports.dissection import Page, luminance
from tests.reports.payloads import HIDDEN, PAYLOADS
from umpirical import reports as reports_package
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import GradeScale
from umpirical.protocols import stress
from umpirical.protocols.stress import rendering
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.rendering import render_stress_pages
from umpirical.reports.pages import environment
from umpirical.reports.record import record_json
from umpirical.text.inert import inert

from .infecting import infected
from .samples import (
    ESSAY,
    JUDGES,
    SAMPLES,
    dataset,
    incomplete,
    judge,
    made,
    measures,
    nothing,
    rate,
    report,
    run,
    small,
    stress_test,
    three,
    true_value,
    worst,
)

CSS = "templates/stress.css"
LINKS = {"src", "srcset", "href", "xlink:href", "action", "data", "poster"}


def words(source):
    return " ".join(Page(source).text.split())


def index_of(*reports):
    return words(render_stress_pages(reports)["index.html"])


def page_of(one, test):
    pages = render_stress_pages([one])
    return words(next(source for name, source in pages.items() if name.endswith(f"--{test}.html")))


@pytest.fixture(params=sorted(SAMPLES))
def reports(request):
    return SAMPLES[request.param]()


def test_the_same_records_give_the_same_bytes(reports):
    first = render_stress_pages(reports)
    environment.cache_clear()
    assert render_stress_pages([StressReport.model_validate_json(record_json(one)) for one in reports]) == first


def test_there_is_an_index_and_a_page_for_every_test_of_every_judge(reports):
    pages = render_stress_pages(reports)
    assert len(pages) == 1 + sum(len(one.tests) for one in reports)
    assert next(iter(pages)) == "index.html"


def test_the_pages_are_well_formed_and_their_ids_are_unique(reports):
    for source in render_stress_pages(reports).values():
        page = Page(source)
        assert page.open == []
        ids = Counter(value for _, name, value in page.attributes if name == "id")
        assert max(ids.values()) == 1
        named = [id_ for _, name, value in page.attributes if name == "aria-labelledby" for id_ in value.split()]
        assert set(named) <= set(ids)


def test_nothing_runs_nothing_is_fetched_and_links_stay_in_the_folder(reports):
    pages = render_stress_pages(reports)
    for source in pages.values():
        page = Page(source)
        assert "<script" not in source.lower()
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]
        ids = {f"#{value}" for _, name, value in page.attributes if name == "id"}
        assert {value for _, name, value in page.attributes if name in LINKS} <= {"data:,", *pages, *ids}
        assert not re.search(r"https?:|@import|url\((?!#)", source)
        policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
        assert ("meta", "content", policy) in page.attributes


def test_every_page_can_be_reached_from_the_index_and_leads_back():
    pages = render_stress_pages(three())
    linked = {value for _, name, value in Page(pages["index.html"]).attributes if name == "href"}
    assert {link for link in linked if not link.startswith("#")} == {"data:,", *pages} - {"index.html"}
    for name, source in pages.items():
        if name != "index.html":
            assert ("a", "href", "index.html") in Page(source).attributes


def test_the_same_test_of_the_other_judges_is_linked():
    pages = render_stress_pages(three())
    source = pages["sound-examiner--vertical-spacing.html"]
    hrefs = {value for tag, name, value in Page(source).attributes if (tag, name) == ("a", "href")}
    assert len(hrefs) == 3
    assert all(href == "index.html" or href.endswith("--vertical-spacing.html") for href in hrefs)


def test_the_pages_are_small():
    for source in render_stress_pages(three()).values():
        assert len(source.encode()) < 180_000
    worst_case = report(worst=[worst(original="a b " * 5000, changed="b a " * 5000)] * 30)
    assert max(len(source.encode()) for source in render_stress_pages([worst_case]).values()) < 2_000_000


def test_the_index_says_what_breaks_each_judge():
    text = index_of(*three())
    for expected in (
        "3 judges, 11 tests on 60 of your own items",
        "Fails Longer wording (20% of verdicts change); Shorter wording (17% of verdicts change).",
        "Prompt injection (73% of verdicts change, +1.45 grades on average)",
        "Label flip (57% of required changes detected); Paraphrase (18% of verdicts change).",
        (
            "Passes Your own items (agrees with the labels), Vertical spacing, Indentation, Label flip (detects the "
            "changes), Repeated request (consistent answers)."
        ),
        "needs about 172 items, leans toward a pass",
        "Its own noise Repeated request: 32% [21, 44] of answer pairs differ.",
        (
            "Gives the gold label in 50% [38, 62] of 60 items; weighted kappa 0.55 [0.42, 0.65]; "
            "on average 0.62 grades above the gold label [+0.41, +0.83]."
        ),
        "5 FAIL · 4 INCONCLUSIVE · 1 PASS · 1 N/A",
    ):
        assert expected in text, expected


def test_every_cell_has_its_number_n_interval_and_verdict():
    text = index_of(*three())
    for expected in (
        "Longer wording, wordy, easily told: ✗ FAIL † n 60 +61 points more changed [+49, +74] +0.83 grades",
        "Label flip, sound-examiner: ✓ PASS n 54 96% detected [87, 99]",
        "Repeated request, wordy, easily told: ? INCONCLUSIVE n 60 3% differ [0.9, 11] needs about 151 items",
        (
            "Your own items, moody/7B: ? INCONCLUSIVE n 60 37% exact [26, 49] 0.33 weighted κ "
            "[0.20, 0.43] 0.23 beyond length [0.08, 0.38]"
        ),
        "not run",
        "8 of 25 checked cells fail. 6 of those, marked † , survive",
        "Threshold: at most 5 points and within ±0.25 grades.",
    ):
        assert expected in text, expected


def test_the_rest_of_the_index():
    text = index_of(*three())
    for expected in (
        "Why 27 attempts were rejected 14: length ratio: 3.1, allowed: 1.5 to 2.5",
        "Not attempted: 2, the item has no label.",
        "54 by construction",
        "59 your label",
        "A validator’s opinion is never a gold label.",
        "your own texts, unchanged",
        "By grade_level 6 20 8 20 10 20",
        "Unparsed answers: PASS 0.3% [0.1, 1.0] (must be at most 2%)",
        "3 unparsed : no grade found. Example: I would say <i>three</i>ish.",
        "Cost $0.81",
        "812 ms · 2,205 ms",
        "umpirical run --judge sound-examiner",
        "Limitations",
        "temperature 0.7, max_tokens 400, seed not set",
        "grade_level=10",
    ):
        assert expected in text, expected
    assert text.count("Digest of the sample") == 1
    assert text.count("Test data and label sources") == 2  # in the fold, and as its name


def test_judges_of_different_data_are_told_apart():
    two = [report("sound-examiner"), report("moody/7B", dataset=dataset(name="poems.csv", sampled=12))]
    text = index_of(*two)
    assert "essays.csv, poems.csv" in text
    assert "on 60 or 12 of your own items" in text
    assert text.count("Digest of the sample") == 2


def test_a_test_page_has_every_measure_with_its_method():
    text = page_of(report(), "verbosity-long")
    for expected in (
        (
            "The same content in about twice the words. The verdict on the changed text should equal the judge's own "
            "verdict"
        ),
        (
            "✗ FAIL † ✗ FAIL Excess change +61 points [+49, +74] (must be at most 5 points); the whole interval misses "
            "the threshold (p < 0.001)"
        ),
        "Shift equivalence +0.83 [+0.66, +1.00] (must be within ±0.25 grades)",
        "Change rate How often the verdict on the changed text differs. 38/60 items 63% [51, 74]",
        "95%, cluster-Wilson over tasks; 60 clusters, design effect 1.00",
        "90%, TOST, jackknife over tasks; 60 clusters",
        "grade_level=8 65% [43, 82] 13/20",
        "Attempts by a model 81 Written by a model 80 Rejected 27 Validated 54 Accepted 54",
        "Survives a correction",
    ):
        assert expected in text, expected


def test_the_worst_items_are_shown_with_their_verdicts_and_evidence():
    text = page_of(report(), "verbosity-long")
    for expected in (
        "AAAOPP13416000072364 grade_level=8 The verdict changed, although nothing relevant had changed.",
        "Gold label 3 your label",
        "Verdicts on the original 3 · 3 · 3",
        "Verdicts on the changed text 5",
        "get the chance to",
        "characters unchanged",
        "Explanation for the changed text A rich and detailed essay. <b>Grade: 5</b>",
        "validators validator-14b: 2 of 2 agree (same, same)",
    ):
        assert expected in text, expected
    assert text.index("AAAOPP13416000072364") < text.index("AAAOPP13416000019432")
    assert "Required" not in text


def test_what_a_flip_requires_is_said():
    assert "Required label of the changed text 1" in page_of(report(), "label-flip")


def test_blanks_and_hidden_characters_are_visible_in_a_diff():
    source = next(s for n, s in render_stress_pages([report()]).items() if n.endswith("vertical-spacing.html"))
    assert "<ins>↵\n↵\n</ins>" in source
    assert "<ins>···</ins>" in source
    assert "→</ins>In conclusion" in source
    assert "⟦ZERO WIDTH SPACE⟧" in page_of(report(), "prompt-injection")


def test_items_without_a_second_text_are_shown_as_they_are():
    steady = page_of(report(), "stability")
    assert "Verdicts 3 · 5 · 2" in steady
    assert "Your own texts, unchanged." in steady
    assert "Verdicts on the original" not in steady
    assert "struck through" not in steady
    written = page_of(report(), "synthetic-ordinal")
    assert "Gold label 5 by construction Verdicts 2" in written
    same = page_of(report(worst=[worst(changed=ESSAY)]), "verbosity-long")
    assert "The two texts in the record are identical" in same
    bare = page_of(report(worst=[worst(gold="", gold_from=None, verdicts_original=[], verdicts_changed=[])]),
                   "verbosity-long")  # fmt: skip
    assert "Gold label unknown" in bare
    assert "Verdicts on the original none" in bare
    cut = page_of(report(worst=[worst(cut=True)]), "verbosity-long")
    assert "The texts were truncated before they were compared" in cut


def test_what_is_missing_is_said():
    text = index_of(incomplete())
    for expected in (
        "Incomplete run of unfinished. 80 of 240 planned trials have no response.",
        "Not tested Vertical spacing (Change rate: no item has a verdict on both texts",
        "Its own noise Not measured: no request was repeated.",
        "Unknown: no item has a gold label.",
        "Paraphrase, unfinished: – N/A excess-change was not measured; shift-equivalence was not measured",
        "Not measured: no request was repeated.",
        "Spend Not recorded.",
        "None. Every reply was a verdict or an abstention.",
    ):
        assert expected in text, expected
    page = page_of(incomplete(), "inline-spacing")
    for expected in (
        "Undefined : nothing was asked twice",
        "excluded: 20 not asked yet",
        "bounds [5, 38]",
        "not adjusted for its own noise: nothing was asked twice",
        "The record contains no items of this test.",
        "Incomplete run.",
    ):
        assert expected in page, expected
    assert "Nothing was measured." in page_of(incomplete(), "paraphrase")


def test_a_report_without_tests_still_has_an_index():
    text = index_of(nothing())
    assert "Tests: none." in text
    assert "Not measured: no labeled text was judged." in text
    assert "No cell fails." in text


def test_stimuli_that_do_not_add_up_are_said():
    few = report(tests=[stress_test("paraphrase", made=made("paraphrase", wanted=100))],
                 parts={"paraphrase": [("change-rate", rate(3, 60))]})  # fmt: skip
    assert "40 not made yet." in index_of(few)
    many = report(tests=[stress_test("paraphrase", made=made("paraphrase", wanted=50))],
                  parts={"paraphrase": [("change-rate", rate(3, 60))]})  # fmt: skip
    assert "The counts do not add up: 10 more than wanted." in index_of(many)
    assert "not made yet" not in index_of(report())


def test_an_audit_that_does_not_add_up_is_said():
    one = report()
    broken = one.model_copy(update={"audit": [one.audit[0].model_copy(update={"failed": 7}), *one.audit[1:]]})
    assert "The counts do not add up in 1 row of the record" in index_of(broken)
    assert "The counts do not add up" not in index_of(one)


def test_a_planted_value_is_shown_beside_the_measured_one():
    assert "True value" in page_of(true_value(), "verbosity-long")
    assert "design effect 1.00 60%" in page_of(true_value(), "verbosity-long")
    assert "True value" not in page_of(report(), "verbosity-long")


def test_other_prompts_do_not_enter_the_pages():
    one = report()
    more = measures({"verbosity-long": [("change-rate", rate(1, 7))]}, variant="strict")
    both = report(measured=[*measures(JUDGES[one.judge.name]), *more])
    assert "1/7" not in page_of(both, "verbosity-long")


def test_no_report_is_refused():
    with pytest.raises(UsageError, match="no stress report"):
        render_stress_pages([])


@each("payload", PAYLOADS)
def test_text_from_outside_is_inert(payload):
    assert_inert(payload, small(), structure=False)


@pytest.mark.parametrize("structure", [False, True])
def test_text_from_outside_is_inert_wherever_it_stands(structure):
    assert_inert("\n".join(PAYLOADS), report(), incomplete(), small(), structure=structure)


def assert_inert(payload, *bases, structure):
    """The pages have the same tags and attributes as with harmless text, and show the payload as it is."""
    for base in bases:
        pages = render_stress_pages([infected(base, payload, structure=structure)])
        # A text alone is folded where it is long.
        harmless = harmless_skeletons(base.judge.name, "harmless " * (300 if len(payload) > 900 else 1), structure)
        for source, skeleton in zip(pages.values(), harmless, strict=True):
            source.encode()
            page = Page(source)
            # pytest takes seconds to show how two long lists differ.
            alike = page.skeleton == skeleton
            assert alike, "not the tags and attributes of pages with harmless text"
            assert not HIDDEN.search(source)
            assert inert(payload) in page.text
            links = {value for _, name, value in page.attributes if name in LINKS}
            assert all(re.fullmatch(r"data:,|[a-z0-9-]+\.html|#[a-z0-9-]+", link) for link in links)


@cache
def harmless_skeletons(name, text, structure):
    base = {"unfinished": incomplete, "brief": small}.get(name, report)()
    pages = render_stress_pages([infected(base, text, structure=structure)])
    return [Page(source).skeleton for source in pages.values()]


@each("payload", PAYLOADS)
def test_a_diff_of_hostile_text_has_no_tags_but_its_own(payload):
    items = [worst(original=ESSAY, changed=f"{ESSAY[:200]}{payload}{ESSAY[200:]}"), worst(original=payload)]
    base = small()
    hostile = render_stress_pages([base.model_copy(update={"worst": items})])["brief--verbosity-long.html"]
    plain = render_stress_pages([base])["brief--verbosity-long.html"]
    assert {tag for tag, _ in Page(hostile).skeleton} <= {tag for tag, _ in Page(plain).skeleton}
    assert not HIDDEN.search(hostile)


def test_without_escaping_the_tests_above_fail(monkeypatch):
    """The mutation that they are there to catch."""
    harmless_skeletons("brief", "harmless ", False)
    unescaped = environment("umpirical.protocols.stress").overlay(autoescape=False)
    monkeypatch.setattr(rendering, "environment", lambda _: unescaped)
    for payload in ("<script>alert(1)</script>", "</style><script>alert(1)</script>"):
        with pytest.raises(AssertionError):
            assert_inert(payload, small(), structure=False)


def test_without_finalize_the_tests_above_fail(monkeypatch):
    unfiltered = environment("umpirical.protocols.stress").overlay(finalize=lambda value: value)
    monkeypatch.setattr(rendering, "environment", lambda _: unfiltered)
    with pytest.raises(AssertionError):
        assert_inert("\ue000 private", small(), structure=False)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize("back", ["failed", "undecided", "stripe", "gone", "new"])
def test_the_text_of_a_cell_and_of_a_diff_can_be_read(back, scheme):
    """The page's ink on each tint, at the contrast that is asked of small text."""
    sheets = [Path(reports_package.__file__).parent / "templates" / "page.css", Path(stress.__file__).parent / CSS]
    css = "".join(sheet.read_text(encoding="utf-8") for sheet in sheets)
    pairs = {name: found for name, *found in re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", css)}
    assert dict(re.findall(r"--(\w+): (#\w+)", css)) == {name: light for name, (light, _) in pairs.items()}
    dark, light = sorted(luminance(pairs[name][scheme]) for name in ("ink", back))
    assert (light + 0.05) / (dark + 0.05) >= 7


def test_two_runs_of_one_judge_have_pages_of_their_own():
    pages = render_stress_pages([report(run=run("one")), report(run=run("two"))])
    assert len(pages) == 1 + 2 * 11
    again = render_stress_pages([report(judge=judge("a")), report(judge=judge("A"))])
    assert len(again) == 1 + 2 * 11


INTERVAL = GradeScale("interval", low=0.0, high=10.0)
ANY = "any difference counts as a changed verdict"


def test_on_an_interval_scale_it_is_said_what_a_changed_verdict_is():
    parts = {test: JUDGES["sound-examiner"][test] for test in ("paraphrase", "stability", "original")}
    one = report("x", parts=parts, scale=INTERVAL)
    assert ANY in index_of(one)
    assert ANY in page_of(one, "paraphrase")
    assert ANY in page_of(one, "stability")
    assert ANY not in page_of(one, "original")
    assert ANY not in index_of(report("x", parts=parts))


def test_rows_that_repeat_an_earlier_one_are_told():
    assert "7 rows repeat an earlier row, so not independent evidence" in index_of(
        report(dataset=dataset(duplicates=7))
    )
    assert "1 row repeats an earlier row" in index_of(report(dataset=dataset(duplicates=1)))
    assert "an earlier row" not in index_of(report())


def test_stability_is_shown_where_repeats_were_asked_for_other_tests():
    tests = [stress_test("paraphrase")]
    parts = {test: JUDGES["sound-examiner"][test] for test in ("paraphrase", "stability")}
    index = index_of(report("x", parts=parts, tests=tests))
    assert "Not measured: no request was repeated" not in index
    assert "2% [" in index.partition("Does the same request get the same answer?")[2]


def test_a_test_without_texts_says_why_in_its_cell_and_on_its_page():
    nothing_made = made("paraphrase", accepted=0, validated=0, given_up=58, rejected={"too long": 80})
    one = report("x", parts={}, measured=[], tests=[stress_test("paraphrase", made=nothing_made)])
    words_of = "0 of 60 texts were made: 80 attempts were rejected, most often (80) for this reason: too long"
    assert words_of in index_of(one)
    assert words_of in page_of(one, "paraphrase")


def test_a_cell_says_how_many_items_without_a_verdict_forbid_a_pass():
    excluded = {"excluded": {"without a verdict on the changed text": 40}, "bounds": (0.0, 0.4)}
    parts = {"stability": [("flip-rate", rate(0, 60, **excluded))]}
    assert "40 missing verdicts could have changed the result" in index_of(report("x", parts=parts))
