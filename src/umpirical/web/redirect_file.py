"""A file that leads a browser to a link, and that its owner alone can read.

All users of a machine can see with which arguments a program is started, so a browser is not started with the link.
"""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import mkdtemp

from umpirical.domain.errors import UsageError

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={link}"><title>Umpirical</title></head>
<body><p><a href="{link}" rel="noreferrer">Go on</a></p></body></html>
"""


@contextmanager
def redirect_file(folder: Path, link: str) -> Iterator[Path]:
    """A file in a new folder within `folder`, both gone at the end. Raises if others can read it nevertheless."""
    # Not in the system's temporary folder: browsers that are packaged apart from the system do not see that.
    made = Path(mkdtemp(prefix="opening-", dir=folder))
    try:
        path = made / "link.html"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as page:
            # Asked before the link is in it: on some drives every file is open to everyone.
            if os.name == "posix" and not (_is_private(os.fstat(handle)) and _is_private(made.stat())):
                raise UsageError(f"files in {folder} can be read by others", fix="open the link by hand")
            page.write(PAGE.format(link=escape(link)))
        yield path
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _is_private(found: os.stat_result) -> bool:
    return found.st_uid == os.geteuid() and not stat.S_IMODE(found.st_mode) & 0o077
