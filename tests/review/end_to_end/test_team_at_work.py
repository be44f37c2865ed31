"""Two reviewers and an adjudicator work by keyboard while a generator writes, and the server is killed under them."""

import os
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import replace

import pytest

from tests import postgres
from tests.servers.chat_server import ChatServer

from .models import Models
from .people_at_keys import Adjudicator, Done, Reviewer, come_in, press_through
from .serving_a_study import ReviewProcess, generating, made_study, opened

pytestmark = pytest.mark.browser

LATENCY = 0.25
"""Seconds that a model takes to answer, so that items arrive one by one."""

PATIENCE = 180.0


@pytest.fixture
def postgres_database():
    found = postgres.programs()
    if found is None:
        if os.environ.get("UMPIRICAL_REQUIRE_POSTGRES"):
            pytest.fail("no PostgreSQL server under /usr/lib/postgresql")
        pytest.skip("needs Debian's postgresql")
    with postgres.server(found) as url:
        yield url.format(name="postgres")


@pytest.fixture
def study(tmp_path):
    """Makes a study and the models that write for it, which hold back a fifth until the server was killed."""
    with ExitStack() as stack:

        def make(items):
            # A cue takes one answer; a flip takes one and two opinions. Cues are written first.
            models = Models(hold_after=int(1.4 * items))
            server = stack.enter_context(ChatServer(models, latency=LATENCY))
            stack.callback(models.go_on.set)
            return made_study(tmp_path / "study", server.base_url, items=items, overlap=2), models

        yield make


def at_work(browser, review):
    """Ana, ben and carl, each in their own browser, before there is anything to review."""
    people, complaints = [], []
    for name, role, kind in (
        ("ana", "reviewer", Reviewer),
        ("ben", "reviewer", Reviewer),
        ("carl", "adjudicator", Adjudicator),
    ):
        page, heard = come_in(browser.new_context(), review.invite(name, role))
        people.append(kind(page, name))
        complaints.append(heard)
    press_through(people[2].page, "Disputes")
    people[2].page.get_by_role("heading", name="No disputes for you").wait_for()
    return people, complaints


def killed(review, people, *, resting):
    """Kills the server while everyone but one has a decision under way, and starts it again.

    Whoever is told that their decision may not be saved tries again. The one at rest undoes their last decision.
    """
    last = next(said for said in reversed(resting.done) if not said.undone)
    # A dispute over the decision that is about to be undone is left alone: it disappears in any case.
    others = [person for person in people if person is not resting and person.item != last.item]
    sent = [person for person in others if person.send()]
    review.kill()
    lost = [person for person in sent if not person.hear()]
    review.start()
    assert resting.undo() == last.item
    resting.reject("harmful")
    for person in lost:
        person.send_again()
        assert person.hear()
    return Counter(killed=1, sent=len(sent), lost=len(lost))


def worked_through(review, people, generator, models, *, items, killings):
    """Lets everyone decide in turn until the reviewers have decided on everything.

    Meanwhile, as the generator writes, the server is killed so many times; the generator goes on after the last.
    """
    reviewers = people[:2]
    points = [2 * items * (place + 1) // (killings + 1) for place in range(killings)]
    interrupted, skipped = Counter(), False
    until = time.monotonic() + PATIENCE
    while sum(_standing(one) for one in reviewers) < 2 * items:
        acted = [person.act() for person in people]
        decided = sum(_standing(one) for one in reviewers)
        if any(acted):
            until = time.monotonic() + PATIENCE
        else:
            assert time.monotonic() < until, f"{decided} of {2 * items} decisions"
            people[0].page.wait_for_timeout(50)
        if not skipped and all(one.item for one in reviewers) and decided > items // 2:
            reviewers[0].skip_and_undo()
            skipped = True
        if points and decided >= points[0] and all(one.item for one in reviewers):
            assert generator.poll() is None
            interrupted += killed(review, people, resting=reviewers[len(points) % 2])
            points.pop(0)
            if not points:
                models.go_on.set()
    assert skipped
    assert not points
    return interrupted


def _standing(person):
    return sum(not said.undone and said.kind != "skip" for said in person.done)


def settled(adjudicator, desk):
    """Lets the adjudicator go on until no dispute is left; the last ones arrive on their own."""
    until = time.monotonic() + PATIENCE
    while desk.progress(adjudicator.name).disputed:
        if adjudicator.act():
            until = time.monotonic() + PATIENCE
        else:
            assert time.monotonic() < until, "a dispute did not come to the adjudicator's page"
            adjudicator.page.wait_for_timeout(100)


def check_record(desk, people, *, items):
    """Checks that all that a page confirmed is stored once, as it was confirmed, and that every item has an outcome."""
    kept = [
        Done(one.reviewer, one.item, one.kind, one.label, one.reason, one.undone, one.adjudicates)
        for one in desk.decisions()
    ]
    told = [said for person in people for said in person.done]
    # Siding with a rejection takes over its reason, which the page does not show.
    for one, other in zip(sorted(kept, key=_order), sorted(told, key=_order), strict=True):
        assert replace(one, reason=other.reason if one.adjudicates else one.reason) == other
    assert len(set(kept)) == len(kept)
    outcomes = list(desk.outcomes())
    assert len(outcomes) == items
    assert {one.state for one in outcomes} == {"accepted", "rejected"}
    assert all(sorted(one.reviewers) == ["ana", "ben"] for one in outcomes)
    return kept, outcomes


def _order(said):
    return said.person, said.item, said.undone, said.kind


def review_by_three(browser, study, *, items, killings, database=None):
    """Runs a whole review, and returns figures about it."""
    begun = time.monotonic()
    folder, models = study(items)
    with ReviewProcess(folder, database=database) as review:
        review.start()
        people, complaints = at_work(browser, review)
        with generating(folder) as generator:
            people[0].page.locator("#screen[data-item]").wait_for(state="attached", timeout=PATIENCE * 1000)
            interrupted = worked_through(review, people, generator, models, items=items, killings=killings)
        with opened(review) as record:
            settled(people[2], record.desk)
            kept, outcomes = check_record(record.desk, people, items=items)
        for person in people:
            person.page.context.close()
    # Messages of the browser itself about a missing server do not count.
    ours = [line for heard in complaints for line in heard if "ERR_" not in line and "Failed to load" not in line]
    assert ours == []
    assert "Traceback" not in review.log.read_text()
    adjudicated = [one for one in outcomes if one.adjudicator]
    assert adjudicated
    assert {one.adjudicator for one in adjudicated} == {"carl"}
    return {
        "items": items,
        "decisions": len(kept),
        "undone": sum(said.undone for said in kept),
        "adjudicated": len(adjudicated),
        "killed": interrupted["killed"],
        "under way when killed": interrupted["sent"],
        "sent again": interrupted["lost"],
        "seconds": round(time.monotonic() - begun),
    }


def test_no_decision_is_lost(browser, study, record_property):
    figures = review_by_three(browser, study, items=24, killings=1)
    record_property("review_by_three", figures)


@pytest.mark.slow
def test_no_decision_of_two_hundred_items_is_lost(browser, study, record_property):
    figures = review_by_three(browser, study, items=200, killings=3)
    record_property("review_by_three", figures)
    print(f"\nSQLite: {figures}")  # noqa: T201


@pytest.mark.slow
def test_no_decision_is_lost_on_postgresql(browser, study, postgres_database, record_property):
    figures = review_by_three(browser, study, items=60, killings=2, database=postgres_database)
    record_property("review_by_three", figures)
    print(f"\nPostgreSQL: {figures}")  # noqa: T201
