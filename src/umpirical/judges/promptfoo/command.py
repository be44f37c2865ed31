"""promptfoo's own command: one `promptfoo eval` for a batch of questions, in an empty folder.

In the folder of a user's config, promptfoo would load any promptfooconfig.js that is there. Texts are passed on in
base64 and unpacked by a transform of promptfoo's: as they are, one that begins with `file://` would be read from disk,
and one with `{{ env.NAME }}` would be filled with a secret.
"""

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.judges.processes import run_to_end
from umpirical.judges.promptfoo.assertion import Assertion, placed
from umpirical.judges.promptfoo.results import CATEGORIES, SAID, failure_told
from umpirical.judges.telemetry import QUIET
from umpirical.models.caller import CallFailed

MARK = "umpirical"
"""The variable that holds a question."""

GRADER = "umpirical-grader"
"""The label of the model that decides."""

LARGEST = 256 * 2**20
"""Bytes of the results of a batch."""

PATIENCE = 120
"""Seconds in which promptfoo says its version."""

UNPACKED = f"(all => ({{...all.variables, {MARK}: all}}))(JSON.parse(Buffer.from(vars.{MARK}, 'base64').toString()))"

RECORDED = ("llm-rubric",)
"""Assertions whose results do not tell what the model has said from what promptfoo filled in."""

RECORDING = f"""exports.beforeAll = async ({{ suite }}) => {{
  for (const provider of suite.providers.filter(each => each.label === '{GRADER}')) {{
    const call = provider.callApi.bind(provider);
    provider.callApi = async (...given) => {{
      const reply = await call(...given);
      return {{ ...reply, metadata: {{ ...reply.metadata, {SAID}: reply.output }} }};
    }};
  }}
}};
"""
"""Keeps what the model has said beside what promptfoo makes of it. The call and its answer are as they were."""

SILENCE = """const send = globalThis.fetch;
globalThis.fetch = (to, ...rest) => /^https:\\/\\/[ar]\\.promptfoo\\.app\\b/.test(to?.url ?? String(to))
  ? Promise.reject(new Error('usage reports are switched off'))
  : send(to, ...rest);
"""
"""promptfoo reports to its makers even that reports are switched off. No variable stops that."""


@dataclass(frozen=True)
class Question:
    """What promptfoo is shown."""

    id: str
    task: str
    shown: tuple[str, ...]
    """The answers, in the order of their slots."""
    variables: Mapping[str, str]
    """What the assertion's variables are filled with."""

    def packed(self) -> str:
        # It takes one line break off the end of every variable.
        variables = {name: f"{text}\n" for name, text in self.variables.items()}
        whole = {"id": self.id, "task": self.task, "shown": self.shown, "variables": variables}
        return base64.b64encode(json.dumps(whole).encode("ascii")).decode("ascii")


def command_of(command: Sequence[str], folder: Path, name: str) -> tuple[str, ...]:
    """Returns the command with the whole path of its program. Raises UsageError if there is none."""
    program = str((folder / command[0]).resolve()) if "/" in command[0] else command[0]
    found = shutil.which(program)
    if found is None:
        raise UsageError(
            f"judge {name}: there is no program {command[0]} to ask promptfoo with",
            fix="npm install --global promptfoo, or say where it is: command: [node_modules/.bin/promptfoo]",
        )
    return (found, *command[1:])


@lru_cache
def version_of(command: tuple[str, ...]) -> str:
    """Returns promptfoo's version: its prompts and its parser are part of the judge. Raises UsageError if none."""
    try:
        with TemporaryDirectory(prefix="umpirical-promptfoo-") as folder:
            done = subprocess.run(  # noqa: S603  # the command that the user has agreed to
                [*command, "--version"],
                cwd=folder,
                env=_environment(Path(folder)),
                check=False,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=PATIENCE,
            )
        said = (done.stdout.strip() or done.stderr.strip()).rpartition("\n")[2]
        if done.returncode == 0 and said:
            return said
        why = f"exit code {done.returncode}: {said[:200]}"
    except (OSError, subprocess.TimeoutExpired) as error:
        why = str(error)
    raise UsageError(
        f"{command[0]} --version does not say a version: {why}", fix="install promptfoo again, with its Node"
    )


