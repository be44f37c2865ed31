"""Writes an agent study to start from, on the user's own logs."""

import json
from pathlib import Path
from typing import Any

from umpirical.datasets.transcripts.files import read_transcripts
from umpirical.protocols.protocol import NewStudy
from umpirical.protocols.start import new_study_file, path_from, scalar, study_name
from umpirical.store.files import write_text

AGENT_STUDY = """\
# Judges of agents, on runs of your own agent.  umpirical schema config  lists every key.
study: {name}
seed: 1

# {count:,} transcripts; the tools that they call: {tools}
transcripts:
  path: {path}
  # preprocess: [drop-reasoning]   # what judges are not to see
  # strata: [category]             # metadata by which results are split

# Your policy, as far as a program can check it. Without rules, each transcript is held to rules that it keeps.
# rules:
#   - {{require: {tool}}}
#   - {{forbid: delete_all, example: {{arguments: {{sure: true}}, result: "deleted 12 rows"}}}}
#   - {{figures: true}}    # numbers in its closing message come from a tool or from the user
#   - {{closing: true}}    # it ends with a message to the user

judges:
  # A simulated judge: needs no key and no network, and says nothing about yours.
  - name: rehearsal
    model: {{adapter: simulated, name: sound-auditor}}

  # A judge that says which of two runs keeps the policy: kind: compare.
  # - name: comparer
  #   kind: compare
  #   model: {{adapter: simulated, name: sound-auditor}}

  # A model behind any OpenAI-compatible server, with the built-in prompt:
  # - name: my-model
  #   model:
  #     adapter: openai-compatible
  #     name: the-name-on-the-server
  #     base_url: http://127.0.0.1:8000/v1
  #     api_key_env: MY_API_KEY        # the name of a variable, never the key
  #   decoding: {{temperature: 0, max_tokens: 256}}

concurrency: 16
"""

LOOKED_AT = 1 << 20
"""Bytes of a first line that are looked at."""


def are_transcripts(data: Path) -> bool:
    """Whether a file or folder holds runs of an agent, by the names of its files and by a first line."""
    if data.is_dir():
        return any(file.suffix == ".eval" for file in data.iterdir())
    if data.suffix == ".eval":
        return True
    if data.suffix not in (".jsonl", ".ndjson", ".json") or not data.is_file():
        return False
    with data.open("rb") as file:
        return _is_transcript(file.readline(LOOKED_AT))


def start_agent_study(folder: Path, data: Path) -> NewStudy:
    """Writes a study of the transcripts in `data` that runs as is. No existing file is overwritten."""
    file = new_study_file(folder)
    read = read_transcripts(data)
    tools = list(dict.fromkeys(tool for transcript in read.transcripts for tool in transcript.tools))
    outside = not data.resolve().is_relative_to(folder.resolve())
    text = AGENT_STUDY.format(
        name=scalar(study_name(folder)),
        count=len(read.transcripts),
        tools=", ".join(json.dumps(tool) for tool in tools[:20]) or "none",
        path=scalar(path_from(folder, data)),
        tool=scalar(tools[0]) if tools else "a_tool",
    )
    folder.mkdir(parents=True, exist_ok=True)
    write_text(file, text)
    notes = (*read.notes, f"{len(read.transcripts):,} transcripts, {len(tools):,} tools")
    return NewStudy(file, (file,), notes, "--outside" if outside else "")


def _is_transcript(line: bytes) -> bool:
    try:
        found: Any = json.loads(line)
    except (ValueError, RecursionError):
        # A document over several lines: a log of Inspect's, or spans.
        return line.strip() in (b"{", b"[")
    if isinstance(found, dict):
        return "resourceSpans" in found or _are_messages(found.get("messages"))
    return _are_messages(found)


def _are_messages(found: object) -> bool:
    return isinstance(found, list) and bool(found) and all(isinstance(one, dict) and "role" in one for one in found)
