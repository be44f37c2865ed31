"""The style sheets and scripts of an application: those that it names, read from its packages, and no others."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

PAGE_STYLES = ("umpirical.reports", "templates/page.css", "text/css")
"""The style sheet of the reports, so that all pages look alike."""


def static_files(known: Mapping[str, tuple[str, str, str]]) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for files by name, each with its package, its path there and its media type."""

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in known:
            raise HTTPException(404)
        package, path, kind = known[name]
        return Response(_read(package, path), media_type=kind)

    return asset


@cache
def _read(package: str, path: str) -> bytes:
    """A file, read from disk once."""
    return files(package).joinpath(path).read_bytes()