async def evaluated(
    command: Sequence[str], assertion: Assertion, questions: Sequence[Question], *, deadline: float
) -> list[Mapping[str, Any]]:
    """Returns promptfoo's results for some questions, a row for each answer. Raises CallFailed if there are none."""
    with TemporaryDirectory(prefix="umpirical-promptfoo-") as place:
        folder = Path(place)
        (folder / "recording.cjs").write_text(RECORDING, encoding="utf-8")
        config = _config(assertion, questions, folder, timeout=deadline / 2)
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        env_file = assertion.home / ".env"
        words = ["eval", "--config", "config.json", "--output", "results.json", "--no-cache", "--no-share"]
        words += ["--no-table", "--no-progress-bar", "--max-concurrency", str(len(questions))]
        words += ["--env-file", str(env_file.resolve())] if env_file.is_file() else []
        code, last = await run_to_end([*command, *words], folder, environment=_environment(folder), deadline=deadline)
        results = folder / "results.json"
        if not results.is_file():
            # A limit that is reached in select-best ends promptfoo itself.
            raise failure_told(f"promptfoo ended with exit code {code} and no results: {last}")
        if results.stat().st_size > LARGEST:
            raise CallFailed("malformed", f"the results of promptfoo have more than {LARGEST:,} bytes")
        return _rows(results)


def _rows(results: Path) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(results.read_text(encoding="utf-8"))["results"]["results"]
        return [row for row in rows if isinstance(row, Mapping)]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise CallFailed("malformed", "the results of promptfoo are not the JSON that it writes") from None


def _config(assertion: Assertion, questions: Sequence[Question], folder: Path, *, timeout: float) -> dict[str, Any]:
    """Returns a config in which the answers are given, and only the assertion is left to be decided."""
    parts = placed(assertion.parts, assertion.home)
    slots = [str(number) for number in range(1, len(questions[0].shown) + 1)]
    options = {**parts["options"], "disableVarExpansion": True, "transformVars": UNPACKED}
    recorded = assertion.type in RECORDED
    options["provider"] = GRADER if recorded else parts["provider"]
    if assertion.type == "factuality":
        options["factuality"] = CATEGORIES
    echoes = [
        {"id": "echo", "label": slot, "transform": f"context.vars.{MARK}.shown[{number}]"}
        for number, slot in enumerate(slots)
    ]
    tests = [
        {"vars": {**parts["variables"], MARK: question.packed()}, "assert": [parts["assertion"]], "providers": slots}
        for question in questions
    ]
    return {
        "prompts": [f"{{{{ {MARK}.task }}}}"],
        "providers": [*echoes, *([{**parts["provider"], "label": GRADER}] if recorded else ())],
        "extensions": [f"{(folder / 'recording.cjs').as_uri()}:beforeAll"] if recorded else [],
        "evaluateOptions": {"timeoutMs": int(timeout * 1000)},
        "defaultTest": {"options": options},
        "tests": tests,
        **({"env": parts["env"]} if parts["env"] else {}),
    }


def _environment(folder: Path) -> dict[str, str]:
    """Returns the user's environment, without reports, and with everything that promptfoo writes in a folder."""
    silence = folder / "silence.mjs"
    silence.write_text(SILENCE, encoding="utf-8")
    loaded = f"{os.environ.get('NODE_OPTIONS', '')} --import={silence.as_uri()}".strip()
    own = {"PROMPTFOO_CONFIG_DIR": str(folder / "state"), "PROMPTFOO_CACHE_ENABLED": "false", "NODE_OPTIONS": loaded}
    # It looks for Google's metadata server before every run, whatever its models are.
    return {"METADATA_SERVER_DETECTION": "none", **os.environ, **QUIET, **own}
