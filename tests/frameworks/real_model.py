"""One real small model, asked through three frameworks and directly: `python -m tests.frameworks.real_model`.

llama.cpp serves SmolLM2 on loopback. A judge of each framework is asked about the same answers, in the framework's own
environment, through Umpirical's adapter. Every request that the framework sent is then sent to the server again by
nothing but the standard library, and its reply is read here by hand: that verdict has to be the same. Last, Umpirical
asks the same model with its own prompt: where that verdict differs, the framework's prompt is the reason.

What was found is written to `docs/connect/frameworks/real-model.json`, and as a table to `real-model.md` beside it.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.request import Request, urlopen

from tests.frameworks.examination import asked
from tests.frameworks.matrix import ROOT, environment, installed, variables
from tests.llm.bench_study import pairs
from tests.servers.chat_server import ChatServer
from tests.servers.llama_server import LlamaServer, installed_model
from umpirical.api.studies import JudgeEntry
from umpirical.domain.judgments import Outcome, Verdict
from umpirical.domain.trials import Presented
from umpirical.judges.factory import build_judge
from umpirical.judges.prompt import resolve_prompts
from umpirical.judges.spec import JudgeSpec
from umpirical.judges.user_code import silence_telemetry
from umpirical.models.spec import Calling
from umpirical.runs.loop import run_on_loop

FOUND = ROOT / "docs" / "connect" / "frameworks" / "real-model.json"
SETTINGS = {"temperature": 0, "seed": 1, "max_tokens": 400, "repeat_penalty": 1.3}
"""What the server is asked to do, whoever asks: the same question has to have the same answer, and a small model that
reasons has to come to an end."""
PATIENCE = 600.0
COUNT = 12
"""Answers, or pairs of answers in an order, that a judge is asked about."""
UNREADABLE = "unreadable"


@dataclass(frozen=True)
class Chosen:
    """A judge of a framework, by its place among the specimens, and how its model's reply is read by hand."""

    place: int
    reads: Callable[[dict[str, Any]], Any]


def _in(field: str, first: str, second: str) -> Callable[[dict[str, Any]], Any]:
    """Returns a reader of the winner in a field of a JSON object."""
    return lambda message: {first: "1", second: "2", "tie": "tie"}[json.loads(message["content"])[field]]


CHOSEN = {
    "openevals": Chosen(1, _in("winner", "A", "B")),
    "phoenix": Chosen(1, _in("label", "A", "B")),
    "mlflow": Chosen(1, _in("result", "first", "second")),
}
"""Frameworks that ask for an object of a schema: what this model says in free words, or by calling a tool, is seldom
an answer."""


class Relay:
    """Hands requests on to the server, with the settings of this comparison, and keeps them."""

    def __init__(self, base_url: str) -> None:
        self._url = f"{base_url}/chat/completions"
        self.sent: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        # The newer name of the check would go before ours.
        kept = {key: value for key, value in body.items() if key not in ("max_completion_tokens", "stream")}
        self.sent.append({**kept, **SETTINGS})
        return self.message(self.sent[-1])

    def message(self, body: dict[str, Any]) -> dict[str, Any]:
        request = Request(self._url, json.dumps(body).encode(), {"Content-Type": "application/json"})  # noqa: S310
        with urlopen(request, timeout=PATIENCE) as reply:  # noqa: S310  # loopback
            message: dict[str, Any] = json.load(reply)["choices"][0]["message"]
        return message


def compared(name: str, base_url: str, count: int, folder: Path) -> dict[str, Any]:
    """Asks a framework's judge and the model itself about the same answers. Returns what was found."""
    chosen, relay, other = CHOSEN[name], Relay(base_url), Relay(base_url)
    specimen = import_module(f"tests.frameworks.judges.{name}").SPECIMENS[chosen.place]
    with ChatServer(relay.answer) as server, ChatServer(other.answer) as direct:
        judge = specimen.build(server.base_url, "Be exact.")
        told, _ = JudgeEntry().of(judge, folder)
        spec = JudgeSpec.model_validate({**told, **specimen.entry, "deadline": PATIENCE})
        through = build_judge(spec, folder=folder, calling=Calling(), found=judge)
        own = build_judge(_own(spec, direct.base_url), folder=folder, calling=Calling(seed=1))
        rows = [_row(chosen, relay, through, own, shown) for shown in _shown(spec, count)]
        for each in (through, own):
            run_on_loop(each.close())
    return {
        "judge": specimen.name,
        "asked": len(rows),
        "verdicts": _counted(row["through"] for row in rows),
        "own": _counted(row["own"] for row in rows),
        "requests": len(relay.sent),
        "same": sum(row["through"] == row["direct"] for row in rows),
        "agrees": sum(row["through"] == row["own"] for row in rows),
    }


