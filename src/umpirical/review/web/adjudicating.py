"""Settling what reviewers disagree on."""

from dataclasses import replace

from starlette.responses import RedirectResponse, Response

from umpirical.review.desk import Choice, Desk, NotAssigned, Refused, Shown
from umpirical.review.web.answering import Asked, page
from umpirical.review.web.choosing import choice_of, refusal_words
from umpirical.review.web.forms import EMPTY, Form
from umpirical.review.web.screens import SAID, item_screen, said_words

__all__ = ["screen", "settle"]


def screen(asked: Asked) -> Response:
    """The next item that reviewers disagree on, with what each of them said; `after` is one that was left for later."""
    after = asked.request.query_params.get("after")
    return _item(asked, asked.review.desk.disputed(asked.person.name, after=after or None))


def settle(asked: Asked) -> Response:
    """Takes the decision that stands above the others."""
    desk, name = asked.review.desk, asked.person.name
    shown = _find(desk, name, asked.form.get("item"))
    if shown is None:
        words = "That item is no longer disputed: someone settled it, or a reviewer thought again."
        return _item(asked, desk.disputed(name), status=409, refused=words)
    try:
        decision = desk.adjudicate(name, shown.item.id, _choice(asked.form, shown))
    except (Refused, NotAssigned) as refused:
        return _item(asked, shown, status=422, form=asked.form, refused=refusal_words(refused))
    if not asked.by_script:
        return RedirectResponse(f"/adjudicate?said={decision.kind}", status_code=303)
    return _item(asked, desk.disputed(name, after=shown.item.id), last=said_words(decision))


def _find(desk: Desk, name: str, item: str) -> Shown | None:
    """The disputed item that a form is about, wherever it stands among the disputed ones."""
    first = shown = desk.disputed(name)
    while shown is not None and shown.item.id != item:
        shown = desk.disputed(name, after=shown.item.id)
        if shown is None or first is None or shown.item.id == first.item.id:
            return None
    return shown


def _choice(form: Form, shown: Shown) -> Choice:
    """One of the decisions that were made, or the adjudicator's own."""
    kind, _, number = form.get("kind").partition(":")
    if kind != "take":
        return choice_of(form, shown)
    taken = next((each for each in shown.others if str(each.number) == number), None)
    if taken is None:
        raise Refused("That decision has been taken back in the meantime. Look again.")
    own = choice_of(replace(form, fields=form.fields | {"kind": "skip"}), shown)
    return replace(
        own,
        kind="reject" if taken.kind == "reject" else "accept",
        label=taken.label,
        reason=taken.reason,
        revision=taken.revision,
    )


def _item(  # noqa: PLR0913  # each a part of the page
    asked: Asked, shown: Shown | None, *, status: int = 200, form: Form = EMPTY, refused: str = "", last: str = ""
) -> Response:
    desk, name = asked.review.desk, asked.person.name
    values = {
        "progress": desk.progress(name),
        "guideline": desk.guideline(),
        "mode": desk.settings.mode,
        # What an undo on this page is about.
        "newest": "".join(desk.decided(name, limit=1)),
        "last": last or SAID.get(asked.request.query_params.get("said", ""), ""),
    }
    if shown is None:
        return page(asked, "settled.html", status=status, refused=refused, **values)
    return page(asked, "dispute.html", status=status, screen=item_screen(shown, form=form, refused=refused), **values)
