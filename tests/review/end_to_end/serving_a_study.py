"""A study, its generator and its review as a user runs them: each a command in a process of its own."""

import json
import os
import re
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from tests.protocols.review.written import terms_of
from umpirical.protocols.review import open_review

TESTS = ("authority-cue", "label-flip")
"""Each makes one item from every answer; the first has no labels, the second has."""

LINK = re.compile(r"http://127\.0\.0\.1:\d+/join/[\w-]{43,}")

LETTERS = "abcdefghij"


def made_study(folder: Path, url: str, *, items: int, **review: object) -> Path:
    """A study whose generator, at `url`, is to write so many items, two at a time."""
    folder.mkdir(parents=True)
    rows = []
    for number in range(items // len(TESTS)):
        name = "".join(LETTERS[int(digit)] for digit in f"{number:04}")
        text = f"Nobody knows for certain why the sky is blue above us, and so each may believe, like pupil {name}."
        rows.append({"id": name, "answer": text, "score": "13"[number % 2]})
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    (folder / "rubric.txt").write_text("3: right and complete. 1: wrong.")
    model = {"adapter": "openai-compatible", "base_url": url, "price": "free"}
    study = {
        "study": "sky",
        "concurrency": 2,
        "dataset": {
            "path": "answers.jsonl",
            "columns": {"response": "answer", "label": "score", "id": "id"},
            "scale": {"kind": "ordinal", "labels": ["1", "2", "3"]},
            "task_text": "Why is the sky blue?",
        },
        "rubric": "rubric.txt",
        "stress": {
            "tests": list(TESTS),
            "repeats": 1,
            "generator": {"model": model | {"name": "writer"}},
            "validator": {"model": model | {"name": "reader"}},
        },
        "review": review,
        "judges": [{"name": "sound", "model": {"adapter": "simulated", "name": "sound-examiner"}}],
    }
    (folder / "umpirical.yaml").write_text(json.dumps(study))
    return folder


@contextmanager
def generating(folder: Path):
    """`umpirical generate`, running; checks at the end that it succeeded."""
    command = [sys.executable, "-m", "umpirical", "generate", str(folder), "--trust", "--yes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
            said, _ = process.communicate(timeout=300)
            assert process.returncode == 0, said
        finally:
            process.kill()


class ReviewProcess:
    """`umpirical review`, on the same port each time it is started."""

    def __init__(self, folder: Path, *, database: str | None = None) -> None:
        self.folder = folder
        self.environment = os.environ | ({"UMPIRICAL_DATABASE": database} if database else {})
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.log = folder.parent / "server.log"
        self.process: subprocess.Popen[str] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> str:
        """The link that lets the owner in; when it is printed, the server listens."""
        command = [
            sys.executable,
            "-m",
            "umpirical",
            "review",
            str(self.folder),
            "--trust",
            "--no-open",
            "--port",
            str(self.port),
        ]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=log, text=True, env=self.environment
            )
        for line in self.process.stdout:
            if found := LINK.search(line):
                return found[0]
        raise AssertionError(self.log.read_text())

    def kill(self) -> None:
        """Sends SIGKILL: nothing of the program runs afterwards, no handler and no flush."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def invite(self, name: str, role: str) -> str:
        with opened(self) as review:
            return f"{self.url}/join/{review.people.invite(name, role)}"

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()


@contextmanager
def opened(process: ReviewProcess):
    """The review, opened beside the server."""
    found = open_review(terms_of(process.folder), environment=process.environment)
    try:
        yield found
    finally:
        found.close()
