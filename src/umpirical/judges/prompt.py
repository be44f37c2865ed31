"""A judge's prompts: the built-in ones, those in the study's folder, and the marks around what is judged."""

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any, get_args, get_type_hints

from umpirical.domain.digests import digest
from umpirical.domain.errors import ConfigError, UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presented
from umpirical.judges.layout import LAYOUT_PLACEHOLDERS, prompt_placeholders
from umpirical.judges.placeholders import ROW, respelled, spelling_of
from umpirical.judges.spec import JudgeSpec, Prompt
from umpirical.models.requests import Message
from umpirical.store.files import inside
from umpirical.text.json_texts import without_doubles
from umpirical.text.templates import placeholders

ALLOWED = {"task", "first", "second", "fence", "scale", "order"} | LAYOUT_PLACEHOLDERS
"""Placeholders that are filled for each trial."""


MESSAGES = (".yaml", ".yml", ".json")
"""Endings of a prompt file that is a list of messages."""

ROLES = get_args(get_type_hints(Message)["role"])

NO_ROWS = "this protocol does not use a dataset"


@dataclass(frozen=True, slots=True)
class StudyTexts:
    """Texts of a study, inserted where a prompt names them."""

    shared: Mapping[str, str] = field(default_factory=dict)
    """The study's instruction and rubric."""
    per_row: Mapping[str, str] = field(default_factory=dict)
    """Those that differ from row to row, with the columns that they come from in them."""

    def __bool__(self) -> bool:
        return bool(self.shared or self.per_row)


def resolve_prompts(
    spec: JudgeSpec,
    folder: Path,
    variants: Collection[str] | Mapping[str, str] = ("baseline",),
    texts: StudyTexts | None = None,
    *,
    hidden: Mapping[str, str] | None = None,
    tests: Mapping[str, str] | None = None,
) -> JudgeSpec:
    """Returns the spec with each prompt itself in place of its name, so that it is self-contained.

    A judge that names no prompt is asked in `variants` with the built-in prompts, one file for each variant, unless
    `variants` maps a variant to another prompt.
    `tests` are the tests that may have a prompt of their own, each with the one that it has by default, or nothing.
    `hidden` maps columns of the data that no judge may name to what to do instead; None if there are no columns at all.
    """
    if spec.model is None:
        _check_columns(spec, hidden)
        return spec
    # A variant is about ties, which do not apply to grades.
    asked = variants if spec.kind == "compare" else ("baseline",)
    own = variants if isinstance(variants, Mapping) else {}
    named: Mapping[str, Prompt] = spec.prompts or {
        variant: _prompt_name(own.get(variant, variant), spec.kind) for variant in asked
    }
    texts = texts or StudyTexts()
    if texts and not spec.prompts:
        named = {"baseline": "builtin:grade-rubric"}
    _check_inputs(spec)
    prompts = {variant: _resolved(prompt, spec, folder, texts) for variant, prompt in named.items()}
    if len({messages_of(prompt) for prompt in prompts.values()}) != len(prompts):
        raise UsageError(f"judge {spec.name}: two prompt variants have the same prompt", fix="remove one of them")
    by_test = {
        test: _resolved(prompt, spec, folder, texts) for test, prompt in _test_prompts(spec, tests or {}).items()
    }
    resolved = spec.model_copy(update={"prompts": prompts, "test_prompts": by_test})
    _check_columns(resolved, hidden)
    return resolved


def _test_prompts(spec: JudgeSpec, tests: Mapping[str, str]) -> Mapping[str, Prompt]:
    """Returns the prompts for tests by name. A judge with a prompt of its own is not asked with a built-in one."""
    if unknown := [name for name in spec.test_prompts if name not in tests]:
        known = (
            f"tests that can have their own prompt: {', '.join(tests)}"
            if tests
            else "no test of this study can have its own prompt"
        )
        raise UsageError(
            f"judge {spec.name}: test_prompts names {unknown[0]!r}, which is not such a test of this study", fix=known
        )
    usual = {test: prompt for test, prompt in tests.items() if prompt}
    if spec.prompts and (unsaid := [test for test in usual if test not in spec.test_prompts]):
        raise UsageError(
            f"judge {spec.name} has its own prompt, but none for {unsaid[0]}",
            fix=f"add  test_prompts: {{{unsaid[0]}: FILE}}  or use the built-in prompt  {usual[unsaid[0]]}",
        )
    return {**usual, **spec.test_prompts}


