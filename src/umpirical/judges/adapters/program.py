"""Programs that answer questions: JSON lines to their standard input, JSON lines from their standard output.

A reply is matched with its question by an id that nobody can guess. A program that breaks the protocol, by a line that
is no reply or by an id that it was not asked about, can no longer be believed to answer what it was asked. Everything
in flight fails then, the process is killed with its group, and the next question starts another one.
"""

import asyncio
import atexit
import json
import os
import secrets
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import FailureKind
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.arguments import question_of
from umpirical.judges.code_files import CHANGED, digests_of, program_files
from umpirical.judges.failures import Unreadable
from umpirical.judges.user_code import QUIET
from umpirical.models.caller import CallFailed
from umpirical.store.files import state_folder
from umpirical.text.json_texts import without_doubles

if TYPE_CHECKING:
    from umpirical.judges.spec import JudgeSpec


LONGEST_LINE = 2**20
"""Bytes of a reply. A judgment has a few hundred."""

LONGEST_TAIL = 2_000
"""Bytes of what a program last said on standard error, for the message if it ends."""

BARREN_STARTS = 3
"""After this many starts in a row without one answer, the program is not started again."""

MOST_STARTS = 50
"""Starts of one process in a run, whatever it answers in between."""

GRACE = 2.0
"""Seconds to end by itself, and for the rest of the output once it has ended."""

_alive: set[int] = set()
"""Process groups to kill if this process exits without closing its judges."""


class Program:
    """A command, run in as many processes as wanted. Each question goes to the one with the fewest in flight."""

    def __init__(
        self, command: Sequence[str], folder: Path, *, processes: int = 1, files: Mapping[str, str] | None = None
    ) -> None:
        """With `files`, the digests of its code, no process is started once that has changed."""
        self._seats = [_Seat(command, folder, files) for _ in range(processes)]

    async def ask(self, question: Mapping[str, object]) -> dict[str, Any]:
        """Returns the reply to a question, without its id. Raises CallFailed if there is none."""
        seat = min(self._seats, key=lambda seat: seat.asked)
        seat.asked += 1
        try:
            return await (await seat.process()).ask(question)
        finally:
            seat.asked -= 1

    async def close(self) -> None:
        """Ends all processes, the hard way if they do not end by themselves."""
        await asyncio.gather(*(seat.close() for seat in self._seats))


class _Seat:
    """The place of one process: when it has ended, the next one takes it."""

    def __init__(self, command: Sequence[str], folder: Path, files: Mapping[str, str] | None) -> None:
        self._command, self._folder, self._files = command, folder, files
        self._process: _Process | None = None
        self._starts = self._barren = 0
        self._last_end = ""
        self._starting = asyncio.Lock()
        self.asked = 0
        """Questions in flight."""

    async def process(self) -> "_Process":
        """Returns the living process, or starts one. Raises CallFailed if it cannot be, or was too often."""
        async with self._starting:
            if self._process is not None and not self._process.ended:
                return self._process
            if self._process is not None:
                self._barren = 0 if self._process.answers else self._barren + 1
                self._last_end, self._process = self._process.ended, None
            if self._barren >= BARREN_STARTS or self._starts >= MOST_STARTS:
                raise CallFailed("judge-error", f"started {self._starts} times and given up: {self._last_end}")
            self._starts += 1
            if self._files is not None and digests_of(program_files(self._command, self._folder)) != self._files:
                raise CallFailed("judge-error", CHANGED)
            try:
                self._process = await _start(self._command, self._folder)
            except OSError as error:
                raise CallFailed("judge-error", f"cannot start {self._command[0]}: {error.strerror or error}") from None
            return self._process

    async def close(self) -> None:
        if self._process is not None:
            await self._process.close()


async def _start(command: Sequence[str], folder: Path) -> "_Process":
    loop = asyncio.get_running_loop()
    # What Python compiles is kept with the user's state: what came with a study may hold other code.
    env = {"PYTHONPYCACHEPREFIX": str(state_folder() / "compiled"), **os.environ, **QUIET}
    # Its own session, so that it can be killed with everything that it has started. No shell reads the command.
    _, protocol = await loop.subprocess_exec(_Process, *command, cwd=folder, env=env, start_new_session=True)
    return protocol


