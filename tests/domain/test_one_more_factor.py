"""A factor more of presentation is made in a copy of the source, to see how many files that takes: spelling.

Half of the questions ask for the verdict backwards. The factor has to reach the plan, the request, the reading of the
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
        "    spelling: str = 'forwards'\n    seed: int | None = None\n",
    ),
    "protocols/datasheet/spec.py": (
        "        ways = super().presentations(stimulus, capabilities, kind)\n",
        (
            "        ways = super().presentations(stimulus, capabilities, kind)\n"
            "        ways = (replace(way, spelling=how) for way in ways for how in ('forwards', 'backwards'))\n"
        ),
    ),
    "judges/model_judge.py": (
        "fill(message.content, values)",
        "fill(message.content, values) + f' Spell it {presentation.spelling}.'",
    ),
    "judges/answers.py": (
        '    text, reading = response.text or "", reader.under(presentation)\n',
        (
            '    text, reading = response.text or "", reader.under(presentation)\n'
            "    text = text[::-1] if presentation.spelling == 'backwards' else text\n"
        ),
    ),
}

MEASURE = '''
import json, re, sys
from collections import Counter
import pyarrow.parquet as pq
import umpirical
from tests.servers.chat_server import ChatServer

def first_slot(body):
    prompt = body["messages"][-1]["content"]
    label = re.search(r"\\[candidate (\\w+),", prompt)[1]
    return label[::-1] if "Spell it backwards" in prompt else label

with ChatServer(first_slot) as server:
    judge = {"name": "first", "answer": {"constrained": False}, "model": {
        "adapter": "openai-compatible", "name": "m", "base_url": server.base_url, "price": "free"}}
    report = umpirical.datasheet(judge, size="screen", folder=sys.argv[1], progress=False)

def spelling(part):
    """How many trials have which spelling, where there is such a factor."""
    tables = [pq.read_table(file) for file in sorted(report.folder.glob(part))]
    return Counter(how for table in tables if "spelling" in table.column_names for how in table["spelling"].to_pylist())

positional = report.measure("positional-false-preference").result
print(json.dumps({
    "trials": report.record.run.trials,
    "unparsed": sum(row.unparsed for row in report.record.audit),
    "pairs": positional.denominator,
    "positional": positional.value,
    "columns": [spelling("plan/*.parquet"), spelling("judgments.parquet")],
}))
'''


def measured(source, folder):
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-c", MEASURE, str(folder)]
    done = subprocess.run(command, check=False, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a judge of position 1 comes to, with the source as it is and with one factor more."""
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
    assert crossed["columns"] == [{"forwards": half, "backwards": half}] * 2


def test_a_pair_counts_once_however_it_is_spelt(found):
    plain, crossed = found
    assert crossed["pairs"] == plain["pairs"]
    assert crossed["positional"] == plain["positional"] == 1
