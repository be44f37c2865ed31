"""The review screen: the next item, a decision on it, and the way back."""

from dataclasses import dataclass

from starlette.responses import RedirectResponse, Response

from umpirical.review.desk import NotAssigned, Refused, Shown
from umpirical.review.web.answering import Asked, page
from umpirical.review.web.choosing import choice_of, refusal_words
from umpirical.review.web.forms import EMPTY, Form
from umpirical.review.web.screens import SAID, item_screen, said_words

__all__ = ["again", "decide", "screen", "undo"]


@dataclass(frozen=True, slots=True)
class Way:
    """Where a person came from and can go to, among the items they decided."""

    back: str
    """Id of the item decided before this one; empty if there is none."""
    forward: str
    """Id of the one decided after this; empty if that is the open one, or none."""
    is_open: bool
    """The item shown is the one to decide now."""
    can_undo: bool
    """The last decision can be taken back from here: one looks at its item, or at the open one."""
    last: str
    """What it was, in words; empty if that is not known without looking."""
    newest: str
    """Id of the item it is about; empty if there is none."""


def screen(asked: Asked) -> Response:
    """The item to decide now. Who has one open gets that again, so that a reload loses nothing."""
    return _item(asked, asked.review.desk.next(asked.person.name))


def again(asked: Asked) -> Response:
    """An item the person was given before."""
    shown = asked.review.desk.show(asked.person.name, asked.request.path_params["item"])
    return RedirectResponse("/", status_code=303) if shown is None else _item(asked, shown)


def decide(asked: Asked) -> Response:
    """Takes a decision and shows the next item; or says why not, with all that was typed."""
    desk, name = asked.review.desk, asked.person.name
    shown = desk.show(name, asked.form.get("item"))
    if shown is None:
        return _item(asked, desk.next(name), status=409, refused="That item is not yours to decide any more.")
    # A decision is recorded with the guideline in force, which must be the one that was on the page.
    if asked.form.get("guideline") not in ("", str(desk.guideline()[0])):
        words = "The guideline has changed since this page was made. It is here now: read it, and decide again."
        return _item(asked, shown, status=422, form=asked.form, refused=words)
    try:
        decision = desk.decide(name, shown.item.id, choice_of(asked.form, shown))
    except (Refused, NotAssigned) as refused:
        return _item(asked, shown, status=422, form=asked.form, refused=refusal_words(refused))
    if not asked.by_script:
        # A browser is sent on, so that reloading repeats nothing.
        return RedirectResponse(f"/?said={decision.kind}", status_code=303)
    return _item(asked, desk.next(name), last=said_words(decision))


def undo(asked: Asked) -> Response:
    """Takes back the person's last decision; its item is open again."""
    desk, name, meant = asked.review.desk, asked.person.name, asked.form.get("item")
    if desk.undo(name, item=meant or None) is None:
        words = "There is no decision of yours that can be undone."
        if meant and desk.decided(name, limit=1) != [meant]:
            words = "That decision is undone already, or you have decided another item since. Nothing was changed now."
        return _item(asked, desk.next(name), status=409, refused=words)
    if asked.form.get("from") == "disputes":
        return RedirectResponse("/adjudicate", status_code=303)
    return screen(asked) if asked.by_script else RedirectResponse("/", status_code=303)


def _item(  # noqa: PLR0913  # each a part of the page
    asked: Asked, shown: Shown | None, *, status: int = 200, form: Form = EMPTY, refused: str = "", last: str = ""
) -> Response:
    desk, name = asked.review.desk, asked.person.name
    values = {
        "progress": desk.progress(name),
        "guideline": desk.guideline(),
        "way": _way(asked, shown, last),
        "mode": desk.settings.mode,
    }
    if shown is None:
        return page(asked, "empty.html", status=status, refused=refused, **values)
    return page(asked, "item.html", status=status, screen=item_screen(shown, form=form, refused=refused), **values)


def _way(asked: Asked, shown: Shown | None, last: str) -> Way:
    # Of an item that is open no more is needed than the one before it.
    limit = 50 if shown is not None and shown.own is not None else 1
    decided = asked.review.desk.decided(asked.person.name, limit=limit)
    # The desk is not asked what was said: to look at a decided item is to see what others said of it.
    last = last or SAID.get(asked.request.query_params.get("said", ""), "")
    here = decided.index(shown.item.id) if shown is not None and shown.item.id in decided else -1
    return Way(
        back=decided[here + 1] if here + 1 < len(decided) else "",
        forward=decided[here - 1] if here > 0 else "",
        is_open=here < 0,
        can_undo=bool(decided) and here <= 0,
        last=last if here < 0 else "",
        newest=decided[0] if decided else "",
    )