def messages_of(prompt: Prompt) -> tuple[Message, ...]:
    """Returns the messages that a prompt stands for: a text is one of the user's."""
    return (Message("user", prompt),) if isinstance(prompt, str) else prompt


def prompt_text(prompt: Prompt) -> str:
    """Returns a prompt as one text to show, with the role above each message where there are several."""
    if isinstance(prompt, str):
        return prompt
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in prompt)


def columns_of(spec: JudgeSpec) -> tuple[str, ...]:
    """Returns the columns of the data that a judge names, in prompts, in a body or as inputs, sorted by name."""
    named = {name for prompt in spec.every_prompt for name in prompt_placeholders(prompt)}
    named |= set(spec.inputs) if spec.model is None else set()
    named |= spec.http.filled_in() if spec.http else set()
    return tuple(sorted(name.removeprefix(ROW) for name in named if name.startswith(ROW)))


def fence(shown: Presented) -> str:
    """Returns a mark that no candidate can contain, since it depends on the whole text that it fences.

    It is the same in both orders, so it reveals nothing that the texts do not.
    """
    first, second = sorted([shown.first, shown.second or ""])
    return _mark(shown.task, first, second, *(each for column in sorted(shown.columns.items()) for each in column))


# The presentations of a stimulus are asked soon after each other.
@lru_cache(maxsize=256)
def _mark(*texts: str) -> str:
    return digest("fence", texts)[:8]


def builtin_prompt(name: str) -> str:
    """Returns the text of a built-in prompt: `compare`, or for a variant other than baseline, `compare-strict`."""
    folder = files("umpirical.judges") / "prompts"
    found = folder / f"{name}.md"
    if not re.fullmatch(r"[a-z0-9-]+", name) or not found.is_file():
        known = sorted(path.name.removesuffix(".md") for path in folder.iterdir() if path.name.endswith(".md"))
        raise UsageError(f"unknown built-in prompt {name!r}", fix=f"choose one of: {', '.join(known)}")
    return found.read_text(encoding="utf-8")


def _prompt_name(name: str, kind: JudgeKind) -> str:
    """Returns the prompt that a study names for a variant: a file, `builtin:NAME`, or a variant with a built-in one."""
    if "." in name or ":" in name:
        return name
    return f"builtin:{kind}" if name == "baseline" else f"builtin:{kind}-{name}"


def _check_inputs(spec: JudgeSpec) -> None:
    known = sorted(ALLOWED)
    for role, name in spec.inputs.items():
        is_column = role.startswith(ROW) and role != ROW and not re.search(r"[{}\n]", role)
        if role not in ALLOWED and not is_column:
            raise UsageError(
                f"judge {spec.name}: unknown field {role!r} in inputs",
                fix=f"choose one of: {', '.join(known)}, or row.COLUMN for a column of the data",
            )
        if name in spec.values:
            raise UsageError(f"judge {spec.name}: {name!r} is set in both inputs and values", fix="remove one of them")


def _check_columns(spec: JudgeSpec, hidden: Mapping[str, str] | None) -> None:
    named = columns_of(spec)
    if hidden is None and named:
        raise UsageError(
            f"judge {spec.name} uses the column {named[0]!r}, but {NO_ROWS}",
            fix=f"set a fixed text in the judge's entry:  values: {{{_placeholder(spec, named[0])}: ...}}",
        )
    for column in named:
        if hidden and column in hidden:
            raise UsageError(f"judge {spec.name} uses the column {column!r} of the data", fix=hidden[column])


def _placeholder(spec: JudgeSpec, column: str) -> str:
    role = f"{ROW}{column}"
    return spec.inputs.get(role, role)


