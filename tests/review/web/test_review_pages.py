"""The review screen in a real browser, by keyboard alone."""

import pytest

from . import samples
from .browsing import home_of, intercept, item_shown, press, signed_in, unblurred

pytestmark = pytest.mark.browser


def current(served):
    """The decisions that stand, by item: kind, label, reason."""
    return {each.item: (each.kind, each.label, each.reason) for each in served.desk.decisions() if not each.undone}


def test_a_reviewer_accepts_skips_rejects_and_undoes_by_keys(browser, served):
    review = served(*(samples.paraphrase(number) for number in range(4)))
    with signed_in(browser, review) as page:
        assert page.locator("#left").inner_text() == "4"
        press(page, "a")
        assert page.locator(".last").inner_text() == "Your last decision: accepted"
        press(page, "r", "3")
        assert "rejected: unnatural" in page.locator(".last").inner_text()
        assert current(review) == {
            "paraphrase-0": ("accept", "", None),
            "paraphrase-1": ("reject", "", "unnatural"),
        }
        press(page, "u")
        assert item_shown(page) == "paraphrase-1"
        assert current(review) == {"paraphrase-0": ("accept", "", None)}
        press(page, "a")
        press(page, "s")
        press(page, "a")
        assert page.get_by_role("heading", level=1).inner_text() == "You have decided all your items"
    assert {item: kind for item, (kind, _, _) in current(review).items()} == {
        "paraphrase-0": "accept",
        "paraphrase-1": "accept",
        "paraphrase-2": "skip",
        "paraphrase-3": "accept",
    }


def test_the_bar_and_the_time_left_follow_the_decisions(browser, served):
    review = served(*(samples.paraphrase(number) for number in range(6)))
    with signed_in(browser, review) as page:
        for done in range(4):
            bar = page.get_by_role("progressbar", name="Items that you have decided")
            assert (bar.get_attribute("value"), bar.get_attribute("max")) == (str(done), "6")
            assert ("minute" in page.locator(".left").inner_text()) == (done >= 3)
            press(page, "a")


def test_decided_items_are_found_again_by_a_search(browser, served):
    review = served(*(samples.paraphrase(number) for number in range(4)))
    with signed_in(browser, review) as page:
        press(page, "a")
        press(page, "r", "1")
        page.get_by_role("link", name="Your items").click()
        # Letters are letters here, and Enter searches.
        page.get_by_role("searchbox").press_sequentially("parcel 1 le")
        page.keyboard.press("Enter")
        page.wait_for_url("**/list?q=*")
        rows = page.locator(".given tbody tr")
        assert rows.count() == 1
        assert "rejected: wrong edit" in rows.inner_text()
        rows.get_by_role("link").click()
        assert item_shown(page) == "paraphrase-1"
    assert [each.kind for each in review.desk.decisions()] == ["accept", "reject"]


def test_undo_is_within_reach_of_the_thumb_on_a_phone(browser, served):
    review = served(samples.paraphrase(), samples.long_item())
    with signed_in(browser, review, width=390) as page:
        press(page, "a")
        button = page.locator(".verdicts").get_by_role("button", name="Undo")
        box = button.bounding_box()
        assert box["y"] + box["height"] <= 900
        button.click()
        page.locator('#screen[data-item="paraphrase-0"]').wait_for(state="attached")
    assert all(each.undone for each in review.desk.decisions())


def test_the_time_from_shown_to_decided_is_recorded(browser, served):
    review = served(samples.paraphrase())
    with signed_in(browser, review) as page:
        # The page's clock stands still, except for the time that the test adds.
        page.clock.install(time=0)
        page.clock.pause_at(1_000)
        page.reload()
        page.clock.run_for(90_000)
        press(page, "a")
    [decision] = review.desk.decisions()
    assert decision.milliseconds == 90_000


def test_a_label_is_chosen_before_an_item_is_accepted(browser, served):
    review = served(samples.labelled(), samples.written())
    with signed_in(browser, review) as page:
        page.keyboard.press("a")
        page.wait_for_timeout(200)
        assert item_shown(page) == "labelled-0"
        assert page.locator("#live").inner_text() == "Choose a label first."
        assert page.locator(".labels.wanted").count() == 1
        assert list(review.desk.decisions()) == []
        press(page, "2", "a")
        # Labels that are digits are their own keys.
        press(page, "4", "a")
    assert current(review) == {"labelled-0": ("accept", "pass", None), "written-0": ("accept", "4", None)}


