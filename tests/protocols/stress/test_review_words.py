"""What people said of the generated texts, on the page, on the card and in a line."""

import re
from dataclasses import replace

import pytest

from tests.protocols.stress.infecting import infected
from tests.protocols.stress.samples import JUDGES, report, small, stress_test
from tests.reports.dissection import Page
from tests.reports.payloads import PAYLOADS
from umpirical.domain.measures import Estimate, Interval, Undefined
from umpirical.protocols.review_record import (
    ReviewedGenerator,
    ReviewedTest,
    ReviewRecord,
    agreement_words,
    coefficient_words,
    rate_words,
    review_words,
)
from umpirical.protocols.stress.record import StressReport
from umpirical.protocols.stress.rendering import render_stress_markdown, render_stress_pages
from umpirical.protocols.stress.verdicts import why_not_made
from umpirical.reports.record import record_json
from umpirical.text.inert import inert


def found(numerator, denominator, low, high, *, unit="pair", value=None):
    return Estimate(
        value=numerator / denominator if value is None else value,
        numerator=numerator,
        denominator=denominator,
        unit=unit,
        interval=Interval(low=low, high=high, level=0.95, method="cluster-Wilson over originals"),
        clusters=denominator,
    )


NONE = Undefined(reason="no item was decided by two people", excluded={"fewer than two people decided": 18})


def review(**changes):
    given = {
        "generated": 24,
        "reviewed": 18,
        "people": 2,
        "decisions": 36,
        "adjudicated": 1,
        "edited": 2,
        "relabelled": 1,
        "rejected": 3,
        "undecided": 6,
        "excluded": 0,
        "policy": "count",
        "overlap": 2,
        "modes": {"blind": 34, "assisted": 2},
        "guidelines": [0, 1],
        "agreement": found(17, 18, 0.74, 0.99),
        "alpha": found(17, 18, 0.31, 0.97, unit="item", value=0.812),
        "label_alpha": NONE,
        "tests": [
            ReviewedTest(test="paraphrase", agreement=NONE, alpha=NONE, rejection=found(3, 18, 0.06, 0.39, unit="item"))
        ],
        "generators": [ReviewedGenerator(generator="writer", rejection=found(3, 18, 0.05, 0.4, unit="item"))],
    }
    return ReviewRecord(**given | changes)


def page(record):
    return render_stress_pages([report(review=record)])["index.html"]


def plain(text):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text))


def test_the_line_says_how_many_by_whom_and_what_became_of_them():
    assert review_words(review()) == (
        "18 of 24 generated texts were reviewed, by 2 people: 3 rejected, 2 edited, 1 relabeled, "
        "1 decided by an adjudicator; 6 undecided, included"
    )
    excluded = review(policy="exclude", excluded=6, people=1, adjudicated=0, edited=0, relabelled=0)
    assert review_words(excluded).endswith("by 1 person: 3 rejected; 6 undecided, excluded")
    nobody = review(reviewed=0, people=0, rejected=0, edited=0, relabelled=0, adjudicated=0, undecided=24)
    assert review_words(nobody) == "0 of 24 generated texts were reviewed; 24 undecided, included"
    assert review_words(review(undecided=0)).endswith("; none undecided")


def test_agreement_has_its_interval_or_the_reason():
    assert agreement_words(review()) == (
        "Agreement between reviewers: 94% [74, 99] (17/18); Krippendorff's alpha 0.81 [0.31, 0.97] (18 items)"
    )
    assert agreement_words(review(agreement=NONE, alpha=NONE)) == (
        "Agreement between reviewers: undefined, no item was decided by two people"
    )
    constant = Undefined(reason="all decisions are one")
    assert agreement_words(review(alpha=constant)).endswith("alpha undefined, all decisions are one")
    bare = replace(found(1, 2, 0.1, 0.9), interval=None)
    assert rate_words(bare) == "50% without an interval (1/2)"
    assert coefficient_words(bare) == "0.50 without an interval (2 pairs)"


def test_the_page_has_every_figure_with_its_parts():
    text = plain(page(review()))
    for words in (
        "Generated 24",
        "Reviewed 18",
        "Reviewers 2, 2 per text",
        "Decisions 36, 34 blind, 2 assisted",
        "Rejected 3",
        "Edited 2",
        "Relabeled 1",
        "Adjudicated 1",
        "Undecided 6",
        "94% [74, 99] 17/18; 95%, cluster-Wilson over originals",
        "0.81 [0.31, 0.97] n = 18",
        "undefined: no item was decided by two people excluded: 18 fewer than two people decided",
        "paraphrase 17% [6, 39] 3/18",
        "generator writer 17% [5, 40] 3/18",
        "are included",
    ):
        assert words in text, words
    assert "are excluded, as set in the study file" in plain(page(review(policy="exclude", excluded=6)))
    assert "Undecided 6, 6 excluded" in plain(page(review(policy="exclude", excluded=6)))


def test_without_a_review_nothing_is_said():
    assert "Human review" not in page(None)
    assert "Review:" not in render_stress_markdown(report())


def test_judges_of_one_study_share_it_and_others_have_their_own():
    first, second = list(JUDGES)[:2]
    one, other = report(first, review=review()), report(second, review=review(reviewed=17))
    index = render_stress_pages([one, other])["index.html"]
    assert index.count('aria-labelledby="review"') == 1
    assert "Reviewed 18" in plain(index)
    assert "Reviewed 17" in plain(index)
    index = render_stress_pages([one, report(second, review=review())])["index.html"]
    assert plain(index).count("Reviewed 18") == 1


def test_the_card_has_two_lines_and_keeps_to_its_length():
    card = render_stress_markdown(report(review=review()))
    assert "- Review: 18 of 24 generated texts were reviewed, by 2 people: 3 rejected" in card
    assert "- Agreement between reviewers: 94%" in card
    assert len(card.splitlines()) <= 60


def test_the_record_keeps_it():
    given = report(review=review())
    assert StressReport.model_validate_json(record_json(given)) == given
    # Records of before there were reviews are read as they are.
    assert StressReport.model_validate_json(record_json(report())).review is None


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ({"rejected_by_review": 5}, "0 of 5 generated texts remain: 5 rejected by reviewers"),
        ({"excluded": 5, "undecided": 5}, "0 of 5 generated texts remain: 5 excluded until reviewers decide"),
        (
            {"rejected_by_review": 2, "excluded": 3},
            "0 of 5 generated texts remain: 2 rejected by reviewers; 3 excluded until reviewers decide",
        ),
        ({"rejected_by_review": 4}, ""),
    ],
)
def test_a_test_that_people_left_nothing_of_says_so(made, words):
    test = stress_test("paraphrase")
    test = test.model_copy(update={"made": test.made.model_copy(update={"proved": 0, "accepted": 5} | made)})
    assert why_not_made(test) == words


BRIEF = small().model_copy(update={"review": review()})


def section(given):
    """The part of the index that is about people, by its tags and its text."""
    index = render_stress_pages([given])["index.html"]
    source = index[index.index('<section aria-labelledby="review">') :]
    return Page(source[: source.index("</section>") + len("</section>")])


@pytest.fixture(scope="module")
def harmless():
    return section(infected(BRIEF, "harmless", structure=False)).skeleton


@pytest.mark.parametrize("payload", PAYLOADS)
def test_names_in_it_are_inert(payload, harmless):
    given = infected(BRIEF, payload, structure=False)
    assert given.review.generators[0].generator == given.review.tests[0].test == payload
    shown = section(given)
    assert shown.skeleton == harmless
    assert inert(payload) in shown.text
