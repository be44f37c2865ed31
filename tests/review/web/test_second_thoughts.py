"""People who decide twice or in two windows, or send what no page of ours would."""

import pytest

from . import samples
from .asking import ask
from .browsing import item_shown, press, signed_in


async def decide(served, session, item, kind, **fields):
    return await ask(served, "POST", "/decide", session=session, form={"item": item.id, "kind": kind, **fields})


def standing(served):
    return [(each.kind, each.revision) for each in served.desk.decisions() if not each.undone]


async def test_an_edit_can_be_taken_back_to_what_the_generator_wrote(served):
    item = samples.paraphrase()
    review = served(item)
    session = review.session()
    await ask(review, "POST", "/next", session=session, form={})
    assert (await decide(review, session, item, "edit", text="mine")).status == 303
    assert (await decide(review, session, item, "edit", text=item.after)).status == 303
    assert standing(review) == [("edit", 1), ("accept", 0)]
    assert [(found.state, found.edited) for found in review.desk.outcomes()] == [("accepted", False)]


async def test_a_comment_is_still_there_when_an_item_is_looked_at_again(served):
    item = samples.paraphrase()
    review = served(item)
    session = review.session()
    await ask(review, "POST", "/next", session=session, form={})
    await decide(review, session, item, "accept", text=item.after, comment="barely")
    answer = await ask(review, "GET", f"/item/{item.id}", session=session)
    assert 'maxlength="2000">\nbarely</textarea>' in answer.text


async def test_a_decision_made_by_an_old_guideline_is_asked_for_again(served):
    item = samples.paraphrase()
    review = served(item)
    session = review.session()
    review.desk.set_guideline("Keep what says the same.")
    await ask(review, "POST", "/next", session=session, form={})
    page = await ask(review, "GET", "/", session=session)
    assert 'name="guideline" value="1"' in page.text
    review.desk.set_guideline("Keep what says nearly the same.")
    answer = await decide(review, session, item, "accept", text=item.after, guideline="1")
    assert answer.status == 422
    assert "The guideline has changed" in answer.text
    assert 'name="guideline" value="2"' in answer.text
    assert standing(review) == []
    assert (await decide(review, session, item, "accept", text=item.after, guideline="2")).status == 303
    assert [each.guideline for each in review.desk.decisions()] == [2]


@pytest.mark.parametrize("label", ["9" * 5_000, "2", "-1", "\u0661", ""])
async def test_a_label_that_no_page_offers_is_refused(served, label):
    item = samples.labelled()
    review = served(item)
    session = review.session()
    await ask(review, "POST", "/next", session=session, form={})
    answer = await decide(review, session, item, "accept", label=label)
    assert (answer.status, "Choose a label first." in answer.text) == (422, True)
    assert standing(review) == []


async def test_an_undo_of_a_window_left_behind_takes_nothing_back(served):
    items = [samples.paraphrase(number) for number in range(3)]
    review = served(*items)
    session = review.session()
    for item in items[:2]:
        await ask(review, "POST", "/next", session=session, form={})
        await decide(review, session, item, "accept", text=item.after)
    stale = await ask(review, "POST", "/undo", session=session, form={"item": items[0].id})
    assert (stale.status, "Nothing was changed" in stale.text) == (409, True)
    assert len(standing(review)) == 2
    await ask(review, "POST", "/next", session=session, form={})
    page = await ask(review, "GET", "/", session=session)
    assert f'name="item" value="{items[1].id}"' in page.text
    assert (await ask(review, "POST", "/undo", session=session, form={"item": items[1].id})).status == 303
    assert len(standing(review)) == 1


@pytest.mark.browser
def test_digits_are_found_by_their_place_on_keyboards_that_have_them_with_shift(browser, served):
    review = served(samples.labelled(), samples.paraphrase())
    with signed_in(browser, review) as page:
        # On a French keyboard without Shift, the key for 2 types an accented e.
        page.locator("#screen").dispatch_event("keydown", {"key": "\u00e9", "code": "Digit2", "bubbles": True})
        assert page.locator('input[name="label"]:checked').get_attribute("value") == "1"
        # On other keyboards, Shift and 1 is an exclamation mark, which is not a key of the page.
        page.locator("#screen").dispatch_event(
            "keydown", {"key": "!", "code": "Digit1", "shiftKey": True, "bubbles": True}
        )
        assert page.locator('input[name="label"]:checked').get_attribute("value") == "1"
        press(page, "a")
        assert item_shown(page) == "paraphrase-0"
    [decision] = review.desk.decisions()
    assert decision.label == "pass"
