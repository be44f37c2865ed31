"""Transcripts, disputes and the owner's page in a real browser; what axe finds; and whether the pages fit."""

import json

import pytest

from umpirical.review.records import ReviewChoice

from . import samples
from .browsing import home_of, item_shown, press, sign_in, signed_in

pytestmark = pytest.mark.browser


def disputed(served, *items):
    """A review of items that ana and ben disagree on."""
    review = served(*items, overlap=2)
    for item in items:
        label = item.labels[0] if item.labels else ""
        for name, choice in (
            ("ana", ReviewChoice("edit", text="A better text.", label=label, comment="Too stiff.")),
            ("ben", ReviewChoice("reject", reason="meaning")),
        ):
            review.desk.next(name)
            review.desk.decide(name, item.id, choice)
    return review


def test_a_transcript_folds_what_is_unchanged(browser, served):
    review = served(samples.transcript())
    with signed_in(browser, review) as page:
        cards = page.locator("details.message")
        assert [card.get_attribute("open") is not None for card in cards.all()] == [False, False, True, False, True]
        assert page.locator("details.message.changed .inline ins").all_inner_texts() == ["orders", "not "]
        assert "search" in cards.nth(2).locator("summary").first.inner_text()


@pytest.mark.parametrize("script", [True, False])
def test_a_transcript_is_edited_message_by_message(browser, served, script):
    review = served(samples.transcript(), samples.paraphrase())
    with signed_in(browser, review, java_script_enabled=script) as page:
        page.locator("details.message").nth(2).get_by_text("Edit this message").click()
        arguments = page.locator('textarea[name="m2.call0"]')
        assert json.loads(arguments.input_value()) == {"query": "orders", "limit": 5}
        arguments.fill('{"query": "half')
        page.locator("details.message").nth(4).get_by_text("Edit this message").click()
        page.locator('textarea[name="m4.content"]').fill("It was not found, sorry.")
        page.get_by_role("button", name="Save edit").click()
        refused = page.get_by_role("alert")
        refused.wait_for()
        assert "Message 3, search: this is not valid JSON" in refused.inner_text()
        # Nothing that was typed is lost, and all of it is visible.
        assert arguments.input_value() == '{"query": "half'
        assert page.locator('textarea[name="m4.content"]').input_value() == "It was not found, sorry."
        assert list(review.desk.decisions()) == []
        arguments.fill('{"query": "all orders"}')
        page.get_by_role("button", name="Save edit").click()
        page.locator('#screen[data-item="paraphrase-0"]').wait_for(state="attached")
    [saved] = [each.text for each in review.desk.revisions() if each.author == "ana"]
    messages = json.loads(saved)
    assert json.loads(messages[2]["tool_calls"][0]["function"]["arguments"]) == {"query": "all orders"}
    assert messages[4]["content"] == "It was not found, sorry."
    assert messages[:2] == json.loads(samples.transcript().after)[:2]


def test_e_opens_the_editor_of_the_first_changed_message(browser, served):
    review = served(samples.transcript())
    with signed_in(browser, review) as page:
        page.keyboard.press("e")
        assert page.evaluate("document.activeElement.name") == "m2.call0"
        page.keyboard.press("Escape")
        assert page.locator("details.edit[open]").count() == 0


@pytest.mark.parametrize("script", [True, False])
def test_an_adjudicator_sides_with_one_of_them(browser, served, script):
    review = disputed(served, samples.paraphrase())
    with signed_in(
        browser, review, name="carl", role="adjudicator", path="/adjudicate", java_script_enabled=script
    ) as page:
        sides = page.locator(".disputant")
        assert [side.locator(".verdict").inner_text() for side in sides.all()] == [
            "accepted with an edit",
            "rejected: wrong edit",
        ]
        assert "Too stiff." in sides.first.inner_text()
        page.get_by_role("button", name="Agree with ana").click()
        page.get_by_role("heading", name="No disputes for you").wait_for()
    [outcome] = review.desk.outcomes()
    assert (outcome.state, outcome.text, outcome.adjudicator) == ("accepted", "A better text.", "carl")


