"""A review in which all text from outside is hostile, and a browser that notices any harm."""

import json
from contextlib import contextmanager

from tests.hostile import HOSTILE, NAMES
from tests.review.web.browsing import sign_in
from umpirical.domain.reviews import ReviewItem
from umpirical.domain.stimuli import CheckResult
from umpirical.review.records import ReviewChoice

SIZE = 32
"""Payloads in each item."""

REVIEWER = "<img src=x onerror=window.fired=1>"
EDITOR = "<script>window.fired=1</script>"
ADJUDICATOR = "'><img src=x onerror=window.fired=1>"
OWNER = "<svg/onload=window.fired=1>"

# The browser itself reports a violated policy, whatever the page does.
LISTEN = """addEventListener("securitypolicyviolation",
  (event) => console.warn("policy broken: " + event.violatedDirective + " " + event.blockedURI));"""


def hostile_items():
    """Payloads in every field of an item: text, task, rubric, label, check, opinion, generator, test, question."""
    items = []
    for start in range(0, len(HOSTILE), SIZE):
        some = HOSTILE[start : start + SIZE]
        text = "\n".join(some)
        items.append(
            ReviewItem(
                id=f"hostile-{start // SIZE}",
                test=some[0],
                question=f"{some[1]}?",
                task=text,
                before="\n".join(HOSTILE[start - SIZE : start]) or "A harmless text.",
                after=text,
                generator=some[2],
                rubric=text,
                labels=some,
                target=some[3],
                checks=tuple(CheckResult(each, passed=True, found=each, allowed=each) for each in some),
                opinions=some,
            )
        )
    return items


def hostile_transcript():
    """A transcript whose roles, tools, arguments and contents are hostile."""

    def messages(words):
        called = {"name": HOSTILE[0], "arguments": json.dumps({each: each for each in HOSTILE[:20]})}
        return json.dumps(
            [
                {"role": NAMES[0], "name": NAMES[1], "content": words},
                {"role": "assistant", "content": None, "tool_calls": [{"id": NAMES[2], "function": called}]},
                {"role": "tool", "name": NAMES[3], "content": [{"type": NAMES[4], "text": words}]},
            ]
        )

    before, after = messages("harmless"), messages("\n".join(HOSTILE))
    return ReviewItem("hostile-transcript", "test", "Is it?", "task", before, after, "writer")


def say(review, items):
    """Lets the editor make a hostile text of every item, with a hostile comment."""
    review.desk.set_guideline("\n".join(HOSTILE))
    for item in items:
        assert review.desk.next(EDITOR).item.id == item.id
        made = ReviewChoice("edit", text=f"{item.after}\nMine.", label=item.labels[-1], comment="\n".join(item.labels))
        review.desk.decide(EDITOR, item.id, made)


@contextmanager
def watched(browser, review, name, role, **options):
    """A page, a list of all harm it does, which grows while it is used, and where the pages of its session are."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
    context.add_init_script(LISTEN)
    home = review.url
    if name:
        home = sign_in(context, review, name, role)
    page, harm = context.new_page(), []
    page.on("dialog", lambda dialog: (harm.append(f"dialog {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda asked: _note(harm, asked.url, own=review.url))
    page.on("console", lambda message: harm.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: harm.append(f"error {error}"))
    page.on("framenavigated", lambda frame: harm.append("a frame") if frame.parent_frame else None)
    try:
        yield page, harm, home
        if page.evaluate("() => 'fired' in window"):
            harm.append("fired")
    finally:
        context.close()


def _note(harm, url, *, own):
    if not url.startswith((f"{own}/", "data:,")):
        harm.append(f"asked for {url}")
