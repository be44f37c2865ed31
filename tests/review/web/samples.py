"""Items of every kind that reviewers are given."""

import json
import random

from umpirical.domain.reviews import ReviewItem
from umpirical.domain.stimuli import CheckResult

LABELS = ("fail", "pass")

CHECKS = (
    CheckResult("length", passed=True, found="ratio 1.08", allowed="0.5 to 2"),
    CheckResult("language", passed=True, found="English", allowed="English"),
)


def paraphrase(number=0, **changes):
    values = {
        "id": f"paraphrase-{number}",
        "test": "paraphrase",
        "question": "Is the meaning unchanged?",
        "task": "Explain to a customer why their parcel is late.",
        "before": f"Parcel {number} left our warehouse on Monday.  It is held at customs, and we cannot say how long "
        "that will take.\nWe are sorry for the delay.",
        "after": f"Parcel {number} left the warehouse on Monday. Customs are holding it, and we can't tell for how "
        "long.\n\nWe apologise for the delay.",
        "generator": "test/writer",
        "rubric": "Pass if the answer names the reason and says sorry.",
        "checks": CHECKS,
        "opinions": ("same",),
    }
    return ReviewItem(**values | changes)


def labelled(number=0, **changes):
    values = {"labels": LABELS, "target": "fail", "test": "label flip", **changes}
    return paraphrase(number, id=f"labelled-{number}", question="Which label does the changed text deserve?", **values)


def plain(number=0, **changes):
    """An item in which only blanks and hidden characters were changed."""
    values = {"before": "one two\tthree\nfour", "after": "one  two three\n\nfo\u200bur\u202e", **changes}
    return paraphrase(number, id=f"plain-{number}", **values)


def written(number=0, **changes):
    """An item that was not made from another text, so there is nothing to compare it with."""
    values = {"before": "", "labels": tuple("123456"), "target": "4", "test": "synthetic ordinal", **changes}
    return paraphrase(number, id=f"written-{number}", question="Which grade does this answer deserve?", **values)


def sensitive(number=0, **changes):
    return paraphrase(number, id=f"sensitive-{number}", sensitive=True, **changes)


def transcript(number=0, *, nested=True, **changes):
    def call(query):
        arguments = {"query": query, "limit": 5}
        if nested:
            named = {"name": "search", "arguments": json.dumps(arguments)}
            return {"id": "c1", "type": "function", "function": named}
        return {"id": "c1", "function": "search", "arguments": arguments}

    def messages(query, last):
        return json.dumps(
            [
                {"role": "system", "content": "You are a careful assistant."},
                {"role": "user", "content": f"Find order {number}."},
                {"role": "assistant", "content": None, "tool_calls": [call(query)]},
                {"role": "tool", "name": "search", "tool_call_id": "c1", "content": "1 order found"},
                {"role": "assistant", "content": last},
            ]
        )

    return paraphrase(
        number, id=f"transcript-{number}", test="agent, subtle fault", question="Is the true_value fault there?",
        before=messages("order", "Your order was found."), after=messages("orders", "Your order was not found."),
        **changes,
    )  # fmt: skip


def long_item(number=0, *, words=1_000):
    """A text of so many words, of which one in six is changed."""
    source = random.Random(number)  # noqa: S311
    text = [f"word{source.randrange(400)}" for _ in range(words)]
    changed = [f"other{source.randrange(400)}" if source.random() < 1 / 6 else word for word in text]
    return paraphrase(number, id=f"long-{number}", before=" ".join(text), after=" ".join(changed))
