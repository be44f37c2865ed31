"""One person floods the review server, and another goes on deciding."""

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

from .review_parts import Client, process

MOST_RATIO = 25
"""How many times as long a decision may take as beside it on a quiet server."""


@contextmanager
def flooding(client, *, sockets, streams):
    script = Path(__file__).with_name("flood.py")
    command = [sys.executable, str(script), client.host, client.home, client.cookie, str(sockets), str(streams)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as attacker:
        try:
            assert attacker.stdout.readline() == "ready\n"
            yield attacker
        finally:
            attacker.kill()


@pytest.mark.parametrize(
    ("sockets", "streams", "items"),
    [(200, 100, 10), pytest.param(1_500, 2_000, 50, marks=pytest.mark.attack)],
)
def test_a_flood_does_not_keep_the_others_from_deciding(tmp_path, record_property, sockets, streams, items):
    folders = [tmp_path / "quiet", tmp_path / "flooded"]
    for folder in folders:
        folder.mkdir()
    # One more: mallory is given an item too.
    with process(folders[0], items + 1) as quiet, process(folders[1], items + 1) as flooded:
        calm, ana = (Client(url).join(link) for url, link, _ in (quiet, flooded))
        mallory = Client(flooded[0]).join(flooded[2])
        taken, decided = {calm: [], ana: []}, {calm: [], ana: []}
        with flooding(mallory, sockets=sockets, streams=streams) as attacker:
            for _ in range(items):
                # In turns, so that other load on the machine affects both.
                for person, times in taken.items():
                    begun = perf_counter()
                    decided[person].append(person.decide())
                    times.append(perf_counter() - begun)
            assert attacker.poll() is None
    assert len(set(decided[ana]) - {None}) == items
    quiet_time, flooded_time = median(taken[calm]), median(taken[ana])
    said = f"{flooded_time / quiet_time:.1f} times: {1000 * flooded_time:.0f} ms against {1000 * quiet_time:.0f} ms"
    record_property("flood", said)
    print(f"\n{said}; longest {1000 * max(taken[ana]):.0f} ms")  # noqa: T201
    assert flooded_time / quiet_time < MOST_RATIO
