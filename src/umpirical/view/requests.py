"""What every handler works with: what is served, and one request of somebody who may look."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from umpirical.domain.errors import UmpiricalError
from umpirical.view.catalogue import Catalogue, FoundRun
from umpirical.view.door import Door
from umpirical.view.live import FirstEstimates
from umpirical.view.tables import TrialTables
from umpirical.web.limits import MOST_AT_ONCE, MOST_STREAMS, AtOnce
from umpirical.web.sessions import address_of, session_of

COOKIE = "umpirical-view"

MOST_FIELDS = 50
"""Fields of an address."""

NOT_SIGNED_IN = "Open the link that the terminal shows. It works once; start the command again for a new one."


@dataclass(slots=True)
class ServedView:
    """What is looked at, and by whom."""

    catalogue: Catalogue
    title: str
    """The name of the folder."""
    door: Door = field(default_factory=Door)
    tables: TrialTables = field(default_factory=TrialTables)
    estimates: FirstEstimates = field(default_factory=FirstEstimates)
    at_once: AtOnce = field(default_factory=lambda: AtOnce(MOST_AT_ONCE))
    streams: AtOnce = field(default_factory=lambda: AtOnce(MOST_STREAMS))
    closed: bool = False

    def close(self) -> None:
        """Ends the event streams."""
        self.closed = True


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """One request."""

    http: Request
    view: ServedView

    @property
    def address(self) -> str:
        """Where the pages of this session are, without a slash at the end; empty where no session is needed."""
        place = self.http.path_params.get("place")
        return address_of(place) if place else ""

    @property
    def query(self) -> list[tuple[str, str]]:
        try:
            text = self.http.scope["query_string"].decode("ascii")
            return parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="replace")
        except ValueError:
            raise HTTPException(400, "The address could not be read.") from None

    def run(self) -> FoundRun:
        """The run that the address names. Raises if there is none, or no longer."""
        found = self.view.catalogue.run(self.http.path_params["run"])
        if found is None:
            raise HTTPException(404, "This run is not there, or no longer.")
        return found


Handler = Callable[[ViewRequest], Response]


def endpoint(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for whoever came by the link. The handler runs in a thread."""

    async def answer(http: Request) -> Response:
        view, session = view_of(http.app), session_of(http, COOKIE)
        if not session or not view.door.knows(session):
            raise HTTPException(401, NOT_SIGNED_IN)
        with view.at_once.one_more(session) as is_welcome:
            if not is_welcome:
                raise HTTPException(429, "Wait for the answers to the others.")
            return await run_in_threadpool(_handled, handler, ViewRequest(http, view))

    return answer


def view_of(app: Starlette) -> ServedView:
    return cast("ServedView", app.state.view)


def _handled(handler: Handler, request: ViewRequest) -> Response:
    try:
        return handler(request)
    except UmpiricalError as error:
        raise HTTPException(409, f"{error}. To mend it: {error.fix}" if error.fix else str(error)) from None
    except FileNotFoundError:
        # It was there when the answer was begun.
        raise HTTPException(404, "This run is not there, or no longer.") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # Whatever a stranger has written into the files: a page says so, and the others work.
        raise HTTPException(409, f"The files of this run cannot be read: {type(error).__name__}: {error}") from None
