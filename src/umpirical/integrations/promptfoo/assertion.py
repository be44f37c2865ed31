"""The assertion in a user's config: what it is, which model decides it, what its texts are filled with.

Only what makes up the judge is taken: the assertion, its provider, its rubricPrompt, its variables. What else a config
may do when promptfoo runs it, such as to share results or to start programs before a test, is left behind.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from umpirical.domain.errors import UsageError
from umpirical.domain.responses import FailureKind
from umpirical.judges.endpoint_spec import PromptfooSpec
from umpirical.judges.failures import Unreadable
from umpirical.judges.shapes import json_objects
from umpirical.models.caller import CallFailed
from umpirical.store.files import inside
from umpirical.store.yaml_files import load_yaml
from umpirical.text.json_texts import texts_in

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
        told = {"assertion": self.entry, "provider": self.provider, "options": self.options}
        return {**told, "variables": self.variables, "env": self.env}


def read_assertion(spec: PromptfooSpec, folder: Path) -> Assertion:
    """Reads the assertion that a spec names. Raises UsageError, with a fix, if it is no judge that can be asked."""
    file = inside(folder, spec.config, what="promptfoo config")
    if not file.is_file():
        raise UsageError(
            f"no such file: {spec.config}",
            fix="give the path of your promptfooconfig.yaml, relative to the study's folder",
        )
    if file.suffix not in CONFIGS:
        raise UsageError(f"{spec.config} is a program", fix="write the assertion in a YAML or JSON config")
    whole = load_yaml(file).data
    found = list(decided_in(whole))
    if spec.assertion >= len(found):
        known = ", ".join(f"{number}: {entry['type']}" for number, (_, entry, *_) in enumerate(found)) or "none"
        raise UsageError(
            f"{spec.config} has no model-graded assertion {spec.assertion}; it has {known}",
            fix=f"use one of {', '.join((*GRADERS, SELECT_BEST))}, under defaultTest or tests of the config itself",
        )
    _, entry, options, variables = found[spec.assertion]
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
    named = [_file(text, file.parent, folder) for text in texts_in(made) if _FILE.fullmatch(text)]
    text = "\n".join([*texts_in([made["entry"], made["options"]]), *_contents(prompt, named)])
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


def decided_in(
    whole: Mapping[str, Any],
) -> Iterator[tuple[str, Mapping[str, Any], dict[str, Any], dict[str, Any]]]:
    """Yields the place of each assertion that a model decides, and it, with the options and variables of its test."""
    shared, tests = _mapping(whole.get("defaultTest")), whole.get("tests")
    usual = {"provider": shared.get("provider"), **_mapping(shared.get("options"))}
    named = [
        (f"tests[{number}]", _mapping(test)) for number, test in enumerate(tests if isinstance(tests, list) else ())
    ]
    for place, test in (("defaultTest", shared), *named):
        options = {**usual, **_mapping(test.get("options"))}
        variables = {**_mapping(shared.get("vars")), **_mapping(test.get("vars"))}
        entries = test.get("assert")
        for number, entry in enumerate(map(_mapping, entries if isinstance(entries, list) else ())):
            if entry.get("type") in (*GRADERS, SELECT_BEST):
                yield f"{place}.assert[{number}]", entry, options, variables


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
            f"{where}: no provider, so promptfoo would choose a model based on the API keys it finds",
            fix="add the model, such as provider: openai:chat:gpt-5-mini, to the assertion or to defaultTest.options",
        )
    if told["id"].startswith("file://") and told["id"].endswith(CONFIGS):
        raise UsageError(
            f"{where}: its provider is in another file, {told['id']}", fix="write the provider into the config"
        )
    return {key: value for key, value in told.items() if key not in ("label", "prompts")}


def _file(text: str, home: Path, folder: Path) -> Path:
    """Returns the file that a text names, perhaps with a function in it. Raises UsageError if there is none inside."""
    found = _FILE.fullmatch(text)
    assert found is not None  # noqa: S101  # the caller checked it
    for name in (found[2], found[2].rpartition(":")[0]):
        path = inside(folder, str((home / name).resolve()), what="promptfoo file") if name else home
        if path.is_file():
            return path
    raise UsageError(f"the promptfoo config names {text}, but there is no such file", fix="correct the path")


def _contents(prompt: object, named: Sequence[Path]) -> list[str]:
    """Returns the text of a rubricPrompt that is in a file of its own."""
    texts = [text for text in texts_in(prompt) if _FILE.fullmatch(text)]
    files = [file for file in named if file.suffix in _TEXTS and any(text.endswith(file.name) for text in texts)]
    return [file.read_text(encoding="utf-8", errors="replace") for file in files]


# What promptfoo's results say about one question: a verdict, or why there is none.
#
# promptfoo has a score for everything. A call that failed is a failed test with score 0, an answer that says neither
# pass nor score has passed with score 1. Only what its model has decided may count, so each type of assertion is read
# by what tells that apart from the rest.


SAID = "umpiricalSaid"
"""The key of a result's metadata under which the model's own answer stands."""

CATEGORIES = {"disagree": 1, "subset": 2, "superset": 3, "agree": 4, "differButFactual": 5}
"""Scores that tell the categories of `factuality` from each other, and from the 0 of a failure."""

LONGEST = 1_000
"""Characters of what promptfoo says that are kept."""

_UNREAD = re.compile(
    r"Could not extract JSON|No output$|LLM-proposed|LLM does not propose|G-Eval |Invalid category value|"
    r"Factuality checker output|Invalid select-best verdict|Model grader produced a malformed|Error parsing output|"
    r"\S+ produced malformed response"
)
"""How promptfoo begins to say that its model answered, and that there is no verdict in it."""

_STATUS = re.compile(r"(?:\bAPI error|\bHTTP|\bstatus(?: code)?)[:= ]{1,2}([45]\d\d)\b", re.IGNORECASE)

_KINDS: tuple[tuple[str, FailureKind], ...] = (
    (r"rate limit|too many requests", "rate-limited"),
    (r"timed out|timeout|ETIMEDOUT", "timeout"),
    (r"ECONN|ENOTFOUND|EAI_AGAIN|fetch failed|socket hang up|connection error", "connection"),
    (r"content.filter|content policy", "refused"),
)

_CLOSED_QA = ("The submission meets the criterion:", "The submission does not meet the criterion:")

_SAYS = {
    "pass": re.compile(r"\s*(?:true|false|yes|no|pass|fail|y|n)\s*", re.IGNORECASE),
    "score": re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)\s*"),
}
"""What an answer of `llm-rubric` may say in its fields. promptfoo takes all else for false, and for 0 or 1."""

Row = Mapping[str, Any]


def decided(assertion: Assertion, row: Row, *, by: str) -> tuple[bool | float, object]:
    """Returns what a grader decided, and why; `by` is `pass` or `score`. Raises Unreadable or CallFailed if nothing."""
    component = _component(row, assertion.type)
    metadata, reason = _mapping(component.get("metadata")), component.get("reason")
    if metadata.get("graderError"):
        raise failure_told(reason)
    if assertion.type == "factuality":
        return _category(assertion, component, by)
    if assertion.type == "model-graded-closedqa" and not str(reason).startswith(_CLOSED_QA):
        raise failure_told(reason)
    if assertion.type == "llm-rubric":
        _ensure_said(metadata.get(SAID), by, has_threshold="threshold" in assertion.entry)
    value = component.get(by)
    if not isinstance(value, bool if by == "pass" else int | float):
        raise CallFailed("malformed", f"the promptfoo result has no {by}: {json.dumps(component)[:200]}")
    return value, reason


def chosen(rows: Sequence[Row]) -> str:
    """Returns the slot that `select-best` has chosen, given its rows in their order."""
    components = [_component(row, SELECT_BEST) for row in rows]
    won = [number for number, component in enumerate(components, 1) if component.get("pass") is True]
    if len(won) != 1:
        raise failure_told(components[0].get("reason"))
    return str(won[0])


def _component(row: Row, kind: str) -> Mapping[str, Any]:
    """Returns what the assertion said about a row. Raises what the row says if it did not come to that."""
    found = _mapping(row.get("gradingResult")).get("componentResults")
    parts = [_mapping(each) for each in found] if isinstance(found, list) else []
    own = [each for each in parts if _mapping(each.get("assertion")).get("type") == kind]
    if len(own) != 1:
        raise failure_told(row.get("error"))
    return own[0]


def _category(assertion: Assertion, component: Mapping[str, Any], by: str) -> tuple[bool | float, object]:
    """Returns the verdict that the user's own scores give the category."""
    category = {score: name for name, score in CATEGORIES.items()}.get(component.get("score", 0))
    if category is None:
        raise failure_told(component.get("reason"))
    own = _mapping(assertion.options.get("factuality")).get(category)
    score = (0 if category == "disagree" else 1) if own is None else own
    return (score > 0 if by == "pass" else score), component.get("reason")