def test_escape_leaves_rejecting_and_digits_are_labels_again(browser, served):
    review = served(samples.labelled())
    with signed_in(browser, review) as page:
        page.keyboard.press("r")
        assert page.locator("#reasons.asking").count() == 1
        page.keyboard.press("Escape")
        assert page.locator("#reasons.asking").count() == 0
        page.keyboard.press("1")
        assert page.get_by_role("radio", name="fail").is_checked()
        assert list(review.desk.decisions()) == []


def test_an_edit_is_typed_saved_and_shown_again(browser, served):
    review = served(samples.plain(), samples.paraphrase())
    with signed_in(browser, review) as page:
        page.keyboard.press("e")
        editor = page.locator("textarea[name=text]")
        # Hidden characters are spelled out, and saved as they were.
        assert editor.input_value() == "one  two three\n\nfo⟦U+200B⟧ur⟦U+202E⟧"
        page.keyboard.press("Control+End")
        page.keyboard.type(" as d")
        press(page, "Control+Enter")
        [decision] = review.desk.decisions()
        assert decision.kind == "edit"
        assert [each.text for each in review.desk.revisions() if each.author == "ana"] == [
            "one  two three\n\nfo\u200bur\u202e as d"
        ]
        page.keyboard.press("k")
        page.locator('#screen[data-item="plain-0"]').wait_for(state="attached")
        assert page.locator(".said").inner_text() == "You accepted with an edit"
        assert page.locator("textarea[name=text]").input_value().endswith("⟦U+202E⟧ as d")
        press(page, "j")
        assert item_shown(page) == "paraphrase-0"


def test_a_decision_is_changed_by_going_back(browser, served):
    review = served(samples.labelled(), samples.labelled(1), samples.labelled(2))
    with signed_in(browser, review) as page:
        press(page, "1", "a")
        press(page, "1", "a")
        press(page, "k")
        press(page, "k")
        assert item_shown(page) == "labelled-0"
        assert page.get_by_role("radio", name="fail").is_checked()
        # What was hidden is shown now.
        assert "Intended label" in page.locator(".revealed").inner_text()
        press(page, "2", "a")
        assert item_shown(page) == "labelled-2"
        press(page, "k")
        press(page, "k")
        press(page, "r", "2")
    assert [(each.item, each.kind, each.label) for each in review.desk.decisions()] == [
        ("labelled-0", "accept", "fail"),
        ("labelled-1", "accept", "fail"),
        ("labelled-0", "accept", "pass"),
        ("labelled-1", "reject", ""),
    ]


def test_what_is_accepted_is_what_is_shown(browser, served):
    """Someone who returns to their own edit, perhaps to choose another label, accepts that edit."""
    review = served(samples.labelled(), samples.labelled(1))
    with signed_in(browser, review) as page:
        page.keyboard.press("1")
        page.keyboard.press("e")
        page.keyboard.press("Control+A")
        page.keyboard.type("Mine.")
        press(page, "Control+Enter")
        press(page, "k")
        assert "With your edit" in page.locator(".paper").inner_text()
        press(page, "2", "a")
    outcomes = {each.item: (each.state, each.text, each.label) for each in review.desk.outcomes()}
    assert outcomes["labelled-0"] == ("accepted", "Mine.", "pass")


def test_a_comment_goes_with_the_decision_and_keys_are_letters_in_it(browser, served):
    review = served(samples.paraphrase())
    with signed_in(browser, review) as page:
        page.get_by_text("Add a comment").click()
        page.locator("#comment").focus()
        page.keyboard.type("as is, r1?")
        page.keyboard.press("Control+Enter")
        page.keyboard.press("Escape")
        assert list(review.desk.decisions()) == []
        press(page, "r", "6")
    [decision] = review.desk.decisions()
    assert (decision.kind, decision.reason, decision.comment) == ("reject", "other", "as is, r1?")


def test_typing_is_not_lost_by_accepting(browser, served):
    review = served(samples.paraphrase())
    with signed_in(browser, review) as page:
        page.keyboard.press("e")
        page.keyboard.type("Hello. ")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.get_by_role("alert").wait_for()
        assert "You have changed the text" in page.get_by_role("alert").inner_text()
        assert page.locator("textarea[name=text]").input_value().startswith("Hello. ")
        assert list(review.desk.decisions()) == []