def _resolved(prompt: Prompt, spec: JudgeSpec, folder: Path, of: StudyTexts) -> Prompt:
    """Reads a prompt by its name, respells it in our own names, and puts the study's texts and the judge's in."""
    name, read = (prompt, _read(prompt, spec, folder)) if isinstance(prompt, str) else ("of messages", prompt)
    what = f"judge {spec.name}: prompt {name}"
    builtin = isinstance(prompt, str) and prompt.startswith("builtin:")
    # A built-in prompt has our own names, whatever another prompt of the same judge calls them.
    inputs = {} if builtin else spec.inputs
    fillings = {**_fillings(inputs, spec.values, of.shared), **of.per_row}
    texts = [message.content for message in messages_of(read)]
    spelling = "double" if builtin else spelling_of(texts, fillings, what=what)
    made = [respelled(text, spelling, fillings, what=what) for text in texts]
    if spelling == "double" and not (of or inputs or spec.values):
        made = texts
    needed = {"task", "first", "second"} if spec.kind == "compare" else {"task", "first"}
    if missing := needed - {name for text in made for name in placeholders(text)}:
        names = ", ".join(f"{{{{{inputs.get(name, name)}}}}}" for name in sorted(missing))
        raise UsageError(
            f"{what} has no {names}",
            fix="add the placeholders, or map them in the judge's inputs:  inputs: {task: question}",
        )
    if isinstance(read, str):
        return made[0]
    return tuple(replace(message, content=text) for message, text in zip(read, made, strict=True))


def _fillings(inputs: Mapping[str, str], values: Mapping[str, str], shared: Mapping[str, str]) -> dict[str, str]:
    """Maps every name that a template may use to what takes its place."""
    for name, value in {**shared, **values}.items():
        if held := placeholders(value):
            raise UsageError(f"the {name} contains {{{{{min(held)}}}}}", fix="rephrase it")
    roles = {role: role for role in ALLOWED if role not in inputs} | {name: role for role, name in inputs.items()}
    # A template that calls the task `instruction` does not mean the study's.
    return {**shared, **{name: f"{{{{{role}}}}}" for name, role in roles.items()}, **values}


def _read(name: str, spec: JudgeSpec, folder: Path) -> Prompt:
    if name.startswith("builtin:"):
        return builtin_prompt(name.removeprefix("builtin:"))
    text = _read_file(name, spec, folder)
    return _messages(text, name, spec) if name.lower().endswith(MESSAGES) else text


def _messages(text: str, name: str, spec: JudgeSpec) -> tuple[Message, ...]:
    """Returns the messages of a file. Raises UsageError if it is anything but a list of them."""
    form = "- {role: system, content: ...}"
    try:
        found = _parsed(text, name)
    except (ValueError, RecursionError, ConfigError) as error:
        raise UsageError(
            f"judge {spec.name}: prompt {name} cannot be read: {error}", fix=f"write a list:  {form}"
        ) from None
    if not isinstance(found, list) or not found:
        raise UsageError(
            f"judge {spec.name}: prompt {name} is not a list of messages", fix=f"write each message as  {form}"
        )
    for place, entry in enumerate(found, start=1):
        if not isinstance(entry, dict) or set(entry) != {"role", "content"} or not isinstance(entry["content"], str):
            raise UsageError(
                f"judge {spec.name}: prompt {name}: message {place} must have exactly a role and a content, both text",
                fix=f"write each message as  {form}",
            )
        if entry["role"] not in ROLES:
            raise UsageError(
                f"judge {spec.name}: prompt {name}: message {place} has an unknown role, {entry['role']!r}",
                fix=f"choose one of: {', '.join(ROLES)}",
            )
    return tuple(Message(entry["role"], entry["content"]) for entry in found)


def _parsed(text: str, name: str) -> Any:  # noqa: ANN401  # whatever the file holds
    if name.lower().endswith(".json"):
        return json.loads(text, object_pairs_hook=without_doubles)
    from umpirical.store.yaml_files import read

    return read(text, name=name)


def _read_file(name: str, spec: JudgeSpec, folder: Path) -> str:
    path = inside(folder, name, what=f"prompt of judge {spec.name},")
    if not path.is_file():
        raise UsageError(
            f"judge {spec.name}: prompt file {name} does not exist", fix=f"create {path}, or use builtin:{spec.kind}"
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"judge {spec.name}: prompt {name} is not UTF-8 text", fix="save it as UTF-8") from None
