"""A PostgreSQL server of the tests' own: Debian's, on a socket in a temporary folder, gone when they end."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SETTINGS = {
    "listen_addresses": "",  # no port: whoever cannot reach the folder cannot ask
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "60",
    "shared_buffers": "32MB",
    "autovacuum": "off",
}

PATIENCE = 60.0


def programs() -> Path | None:
    """Where the newest server is installed; None if there is none."""
    found = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    return max((path.parent for path in found), key=lambda path: int(path.parts[4]), default=None)


@contextmanager
def server(found: Path) -> Iterator[str]:
    """Starts a server on an empty cluster; gives the URL of its databases, with `{name}` where their name goes."""
    folder = Path(tempfile.mkdtemp(prefix="umpirical-postgres-"))
    if (owner := _owner()) is not None:
        os.chown(folder, owner.pw_uid, owner.pw_gid)
    data = str(folder / "data")
    try:
        _run([str(found / "initdb"), "-D", data, "-A", "trust", "-U", "tests", "-E", "UTF8", "--locale", "C.UTF-8"])
        options = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        command = [str(found / "postgres"), "-D", data, "-k", str(folder), *options]
        with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log, **_as()) as process:
            try:
                _wait(found, folder, process)
                yield f"postgresql+psycopg://tests@/{{name}}?host={folder}"
            finally:
                process.send_signal(signal.SIGINT)  # PostgreSQL's fast end: it waits for no client
                process.wait(timeout=PATIENCE)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(found: Path, folder: Path, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    ready = [str(found / "pg_isready"), "-q", "-h", str(folder)]
    while subprocess.run(ready, check=False, **_as()).returncode:
        if process.poll() is not None or time.monotonic() > until:
            raise RuntimeError(f"PostgreSQL did not start: {(folder / 'log').read_text()}")
        time.sleep(0.05)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, **_as())
    if done.returncode:
        raise RuntimeError(f"{command[0]}: {done.stderr}")


def _owner() -> pwd.struct_passwd | None:
    """PostgreSQL refuses to be root, so root lets Debian's user of it do the work."""
    return pwd.getpwnam("postgres") if os.geteuid() == 0 else None


def _as() -> dict:
    owner = _owner()
    if owner is None:
        return {"cwd": "/"}
    return {"cwd": "/", "user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
