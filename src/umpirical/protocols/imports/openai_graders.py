"""A judge that an OpenAI grader describes: `score_model` gives a number in a range, `label_model` one of its labels."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from umpirical.judges.arguments import NAMES
from umpirical.protocols.datasheet.protocol import DATASHEET
from umpirical.protocols.imports.configuration import Configuration, Moved, slug

KINDS = ("score_model", "label_model")
"""Graders that ask a model. The others compute: string_check, text_similarity, python, and multi."""

PROMPT = "prompt.json"

RESPONSE = "sample.output_text"

LONGEST = 2048
"""Tokens of an answer if the grader does not say, so that a price can be told before anything is asked."""

SENT = {
    "temperature": "temperature",
    "top_p": "top_p",
    "seed": "seed",
    "max_completions_tokens": "max_tokens",
    "max_completion_tokens": "max_tokens",
    "max_tokens": "max_tokens",
}
"""Sampling settings of a grader, and what they are called here."""

_FILLED_IN = re.compile(r"\{\{\s*(.*?)\s*\}\}", re.DOTALL)


def grader_study(config: Configuration) -> Moved:
    """Returns a datasheet of the model that a grader asks."""
    kind, model = config.text("type"), config.text("model")
    if kind not in KINDS:
        raise config.error("type", f"{kind} does not ask a model", fix=f"name the file of one {' or '.join(KINDS)}")
    if not model:
        raise config.error("model", "missing", fix="add the model that the grader asks")
    title = config.text("name")[:100] or kind
    name = slug(title)
    messages = _messages(config)
    scale, answer = _score(config) if kind == "score_model" else _labels(config)
    # OpenAI makes every grader reason in steps before its result.
    judge = {
        "name": name,
        "kind": "grade",
        "source": f"{kind} {title!r} in {config.path.name}",
        "model": {
            "adapter": "openai-compatible",
            "name": model,
            "base_url": "https://api.openai.com/v1",
            "api_key_env": "OPENAI_API_KEY",
        },
        "prompts": {"baseline": PROMPT},
        "inputs": _inputs(config, [message["content"] for message in messages]),
        "scale": scale,
        "answer": {"field": "result", "reasoning": "steps", "constrained": True, **answer},
        "decoding": _decoding(config),
    }
    config.kept("type", "kind: grade; answer: {field: result, reasoning: steps}")
    config.kept("name", f"judge {name}")
    config.kept("model", f"model: {model} at api.openai.com", "for another server, change base_url")
    notes = ["  OpenAI asks for steps with a description and a conclusion each; here the steps are one text"]
    return Moved(
        DATASHEET,
        "OpenAI",
        {"study": name, "seed": 1, "judges": [judge], "concurrency": 8},
        texts={PROMPT: json.dumps(messages, indent=1, ensure_ascii=False) + "\n"},
        notes=notes,
    )


def _messages(config: Configuration) -> list[dict[str, str]]:
    entries = config.get("input")
    if not isinstance(entries, list) or not entries:
        raise config.error("input", "expected a list of messages", fix="write each as {role: user, content: ...}")
    return [_message(config, entry, f"input[{number}]") for number, entry in enumerate(entries)]


def _message(config: Configuration, entry: object, place: str) -> dict[str, str]:
    content = entry.get("content") if isinstance(entry, Mapping) else None
    role = entry.get("role", "user") if isinstance(entry, Mapping) else None
    parts = content if isinstance(content, list) else [content]
    texts = [part.get("text") if isinstance(part, Mapping) else part for part in parts]
    if role not in ("system", "developer", "user", "assistant") or not all(isinstance(text, str) for text in texts):
        fix = "write {role: user, content: text}; images and audio cannot be tested"
        raise config.error("input", f"{place} is not a message of text", fix=fix)
    if role == "developer":
        config.changed(f"{place}.role", "role: system", "the name that every server knows")
    config.kept(place, PROMPT)
    return {"role": "system" if role == "developer" else role, "content": "\n".join(map(str, texts))}


def _inputs(config: Configuration, texts: Iterable[str]) -> dict[str, str]:
    """Returns what the placeholders stand for. Raises ConfigError for one that a test case has no text for."""
    names = set(_FILLED_IN.findall("\n".join(texts))) - {RESPONSE}
    items = {name for name in names if re.fullmatch(r"item\.\w+", name)}
    tasks = {name for name in items if name.removeprefix("item.").lower() in NAMES["task"]} or items
    if len(tasks) == 1 and names == tasks:
        return {"task": tasks.pop(), "first": RESPONSE}
    if not names:
        fix = "add the question, such as {{ item.question }}: the test cases have a task and an answer each"
        raise config.error("input", "the judge does not see the task", fix=fix)
    left = min(names - tasks or names)
    column = left.removeprefix("item.")
    raise config.error(
        "input",
        f"the built-in test cases have no text for {{{{ {left} }}}}; they have a task, such as "
        f"{{{{ item.question }}}}, and an answer, {{{{ {RESPONSE} }}}}",
        fix="remove it; or use your own rows:  umpirical init FOLDER --from DATA  and, in the judge's entry, inputs: "
        f"{{row.{column}: {left}}}",
    )


def _score(config: Configuration) -> tuple[dict[str, Any], dict[str, Any]]:
    ends = config.get("range")
    ends = [0, 1] if ends is None else ends
    if not isinstance(ends, list) or len(ends) != 2 or not all(isinstance(end, int | float) for end in ends):
        raise config.error("range", f"expected two numbers, got {ends!r:.60}", fix="write [0, 1]")
    low, high = ends
    if not low < high:
        raise config.error("range", f"{low} is not below {high}", fix="write the lowest score first")
    config.kept("range", f"scale: {{kind: interval, low: {low}, high: {high}}}")
    config.dropped("pass_threshold", "the scores themselves are compared")
    return {"kind": "interval", "low": low, "high": high}, {}


def _labels(config: Configuration) -> tuple[dict[str, Any], dict[str, Any]]:
    labels, passing = config.names("labels"), config.names("passing_labels")
    failing = [label for label in labels if label not in passing]
    if not passing or not failing or set(passing) - set(labels):
        fix = "labels are all labels, and passing_labels some of them"
        raise config.error("passing_labels", f"got {passing} of {labels}", fix=fix)
    if len(labels) == 2:
        config.kept("labels", f"scale: {{kind: binary, labels: {[*failing, *passing]}}}")
        config.kept("passing_labels", f"{passing[0]} is the better one")
        return {"kind": "binary", "labels": [*failing, *passing]}, {}
    why = "OpenAI counts which labels pass, and does not say how the others are ordered"
    config.changed("labels", "scale: {kind: binary, labels: [fail, pass]}", why)
    config.kept("passing_labels", f"answer.labels: {', '.join(passing)} are a pass")
    words = {label: "pass" if label in passing else "fail" for label in labels}
    return {"kind": "binary", "labels": ["fail", "pass"]}, {"labels": words}


def _decoding(config: Configuration) -> dict[str, Any]:
    found: dict[str, Any] = {"temperature": None, "max_tokens": LONGEST}
    for theirs, ours in SENT.items():
        key = f"sampling_params.{theirs}"
        if config.mapping("sampling_params").get(theirs) is not None:
            found[ours] = config.count(key, 0) if ours in ("seed", "max_tokens") else config.number(key, 0)
            config.kept(key, f"decoding.{ours}: {found[ours]}")
    config.dropped("sampling_params.reasoning_effort", "not sent: the model thinks as much as it does by default")
    return found
