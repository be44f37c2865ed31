"""Asks an assertion of a config through promptfoo's own command, in batches: see `judges.promptfoo.Promptfoo`."""

import asyncio
import base64
import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.integrations.frameworks.description import YES_NO, on_scale, without_reference, written
from umpirical.integrations.promptfoo.assertion import (
    CATEGORIES,
    SAID,
    SELECT_BEST,
    Assertion,
    chosen,
    decided,
    decided_in,
    failure_told,
    placed,
    read_assertion,
)
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.program import run_to_end
from umpirical.judges.adapters.python import Batches
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.arguments import NAMES, shown_values
from umpirical.judges.code_files import CHANGED, digests_of, program_files
from umpirical.judges.endpoint_spec import PromptfooSpec
from umpirical.judges.placeholders import ROW
from umpirical.judges.promptfoo import FoundAssertion
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import QUIET
from umpirical.models.caller import CallFailed
from umpirical.store.files import inside
from umpirical.store.yaml_files import load_yaml

BATCH = 16
"""Questions for one start of promptfoo, which takes seconds, unless the judge says otherwise."""

OWN = frozenset(
    "completion context criteria env ideal input loop maxScore output outputs query rubric steps".split()  # noqa: SIM905
)
"""Variables that promptfoo fills in itself."""

_TAKEN_FOR_A_FILE = re.compile(r"(?:file://|package:)")

Row = Mapping[str, Any]


def describe(spec: PromptfooSpec, folder: Path) -> dict[str, Any]:
    if read_assertion(spec, folder).type == SELECT_BEST:
        return {"kind": "compare"}
    return {"kind": "grade", "scale": YES_NO}


def assertions(config: str, folder: Path) -> list[tuple[str, FoundAssertion | UsageError]]:
    whole = load_yaml(inside(folder, config, what="promptfoo config")).data
    return [(place, _found(config, number, folder)) for number, (place, *_) in enumerate(decided_in(whole))]


def _found(config: str, number: int, folder: Path) -> FoundAssertion | UsageError:
    try:
        named = PromptfooSpec(config=config, assertion=number)
        assertion, keys = read_assertion(named, folder), describe(named, folder)
        roles = _roles(JudgeSpec(name=assertion.type, promptfoo=named, **keys), assertion)
    except UsageError as error:
        return error
    used = {name for name, role in roles.items() if role == "task"} | {"input"}
    sees_task = bool(assertion.filled_in & used) or not assertion.plain
    return FoundAssertion(assertion.type, keys, assertion.parts, assertion.files[1:], sees_task)


def files(spec: PromptfooSpec, folder: Path) -> dict[str, Path]:
    assertion = read_assertion(spec, folder)
    home = folder.resolve()
    config, env = assertion.files[0], assertion.home / ".env"
    found = {str(file.relative_to(home)): file for file in (config, env) if file.is_file()}
    return found | program_files([*spec.command, *map(str, assertion.files[1:])], folder)


