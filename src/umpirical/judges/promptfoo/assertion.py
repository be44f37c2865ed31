"""The assertion in a user's config: what it is, which model decides it, what its texts are filled with.

Only what makes up the judge is taken: the assertion, its provider, its rubricPrompt, its variables. What else a config
may do when promptfoo runs it, such as to share results or to start programs before a test, is left behind.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.judges.promptfoo.spec import PromptfooSpec
from umpirical.store.files import inside
from umpirical.store.yaml_files import load_yaml

SELECT_BEST = "select-best"

GRADERS = ("llm-rubric", "g-eval", "model-graded-closedqa", "factuality")
"""Assertions by which a model decides about one answer."""

NOT_JUDGED = ("provider", "rubricPrompt", "weight", "metric")
"""Keys of an assertion that are passed on elsewhere, or that count and name results. A weight of 0 passes anything."""

CONFIGS = (".yaml", ".yml", ".json")

_FILE = re.compile(r"(file://|python:|ruby:|golang:)(.+)", re.DOTALL)
"""How a config names a file."""

_FILLED_IN = re.compile(r"\{\{-?\s*([A-Za-z_]\w*)")

_TEXTS = (".txt", ".md", ".json", ".yaml", ".yml", ".j2")
"""Files of a rubricPrompt in which variables can be looked for."""


@dataclass(frozen=True)
class Assertion:
    """One judge, as its config has it."""

    type: str
    entry: Mapping[str, Any]
    """The assertion itself."""
    provider: Mapping[str, Any]
    """The model that decides, with an id."""
    options: Mapping[str, Any]
    """`rubricPrompt` and `factuality`, where there are any."""
    variables: Mapping[str, Any]
    """Variables of the tests that it stands in."""
    env: Mapping[str, Any]
    home: Path
    """The folder of the config: its files are named from there."""
    files: tuple[Path, ...]
    """The config, and every file that one of these parts names."""
    filled_in: frozenset[str]
    """Variables in its texts."""
    plain: bool
    """Whether its texts have no loops and conditions, so that each of these variables comes from outside."""

    @property
    def parts(self) -> dict[str, Any]:
        """All that it is made of."""
        told = {"assertion": self.entry, "provider": self.provider, "options": self.options}
        return {**told, "variables": self.variables, "env": self.env}


def read_assertion(spec: PromptfooSpec, folder: Path) -> Assertion:
    """Reads the assertion that a spec names. Raises UsageError, with a fix, if it is no judge that can be asked."""
    file = inside(folder, spec.config, what="config of promptfoo,")
    if not file.is_file():
        raise UsageError(f"no file {spec.config}", fix="name your promptfooconfig.yaml, from the study's folder")
    if file.suffix not in CONFIGS:
        raise UsageError(f"{spec.config} is a program", fix="write the assertion into a config in YAML or JSON")
    whole = load_yaml(file).data
    found = list(_decided(whole))
    if spec.assertion >= len(found):
        known = ", ".join(f"{number}: {entry['type']}" for number, (entry, *_) in enumerate(found)) or "none"
        raise UsageError(
            f"{spec.config} has no assertion {spec.assertion} that a model decides; it has {known}",
            fix=f"one of {', '.join((*GRADERS, SELECT_BEST))}, written under defaultTest or tests of the config itself",
        )
    entry, options, variables = found[spec.assertion]
    provider = _provider(entry.get("provider") or options.get("provider"), whole, f"{spec.config}: {entry['type']}")
    prompt = entry.get("rubricPrompt") or options.get("rubricPrompt")
    kept = {"rubricPrompt": prompt, "factuality": options.get("factuality")}
    made = {
        "entry": {key: value for key, value in entry.items() if key not in NOT_JUDGED},
        "provider": provider,
        "options": {key: value for key, value in kept.items() if value},
        "variables": variables,
        "env": _mapping(whole.get("env")),
    }
    named = [_file(text, file.parent, folder) for text in _strings(made) if _FILE.fullmatch(text)]
    text = "\n".join([*_strings([made["entry"], made["options"]]), *_contents(prompt, named)])
    return Assertion(
        type=str(entry["type"]),
        home=file.parent,
        files=tuple(dict.fromkeys([file, *named])),
        filled_in=frozenset(_FILLED_IN.findall(text)),
        plain="{%" not in text,
        **made,
    )


def placed(part: Any, home: Path) -> Any:  # noqa: ANN401  # JSON
    """Returns a part with its files named by their whole paths: promptfoo is run in another folder."""
    if isinstance(part, Mapping):
        return {key: placed(value, home) for key, value in part.items()}
    if isinstance(part, Sequence) and not isinstance(part, str):
        return [placed(value, home) for value in part]
    found = _FILE.fullmatch(part) if isinstance(part, str) else None
    return part if found is None else f"{found[1]}{home.resolve() / found[2]}"


def _decided(whole: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yields the assertions that a model decides, each with the options and the variables of its test."""
    shared, tests = _mapping(whole.get("defaultTest")), whole.get("tests")
    usual = {"provider": shared.get("provider"), **_mapping(shared.get("options"))}
    for test in (shared, *(map(_mapping, tests) if isinstance(tests, list) else ())):
        options = {**usual, **_mapping(test.get("options"))}
        variables = {**_mapping(shared.get("vars")), **_mapping(test.get("vars"))}
        entries = test.get("assert")
        for entry in map(_mapping, entries if isinstance(entries, list) else ()):
            if entry.get("type") in (*GRADERS, SELECT_BEST):
                yield entry, options, variables


