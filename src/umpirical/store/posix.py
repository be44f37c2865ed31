"""What Umpirical needs of the system: locks that end with the process that holds them.

`flock` also locks a folder, and `lockf` a handle that several processes have inherited. Windows has neither, and locks
of another kind would let two processes pay for the same answers. So it is refused before anything is written.
"""

from umpirical.domain.errors import UsageError

__all__ = ["fcntl"]

try:
    import fcntl
except ModuleNotFoundError:
    raise UsageError(
        "Umpirical runs on Linux and macOS: it needs POSIX file locking",
        fix="on Windows, install it in WSL (wsl --install)",
    ) from None
