"""Hostile text on every page of the review, in a real browser: it is shown to the letter, and does nothing."""

from urllib.parse import quote

import pytest

from tests.hostile import HOSTILE, NAMES
from tests.review.web.serving import serving
from umpirical.review.records import ReviewChoice
from umpirical.review.web import requests as pages
from umpirical.text.inert import inert

from .hostile_review import (
    ADJUDICATOR,
    EDITOR,
    OWNER,
    REVIEWER,
    hostile_items,
    hostile_transcript,
    say,
    watched,
)

pytestmark = pytest.mark.browser


@pytest.fixture
def review(tmp_path):
    with serving(tmp_path, hostile_items(), overlap=2, title="\n".join(HOSTILE)) as found:
        yield found


def texts(page, place):
    return page.locator(place).evaluate_all("all => all.map((one) => one.textContent)")


def shown(items):
    return [inert(each) for each in items]


def check_item(page, item):
    """Checks that every text of the item is on the page, to the letter."""
    assert page.locator("h1").text_content() == inert(item.question)
    assert texts(page, ".labels label > span") == shown(item.labels)
    assert texts(page, ".context .scrolling")[:2] == shown([item.task, item.rubric])
    assert texts(page, ".checks li .quiet") == shown(item.labels)
    assert page.locator(".paper textarea").input_value().endswith(inert(item.after.replace("⟦U+", "⟦U+27E6⟧U+"))[-200:])


def go_through(page):
    """Looks at every open item in two views and its editor, and rejects it. Returns the ids."""
    seen = []
    while item := page.locator("#screen").get_attribute("data-item"):
        seen.append(item)
        for key in ("d", "e", "Escape", "r", "6"):
            page.keyboard.press(key)
        page.locator(f'#screen:not([data-item="{item}"])').wait_for(state="attached")
    return seen


def test_a_reviewer_meets_text_and_nothing_else(browser, review):
    items = hostile_items()
    say(review, items)
    with watched(browser, review, REVIEWER, "reviewer") as (page, harm, home):
        page.goto(f"{home}/")
        check_item(page, items[0])
        assert go_through(page) == [item.id for item in items]
        # As loaded pages, with what others said: names, comments, texts, the target and the opinions.
        for item in items:
            page.goto(f"{home}/item/{item.id}")
            check_item(page, item)
            assert page.locator(".paper .clean").first.text_content() == inert(item.after)
            assert texts(page, ".said .small")[-1:] == shown(["\n".join(item.labels)])
            assert inert(item.target) in texts(page, ".revealed dd")
            assert inert(" · ".join(item.opinions)) in texts(page, ".revealed dd")
        assert page.locator(".who").text_content().startswith(REVIEWER)
    assert harm == []


def test_an_adjudicator_meets_text_and_nothing_else(browser, review):
    items = hostile_items()
    say(review, items)
    for item in items:
        review.desk.next(REVIEWER)
        review.desk.decide(REVIEWER, item.id, ReviewChoice("reject", reason="harmful", comment="\n".join(item.labels)))
    with watched(browser, review, ADJUDICATOR, "adjudicator") as (page, harm, home):
        page.goto(f"{home}/adjudicate")
        for item in items:
            assert page.locator("#screen").get_attribute("data-item") == item.id
            assert texts(page, ".disputant h3") == [EDITOR, REVIEWER]
            assert texts(page, ".disputant .quote") == shown(["\n".join(item.labels)] * 2)
            key = page.locator(".disputant kbd").first.text_content()
            page.keyboard.press(key)
            page.locator(f'#screen:not([data-item="{item.id}"])').wait_for(state="attached")
    assert harm == []
    assert {(one.state, one.adjudicator) for one in review.desk.outcomes()} == {("accepted", ADJUDICATOR)}


def test_people_are_names_and_nothing_else(browser, review):
    for name in NAMES:
        review.people.invite(name, "reviewer")
    with watched(browser, review, OWNER, "owner") as (page, harm, home):
        page.goto(f"{home}/people")
        assert set(texts(page, "tbody th")) == set(shown(NAMES)) | {OWNER}
        page.get_by_role("button", name=f"End access of {REVIEWER}", exact=True).first.click()
        page.locator("tbody tr", has=page.get_by_text("ended", exact=True)).first.wait_for()
    assert harm == []
    assert [one.name for one in review.people.all() if one.revoked] == [REVIEWER]


def test_a_transcript_is_shown_and_nothing_else(browser, tmp_path):
    item = hostile_transcript()
    with serving(tmp_path, [item]) as review, watched(browser, review, REVIEWER, "reviewer") as (page, harm, home):
        page.goto(f"{home}/")
        page.evaluate("() => document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert page.locator("details.message").count() == 3
        assert page.locator('textarea[name="m0.content"]').count() == 1
        for key in ("d", "d", "d", "e", "Escape"):
            page.keyboard.press(key)
        assert inert("\n".join(HOSTILE)) in texts(page, ".message .clean")
    assert harm == []


def test_an_address_is_told_and_nothing_else(browser, review):
    with watched(browser, review, "", "") as (page, harm, home):
        for payload in HOSTILE[::16]:
            path = quote(payload.encode("utf-8", "replace")[:300], safe="")
            page.goto(f"{home}/join/{path}")
            page.goto(f"{home}/?said={path}")
    # The browser itself reports a page that is refused.
    assert [each for each in harm if not each.startswith("Failed to load resource")] == []


@pytest.fixture
def unescaped(monkeypatch):
    """Makes the mistake that the tests above are to catch."""
    mistaken = pages.environment().overlay(autoescape=False)
    monkeypatch.setattr(pages, "environment", lambda: mistaken)


@pytest.mark.usefixtures("unescaped")
@pytest.mark.parametrize("bypass_csp", [True, False])
def test_without_escaping_harm_is_done_and_noticed(browser, review, bypass_csp):
    """With the policy bypassed, scripts run; with it, they are stopped. Both are noticed."""
    with watched(browser, review, REVIEWER, "reviewer", bypass_csp=bypass_csp) as (page, harm, home):
        if bypass_csp:
            page.goto(f"{home}/")
            page.wait_for_function("() => 'fired' in window")
        else:
            with page.expect_console_message(lambda message: message.text.startswith("policy broken")):
                page.goto(f"{home}/")
        # Leaves time for what must not happen.
        page.wait_for_timeout(500)
    assert ("fired" in harm) is bypass_csp
    assert any(each.startswith("policy broken") for each in harm) is not bypass_csp


@pytest.mark.usefixtures("unescaped")
def test_without_escaping_the_policy_alone_is_not_enough(browser, review):
    """The page has elements where texts should be, and the checks above fail."""
    with watched(browser, review, REVIEWER, "reviewer") as (page, _, home):
        page.goto(f"{home}/")
        with pytest.raises(AssertionError):
            check_item(page, hostile_items()[0])
