"""What the commands that serve pages share: the packages they need, and a browser that is led to a link."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from umpirical.cli.terminal import say


def need_packages(what: str, *names: str) -> None:
    """Raises, with what to install, if a command's packages are missing."""
    from importlib.util import find_spec

    from umpirical.domain.errors import UsageError

    if any(find_spec(name) is None for name in names):
        raise UsageError(f"{what} needs packages that are not installed", fix="pip install 'umpirical[review]'")


@contextmanager
def leading_to(link: str, folder: Path) -> Iterator[Path | None]:
    """A file that leads a browser to the link; None, said aloud, where no file can be kept from others."""
    from umpirical.domain.errors import UsageError
    from umpirical.web.server import redirect_file

    with ExitStack() as stack:
        try:
            page = stack.enter_context(redirect_file(folder, link))
        except (OSError, UsageError) as error:
            say(f"no browser is opened: {error}")
            page = None
        yield page


def open_browser(page: Path | None) -> None:
    """Opens a browser with the page that leads to a link."""
    if page is None:
        return
    import webbrowser
    from threading import Thread

    # In its own thread: some browsers block the caller until they are closed, and the server must answer meanwhile.
    Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()