def test_an_adjudicator_decides_by_keys(browser, served):
    items = [samples.paraphrase(number) for number in range(4)]
    review = disputed(served, *items)
    with signed_in(browser, review, name="carl", role="adjudicator", path="/adjudicate") as page:
        order = []
        for keys in (["y"], ["a"], ["r", "6"]):
            order.append(item_shown(page))
            press(page, *keys)
        order.append(item_shown(page))
        page.keyboard.press("e")
        page.keyboard.press("Control+A")
        page.keyboard.type("Mine.")
        press(page, "Control+Enter")
    outcomes = {each.item: (each.state, each.text) for each in review.desk.outcomes()}
    assert [outcomes[item] for item in order] == [
        ("rejected", ""),
        ("accepted", items[[each.id for each in items].index(order[1])].after),
        ("rejected", ""),
        ("accepted", "Mine."),
    ]


@pytest.mark.parametrize("script", [True, False])
def test_a_dispute_is_left_for_later_settled_and_undone(browser, served, script):
    review = disputed(served, samples.paraphrase(), samples.paraphrase(1))
    carl = {"name": "carl", "role": "adjudicator", "path": "/adjudicate"}
    with signed_in(browser, review, **carl, java_script_enabled=script) as page:
        first = item_shown(page)
        page.get_by_role("link", name="Decide later").click()
        page.locator(f'#screen:not([data-item="{first}"])').wait_for(state="attached")
        second = item_shown(page)
        page.get_by_role("button", name="Accept").click()
        page.locator(f'#screen[data-item="{first}"]').wait_for(state="attached")
        assert {each.item: each.state for each in review.desk.outcomes()} == {first: "disputed", second: "accepted"}
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("link", name="Decide later").wait_for()
    assert [each.state for each in review.desk.outcomes()] == ["disputed", "disputed"]


def test_a_dispute_over_a_transcript_shows_the_messages_that_were_changed(browser, served):
    item = samples.transcript()
    review = served(item, overlap=2)
    text = item.after.replace("not found", "never found")
    for name, choice in (("ana", ReviewChoice("edit", text=text)), ("ben", ReviewChoice("accept"))):
        review.desk.next(name)
        review.desk.decide(name, item.id, choice)
    with signed_in(browser, review, name="carl", role="adjudicator", path="/adjudicate") as page:
        assert page.locator(".disputant .message").count() == 1
        assert page.locator(".disputant .inline ins").inner_text() == "never"
        # There is one editor, for the generator's text.
        assert page.locator('textarea[name="m4.content"]').count() == 1
        press(page, "x")
    [outcome] = review.desk.outcomes()
    assert outcome.text == text


def test_a_dispute_that_someone_else_settled_is_said(browser, served):
    review = disputed(served, samples.paraphrase())
    with signed_in(browser, review, name="carl", role="adjudicator", path="/adjudicate") as page:
        review.desk.adjudicate("dora", "paraphrase-0", ReviewChoice("accept"))
        page.keyboard.press("a")
        page.get_by_role("alert").wait_for()
        assert "no longer disputed" in page.get_by_role("alert").inner_text()
    [outcome] = review.desk.outcomes()
    assert outcome.adjudicator == "dora"


def test_an_owner_sees_how_far_it_is_and_ends_access(browser, served):
    review = disputed(served, samples.paraphrase())
    review.people.invite("ana", "reviewer")
    with signed_in(browser, review, name="olga", role="owner", path="/people") as page:
        tiles = dict(zip(page.locator(".tiles dt").all_inner_texts(), page.locator(".tiles dd").all(), strict=True))
        assert tiles["Items"].inner_text() == "1"
        assert tiles["Disputed"].inner_text() == "1"
        page.get_by_role("button", name="End access of ana").click()
        page.get_by_role("row", name="ana").get_by_text("ended").wait_for()
    assert [(each.name, each.revoked) for each in review.people.all()] == [("ana", True), ("olga", False)]