@pytest.mark.parametrize("make", [samples.paraphrase, samples.plain, samples.transcript])
def test_every_view_is_the_same_whether_loaded_or_put_in_place(browser, served, make):
    review = served(samples.paraphrase(9), make())

    def views(page):
        found = [page.locator(".paper .text.inline").evaluate_all("all => all.map((one) => one.outerHTML)")]
        for _ in range(2):
            page.keyboard.press("d")
            found.append(page.locator(".side, .clean").evaluate_all("all => all.map((one) => one.outerHTML)"))
        page.keyboard.press("d")
        return found

    with signed_in(browser, review) as page:
        press(page, "a")
        put = views(page)
        page.reload()
        assert item_shown(page) == make().id
        assert views(page) == put
        assert all(put)


def test_the_view_is_cycled_and_remembered(browser, served):
    review = served(samples.paraphrase(), samples.paraphrase(1))
    with signed_in(browser, review) as page:
        assert page.locator(".text.inline").is_visible()
        page.keyboard.press("d")
        assert page.locator(".side").is_visible()
        assert not page.locator(".text.inline").is_visible()
        press(page, "a")
        assert page.locator(".side").is_visible()
        page.keyboard.press("d")
        assert page.locator(".text.clean").is_visible()
        assert page.locator(".text.clean").inner_text() == samples.paraphrase(1).after


def test_changes_are_marked_by_line_and_sign(browser, served):
    review = served(samples.plain())
    with signed_in(browser, review) as page:
        line = "one => getComputedStyle(one).textDecorationLine"
        text = page.locator(".text.inline")
        assert text.locator("ins").first.evaluate(line) == "underline"
        assert text.locator("del").first.evaluate(line) == "line-through"
        shown = text.inner_text()
        assert all(sign in shown for sign in ("·", "⏎", "⇥", "⟦U+200B⟧", "⟦U+202E⟧"))
        assert not any(char in shown for char in "\u200b\u202e")


def test_harmful_text_is_blurred_until_asked_for(browser, served):
    review = served(samples.sensitive(), samples.sensitive(1))
    blur = "one => getComputedStyle(one).filter"
    with signed_in(browser, review) as page:
        text = page.locator(".text.inline")
        assert text.evaluate(blur) == "blur(7px)"
        assert page.locator(".scrolling").first.evaluate(blur) == "blur(7px)"
        page.keyboard.press("v")
        unblurred(page, ".text.inline")
        press(page, "a")
        assert page.locator(".text.inline").evaluate(blur) == "blur(7px)"


def test_the_focus_is_on_the_heading_of_the_new_item(browser, served):
    review = served(samples.paraphrase(), samples.labelled())
    with signed_in(browser, review) as page:
        press(page, "a")
        assert page.evaluate("document.activeElement.textContent") == samples.labelled().question


def test_keys_pressed_while_a_decision_is_under_way_decide_nothing(browser, served):
    review = served(*(samples.paraphrase(number) for number in range(6)))
    with signed_in(browser, review) as page:

        def late(route):
            page.wait_for_timeout(200)
            route.continue_()

        intercept(page, "**/decide", late)
        asked = []
        page.on("request", lambda request: asked.append((request.method, request.url.removeprefix(home_of(page)))))
        page.evaluate(
            """const how = {bubbles: true, cancelable: true};
            for (const key of ["a", "a", "s", "u", "Enter", "k", "r", "1", "a"]) {
                document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key, ...how}));
            }"""
        )
        page.locator('#screen[data-item="paraphrase-1"]').wait_for(state="attached")
        page.wait_for_timeout(200)
        assert item_shown(page) == "paraphrase-1"
    assert [(each.item, each.kind) for each in review.desk.decisions()] == [("paraphrase-0", "accept")]
    # The page may connect to its event stream at any time, which decides nothing.
    assert [each for each in asked if each != ("GET", "/events")] == [("POST", "/decide")]


def test_a_key_that_is_held_down_decides_once(browser, served):
    review = served(*(samples.paraphrase(number) for number in range(6)))
    with signed_in(browser, review) as page:
        page.keyboard.down("a")
        page.locator('#screen[data-item="paraphrase-1"]').wait_for(state="attached")
        for _ in range(10):
            page.keyboard.down("a")
        page.keyboard.up("a")
        page.wait_for_timeout(200)
    assert len(list(review.desk.decisions())) == 1