def _ensure_said(said: object, by: str, *, has_threshold: bool) -> None:
    """Raises Unreadable if a model did not say what promptfoo then fills in."""
    if said is None:
        raise CallFailed("judge-error", "promptfoo did not return what its model said; check the version of promptfoo")
    text = said if isinstance(said, str) else json.dumps(said)
    # By a threshold, a score alone decides.
    for_want_of = "score" if by == "pass" and has_threshold and _field(text, "pass") is None else by
    if not _SAYS[for_want_of].fullmatch(_field(text, for_want_of) or ""):
        raise Unreadable(f"the model gave no {by}: {text[:500]}")


def _field(text: str, name: str) -> str | None:
    """Returns what the JSON in a text has in a field, also where the JSON is not quite JSON; None if nothing."""
    found = next(json_objects(text), None)
    if found is not None:
        value = found[1].get(name)
        return None if value is None else value if isinstance(value, str) else json.dumps(value)
    spelled = re.search(rf"[\"']?\b{name}[\"']?\s*:\s*[\"']?([^\"',}}\n]*)", text)
    return spelled[1] if spelled else None


def failure_told(told: object) -> Exception:
    """Returns the exception for what promptfoo says went wrong."""
    text = str(told or "promptfoo returned no result for this question")
    if _UNREAD.match(text):
        return Unreadable(text[:LONGEST])
    status = _STATUS.search(text)
    if status is not None:
        return CallFailed(_of_status(int(status[1])), text[:LONGEST])
    found = (kind for pattern, kind in _KINDS if re.search(pattern, text, re.IGNORECASE))
    return CallFailed(next(found, "judge-error"), text[:LONGEST])


def _of_status(status: int) -> FailureKind:
    if status == 429:
        return "rate-limited"
    return "server-error" if status >= 500 or status == 408 else "rejected"
