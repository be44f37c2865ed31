"""The application: what answers each address. Everything but the link and the style sheets needs a session."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route

from umpirical.domain.errors import UmpiricalError
from umpirical.measures.catalogue import MEASURES
from umpirical.protocols.catalogue import PROTOCOLS
from umpirical.view.catalogue import Catalogue
from umpirical.view.index_page import RunLine, compare_page, index, serve_document
from umpirical.view.requests import (
    COOKIE,
    NOT_SIGNED_IN,
    ServedView,
    crash_page,
    endpoint,
    environment,
    error_page,
    view_of,
)
from umpirical.view.run_pages import events, gate_page, history_page, run_page
from umpirical.view.tables import MOST_OPEN
from umpirical.view.trial_pages import trial_page, trials_page
from umpirical.web.guard import PAGE_STYLES, Guard, sign_in, static_files

asset = static_files(
    {
        "page.css": PAGE_STYLES,
        "view.css": ("umpirical.view", "static/view.css", "text/css"),
        "view.js": ("umpirical.view", "static/view.js", "text/javascript"),
    }
)
"""The style sheets and the script."""


def create_app(folder: Path, *, hosts: frozenset[str]) -> Starlette:
    """The pages of the studies in a folder. `hosts` are the names, with port, by which browsers may address them."""
    _load()
    view = ServedView(Catalogue(folder), folder.resolve().name or "studies")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        closing = Event()
        looking = Thread(target=_look, args=(view, closing))
        looking.start()
        try:
            yield
        finally:
            # Waited for: Python cannot end while a thread is inside of what reads Parquet.
            closing.set()
            looking.join()
            view.comparisons.close()
            view.estimates.close()
            view.tables.close()

    app = Starlette(
        routes=[
            Mount("/s/{place}", routes=_pages_of_a_session()),
            Route("/", nobody, methods=["GET"]),
            Route("/join/{token}", join, methods=["GET"]),
            Route("/static/{name}", asset, methods=["GET"]),
        ],
        lifespan=lifespan,
        exception_handlers={HTTPException: error_page, Exception: crash_page},
    )
    app.state.view = view
    app.state.close = view.close
    app.add_middleware(Guard, hosts=hosts, unknown="Use the address shown in the terminal.")
    return app


def _load() -> None:
    """Loads what the first page would otherwise wait for: protocols, measures, templates, and what reads Parquet."""
    import duckdb
    import pyarrow as pa
    import pyarrow.compute
    import pyarrow.parquet  # what reads single rows

    # DuckDB looks for other packages when it is first given a table.
    with duckdb.connect() as db:
        db.register("none", pa.table({"none": pa.array([], pa.int64())}))
    list(PROTOCOLS)
    list(MEASURES)
    for name in ("index.html", "run.html", "trials.html", "trial.html"):
        environment().get_template(name)


def _look(view: ServedView, closing: Event) -> None:
    """Reads every run at a glance, and begins to read some, before anybody opens the first page."""
    runs = [run for study in view.catalogue.studies() for run in study.runs if view.catalogue.state(run).answered]
    for run in runs:
        if closing.is_set():
            return
        # The page of a damaged run says what is wrong with it.
        with suppress(UmpiricalError, OSError, ValueError, LookupError, TypeError, AttributeError):
            RunLine(run, view.catalogue.state(run)).tiles  # noqa: B018  # read once, and kept
    # What is not measured takes longest, and so comes first.
    runs.sort(key=lambda run: not view.catalogue.state(run).document)
    for run in reversed(runs[-MOST_OPEN:]):
        view.tables.prepare(run)


def _pages_of_a_session() -> list[Route]:
    return [
        Route("/", endpoint(index), methods=["GET"]),
        Route("/compare", endpoint(compare_page), methods=["GET"]),
        Route("/runs/{run}", endpoint(run_page), methods=["GET"]),
        Route("/runs/{run}/events", events, methods=["GET"]),
        Route("/runs/{run}/gate", endpoint(gate_page), methods=["GET"]),
        Route("/judges/{judge}", endpoint(history_page), methods=["GET"]),
        Route("/runs/{run}/trials", endpoint(trials_page), methods=["GET"]),
        Route("/runs/{run}/trials/{position}", endpoint(trial_page), methods=["GET"]),
        Route("/documents/{document}", endpoint(serve_document), methods=["GET"]),
    ]


async def nobody(_: Request) -> Response:
    raise HTTPException(401, NOT_SIGNED_IN)


async def join(http: Request) -> Response:
    """Gives the browser the session, and leads it to the pages, whose addresses do not have the token."""
    session = view_of(http.app).door.enter(http.path_params["token"])
    if session is None:
        raise HTTPException(403, "This link is from another start of the command. Open the link it shows now.")
    response = RedirectResponse("/", status_code=303)
    # Lax: a browser that comes from a file or another program has to send the cookie to the page that it is led to.
    response.headers["Location"] = f"{sign_in(response, session, COOKIE, samesite='lax')}/"
    return response
