"""The error tree.

    UmpiricalError
    ├── UsageError        what the person asked for cannot be done as written      exit code 2
    │   ├── ConfigError   a study file or judge spec is wrong, with file and line  exit code 2
    │   ├── GateError     the stimuli are not fit to measure with                  exit code 2
    │   └── NotTrusted    nobody has agreed to what a study would do               exit code 2
    ├── JudgeUnreadable   a few calls showed that its answers cannot be read       exit code 5
    ├── Terminated        the process was told to end (SIGTERM)                    exit code 5
    ├── SpendRefused      a call would have cost money and nobody agreed           exit code 6
    └── StoreError        the record on disk contradicts itself                    exit code 1

What goes wrong while asking a judge is not here: it is an outcome (`Failed`), recorded and counted.
A message says what was found, what was expected, and what to do.
"""


class UmpiricalError(Exception):
    """Base class of every error that Umpirical raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, *, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix
        """The one thing to do about it, as a command or a sentence; empty if there is none."""
        if fix:
            # A script and a notebook show a traceback, and this with it.
            self.add_note(f"what to do: {fix}")


class UsageError(UmpiricalError):
    """What the user asked for cannot be done as written."""

    exit_code = 2


class ConfigError(UsageError):
    """A study file or judge spec is wrong."""

    def __init__(self, message: str, *, where: str, fix: str = "") -> None:
        super().__init__(message, fix=fix)
        self.where = where
        """File, and line if known: `umpirical.yaml:14`."""

    def __str__(self) -> str:
        return f"{self.where}: {super().__str__()}"


class GateError(UsageError):
    """A validity gate has failed: no judge is asked about these stimuli."""


class NotTrusted(UsageError):
    """Nobody has agreed to what a study would do on this machine: whom it sends to, which secrets, what code."""


class JudgeUnreadable(UmpiricalError):
    """A few calls showed that a judge's answers cannot be read: no more were sent, and their answers are kept."""

    exit_code = 5


class Terminated(UmpiricalError):
    """The process was told to end. Every answer is kept, and the same command resumes."""

    exit_code = 5

    def __init__(self) -> None:
        super().__init__(
            "told to end (SIGTERM); all replies so far are kept", fix="run the same command again to resume"
        )


class SpendRefused(UmpiricalError):
    """Calls that nobody agreed to would have been sent."""

    exit_code = 6


class StoreError(UmpiricalError):
    """The record on disk contradicts itself; nothing is reported from it."""
