"""The adapter for promptfoo: an assertion of a config is asked through promptfoo's own command, in batches."""

import asyncio
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from umpirical.domain.digests import Json
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presented
from umpirical.judges.adapters.catalogue import Adapted
from umpirical.judges.adapters.framework import YES_NO, on_scale, without_reference, written
from umpirical.judges.adapters.program import program_files
from umpirical.judges.adapters.returned import judgment_text
from umpirical.judges.arguments import NAMES, shown_values
from umpirical.judges.batches import Batches
from umpirical.judges.placeholders import ROW
from umpirical.judges.promptfoo.assertion import SELECT_BEST, Assertion, read_assertion
from umpirical.judges.promptfoo.command import MARK, Question, command_of, evaluated, version_of
from umpirical.judges.promptfoo.results import chosen, decided
from umpirical.models.caller import CallFailed
from umpirical.store.manifests import file_sha256

if TYPE_CHECKING:
    from umpirical.judges.promptfoo.spec import PromptfooSpec
    from umpirical.judges.spec import JudgeSpec

BATCH = 16
"""Questions for one start of promptfoo, which takes seconds, unless the judge says otherwise."""

OWN = frozenset(
    "completion context criteria env ideal input loop maxScore output outputs query rubric steps".split()  # noqa: SIM905
)
"""Variables that promptfoo fills in itself."""

CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".go")

_TAKEN_FOR_A_FILE = re.compile(r"(?:file://|package:)")

Row = Mapping[str, Any]


def describe_promptfoo(spec: "PromptfooSpec", folder: Path) -> dict[str, Any]:
    """Returns what an assertion tells of itself, as keys of a judge in a study file."""
    if read_assertion(spec, folder).type == SELECT_BEST:
        return {"kind": "compare"}
    return {"kind": "grade", "scale": YES_NO}


def promptfoo_files(spec: "PromptfooSpec", folder: Path) -> list[Path]:
    """Returns every file of a folder that a judge of promptfoo may load, in order: the config, and what it names.

    A file that it names may load others, so with one of them all code counts.
    """
    assertion = read_assertion(spec, folder)
    config, *named = assertion.files
    found = {config, *program_files([*spec.command, *map(str, named)], folder, also=CODE if named else ())}
    if (env := assertion.home / ".env").is_file():
        found.add(env)
    home = folder.resolve()
    return [folder / file for file in sorted({file.resolve().relative_to(home) for file in found})]


def promptfoo_judge(spec: "JudgeSpec", folder: Path) -> Adapted:
    """Makes the assertion of a spec askable. Raises UsageError if it is no judge, or promptfoo is not there."""
    assert spec.promptfoo is not None  # noqa: S101  # the caller checked it
    assertion = read_assertion(spec.promptfoo, folder)
    roles = _roles(spec, assertion)
    _check_scale(spec)
    command = command_of(spec.promptfoo.command, folder, spec.name)
    running: set[asyncio.Task[Any]] = set()

    async def put(questions: Sequence[Question]) -> list[str | Exception]:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  # a batch is a task of its own
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

    return Adapted(ask, _identity(assertion, folder, version_of(command)), close=close)


def _identity(assertion: Assertion, folder: Path, version: str) -> Json:
    named = [str(file) for file in assertion.files[1:]]
    files = {str(file.relative_to(folder)): file_sha256(file) for file in program_files(named, folder)}
    return {"promptfoo": version, "parts": written(assertion.parts), "files": files}


def _roles(spec: "JudgeSpec", assertion: Assertion) -> dict[str, str]:
    """Returns what each variable of the assertion is filled with: the task, or a column of the data.

    Raises UsageError for one that nothing is known about: promptfoo would leave an empty place there.
    """
    if unknown := [role for role in spec.inputs if role != "task" and not role.startswith(ROW)]:
        raise UsageError(
            f"judge {spec.name}: inputs: promptfoo itself shows the {unknown[0]}",
            fix=f"name variables for the task, or for a column as {ROW}NAME",
        )
    roles = {name: role for role, name in spec.inputs.items()}
    if "task" not in spec.inputs:
        known = {*assertion.filled_in, *assertion.variables} - roles.keys()
        roles |= {name: "task" for name in known if name.lower() in NAMES["task"]}
    if assertion.type == "factuality" and set(roles.values()) <= {"task"}:
        raise without_reference(spec, "the facts that an answer is held against")
    left = assertion.filled_in - roles.keys() - assertion.variables.keys() - OWN
    if assertion.plain and left:
        name = min(left)
        raise UsageError(
            f"judge {spec.name}: nothing is said about the variable {name} of its {assertion.type}",
            fix=f"inputs: {{task: {name}}} if it is the task; else give it a value under vars in the config",
        )
    return roles


def _check_scale(spec: "JudgeSpec") -> None:
    words = spec.answer.labels or (spec.scale.labels if spec.scale is not None else ())
    if spec.scale is not None and spec.scale.kind != "interval" and not {"true", "false"} <= {*words}:
        raise UsageError(
            f"judge {spec.name}: promptfoo says pass, which is true or false, and a score",
            fix="write scale: {kind: binary, labels: ['false', 'true']}, or {kind: interval, low: 0, high: 1}",
        )


def _question(shown: Presented, roles: Mapping[str, str]) -> Question:
    """Returns what promptfoo is asked. Raises CallFailed for a text that promptfoo would not show as it is."""
    values = shown_values(shown)
    variables = {name: str(values[role]) for name, role in roles.items()}
    names = "|".join(map(re.escape, {*variables, MARK}))
    for name, text in variables.items():
        if _TAKEN_FOR_A_FILE.match(text) or re.search(rf"\{{\{{\s*(?:{names})\s*\}}\}}", text):
            raise CallFailed("rejected", f"promptfoo would load or fill in what stands in {name}: {text[:100]!r}")
    answers = (shown.first,) if shown.second is None else (shown.first, shown.second)
    return Question(secrets.token_hex(8), shown.task, answers, variables)


def _answer(spec: "JudgeSpec", assertion: Assertion, question: Question, rows: Sequence[Row]) -> str | Exception:
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


def _own(question: Question, rows: Sequence[Row]) -> list[Row]:
    """Returns the rows of a question in the order of the slots, if what they are about is what was shown."""
    own = [row for row in rows if _at(row, "vars", MARK, "id") == question.id]
    own.sort(key=lambda row: str(_at(row, "provider", "label")))
    if len(own) != len(question.shown):
        raise CallFailed(
            "malformed", f"promptfoo has {len(own)} results for a question, expected {len(question.shown)}"
        )
    for row, text in zip(own, question.shown, strict=True):
        # A row without an output has not come to be graded, and says why.
        if (graded := _at(row, "response", "output")) is not None and graded != text:
            raise CallFailed("malformed", "promptfoo graded another text than it was given")
    return own


def _at(part: object, *names: str) -> object:
    for name in names:
        part = part.get(name) if isinstance(part, Mapping) else None
    return part
