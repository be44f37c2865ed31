"""`umpirical view`."""

import sys
from contextlib import ExitStack
from pathlib import Path

import click

from umpirical.cli.terminal import remark, say
from umpirical.cli.web import leading_to, need_packages, open_browser

PORT = 8378


@click.command("view")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--port", default=PORT, show_default=True, type=click.IntRange(0, 65535), help="0 takes any free port.")
@click.option("--host", default="127.0.0.1", show_default=True, help="An address of this machine alone.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
@click.option(
    "--export",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write a gallery of the datasheets instead, to publish: pages that need no server.",
)
def command(folder: Path, port: int, host: str, no_open: bool, export: Path | None) -> None:  # noqa: FBT001
    """Look at the studies in FOLDER in a browser: runs, also in progress, figures, and every trial behind them.

    FOLDER is a folder with studies, a study's own, or a run's. Nothing in it is changed, no code of a study runs, and
    nothing is sent anywhere. The server answers this machine alone.
    """
    from umpirical.view.catalogue import study_root

    root = study_root(folder)
    if export is not None:
        from umpirical.view.gallery import write_gallery

        written = write_gallery(root, export)
        for name, why in written.left_out:
            remark(f"{name} is left out: {why}")
        say(f"wrote {written.index}: {written.pages:,} {'page' if written.pages == 1 else 'pages'}")
        return
    need_packages("view", "starlette", "uvicorn")
    from umpirical.store.files import state_folder
    from umpirical.view.app import create_app
    from umpirical.web.server import hosts_of, listen, serve, url_of

    with listen(host, port, what="view") as listening, ExitStack() as at_the_end:
        app = create_app(root, hosts=hosts_of(listening))
        link = f"{url_of(listening)}/join/{app.state.view.door.link()}"
        page = None
        if not no_open and sys.stdout.isatty():
            # Not in the study: it may be read-only, and nothing is written there.
            place = state_folder()
            place.mkdir(parents=True, exist_ok=True)
            page = at_the_end.enter_context(leading_to(link, place))
        serve(app, listening, ready=lambda: _announce(link, page))


def _announce(link: str, page: Path | None) -> None:
    """Prints the link once the server answers, and opens a browser with the page that leads to it."""
    say(f"open  {link}  (works once);  Ctrl-C stops")
    sys.stdout.flush()
    open_browser(page)
