"""A study whose judge is a model on the loopback server."""

import hashlib
import re
from pathlib import Path
from typing import Any

from tests.stimuli.built import lend_stimuli
from umpirical.domain.responses import Response
from umpirical.stimuli.controlled.datasheet_set import RECIPES
from umpirical.store.parquet import read_rows
from umpirical.store.runs import RunStore
from umpirical.store.snapshots import snapshot

CALLS = RECIPES["screen"].calls
"""Of the study, with one repeat."""

REFUSED = 3
"""What a command that measures the judge exits with: its answers have nothing to do with quality."""

STUDY = """\
study: loopback
judges:
  - name: loopback
    model:
      adapter: openai-compatible
      name: swayed
      base_url: {base_url}
      price: {price}
      timeout: {timeout}
      attempts: {attempts}
design: {{size: screen, repeats: {repeats}}}
concurrency: {concurrency}
"""

CANDIDATE = re.compile(r"\[candidate (\w+), [0-9a-f]+\]\n(.*?)\n\[end of candidate", re.DOTALL)


def swayed_answer(body: dict[str, Any]) -> str:
    """A verdict that depends on the text alone, with some of every kind of answer."""
    (one, first), (two, second) = CANDIDATE.findall(body["messages"][-1]["content"])
    digest = hashlib.sha256(f"{first}\0{second}".encode()).digest()
    choices = [one, one, one, two, two, "tie", "tie", "abstain"]
    return f'{{"verdict": "{choices[digest[0] % 8]}"}}' if digest[1] % 16 else "Hard to say."


def write_study(
    folder: Path, base_url: str, *, repeats=1, concurrency=32, timeout=30.0, attempts=5, price="free"
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lend_stimuli(folder)
    file = folder / "umpirical.yaml"
    settings = {
        "repeats": repeats,
        "concurrency": concurrency,
        "timeout": timeout,
        "attempts": attempts,
        "price": price,
    }
    file.write_text(STUDY.format(base_url=base_url, **settings))
    return file


def responses(run: Path) -> list[Response]:
    """All responses of a run, in the order of the plan's shards."""
    with snapshot(RunStore(run)) as now:
        return [response for _, found in now.walk() for response in found.values()]


def judgments(run: Path) -> dict[str, tuple[str, str | None]]:
    """Trial id to (outcome, choice), for every planned trial; fails if one is there twice."""
    rows = list(read_rows(run / "judgments.parquet"))
    found = {row["trial_id"]: (row["outcome"], row["choice"]) for row in rows}
    assert len(found) == len(rows)
    return found
