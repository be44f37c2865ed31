"""Corner cases between people, pages and desk: who holds a place, what is undone, what the log prints."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.reports.payloads import HIDDEN
from tests.review.web import samples
from tests.review.web.browsing import intercept, press, signed_in
from tests.review.web.serving import serving
from umpirical.review.records import ReviewChoice

LOGGING = """
import sys, threading
from pathlib import Path
from tests.review.web.serving import serving

called = threading.Semaphore(0)

def feed(desk):
    called.release()
    raise OSError("row \\x1b]52;c;ZXZpbA==\\x07 \\x1b[2J")

with serving(Path(sys.argv[1]), feed=feed):
    # Once it is called again, the first error has been logged.
    called.acquire()
    called.acquire()
"""


@pytest.mark.browser
@pytest.mark.parametrize("role", ["adjudicator", "owner"])
def test_who_only_looks_in_takes_no_place_from_a_reviewer(browser, tmp_path, role):
    """An item with enough reviewers must not wait for someone who only came to settle or to invite."""
    with serving(tmp_path, [samples.paraphrase()], overlap=2) as review:
        page = browser.new_page()
        page.goto(f"{review.url}/join/{review.people.invite('carl', role)}")
        page.get_by_role("button", name="Start reviewing").click()
        page.locator("nav").wait_for()
        page.close()
        for name in ("ana", "ben"):
            if shown := review.desk.next(name):
                review.desk.decide(name, shown.item.id, ReviewChoice("accept"))
        assert [outcome.state for outcome in review.desk.outcomes()] == ["accepted"]


@pytest.mark.browser
def test_an_undo_whose_answer_is_lost_is_tried_again_and_takes_back_one(browser, tmp_path):
    items = [samples.paraphrase(number) for number in range(4)]
    with serving(tmp_path, items) as review, signed_in(browser, review) as page:
        for _ in range(3):
            press(page, "a")
        # The server records the undo, but its answer is lost.
        intercept(page, "**/undo", lambda route: (route.fetch(), route.abort()))
        page.keyboard.press("u")
        page.locator("#trouble:not(:empty)").wait_for()
        page.unroute("**/undo")
        page.keyboard.press("u")
        page.locator('#screen:not([data-item="paraphrase-3"])').wait_for(state="attached")
        assert [each.undone for each in review.desk.decisions()] == [False, False, True]


def test_what_the_server_logs_does_not_move_a_terminal(tmp_path):
    command = [sys.executable, "-c", LOGGING, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, cwd=Path(__file__).parents[3], check=True)
    said = done.stderr.decode()
    assert "cannot read new items" in said
    assert not HIDDEN.search(said)


@pytest.mark.browser
def test_an_adjudicator_takes_back_by_key(browser, tmp_path):
    with serving(tmp_path, [samples.paraphrase(), samples.paraphrase(1)], overlap=2) as review:
        for name, choice in (("ana", ReviewChoice("accept")), ("ben", ReviewChoice("reject", reason="other"))):
            while shown := review.desk.next(name):
                review.desk.decide(name, shown.item.id, choice)
        with signed_in(browser, review, name="carl", role="adjudicator", path="/adjudicate") as page:
            press(page, "a")
            page.keyboard.press("u")
            page.locator('#screen[data-item="paraphrase-0"]').wait_for(state="attached")
        assert [each.undone for each in review.desk.decisions() if each.adjudicates] == [True]
