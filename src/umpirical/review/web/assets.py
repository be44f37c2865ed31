"""The style sheets and the script, read once."""

from functools import cache
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

__all__ = ["asset"]

ASSETS = {
    # The reports' own sheet, so that both look alike.
    "page.css": ("umpirical.reports", "templates/page.css", "text/css"),
    "review.css": ("umpirical.review.web", "static/review.css", "text/css"),
    "review.js": ("umpirical.review.web", "static/review.js", "text/javascript"),
}


async def asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404)
    package, path, kind = ASSETS[name]
    return Response(_read(package, path), media_type=kind)


@cache
def _read(package: str, path: str) -> bytes:
    return files(package).joinpath(path).read_bytes()
