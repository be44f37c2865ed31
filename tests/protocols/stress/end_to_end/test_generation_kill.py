"""A generator that is killed twice and goes on: no stimulus is written twice, and none is lost."""

import csv
import random
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest

from tests.protocols.stress.end_to_end.loopback import SYLLABLES, answer
from tests.servers.chat_server import ChatServer
from umpirical.store.generation import GenerationStore

CONCURRENCY = 32
TESTS = ("paraphrase", "verbosity-long", "verbosity-short")

STUDY = """\
study: killed
dataset:
  path: notes.csv
  columns: {{response: text, label: grade, id: id}}
  task_text: Write about your day.
  scale: {{kind: ordinal, labels: ["1", "2", "3"]}}
rubric: rubric.txt
stress:
  tests: [{tests}]
  generator: {{model: {{adapter: openai-compatible, name: writer, base_url: "{url}", price: free}}}}
  validator: {{model: {{adapter: openai-compatible, name: agreeable, base_url: "{url}", price: free}}, max_tokens: 20}}
judges:
  - name: rehearsal
    model: {{adapter: simulated, name: sound-examiner}}
concurrency: {concurrency}
"""


def write_study(folder, url, items):
    folder.mkdir()
    rng = random.Random(5)  # noqa: S311
    with (folder / "notes.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "text", "grade"])
        for number in range(items):
            said = " ".join(
                f"and the {''.join(rng.choices(SYLLABLES, k=3))} was {''.join(rng.choices(SYLLABLES, k=3))}"
                for _ in range(9)
            )
            rows.writerow([f"note-{number}", f"It was a day {said}.", str(1 + number % 3)])
    (folder / "rubric.txt").write_text("1 is little, 3 is much.")
    (folder / "umpirical.yaml").write_text(
        STUDY.format(url=url, tests=", ".join(TESTS), concurrency=CONCURRENCY), encoding="utf-8"
    )
    return folder


def generating(folder):
    return subprocess.Popen(
        [sys.executable, "-m", "umpirical", "generate", str(folder), "--trust"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def kill_at(folder, server, calls):
    """Starts, waits until the models have answered so often, and kills without warning."""
    process = generating(folder)
    deadline = time.monotonic() + 600
    while sum(server.answered.values()) < calls and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()
    process.send_signal(signal.SIGKILL)
    process.communicate()


def finish(folder):
    process = generating(folder)
    said, _ = process.communicate(timeout=3600)
    assert process.returncode == 0, said.decode()
    return said.decode()


def settled(folder):
    store = GenerationStore(folder / "generated")
    try:
        return list(store.attempts())
    finally:
        store.close()


def stimuli(folder):
    return {attempt.commission: attempt.stimulus.id for attempt in settled(folder) if attempt.stimulus is not None}


def interrupted_twice(tmp_path, items):
    with ChatServer(answer, keep_bodies=0) as server:
        calm = write_study(tmp_path / "calm", server.base_url, items)
        finish(calm)
        undisturbed = server.answered.copy()
        server.answered.clear()
        # The same server under the same study: the same commissions and the same calls, in another folder.
        rough = write_study(tmp_path / "rough", server.base_url, items)
        whole = sum(undisturbed.values())
        kill_at(rough, server, whole // 3)
        after_one = len(settled(rough))
        kill_at(rough, server, 2 * whole // 3)
        after_two = len(settled(rough))
        said = finish(rough)
        assert 0 < after_one < after_two < len(settled(rough))
        return calm, rough, undisturbed, server.answered.copy(), said


def check(calm, rough, undisturbed, answered, commissions):
    attempts = settled(rough)
    assert len({(attempt.commission, attempt.number) for attempt in attempts}) == len(attempts)
    taken = Counter(attempt.commission for attempt in attempts if attempt.stimulus is not None)
    assert set(taken.values()) == {1}
    assert len({attempt.commission for attempt in attempts}) == commissions
    # The same stimuli as without a kill, every one of them.
    assert stimuli(rough) == stimuli(calm)
    assert len(stimuli(rough)) == commissions
    # A call that was in flight when the process died is asked for once more; what had been kept is not.
    again = sum(count - 1 for count in answered.values())
    assert answered.keys() == undisturbed.keys()
    assert again <= 2 * 2 * CONCURRENCY


def test_a_generator_that_is_killed_twice_goes_on_where_it_stopped(tmp_path):
    calm, rough, undisturbed, answered, _ = interrupted_twice(tmp_path, items=150)
    check(calm, rough, undisturbed, answered, commissions=450)


@pytest.mark.slow
def test_twenty_thousand_stimuli_survive_two_kills(tmp_path):
    calm, rough, undisturbed, answered, said = interrupted_twice(tmp_path, items=6_667)
    print(said, len(stimuli(rough)), sum(undisturbed.values()), sum(answered.values()))  # noqa: T201  # a load run
    check(calm, rough, undisturbed, answered, commissions=20_001)
