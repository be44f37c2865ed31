"""Text from outside stays text on every page, wherever it comes from."""

from html.parser import HTMLParser

import pytest

from umpirical.domain.stimuli import CheckResult
from umpirical.review.records import ReviewChoice
from umpirical.review.web.requests import environment

from . import samples
from .asking import ask

PAYLOAD = (
    "</textarea></script><script>alert(1)</script><img src=x onerror=alert(1)>\"'{{ 7*7 }}\u202e\u200b\x1b]52;c;\x07"
)
NAME = "<b onmouseover=alert(1)>\"'&"


class Page(HTMLParser):
    """The elements of a page that could run something."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.handlers, self.images = [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.images += tag == "img"
        self.scripts += [dict(attrs).get("src")] if tag == "script" else []
        self.handlers += [name for name, value in attrs if name.startswith("on") or "javascript:" in (value or "")]


@pytest.fixture
def infected(served):
    check = CheckResult(PAYLOAD, passed=True, found=PAYLOAD, allowed=PAYLOAD)
    fields = dict.fromkeys(["test", "question", "task", "before", "generator", "rubric", "target"], PAYLOAD)
    item = samples.paraphrase(
        after=f"{PAYLOAD} too", labels=(PAYLOAD, "other"), checks=(check,), opinions=(PAYLOAD,), **fields
    )
    review = served(item, overlap=2, title=PAYLOAD)
    review.desk.set_guideline(PAYLOAD)
    for name, choice in (
        (NAME, ReviewChoice("edit", text=f"{PAYLOAD} other", label=PAYLOAD, comment=PAYLOAD)),
        ("ben", ReviewChoice("accept", label="other")),
    ):
        review.desk.next(name)
        review.desk.decide(name, item.id, choice)
    return review


@pytest.mark.parametrize(
    ("name", "role", "path"),
    [
        (NAME, "reviewer", "/item/paraphrase-0"),
        (NAME, "reviewer", "/"),
        ("carl", "adjudicator", "/adjudicate"),
        (NAME, "owner", "/people"),
        ("carl", "adjudicator", "/item/<script>alert(1)</script>"),
        ("carl", "adjudicator", "/?said=<script>alert(1)</script>"),
        ("carl", "adjudicator", "/join/<script>alert(1)<"),
        ("carl", "adjudicator", "/<script>alert(1)</script>"),
    ],
)
async def test_text_from_outside_is_text(infected, name, role, path):
    answer = await ask(infected, "GET", path, session=infected.session(name, role))
    page = Page(answer.text)
    assert page.scripts in ([], ["/static/review.js"])
    assert page.handlers == []
    assert page.images == 0
    assert not any(char in answer.text for char in "\u202e\u200b\x1b\x07")
    assert "12345000" not in answer.text


async def test_a_label_is_chosen_whatever_it_says(infected):
    infected.desk.add([samples.paraphrase(5, labels=(PAYLOAD, "\u202e", ""))])
    infected.desk.next("dora")
    form = {"item": "paraphrase-5", "kind": "accept", "label": "1"}
    answer = await ask(infected, "POST", "/decide", session=infected.session("dora"), form=form)
    assert answer.status == 303
    assert [each.label for each in infected.desk.decisions() if each.reviewer == "dora"] == ["\u202e"]


async def test_who_is_revoked_is_who_was_meant_whatever_the_name(infected):
    owner = infected.session("olga", "owner")
    infected.session(NAME)
    assert (await ask(infected, "POST", "/revoke", session=owner, form={"name": NAME})).status == 303
    assert [each.revoked for each in infected.people.all() if each.name == NAME] == [True]


async def test_without_escaping_the_test_would_fail(infected):
    """A check of the tests above: with autoescape off, they would fail."""
    templates = environment()
    templates.autoescape = False
    templates.cache.clear()
    try:
        answer = await ask(infected, "GET", "/item/paraphrase-0", session=infected.session(NAME))
    finally:
        templates.autoescape = True
        templates.cache.clear()
    assert Page(answer.text).images > 0
