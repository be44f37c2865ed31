"""The adjudicator's pages: items that reviewers disagree on, and the decision that settles one."""

from dataclasses import replace

from starlette.responses import RedirectResponse, Response

from umpirical.review.choices import ReviewChoice
from umpirical.review.desk import Desk
from umpirical.review.records import NotAssigned, Refused
from umpirical.review.views import ItemView
from umpirical.review.web.decision_forms import choice_of, refusal_words
from umpirical.review.web.item_screen import DECISION_WORDS, decision_words, item_screen
from umpirical.review.web.pages import page
from umpirical.review.web.requests import ReviewRequest
from umpirical.web.forms import EMPTY, Form


def next_dispute(request: ReviewRequest) -> Response:
    """The next disputed item, with what each reviewer said; `after` is one that was left for later."""
    after = request.http.query_params.get("after")
    return _item(request, request.review.desk.disputed(request.person.name, after=after or None))


def settle(request: ReviewRequest) -> Response:
    """Records the decision that overrides the others."""
    desk, name = request.review.desk, request.person.name
    shown = _find(desk, name, request.form.get("item"))
    if shown is None:
        words = "That item is no longer disputed: someone settled it, or a reviewer decided again."
        return _item(request, desk.disputed(name), status=409, refused=words)
    try:
        decision = desk.adjudicate(name, shown.item.id, _choice(request.form, shown))
    except (Refused, NotAssigned) as refused:
        return _item(request, shown, status=422, form=request.form, refused=refusal_words(refused))
    if not request.by_script:
        return RedirectResponse(f"{request.address}/adjudicate?said={decision.kind}", status_code=303)
    return _item(request, desk.disputed(name, after=shown.item.id), last=decision_words(decision))


def _find(desk: Desk, name: str, item: str) -> ItemView | None:
    """The item that a form is about, wherever it is among the disputed ones."""
    first = shown = desk.disputed(name)
    while shown is not None and shown.item.id != item:
        shown = desk.disputed(name, after=shown.item.id)
        if shown is None or first is None or shown.item.id == first.item.id:
            return None
    return shown


def _choice(form: Form, shown: ItemView) -> ReviewChoice:
    """One of the reviewers' decisions, or the adjudicator's own."""
    kind, _, number = form.get("kind").partition(":")
    if kind != "take":
        return choice_of(form, shown)
    taken = next((each for each in shown.others if str(each.number) == number), None)
    if taken is None:
        raise Refused("That decision was undone in the meantime. Look again.")
    own = choice_of(replace(form, fields=form.fields | {"kind": "skip"}), shown)
    return replace(
        own,
        kind="reject" if taken.kind == "reject" else "accept",
        label=taken.label,
        reason=taken.reason,
        revision=taken.revision,
    )


def _item(  # each a part of the page
    request: ReviewRequest,
    shown: ItemView | None,
    *,
    status: int = 200,
    form: Form = EMPTY,
    refused: str = "",
    last: str = "",
) -> Response:
    desk, name = request.review.desk, request.person.name
    values = {
        "progress": desk.progress(name),
        "guideline": desk.guideline(),
        "mode": desk.settings.mode,
        # The item that an undo on this page is about.
        "newest": "".join(desk.decided(name, limit=1)),
        "last": last or DECISION_WORDS.get(request.http.query_params.get("said", ""), ""),
    }
    if shown is None:
        return page(request, "no_disputes.html", status=status, refused=refused, **values)
    return page(request, "dispute.html", status=status, screen=item_screen(shown, form=form, refused=refused), **values)
