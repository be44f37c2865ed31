"""Starts the server process, waits until it answers, and ends it."""

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from umpirical.domain.errors import UmpiricalError, UsageError

LISTENING = "listening on "
"""What the process prints before its address, once the model is loaded."""

SERVER = "xllamacpp==2026.10.11549"

LOG_LINES = 20
"""How many lines of the server's last output the message about its death quotes."""

GRACE_SECONDS = 10.0
"""Seconds from SIGTERM to SIGKILL."""


@dataclass
class LlamaServer:
    """llama.cpp's server with one model, as a context manager; ends with the process that started it."""

    model: Path
    """A GGUF file."""
    slots: int = 1
    """Answers at a time. Concurrent answers affect each other's log-probabilities."""
    context: int = 4096
    """Tokens of one prompt and its answer."""
    threads: int | None = None
    """None takes one for each processor."""
    cache: bool = True
    """Whether the beginning that a prompt shares with the one before is not read again. That is faster, but changes the
    log-probabilities, and so free text even at temperature 0. Without it, and with one slot, the same question gets the
    same answer."""
    port: int = 0
    """0 takes a free port."""
    deadline: float = 120.0
    """Seconds until it must answer."""

    def __post_init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: TemporaryDirectory[str] | None = None
        self._base_url = ""

    @property
    def name(self) -> str:
        """What the server calls its model."""
        return self.model.stem

    @property
    def base_url(self) -> str:
        """For the openai-compatible adapter."""
        if not self._base_url:
            raise ValueError("the server is not running: use it in a with statement")
        return self._base_url

    @property
    def pid(self) -> int:
        if self._process is None:
            raise ValueError("the server is not running: use it in a with statement")
        return self._process.pid

    def __enter__(self) -> Self:
        need_server()
        if not self.model.is_file():
            raise UsageError(f"no model at {self.model}", fix="name a GGUF file")
        self._folder = TemporaryDirectory(prefix="umpirical-llama-")
        # Kept separate, since llama.cpp's threads write into the middle of each other's lines.
        with self._log.open("wb") as log, self._said.open("wb") as said:
            self._process = subprocess.Popen(  # noqa: S603  # our own module
                self._command(),
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=log,
                env={**os.environ, "OMP_WAIT_POLICY": "passive"},
            )
        try:
            self._base_url = self._wait()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    @property
    def _log(self) -> Path:
        assert self._folder is not None  # noqa: S101  # made when it was entered
        return Path(self._folder.name) / "log"

    @property
    def _said(self) -> Path:
        return self._log.with_name("said")

    def _command(self) -> list[str]:
        options = {"port": self.port, "slots": self.slots, "context": self.context, "threads": self.threads}
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        flags = ["--with-parent", *([] if self.cache else ["--no-cache"])]
        return [sys.executable, "-m", "umpirical.testing.llama_server", str(self.model), *given, *flags]

    def _wait(self) -> str:
        """Returns the address, once the server says that it is healthy."""
        assert self._process is not None  # noqa: S101  # it was started just now
        end = time.monotonic() + self.deadline
        while time.monotonic() < end:
            if (code := self._process.poll()) is not None:
                raise UmpiricalError(f"the llama.cpp server ended with code {code}; its last output:\n{self._tail()}")
            if (address := self._address()) and _healthy(address):
                return address
            time.sleep(0.05)
        message = f"the llama.cpp server did not answer within {self.deadline:g} s; its last output:\n{self._tail()}"
        raise UmpiricalError(message)

    def _address(self) -> str:
        lines = self._said.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        found = [line for line in lines if line.startswith(LISTENING) and line.endswith("\n")]
        return found[0].removeprefix(LISTENING).strip() if found else ""

    def _tail(self) -> str:
        lines = self._log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-LOG_LINES:])

    def _stop(self) -> None:
        process, self._process, self._base_url = self._process, None, ""
        if process is not None:
            process.terminate()
            try:
                process.wait(GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            if process.stdin is not None:
                process.stdin.close()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def need_server() -> None:
    """Raises if the server's package is not installed."""
    if find_spec("xllamacpp") is None:
        raise UsageError("the llama.cpp server is not installed", fix=f"pip install {SERVER}")


def _healthy(base_url: str) -> bool:
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(base_url.removesuffix("/v1") + "/health", timeout=5) as reply:  # noqa: S310  # our own loopback
            return bool(reply.status == 200)
    except (OSError, HTTPException):
        # It answers 503 while the model is being loaded.
        return False
