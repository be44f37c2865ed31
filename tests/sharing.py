"""A folder that the processes of a test session share, be they pytest's workers or what a test starts."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

SHARED = "UMPIRICAL_TESTS_SHARED"
"""The environment variable that names the folder; `tests/conftest.py` makes it."""


def shared_folder() -> Path:
    """The session's folder, or outside pytest one of this process's own."""
    return Path(os.environ.get(SHARED) or _own().name)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lets one process in at a time: whoever needs what another is making waits for it."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@cache
def _own() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="umpirical-tests-")
