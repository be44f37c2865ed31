"""A real language model on loopback: the server of examples/local-judge, as a process of its own.

The process is this file: it runs the example's `serve.py`, and ends with whoever started it.
"""

import os
import runpy
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

SERVE = Path(__file__).parents[2] / "examples" / "local-judge" / "serve.py"

LISTENING = "listening on "
"""What the process prints before its address, once the model is loaded."""

LOG_LINES = 20
"""How many lines of the server's last output the message about its death quotes."""

GRACE_SECONDS = 10.0
"""Seconds from SIGTERM to SIGKILL."""


def installed_model() -> Path:
    """Returns SmolLM2's file. Raises RuntimeError if the model or its server is not installed."""
    if find_spec("xllamacpp") is None:
        raise RuntimeError("llama.cpp's server is not installed")
    try:
        path: Path = runpy.run_path(str(SERVE))["smollm2"]()
    except SystemExit as error:
        raise RuntimeError(str(error)) from None
    return path


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
    log-probabilities, and so free text even at temperature 0. Without it, and with one position, the same question
    gets the same answer."""
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
        self._folder = TemporaryDirectory(prefix="umpirical-llama-")
        # Kept separate, since llama.cpp's threads write into the middle of each other's lines.
        with self._log.open("wb") as log, self._said.open("wb") as said:
            self._process = subprocess.Popen(self._command(), stdin=subprocess.PIPE, stdout=said, stderr=log)
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
        assert self._folder is not None
        return Path(self._folder.name) / "log"

    @property
    def _said(self) -> Path:
        return self._log.with_name("said")

    def _command(self) -> list[str]:
        options = {"port": 0, "slots": self.slots, "context": self.context, "threads": self.threads}
        given = [f"--{name}={value}" for name, value in options.items() if value is not None]
        return [sys.executable, __file__, str(self.model), *given, *([] if self.cache else ["--no-cache"])]

    def _wait(self) -> str:
        """Returns the address, once the server has said it: it has loaded its model by then."""
        assert self._process is not None
        end = time.monotonic() + self.deadline
        while time.monotonic() < end:
            if (code := self._process.poll()) is not None:
                raise RuntimeError(f"the llama.cpp server ended with code {code}; its last output:\n{self._tail()}")
            said = self._said.read_text(encoding="utf-8", errors="replace")
            if said.startswith(LISTENING) and said.endswith("\n"):
                return said.removeprefix(LISTENING).strip()
            time.sleep(0.05)
        raise RuntimeError(f"the server did not answer within {self.deadline:g} s; its last output:\n{self._tail()}")

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


def _end_with_parent() -> None:
    """Stops when standard input is closed: the parent process holds its other end, and would have to stop this one."""
    # Uses the descriptor: a thread that waits in sys.stdin disturbs the interpreter's shutdown.
    while os.read(0, 4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    runpy.run_path(str(SERVE), run_name="__main__")
