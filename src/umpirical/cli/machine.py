"""What the machine may refuse: no room on the disk, no permission. Neither is a bug, and a person can mend both."""

import errno
import sqlite3

FULL = ("no space left", "disk is full", "disk quota exceeded")


def refused_by_machine(error: Exception) -> tuple[str, str, int] | None:
    """Returns what happened, what to do and the exit code; None if the error is none of the machine's."""
    said = str(error).partition("\n")[0]
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOSPC, errno.EDQUOT) or any(words in said.lower() for words in FULL):
        return "the disk is full; all answers so far are kept", "make room, then run the same command again", 5
    read_only = isinstance(error, sqlite3.OperationalError) and "readonly" in said
    if code in (errno.EACCES, errno.EPERM, errno.EROFS) or read_only:
        fix = "name a folder that you may write to; a report of a run that you may only read takes --out FOLDER"
        return f"cannot write: {said}", fix, 2
    return None
