"""A decision that the desk returned is stored, whatever happens to the program afterwards."""

import signal
import subprocess
import sys

import pytest

from tests.review.items import some_items
from umpirical.review.database import open_database
from umpirical.review.desk import Desk
from umpirical.review.records import Settings


@pytest.mark.parametrize("decisions", [1, 7, 30])
def test_a_killed_program_has_lost_no_decision_it_was_told_of(url, decisions):
    database = open_database(url)
    desk = Desk(database, Settings())
    desk.add(some_items(2_000))
    command = [sys.executable, "-m", "tests.review.worker", url, "ana", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        told = [process.stdout.readline().split() for _ in range(decisions)]
        process.send_signal(signal.SIGKILL)
        # Lines that were on their way when the signal came count too.
        told += [line.split() for line in process.stdout if line.endswith("\n")]
    assert process.returncode == -signal.SIGKILL
    assert len(told) >= decisions
    kept = {decision.number: decision.item for decision in desk.decisions()}
    assert {int(number): item for number, item in told}.items() <= kept.items()
    # At most one more: recorded, and the program killed before it could print it.
    assert len(kept) - len(told) in (0, 1)
    assert sorted(kept) == list(range(1, len(kept) + 1))
    assert desk.undo("ana") == kept[len(kept)]
    assert desk.next("ana").item.id == kept[len(kept)]
    assert desk.progress("ana").done == len(kept) - 1
    database.close()


def test_a_program_killed_while_it_writes_leaves_nothing_half_done(url):
    database = open_database(url)
    desk = Desk(database, Settings())
    desk.add(some_items(3))
    script = (
        "import sys, time\n"
        "from umpirical.review.database import assignments, open_database\n"
        "with open_database(sys.argv[1]).write() as connection:\n"
        "    assignments.give(connection, 'ana', overlap=1)\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script, url], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        process.kill()
    # The lock ends with the program, and what it had not committed is gone.
    assert desk.next("bob").item.id == "item-0"
    assert desk.progress("ana").left == 2
    database.close()