def _shown(spec: JudgeSpec, count: int) -> list[Presented]:
    both = pairs(count)
    return both if spec.kind == "compare" else [Presented(each.task, each.first, None) for each in both]


def _own(spec: JudgeSpec, base_url: str) -> JudgeSpec:
    """Returns a judge of the same kind and scale that asks the model with Umpirical's prompt."""
    model = {"adapter": "openai-compatible", "name": "smollm2", "base_url": base_url, "timeout": PATIENCE}
    told = {"name": "own", "kind": spec.kind, "scale": spec.scale, "model": model, "decoding": {"max_tokens": 32}}
    return resolve_prompts(JudgeSpec.model_validate(told), Path())


def _row(chosen: Chosen, relay: Relay, through: Any, own: Any, shown: Presented) -> dict[str, str]:
    before = len(relay.sent)
    found = _label(asked(through, shown))
    # A framework may have asked again after a reply that it could not read: the last one counts.
    assert len(relay.sent) > before, "the framework has asked nothing"
    return {"through": found, "direct": _read(chosen, relay), "own": _label(asked(own, shown))}


def _read(chosen: Chosen, relay: Relay) -> str:
    try:
        return str(chosen.reads(relay.message(relay.sent[-1])))
    except (KeyError, TypeError, ValueError):
        return UNREADABLE


def _label(outcome: Outcome) -> str:
    return str(outcome.value) if isinstance(outcome, Verdict) else UNREADABLE


def _counted(labels: Iterator[str]) -> dict[str, int]:
    return dict(sorted(Counter(labels).items()))


def found_by(name: str, base_url: str, count: int) -> dict[str, Any]:
    """Compares in the framework's environment, where the model's server is only an address."""
    command = [str(environment(name) / "bin" / "python"), "-m", "tests.frameworks.real_model", name, base_url]
    done = subprocess.run(
        [*command, str(count)], cwd=ROOT, env=variables(), check=False, capture_output=True, text=True, timeout=7200
    )
    if done.returncode:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return found


def page(found: dict[str, Any]) -> str:
    """Returns what was found as a table."""
    rows = [
        f"| {', '.join(installed(name))} | {row['judge']} | {row['asked']} | {row['same']} of {row['asked']} "
        f"| {row['agrees']} of {row['asked']} | {_words(row['verdicts'])} | {_words(row['own'])} |"
        for name, row in found.items()
    ]
    same, asked = (sum(row[key] for row in found.values()) for key in ("same", "asked"))
    return f"""# One real model in three frameworks

In {same} of {asked} calls, the verdict recorded through a framework is the one the model gave.

We asked SmolLM2-135M-Instruct (Q4_1, llama.cpp, temperature 0) about the same answers in three ways:

- *Framework*: through the framework and Umpirical's adapter.
- *Direct*: the framework's last request again, without the framework.
- *Own prompt*: with Umpirical's built-in prompt.

The verdicts differ between prompts because the prompt is part of the judge. This small model
[follows it more than the answers](../../results/casebook/smollm2-135m.md).

`python -m tests.frameworks.real_model` writes this page.

| framework | judge | calls | same as direct | same as own prompt | framework verdicts | own-prompt verdicts |
| --- | --- | --- | --- | --- | --- | --- |
{chr(10).join(rows)}
"""


def _words(verdicts: dict[str, int]) -> str:
    return ", ".join(f"{label}: {count}" for label, count in verdicts.items())


def main(arguments: list[str]) -> None:
    if arguments:
        silence_telemetry()
        name, base_url, count = arguments
        with TemporaryDirectory() as folder:
            found = compared(name, base_url, int(count), Path(folder))
        sys.stdout.write("\n" + json.dumps(found) + "\n")
        sys.stdout.flush()
        # A thread that a framework leaves behind would keep the process.
        os._exit(0)
    with LlamaServer(installed_model(), cache=False, threads=1) as server:
        lines = {}
        for name in CHOSEN:
            lines[name] = found_by(name, server.base_url, COUNT)
            sys.stderr.write(f"{name}: {lines[name]}\n")
    FOUND.write_text(json.dumps(lines, indent=1) + "\n", encoding="utf-8")
    FOUND.with_suffix(".md").write_text(page(lines), encoding="utf-8")
    sys.stdout.write(page(lines))


if __name__ == "__main__":
    main(sys.argv[1:])
