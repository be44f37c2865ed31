"""The reviewer's pages: the next item, a decision on it, and the way back to earlier ones."""

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from umpirical.review.records import NotAssigned, Refused
from umpirical.review.views import ItemView
from umpirical.review.web.decision_forms import choice_of, refusal_words
from umpirical.review.web.item_screen import DECISION_WORDS, decision_words, item_screen
from umpirical.review.web.pages import page
from umpirical.review.web.requests import ReviewRequest
from umpirical.web.forms import EMPTY, Form


@dataclass(frozen=True, slots=True)
class Navigation:
    """Where a person can go from here, among the items they decided on."""

    back: str
    """Id of the item decided before this one; empty if there is none."""
    forward: str
    """Id of the item decided after this one; empty if that is the open one, or there is none."""
    is_open: bool
    """The item shown is the one to decide now."""
    can_undo: bool
    """The last decision can be undone from here: the page shows its item, or the open one."""
    last: str
    """The last decision in words; empty if it is not known without looking it up."""
    newest: str
    """Id of the item that the last decision is about; empty if there is none."""


def open_item(request: ReviewRequest) -> Response:
    """The item to decide now, if the person has one open. Looking hands out nothing: other pages can make one look."""
    return _item(request, request.review.desk.at_hand(request.person.name))


def take_item(request: ReviewRequest) -> Response:
    """Gives the person their next item, unless they have one open."""
    shown = request.review.desk.next(request.person.name)
    return _item(request, shown) if request.by_script else _home(request)


def earlier_item(request: ReviewRequest) -> Response:
    """An item the person was given before."""
    shown = request.review.desk.show(request.person.name, request.http.path_params["item"])
    return _home(request) if shown is None else _item(request, shown)


def decide(request: ReviewRequest) -> Response:
    """Records a decision and shows the next item; or says why not, and keeps all that was typed."""
    desk, name = request.review.desk, request.person.name
    shown = desk.show(name, request.form.get("item"))
    if shown is None:
        return _item(request, desk.next(name), status=409, refused="That item is no longer yours to decide on.")
    # A decision is recorded with the guideline in force, which must be the one that was on the page.
    if request.form.get("guideline") not in ("", str(desk.guideline()[0])):
        words = "The guideline has changed since this page was loaded. Read the new one here, then decide again."
        return _item(request, shown, status=422, form=request.form, refused=words)
    try:
        decision = desk.decide(name, shown.item.id, choice_of(request.form, shown))
    except (Refused, NotAssigned) as refused:
        return _item(request, shown, status=422, form=request.form, refused=refusal_words(refused))
    following = desk.next(name)
    if not request.by_script:
        # A redirect, so that reloading the page does not send the form again.
        return _home(request, f"?said={decision.kind}")
    return _item(request, following, last=decision_words(decision))


def undo(request: ReviewRequest) -> Response:
    """Undoes the person's last decision; its item is open again."""
    desk, name, meant = request.review.desk, request.person.name, request.form.get("item")
    if desk.undo(name, item=meant or None) is None:
        words = "You have no decision that can be undone."
        if meant and desk.decided(name, limit=1) != [meant]:
            words = "That decision is already undone, or you have decided on another item since. Nothing was changed."
        return _item(request, desk.next(name), status=409, refused=words)
    if request.form.get("from") == "disputes":
        return RedirectResponse(f"{request.address}/adjudicate", status_code=303)
    return open_item(request) if request.by_script else _home(request)


def _home(request: ReviewRequest, query: str = "") -> Response:
    return RedirectResponse(f"{request.address}/{query}", status_code=303)


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
        "way": _navigation(request, shown, last),
        "mode": desk.settings.mode,
    }
    if shown is None:
        return page(request, "empty.html", status=status, refused=refused, **values)
    return page(request, "item.html", status=status, screen=item_screen(shown, form=form, refused=refused), **values)


def _navigation(request: ReviewRequest, shown: ItemView | None, last: str) -> Navigation:
    # An item that is still open needs only the one before it.
    limit = 50 if shown is not None and shown.own is not None else 1
    decided = request.review.desk.decided(request.person.name, limit=limit)
    # The desk is not asked what the decision was: looking at a decided item would reveal what others said about it.
    last = last or DECISION_WORDS.get(request.http.query_params.get("said", ""), "")
    here = decided.index(shown.item.id) if shown is not None and shown.item.id in decided else -1
    return Navigation(
        back=decided[here + 1] if here + 1 < len(decided) else "",
        forward=decided[here - 1] if here > 0 else "",
        is_open=here < 0,
        can_undo=bool(decided) and here <= 0,
        last=last if here < 0 else "",
        newest=decided[0] if decided else "",
    )
