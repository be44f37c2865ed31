"""A factor more of presentation is made in a copy of the source, to see how many files that takes: label sets crossed.

Half of the questions call the candidates A and B. The factor has to reach the plan, the request, the reading of the
answer, the judgments and the key of a pair; only the first four of these are edited.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

EDITS = {
    "domain/trials.py": (
        "    seed: int | None = None\n",
        "    labels: str = '12'\n    seed: int | None = None\n",
    ),
    "protocols/datasheet/design.py": (
        "        return super().presentations(stimulus, capabilities, kind)\n",
        (
            "        from dataclasses import replace\n"
            "        ways = super().presentations(stimulus, capabilities, kind)\n"
            "        return (replace(way, labels=labels) for way in ways for labels in ('12', 'AB'))\n"
        ),
    ),
    "judges/model_judge.py": (
        "fill(self.prompts[presentation.arm], values)",
        (
            "fill(self.prompts[presentation.arm].replace('candidate 1', f'candidate {presentation.labels[0]}')"
            ".replace('candidate 2', f'candidate {presentation.labels[1]}'), values)"
        ),
    ),
    "judges/answers.py": (
        '    return reader.read(response.text or "", cut=response.finish_reason == "length")\n',
        (
            '    text = (response.text or "").translate(str.maketrans(presentation.labels, "12"))\n'
            '    return reader.read(text, cut=response.finish_reason == "length")\n'
        ),
    ),
}

MEASURE = '''
import json, sys
from collections import Counter
import pyarrow.parquet as pq
import umpirical
from umpirical.testing.chat_server import ChatServer

def first_slot(body):
    prompt = body["messages"][-1]["content"]
    return "A" if "[candidate A," in prompt else "1"

with ChatServer(first_slot) as server:
    judge = {"name": "first", "answer": {"constrained": False}, "model": {
        "adapter": "openai-compatible", "name": "m", "base_url": server.base_url, "price": "free"}}
    report = umpirical.datasheet(judge, size="screen", folder=sys.argv[1], progress=False)

def labels(part):
    """How many trials have which labels, where there is such a factor."""
    tables = [pq.read_table(file) for file in sorted((report.folder / part).glob("*.parquet"))]
    return Counter(label for table in tables if "labels" in table.column_names for label in table["labels"].to_pylist())

positional = report.measure("positional-false-preference").result
print(json.dumps({
    "trials": report.record.run.trials,
    "unparsed": sum(row.unparsed for row in report.record.audit),
    "pairs": positional.denominator,
    "positional": positional.value,
    "columns": [labels("plan"), labels("judgments")],
}))
'''


def measured(source, folder):
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-c", MEASURE, str(folder)]
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a judge of slot 1 comes to, with the source as it is and with one factor more."""
    folder = tmp_path_factory.mktemp("factor")
    shutil.copytree(ROOT / "src", folder / "src")
    for file, (old, new) in EDITS.items():
        path = folder / "src" / "umpirical" / file
        text = path.read_text()
        assert text.count(old) == 1, f"the edit no longer fits {file}"
        path.write_text(text.replace(old, new))
    return measured(ROOT / "src", folder / "plain"), measured(folder / "src", folder / "crossed")


def test_four_files_are_all_it_takes(found):
    plain, crossed = found
    assert len(EDITS) == 4
    assert crossed["trials"] == 2 * plain["trials"]
    assert crossed["unparsed"] == plain["unparsed"] == 0


def test_the_factor_is_a_column_of_plan_and_judgments(found):
    _, crossed = found
    half = crossed["trials"] // 2
    assert crossed["columns"] == [{"12": half, "AB": half}] * 2


def test_pairs_of_different_labels_are_different_pairs(found):
    plain, crossed = found
    assert crossed["pairs"] == 2 * plain["pairs"]
    assert crossed["positional"] == plain["positional"] == 1