def judge(spec: JudgeSpec, named: PromptfooSpec, folder: Path) -> Adapted:
    assertion = read_assertion(named, folder)
    roles = _roles(spec, assertion)
    _check_scale(spec)
    command = command_of(named.command, folder, spec.name)
    code = _code(assertion, folder)
    running: set[asyncio.Task[Any]] = set()

    async def put(questions: Sequence[Question]) -> list[str | Exception]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # a batch is a task of its own
        if _code(assertion, folder) != code:
            raise CallFailed("judge-error", CHANGED)
        running.add(task)
        try:
            rows = await evaluated(command, assertion, questions, deadline=spec.deadline)
        finally:
            running.discard(task)
        return [_answer(spec, assertion, question, rows) for question in questions]

    batches: Batches[Question, Any] = Batches(put, spec.batch or BATCH)

    async def ask(shown: Presented) -> str:
        return str(await batches.answer(_question(shown, roles)))

    async def close() -> None:
        for task in tuple(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    parts, files = written(assertion.parts), _code(assertion, folder)
    return Adapted(ask, {"promptfoo": version_of(command), "parts": parts, "files": files}, close=close)


def _code(assertion: Assertion, folder: Path) -> dict[str, str]:
    """Returns the digests of the files that an assertion names, with all code that they may load."""
    named = [str(file) for file in assertion.files[1:]]
    return digests_of(program_files(["promptfoo", *named], folder)) if named else {}


def _roles(spec: JudgeSpec, assertion: Assertion) -> dict[str, str]:
    """Returns what each variable of the assertion is filled with: the task, or a column of the data.

    Raises UsageError for one that nothing is known about: promptfoo would leave an empty place there.
    """
    if unknown := [role for role in spec.inputs if role != "task" and not role.startswith(ROW)]:
        raise UsageError(
            f"judge {spec.name}: inputs: promptfoo fills in the {unknown[0]} itself",
            fix=f"map variables only to the task, or to a column as {ROW}NAME",
        )
    roles = {name: role for role, name in spec.inputs.items()}
    if "task" not in spec.inputs:
        known = {*assertion.filled_in, *assertion.variables} - roles.keys()
        roles |= {name: "task" for name in known if name.lower() in NAMES["task"]}
    if assertion.type == "factuality" and set(roles.values()) <= {"task"}:
        raise without_reference(spec, "the facts to check an answer against")
    left = assertion.filled_in - roles.keys() - assertion.variables.keys() - OWN
    if assertion.plain and left:
        name = min(left)
        raise UsageError(
            f"judge {spec.name}: the variable {name} of its {assertion.type} has no value",
            fix=f"if it is the task, add inputs: {{task: {name}}}; otherwise set it under vars in the config",
        )
    return roles


def _check_scale(spec: JudgeSpec) -> None:
    words = spec.answer.labels or (spec.scale.labels if spec.scale is not None else ())
    if spec.scale is not None and spec.scale.kind != "interval" and not {"true", "false"} <= {*words}:
        raise UsageError(
            f"judge {spec.name}: promptfoo returns pass (true or false) and a score",
            fix="use scale: {kind: binary, labels: ['false', 'true']}, or {kind: interval, low: 0, high: 1}",
        )


def _question(shown: Presented, roles: Mapping[str, str]) -> "Question":
    """Returns what promptfoo is asked. Raises CallFailed for a text that promptfoo would not show as it is."""
    values = shown_values(shown)
    variables = {name: str(values[role]) for name, role in roles.items()}
    names = "|".join(map(re.escape, {*variables, MARK}))
    for name, text in variables.items():
        if _TAKEN_FOR_A_FILE.match(text) or re.search(rf"\{{\{{\s*(?:{names})\s*\}}\}}", text):
            raise CallFailed("rejected", f"promptfoo would expand the contents of {name}: {text[:100]!r}")
    answers = (shown.first,) if shown.second is None else (shown.first, shown.second)
    return Question(secrets.token_hex(8), shown.task, answers, variables)


def _answer(spec: JudgeSpec, assertion: Assertion, question: "Question", rows: Sequence[Row]) -> str | Exception:
    """Returns the judgment of one question as text, or why there is none."""
    try:
        own = _own(question, rows)
        if assertion.type == SELECT_BEST:
            return judgment_text(spec.answer_field, chosen(own))
        by = "score" if spec.scale is not None and spec.scale.kind == "interval" else "pass"
        value, reason = decided(assertion, own[0], by=by)
        return judgment_text(spec.answer_field, on_scale(spec, value), reason)
    except Exception as error:  # noqa: BLE001  # it is the outcome of this question, and not of the batch
        return error


def _own(question: "Question", rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of a question in the order of the positions, if what they are about is what was shown."""
    own = [row for row in rows if _at(row, "vars", MARK, "id") == question.id]
    own.sort(key=lambda row: str(_at(row, "provider", "label")))
    if len(own) != len(question.shown):
        raise CallFailed(
            "malformed", f"promptfoo returned {len(own)} results for a question, expected {len(question.shown)}"
        )
    for row, text in zip(own, question.shown, strict=True):
        # A row without an output has not come to be graded, and says why.
        if (graded := _at(row, "response", "output")) is not None and graded != text:
            raise CallFailed("malformed", "promptfoo graded a different text than it was given")
    return own


def _at(part: object, *names: str) -> object:
    for name in names:
        part = part.get(name) if isinstance(part, Mapping) else None
    return part


# promptfoo's own command: one `promptfoo eval` for a batch of questions, in an empty folder.
#
# In the folder of a user's config, promptfoo would load any promptfooconfig.js that is there. Texts are passed on in
# base64 and unpacked by a transform of promptfoo's: as they are, one that begins with `file://` would be read from
# disk, and one with `{{ env.NAME }}` would be filled with a secret.


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
    """The answers, in the order of their positions."""
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
            f"judge {name}: promptfoo is not installed: no program {command[0]}",
            fix="npm install --global promptfoo, or set its path: command: [node_modules/.bin/promptfoo]",
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
    raise UsageError(f"{command[0]} --version does not print a version: {why}", fix="reinstall promptfoo and Node")


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
            raise CallFailed("malformed", f"the promptfoo results are larger than {LARGEST:,} bytes")
        return _rows(results)


def _rows(results: Path) -> list[Mapping[str, Any]]:
    try:
        rows = json.loads(results.read_text(encoding="utf-8"))["results"]["results"]
        return [row for row in rows if isinstance(row, Mapping)]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise CallFailed("malformed", "the promptfoo results are not valid JSON in the expected form") from None


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
