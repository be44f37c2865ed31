"""The application: the pages people work on, what answers each address and who may use it, and the event stream."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from umpirical.reports.overview import LEAD, short
from umpirical.review.desk import Desk, ItemView
from umpirical.review.people import People
from umpirical.review.records import NotAssigned, Refused, ReviewChoice, ReviewProgress
from umpirical.review.web.item_screen import DECISION_WORDS, choice_of, decision_words, item_screen, refusal_words
from umpirical.review.web.requests import (
    DeskWatcher,
    ReviewRequest,
    ServedReview,
    crash_page,
    endpoint,
    error_page,
    from_editor,
    notice,
    page,
    review_of,
    session_of,
    sign_in,
)
from umpirical.web.guard import EMPTY, MOST_AT_ONCE, MOST_STREAMS, PAGE_STYLES, AtOnce, Form, Guard, static_files

ANYONE, SETTLING, OWNING = (
    frozenset({"reviewer", "adjudicator", "owner"}),
    frozenset({"adjudicator", "owner"}),
    frozenset({"owner"}),
)

asset = static_files(
    {
        "page.css": PAGE_STYLES,
        "review.css": ("umpirical.review.web", "static/review.css", "text/css"),
        "review.js": ("umpirical.review.web", "static/review.js", "text/javascript"),
    }
)
"""The style sheets and the script."""

PREVIEW = 160
"""Characters of a text that a list shows."""

SESSION_CHECK_SECONDS = 2.0
"""How often an event stream checks that the person may still see it."""


def create_app(
    desk: Desk,
    people: People,
    *,
    hosts: frozenset[str],
    feed: Callable[[], int] | None = None,
    title: str = "Review",
) -> Starlette:
    """The pages of a review.

    `hosts` are the names, with port, by which browsers may address the server; all others are refused. `feed` adds new
    items to the desk and is called about twice a second; without one, no more items are to come.
    """
    review = ServedReview(
        desk=desk,
        people=people,
        title=title,
        watcher=DeskWatcher(desk, feed),
        at_once=AtOnce(MOST_AT_ONCE),
        streams=AtOnce(MOST_STREAMS),
    )

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with review.watcher.watching():
            yield

    app = Starlette(
        routes=[
            Mount("/s/{place}", routes=_pages_of_a_session()),
            Route("/", nobody, methods=["GET"]),
            Route("/join/{token}", endpoint(invitation), methods=["GET"]),
            Route("/join/{token}", endpoint(join), methods=["POST"]),
            Route("/static/{name}", asset, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: error_page, Exception: crash_page},
    )
    app.state.review = review
    app.state.close = review.watcher.close
    app.add_middleware(Guard, hosts=hosts, unknown="To allow it: --called HOST:PORT")
    return app


def _pages_of_a_session() -> list[Route]:
    return [
        Route("/", endpoint(open_item, roles=ANYONE), methods=["GET"]),
        Route("/item/{item:path}", endpoint(earlier_item, roles=ANYONE), methods=["GET"]),
        Route("/list", endpoint(listed, roles=ANYONE), methods=["GET"]),
        Route("/next", endpoint(take_item, roles=ANYONE), methods=["POST"]),
        Route("/decide", endpoint(decide, roles=ANYONE), methods=["POST"]),
        Route("/undo", endpoint(undo, roles=ANYONE), methods=["POST"]),
        Route("/adjudicate", endpoint(next_dispute, roles=SETTLING), methods=["GET"]),
        Route("/settle", endpoint(settle, roles=SETTLING), methods=["POST"]),
        Route("/people", endpoint(people, roles=OWNING), methods=["GET"]),
        Route("/revoke", endpoint(revoke, roles=OWNING), methods=["POST"]),
        Route("/events", events, methods=["GET"]),
    ]


async def nobody(request: Request) -> Response:
    """The page without a session. Its script leads a browser that has one to the pages of that session."""
    return await error_page(request, HTTPException(401))


async def events(request: Request) -> Response:
    """Server-sent events for anyone with a session: how many items are left, sent whenever that changes."""
    review, session = review_of(request.app), session_of(request)
    # Before anything is looked up: one person's thousands of streams must cost the others nothing.
    with review.at_once.one_more(session) as is_welcome:
        if not is_welcome or review.streams.is_full(session):
            return PlainTextResponse("Too many pages are open in this session.\n", status_code=429)
        if not session or await run_in_threadpool(_progress, review, session) is None:
            return PlainTextResponse("You are not signed in.\n", status_code=401)
    return StreamingResponse(_stream(review, session), media_type="text/event-stream")


async def _stream(review: ServedReview, session: str) -> AsyncIterator[str]:
    with review.streams.one_more(session) as is_welcome:
        if is_welcome:
            async for change in _changes(review, session):
                yield change


async def _changes(review: ServedReview, session: str) -> AsyncIterator[str]:
    sent: ReviewProgress | None = None
    # The first bytes go out at once: they tell the browser that the connection is open.
    yield ": here\n\n"
    while not review.watcher.closed:
        change = review.watcher.next_change()
        progress = await run_in_threadpool(_progress, review, session)
        if progress is None:
            return
        if progress != sent:
            numbers = {"left": progress.left, "total": progress.total, "disputed": progress.disputed}
            yield f"data: {json.dumps(numbers)}\n\n"
            sent = progress
        with suppress(TimeoutError):
            await asyncio.wait_for(change.wait(), SESSION_CHECK_SECONDS)


def _progress(review: ServedReview, session: str) -> ReviewProgress | None:
    """None if the session has ended."""
    person = review.people.person(session)
    return None if person is None or person.revoked else review.desk.progress(person.name)


# The pages people work on: items to decide, disputes to settle, and who takes part.


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
    shown = request.review.desk.show(request.person.name, request.http.path_params["item"])
    return _home(request) if shown is None else _item(request, shown)


MOST_LISTED = 200
"""Items on a list; a search finds the others."""


def listed(request: ReviewRequest) -> Response:
    """The items that the person was given, those with the words of a search if there is one."""
    search = request.http.query_params.get("q", "").strip()
    found = [
        (each, decision_words(each.own) if each.own else "open")
        for each in request.review.desk.given(request.person.name)
    ]
    chosen = [
        (each, words)
        for each, words in found
        if search.casefold() in f"{each.item.test}\n{each.item.before}\n{each.item.after}\n{words}".casefold()
    ]
    return page(
        request,
        "list.html",
        search=search,
        total=len(found),
        matching=len(chosen),
        rows=[(each.item, _preview(each.item.after, search), words) for each, words in chosen[:MOST_LISTED]],
        progress=request.review.desk.progress(request.person.name),
    )


def _preview(text: str, search: str) -> str:
    """A line of the text, from shortly before what was searched for."""
    start = max(0, text.casefold().find(search.casefold()) - LEAD)
    return short(text, PREVIEW, start)


def decide(request: ReviewRequest) -> Response:
    """Records a decision and shows the next item; or says why not, and keeps all that was typed."""
    desk, name = request.review.desk, request.person.name
    shown = desk.show(name, request.form.get("item"))
    if shown is None:
        return _item(request, desk.next(name), status=409, refused="This item is no longer assigned to you.")
    # A decision is recorded with the guideline in force, which must be the one that was on the page.
    if request.form.get("guideline") not in ("", str(desk.guideline()[0])):
        words = "The guideline has changed since this page was loaded. Read the new one, then decide again."
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
        words = "You have no decision to undo."
        if meant and desk.decided(name, limit=1) != [meant]:
            words = "That decision is already undone, or you have decided on another item since. Nothing was changed."
        return _item(request, desk.next(name), status=409, refused=words)
    if request.form.get("from") == "disputes":
        return RedirectResponse(f"{request.address}/adjudicate", status_code=303)
    return open_item(request) if request.by_script else _home(request)


def _home(request: ReviewRequest, query: str = "") -> Response:
    return RedirectResponse(f"{request.address}/{query}", status_code=303)


def _item(
    request: ReviewRequest,
    shown: ItemView | None,
    *,
    status: int = 200,
    form: Form = EMPTY,
    refused: str = "",
    last: str = "",
) -> Response:
    way = _navigation(request, shown, last)
    if shown is None:
        return _desk_page(request, "empty.html", status=status, refused=refused, way=way)
    screen = item_screen(shown, form=form, refused=refused)
    return _desk_page(request, "item.html", status=status, screen=screen, way=way)


def _desk_page(request: ReviewRequest, template: str, *, status: int, **values: object) -> Response:
    desk, name = request.review.desk, request.person.name
    values |= {"progress": desk.progress(name), "guideline": desk.guideline(), "mode": desk.settings.mode}
    values["time_left"] = time_words(desk.seconds_left(name))
    return page(request, template, status=status, **values)


def time_words(seconds: float | None) -> str:
    """Says how long something takes, roughly; empty if that is not known.

    >>> time_words(20), time_words(250), time_words(9000), time_words(None)
    ('less than a minute', 'about 4 minutes', 'about 2.5 hours', '')
    """
    if seconds is None:
        return ""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "less than a minute"
    if minutes < 90:
        return f"about {minutes} {'minute' if minutes == 1 else 'minutes'}"
    return f"about {seconds / 3600:.1f} hours"


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


# The adjudicator's pages: items that reviewers disagree on, and the decision that settles one.


def next_dispute(request: ReviewRequest) -> Response:
    """The next disputed item, with what each reviewer said; `after` is one that was left for later."""
    after = request.http.query_params.get("after")
    return _disputed_item(request, request.review.desk.disputed(request.person.name, after=after or None))


def settle(request: ReviewRequest) -> Response:
    """Records the decision that overrides the others."""
    desk, name = request.review.desk, request.person.name
    shown = _find(desk, name, request.form.get("item"))
    if shown is None:
        words = "That item is no longer disputed: an adjudicator decided, or a reviewer changed their decision."
        return _disputed_item(request, desk.disputed(name), status=409, refused=words)
    try:
        decision = desk.adjudicate(name, shown.item.id, _choice(request.form, shown))
    except (Refused, NotAssigned) as refused:
        return _disputed_item(request, shown, status=422, form=request.form, refused=refusal_words(refused))
    if not request.by_script:
        return RedirectResponse(f"{request.address}/adjudicate?said={decision.kind}", status_code=303)
    return _disputed_item(request, desk.disputed(name, after=shown.item.id), last=decision_words(decision))


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
        raise Refused("That decision was undone in the meantime. Check the item again.")
    own = choice_of(replace(form, fields=form.fields | {"kind": "skip"}), shown)
    return replace(
        own,
        kind="reject" if taken.kind == "reject" else "accept",
        label=taken.label,
        reason=taken.reason,
        revision=taken.revision,
    )


def _disputed_item(
    request: ReviewRequest,
    shown: ItemView | None,
    *,
    status: int = 200,
    form: Form = EMPTY,
    refused: str = "",
    last: str = "",
) -> Response:
    # The item that an undo on this page is about.
    newest = "".join(request.review.desk.decided(request.person.name, limit=1))
    last = last or DECISION_WORDS.get(request.http.query_params.get("said", ""), "")
    if shown is None:
        return _desk_page(request, "no_disputes.html", status=status, refused=refused, newest=newest, last=last)
    screen = item_screen(shown, form=form, refused=refused)
    return _desk_page(request, "dispute.html", status=status, screen=screen, newest=newest, last=last)


# How people come in, and the owner's page about who takes part.


def invitation(request: ReviewRequest) -> Response:
    """A page with a button: merely opening the link, as the preview of a mail program does, does not use it up."""
    return page(request, "join.html", token=request.http.path_params["token"])


def join(request: ReviewRequest) -> Response:
    """Uses up the link, and gives the browser its session."""
    headers = request.http.headers
    over_tls = request.http.url.scheme == "https" or headers.get("origin", "").startswith("https://")
    session = request.review.people.redeem(request.http.path_params["token"], over_tls=over_tls)
    if session is None:
        words = "It is invalid, expired or already used. To create a new one, the owner runs: "
        return notice(request, 403, "This link does not work", f"{words}umpirical review invite NAME")
    response = RedirectResponse("/", status_code=303)
    response.headers["Location"] = sign_in(response, session) + _first_page(request, session)
    return response


def people(request: ReviewRequest) -> Response:
    """Who takes part, and how far the review is."""
    return _people(request)


def revoke(request: ReviewRequest) -> Response:
    """Ends all links and sessions of one person."""
    name = from_editor(request.form.get("name"))
    if name == request.person.name:
        return _people(request, status=422, refused="That would lock you out. Another owner can do it.")
    if not request.review.people.revoke(name):
        return _people(request, status=409, refused="That person has no access.")
    return _people(request) if request.by_script else RedirectResponse(f"{request.address}/people", status_code=303)


def _first_page(request: ReviewRequest, session: str) -> str:
    """Where a person starts: with their first item, which is theirs from now on, or where they settle or invite."""
    person, desk = request.review.people.person(session), request.review.desk
    alone = desk.settings.overlap == 1 and len(request.review.people.all()) == 1
    if person is None or person.role == "adjudicator":
        return "/adjudicate"
    if person.role == "owner" and not alone:
        return "/people"
    desk.next(person.name)
    return "/"


def _people(request: ReviewRequest, *, status: int = 200, refused: str = "") -> Response:
    desk = request.review.desk
    outcomes = list(desk.outcomes())
    states = Counter(outcome.state for outcome in outcomes)
    decisions = Counter(each.reviewer for each in desk.decisions() if not each.undone and each.kind != "skip")
    return page(
        request,
        "people.html",
        status=status,
        refused=refused,
        people=request.review.people.all(),
        decisions=decisions,
        states=states,
        edited=sum(outcome.edited for outcome in outcomes),
        progress=desk.progress(request.person.name),
        guideline=desk.guideline(),
        settings=desk.settings,
    )
