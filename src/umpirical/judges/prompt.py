"""A judge's prompts: the built-in ones, those in the study's folder, and the marks around what is judged."""

import re
from collections.abc import Collection, Mapping
from importlib.resources import files
from pathlib import Path

from umpirical.domain.digests import digest
from umpirical.domain.errors import UsageError
from umpirical.domain.scales import JudgeKind
from umpirical.domain.trials import Presented
from umpirical.judges.layout import LAYOUT_PLACEHOLDERS
from umpirical.judges.spec import JudgeSpec
from umpirical.store.files import inside
from umpirical.text.templates import fill, placeholders

__all__ = ["builtin_name", "builtin_prompt", "fence", "resolve_prompts"]

ALLOWED = {"task", "first", "second", "fence", "scale", "order"} | LAYOUT_PLACEHOLDERS
"""Placeholders that are filled for each trial."""


def resolve_prompts(
    spec: JudgeSpec,
    folder: Path,
    arms: Collection[str] | Mapping[str, str] = ("baseline",),
    shared: Mapping[str, str] | None = None,
) -> JudgeSpec:
    """Returns the spec with each prompt's text in place of its name, so that it is self-contained.

    A judge that names no prompt is asked in `arms` with the built-in prompts, one file for each arm, unless `arms` maps
    an arm to another prompt. `shared` are the study's instruction and rubric, inserted where a prompt names them.
    """
    if spec.model is None:
        return spec
    # An arm is about ties, which do not apply to grades.
    asked = arms if spec.kind == "compare" else ("baseline",)
    own = arms if isinstance(arms, Mapping) else {}
    named = spec.prompts or {arm: _study_prompt(own.get(arm, arm), spec.kind) for arm in asked}
    if shared and not spec.prompts:
        named = {"baseline": "builtin:grade-rubric"}
    prompts = {arm: _prompt_text(name, spec, folder, shared or {}) for arm, name in named.items()}
    if len(set(prompts.values())) != len(prompts):
        raise UsageError(f"judge {spec.name}: two arms have the same prompt", fix="leave one of them out")
    return spec.model_copy(update={"prompts": prompts})


def fence(shown: Presented) -> str:
    """Returns a mark that no candidate can contain, since it depends on the whole text that it fences.

    It is the same in both orders, so it reveals nothing that the texts do not.
    """
    texts = sorted([shown.first, shown.second or ""])
    return digest("fence", [shown.task, *texts])[:8]


def builtin_prompt(name: str) -> str:
    """Returns the text of a built-in prompt: `compare`, or for an arm other than baseline, `compare-strict`."""
    folder = files("umpirical.judges") / "prompts"
    found = folder / f"{name}.md"
    if not re.fullmatch(r"[a-z0-9-]+", name) or not found.is_file():
        known = sorted(path.name.removesuffix(".md") for path in folder.iterdir() if path.name.endswith(".md"))
        raise UsageError(f"no built-in prompt {name!r}", fix=f"known: {', '.join(known)}")
    return found.read_text(encoding="utf-8")


def builtin_name(kind: JudgeKind, arm: str) -> str:
    """Returns the name of an arm's built-in prompt."""
    return kind if arm == "baseline" else f"{kind}-{arm}"


def _study_prompt(name: str, kind: JudgeKind) -> str:
    """Returns the prompt that a study names for an arm: a file, `builtin:NAME`, or an arm that has a built-in one."""
    return name if "." in name or ":" in name else f"builtin:{builtin_name(kind, name)}"


def _prompt_text(name: str, spec: JudgeSpec, folder: Path, shared: Mapping[str, str]) -> str:
    builtin = name.startswith("builtin:")
    text = builtin_prompt(name.removeprefix("builtin:")) if builtin else _read_prompt(name, spec, folder)
    needed = {"task", "first", "second"} if spec.kind == "compare" else {"task", "first"}
    if missing := needed - placeholders(text):
        names = ", ".join(f"{{{{{name}}}}}" for name in sorted(missing))
        raise UsageError(f"judge {spec.name}: prompt {name} lacks {names}", fix="add the placeholders")
    if unknown := placeholders(text) - ALLOWED - shared.keys():
        raise UsageError(f"judge {spec.name}: prompt {name} has unknown placeholders: {', '.join(sorted(unknown))}")
    return _with_shared(text, shared) if shared else text


def _with_shared(text: str, shared: Mapping[str, str]) -> str:
    """Fills in what is the same for every trial; the other placeholders stay."""
    for name, value in shared.items():
        if held := placeholders(value):
            raise UsageError(f"the {name} holds {{{{{min(held)}}}}}", fix="rephrase it")
    return fill(text, {known: f"{{{{{known}}}}}" for known in ALLOWED} | dict(shared))


def _read_prompt(name: str, spec: JudgeSpec, folder: Path) -> str:
    path = inside(folder, name, what=f"prompt of judge {spec.name},")
    if not path.is_file():
        raise UsageError(f"judge {spec.name}: no prompt file {name}", fix=f"create {path}, or use builtin:{spec.kind}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"judge {spec.name}: prompt {name} is not UTF-8 text", fix="save it as UTF-8") from None
