"""Studies of labelled pairs that are written for the test."""

import json
import random

WORDS = ("river", "stone", "paper", "window", "garden", "market", "simple", "bright", "careful", "number", "engine")


def labelled(count, *, longer=0.6, seed=1):
    """Rows in the shape of RewardBench; in a share of them, the longer answer is the chosen one."""
    rng = random.Random(seed)  # noqa: S311  # no secret
    for number in range(count):
        texts = [f"{' '.join(rng.choices(WORDS, k=size)).capitalize()}." for size in (24, 12)]
        chosen, rejected = texts if number < longer * count else texts[::-1]
        # Halves of one kind each, whatever the length.
        subset = "hard" if number % 2 else "easy"
        yield {"prompt": f"Question {number}", "chosen": chosen, "rejected": rejected, "subset": subset, "id": number}


def write_rows(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_study(folder, *, rows=None, profiles=(), functions="", more=""):
    """Writes a study of simulated judges and of the functions in a text, each of which is a judge."""
    write_rows(folder / "pairs.jsonl", labelled(40) if rows is None else rows)
    judges = [f"{{name: {name}, kind: compare, model: {{adapter: simulated, name: {name}}}}}" for name in profiles]
    (folder / "judge.py").write_text(functions)
    named = [line[4:].partition("(")[0] for line in functions.splitlines() if line.startswith("def ")]
    judges += [f"{{name: {name}, kind: compare, callable: 'judge.py:{name}'}}" for name in named]
    listed = "".join(f"  - {judge}\n" for judge in judges)
    (folder / "umpirical.yaml").write_text(f"study: s\ndataset: {{path: pairs.jsonl}}\n{more}judges:\n{listed}")
    return folder


def measure(report, name, edit="", group=""):
    [found] = [m for m in report.measures if (m.name, m.stratum, m.group) == (name, edit, group)]
    return found.result


def value(report, name, edit="", group=""):
    return measure(report, name, edit, group).value