def _mapping(part: object) -> Mapping[str, Any]:
    return part if isinstance(part, Mapping) else {}


def _provider(told: object, whole: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    """Returns the model that decides. Raises UsageError if promptfoo would choose one itself."""
    told = told.get("text", told) if isinstance(told, Mapping) else told
    if isinstance(told, str):
        listed = whole.get("providers")
        known = [_mapping(each) for each in listed] if isinstance(listed, list) else []
        told = next((each for each in known if told in (each.get("label"), each.get("id"))), {"id": told})
    if not isinstance(told, Mapping) or not isinstance(told.get("id"), str):
        raise UsageError(
            f"{where}: it names no provider, so promptfoo would choose a model by the keys that it finds",
            fix="say which model decides: provider: openai:chat:gpt-5-mini, in the assertion or in defaultTest.options",
        )
    if told["id"].startswith("file://") and told["id"].endswith(CONFIGS):
        raise UsageError(f"{where}: its provider is in another file, {told['id']}", fix="write it into the config")
    return {key: value for key, value in told.items() if key not in ("label", "prompts")}


def _strings(part: Any) -> Iterator[str]:  # noqa: ANN401  # JSON
    if isinstance(part, str):
        yield part
    elif isinstance(part, Mapping):
        for value in part.values():
            yield from _strings(value)
    elif isinstance(part, Sequence):
        for value in part:
            yield from _strings(value)


def _file(text: str, home: Path, folder: Path) -> Path:
    """Returns the file that a text names, perhaps with a function in it. Raises UsageError if there is none inside."""
    found = _FILE.fullmatch(text)
    assert found is not None  # noqa: S101  # the caller checked it
    for name in (found[2], found[2].rpartition(":")[0]):
        path = inside(folder, str((home / name).resolve()), what="file of promptfoo's,") if name else home
        if path.is_file():
            return path
    raise UsageError(f"the config of promptfoo names {text}, and there is no such file", fix="name an existing file")


def _contents(prompt: object, named: Sequence[Path]) -> list[str]:
    """Returns the text of a rubricPrompt that is in a file of its own."""
    texts = [text for text in _strings(prompt) if _FILE.fullmatch(text)]
    files = [file for file in named if file.suffix in _TEXTS and any(text.endswith(file.name) for text in texts)]
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]
