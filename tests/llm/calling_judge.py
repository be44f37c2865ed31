"""A judge that is a Python function, and asks the server in its own way: with nothing but the standard library."""

import json
import os
from urllib.request import Request, urlopen

from umpirical.domain.trials import Presented
from umpirical.judges.layout import layout_values
from umpirical.judges.prompt import builtin_prompt, fence
from umpirical.text.templates import fill

SCHEMA = {
    "type": "object",
    "properties": {"verdict": {"type": "string", "enum": ["1", "2", "tie", "abstain"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


def judge(task: str, first: str, second: str) -> str:
    shown = Presented(task, first, second)
    values = {"task": task, "first": first, "second": second, "fence": fence(shown), "scale": "", **layout_values(None)}
    body = {
        "model": "any",
        "messages": [{"role": "user", "content": fill(builtin_prompt("compare"), values)}],
        "temperature": 0,
        "max_tokens": int(os.environ["BENCH_MAX_TOKENS"]),
    }
    if os.environ["BENCH_CONSTRAINED"] == "true":
        answer = {"name": "answer", "strict": True, "schema": SCHEMA}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    url = os.environ["BENCH_URL"] + "/chat/completions"
    request = Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310  # loopback
    with urlopen(request, timeout=300) as reply:  # noqa: S310  # loopback
        return json.load(reply)["choices"][0]["message"]["content"]