def test_a_server_that_is_gone_loses_nothing_that_was_typed(browser, served):
    review = served(samples.paraphrase())
    with signed_in(browser, review) as page:
        intercept(page, "**/decide", lambda route: route.abort())
        page.keyboard.press("e")
        page.keyboard.type("Hello. ")
        page.keyboard.press("Control+Enter")
        page.locator("#trouble:not(:empty)").wait_for()
        assert "did not answer" in page.locator("#trouble").inner_text()
        page.unroute("**/decide")
        page.locator("textarea[name=text]").focus()
        page.keyboard.press("Control+Enter")
        page.get_by_role("heading", name="You have decided").wait_for()
    [decision] = review.desk.decisions()
    assert decision.kind == "edit"


def test_who_is_signed_out_keeps_what_was_typed(browser, served):
    review = served(samples.paraphrase())
    with signed_in(browser, review) as page:
        page.keyboard.press("e")
        page.keyboard.type("Hello. ")
        review.people.revoke("ana")
        page.keyboard.press("Control+Enter")
        page.locator("#trouble", has_text="You are not signed in").wait_for()
        assert page.locator("textarea[name=text]").input_value().startswith("Hello. ")
    assert list(review.desk.decisions()) == []


def test_the_keys_are_listed_over_whatever_is_on_the_screen(browser, served):
    review = served(samples.long_item())
    with signed_in(browser, review) as page:
        page.keyboard.press("?")
        box = page.locator(".keys dl").bounding_box()
        assert box["y"] + box["height"] <= 900
        page.keyboard.press("Escape")
        assert not page.locator(".keys dl").is_visible()


def test_new_items_arrive_while_the_page_is_open(browser, served):
    waiting = []

    def feed(desk):
        brought = [waiting.pop() for _ in list(waiting)]
        return desk.add(brought)

    review = served(samples.paraphrase(), feed=feed)
    with signed_in(browser, review) as page:
        waiting += [samples.paraphrase(number) for number in (1, 2, 3)]
        page.get_by_text("+3 arrived").wait_for()
        assert page.locator("#left").inner_text() == "4"
        for _ in range(4):
            press(page, "a")
        assert "More items may appear" in page.locator("main").inner_text()
        waiting.append(samples.paraphrase(4))
        page.locator('#screen[data-item="paraphrase-4"]').wait_for(state="attached")


def test_an_item_that_arrives_while_a_decision_is_saved_is_shown(browser, served):
    """The page that comes back does not have it yet, and nothing else would tell of it."""
    waiting = []

    def feed(desk):
        return desk.add([waiting.pop() for _ in list(waiting)])

    def slowly(route):
        response = route.fetch()
        waiting.append(samples.paraphrase(1))
        page.get_by_text("+1 arrived").wait_for()
        route.fulfill(response=response)

    review = served(samples.paraphrase(), feed=feed)
    with signed_in(browser, review) as page:
        intercept(page, "**/decide", slowly)
        page.keyboard.press("a")
        page.locator('#screen[data-item="paraphrase-1"]').wait_for(state="attached")


def test_without_a_feed_an_empty_desk_says_that_no_more_come(browser, served):
    review = served()
    with signed_in(browser, review) as page:
        assert page.get_by_role("heading", level=1).inner_text() == "Nothing for you to decide"
        assert "No more items are coming" in page.locator("main").inner_text()


def test_everything_works_without_script(browser, served):
    review = served(samples.labelled(), samples.paraphrase(), samples.paraphrase(1))
    with signed_in(browser, review, java_script_enabled=False) as page:
        page.get_by_role("radio", name="fail").check()
        page.get_by_role("button", name="Accept").click()
        assert item_shown(page) == "paraphrase-0"
        assert page.locator(".last").inner_text() == "Your last decision: accepted"
        page.get_by_role("button", name="Undo").click()
        assert item_shown(page) == "labelled-0"
        page.get_by_role("button", name="unsafe").click()
        page.get_by_text("Edit the text").click()
        page.locator("textarea[name=text]").fill("Another\ntext.")
        page.get_by_role("button", name="Save edit").click()
        assert item_shown(page) == "paraphrase-1"
        page.get_by_role("button", name="Skip").click()
        page.get_by_role("link", name="Back").click()
        assert "already decided" in page.locator(".test").inner_text()
        page.get_by_label("side by side").check()
        assert page.locator(".side").is_visible()
    assert current(review) == {
        "labelled-0": ("reject", "", "harmful"),
        "paraphrase-0": ("edit", "", None),
        "paraphrase-1": ("skip", "", None),
    }
    assert [each.text for each in review.desk.revisions() if each.author == "ana"] == ["Another\ntext."]