class _Process(asyncio.SubprocessProtocol):
    """One process, from its start to its end."""

    def __init__(self) -> None:
        self.ended = ""
        """Why it has ended; empty as long as it has not."""
        self.answers = 0
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._given_up: set[str] = set()
        """Questions that nobody waits for any more. Their answers may still come, and are dropped."""
        self._line = bytearray()
        self._tail = b""
        self._lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)
        self._pid = self._transport.get_pid()
        _alive.add(self._pid)

    async def ask(self, question: Mapping[str, object]) -> dict[str, Any]:
        if self.ended:
            raise CallFailed("judge-error", self.ended)
        name, heard = secrets.token_hex(8), self.answers
        waiting: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._waiting[name] = waiting
        line = json.dumps({"id": name, **question}).encode("ascii") + b"\n"
        cast("asyncio.WriteTransport", self._transport.get_pipe_transport(0)).write(line)
        try:
            return await waiting
        finally:
            if self._waiting.pop(name, None) is not None:
                self._given_up.add(name)
                if self.answers == heard:
                    # It answered nobody in all this time: it hangs, and so will the others.
                    self.end("timeout", "the program did not answer and was killed")

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.ended:
            return
        if fd == 2:
            self._tail = (self._tail + data)[-LONGEST_TAIL:]
            return
        *lines, rest = data.split(b"\n")
        for line in lines:
            self._hear(bytes(self._line) + line)
            self._line.clear()
            if self.ended:
                return
        self._line += rest
        if len(self._line) > LONGEST_LINE:
            self.end("malformed", f"the program printed a line of more than {LONGEST_LINE:,} bytes")

    def _hear(self, line: bytes) -> None:
        try:
            reply = json.loads(line.decode("utf-8"), object_pairs_hook=without_doubles)
            name = reply.pop("id")
            answered = self._waiting.pop(name, None)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            said = line[:200].decode("utf-8", "backslashreplace")
            self.end(
                "malformed",
                f"the program printed a line that is not a reply with an id: {said!r}; write log output to stderr",
            )
            return
        if answered is not None:
            self.answers += 1
            if not answered.done():
                answered.set_result(reply)
        elif name in self._given_up:
            self._given_up.remove(name)
            self.answers += 1
        else:
            self.end(
                "malformed", f"the program answered {str(name)[:40]!r}, which was not asked or has an answer already"
            )

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002  # as in the base class
        # A program that ends closes both; then its exit code is what to tell.
        if fd < 2 and not self.ended:
            self._later("the program closed its output" if fd == 1 else "the program closed its input")

    def process_exited(self) -> None:
        code = self._transport.get_returncode()
        # What it has printed last may still be in the pipe; one of its children may keep that open for ever.
        self._later(f"the program ended with exit code {code}")

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # as in the base class
        if self._line and not self.ended:
            self._hear(bytes(self._line))
        self.end("judge-error", f"the program ended with exit code {self._transport.get_returncode()}")
        self._transport.close()
        self._lost.set()

    def _later(self, why: str) -> None:
        asyncio.get_running_loop().call_later(GRACE, self.end, "judge-error", why)

    def end(self, kind: FailureKind, why: str) -> None:
        """Fails what is in flight, and kills the process with its group."""
        if not self.ended:
            tail = self._tail.decode("utf-8", "backslashreplace").strip()
            self.ended = f"{why}; last output: {tail[-200:]}" if tail and kind == "judge-error" else why
            waiting, self._waiting = self._waiting, {}
            for each in waiting.values():
                if not each.done():
                    each.set_exception(CallFailed(kind, self.ended))
            _kill(self._pid)
            for fd in range(3):
                # What escaped from the group may hold the other end.
                if (pipe := self._transport.get_pipe_transport(fd)) is not None:
                    pipe.close()

    async def close(self) -> None:
        if not self.ended:
            stdin = self._transport.get_pipe_transport(0)
            if stdin is not None:
                stdin.close()
            await self._gone()
        self.end("judge-error", "the run has ended")
        await self._gone()

    async def _gone(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._lost.wait(), GRACE)


async def run_to_end(
    command: Sequence[str], folder: Path, *, environment: Mapping[str, str], deadline: float
) -> tuple[int, str]:
    """Runs a command that asks nothing; returns its exit code, and the end of what it printed.

    Raises CallFailed if it cannot be started, or is killed, with its group, because it takes longer than `deadline`
    seconds.
    """
    with (folder / "printed.txt").open("wb") as printed:
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                cwd=folder,
                env=dict(environment),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=printed,
                stderr=printed,
                start_new_session=True,
            )
        except OSError as error:
            raise CallFailed("judge-error", f"cannot start {command[0]}: {error.strerror or error}") from None
        _alive.add(process.pid)
        try:
            code = await asyncio.wait_for(process.wait(), deadline)
        except TimeoutError:
            raise CallFailed("timeout", f"the program did not exit within {deadline:g} s and was killed") from None
        finally:
            _kill(process.pid)
            await process.wait()
    tail = (folder / "printed.txt").read_bytes()[-LONGEST_TAIL:]
    return code, tail.decode("utf-8", "backslashreplace").strip()


def _kill(group: int) -> None:
    _alive.discard(group)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


@atexit.register
def _kill_all() -> None:
    for group in tuple(_alive):
        _kill(group)


# The adapter for programs in any language, which read questions and write answers as JSON lines.


def program_judge(spec: "JudgeSpec", command: tuple[str, ...], folder: Path) -> Adapted:
    """Makes the program of a spec askable. It is started with the first question."""
    question = question_of(spec)
    if "id" in spec.inputs.values():
        raise UsageError(
            f"judge {spec.name}: inputs: the name id is reserved for the id of the question", fix="choose another name"
        )
    files = digests_of(program_files(command, folder))
    program = Program(command, folder, processes=spec.processes, files=files)

    async def ask(shown: Presented) -> str:
        return _text(await program.ask(question(shown)))

    return Adapted(ask, {"command": list(command), "files": files}, close=program.close)


def _text(reply: dict[str, Any]) -> str:
    error, kind = reply.pop("error", None), reply.pop("kind", None)
    if error not in (None, "", False):
        if kind == "unreadable":
            raise Unreadable(str(error))
        raise CallFailed(kind if kind in get_args(FailureKind) else "judge-error", str(error))
    if reply.keys() == {"text"} and isinstance(reply["text"], str):
        return reply["text"]
    try:
        return json.dumps(reply)
    except RecursionError:
        # What could just be read may be too deep to be written again.
        raise CallFailed("malformed", "the reply is nested too deeply") from None