@pytest.mark.parametrize("script", [True, False])
def test_a_link_leads_to_the_first_item(browser, served, script):
    review = served(samples.paraphrase())
    context = browser.new_context(java_script_enabled=script)
    page = context.new_page()
    page.goto(f"{review.url}/join/{review.people.invite('cleo', 'reviewer')}")
    page.get_by_role("button", name="Start reviewing").click()
    page.get_by_role("heading", name="Is the meaning unchanged?").wait_for()
    assert page.url == f"{home_of(page)}/"
    assert page.get_by_text("Accept means yes").is_visible()
    context.close()


def looked_at(served):
    review = disputed(served, samples.labelled())
    review.desk.add([samples.labelled(1), samples.transcript(2), samples.sensitive(3)])
    review.desk.set_guideline("When in doubt, reject.")
    return review


PAGES = {
    "review": ("dora", "reviewer", "/", ()),
    "decided": ("ana", "reviewer", "/item/labelled-0", ()),
    "editing": ("dora", "reviewer", "/", ("e",)),
    "rejecting": ("dora", "reviewer", "/", ("r",)),
    "list": ("ana", "reviewer", "/list", ()),
    "dispute": ("carl", "adjudicator", "/adjudicate", ()),
    "people": ("olga", "owner", "/people", ()),
    "join": ("", "", "/join/abc", ()),
    "nobody": ("", "", "/nowhere", ()),
}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_wrong_and_the_pages_fit(browser, served, scheme, width):
    """With everything unfolded, because axe skips what is folded."""
    from axe_playwright_python.sync_playwright import Axe

    review = looked_at(served)
    found = {}
    for name, (person, role, path, keys) in PAGES.items():
        with signed_in(
            browser, review, name=person, role=role, path=path, width=width, color_scheme=scheme, bypass_csp=True
        ) as page:
            for key in keys:
                page.keyboard.press(key)
            page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
            violations = Axe().run(page).response["violations"]
            found[name] = [(each["id"], [node["html"] for node in each["nodes"]]) for each in violations]
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name
    assert found == {name: [] for name in PAGES}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("role", "path"), [("reviewer", "/"), ("adjudicator", "/adjudicate")])
def test_axe_finds_nothing_wrong_with_an_empty_desk(browser, served, scheme, role, path):
    from axe_playwright_python.sync_playwright import Axe

    review = served()
    with signed_in(browser, review, role=role, path=path, color_scheme=scheme, bypass_csp=True) as page:
        assert Axe().run(page).response["violations"] == []


def test_the_buttons_are_on_the_first_screen_of_a_long_text(browser, served):
    review = served(samples.long_item())
    with signed_in(browser, review) as page:
        for name in ("Accept", "Skip", "wrong edit"):
            box = page.get_by_role("button", name=name).bounding_box()
            assert box["y"] + box["height"] < 900
        page.mouse.wheel(0, 400)
        page.wait_for_timeout(200)
        assert page.get_by_role("button", name="Accept").bounding_box()["y"] > 0
    with signed_in(browser, review, width=390) as page:
        box = page.get_by_role("button", name="Accept").bounding_box()
        assert box["y"] + box["height"] <= 900


def test_nothing_is_fetched_from_elsewhere(browser, served):
    review = served(samples.paraphrase(), samples.paraphrase(1))
    context = browser.new_context()
    home = sign_in(context, review, "ana", "reviewer")
    page, addresses = context.new_page(), []
    page.on("request", lambda request: addresses.append(request.url))
    page.goto(f"{home}/")
    press(page, "a")
    context.close()
    assert addresses
    assert [url for url in addresses if not url.startswith((review.url, "data:"))] == []
