"""A budget is kept against servers that bill otherwise than they say, over commands, processes and kills."""

import random
import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from tests.attack.billing_server import BEHAVIOURS, PRICE, BillingServer
from tests.runs.loopback import CALLS, write_study
from umpirical.store.budget import Budget

DOLLARS = f"{{input: {PRICE * 10**6}, output: {PRICE * 10**6}}}"
IN_FLIGHT = 8
ACCOUNT = "judge loopback"

SMALL = (
    "honest",
    "honest, reasoning in the total",
    "usage 0/0",
    "usage true",
    "worked, then 504",
    "worked, then reset",
    "ignores max_tokens, and says 1/1",
    "thinks without end",
)
"""One of every kind, for every run of the tests."""


def behaviours():
    """Every behaviour; most of them only in the full attack."""
    marks = {name: [] if name in SMALL else [pytest.mark.attack] for name in BEHAVIOURS}
    return [pytest.param(name, marks=marks[name], id=name) for name in BEHAVIOURS]


def study_at(folder: Path, server: BillingServer, **settings) -> Path:
    # Of an honest server the bill is known to the last digit, unless a busy machine makes it late. Of one that takes
    # more than it may, the bill is known only if its reply comes.
    timeout = 60.0 if server.behaviour.honest or server.behaviour.breaks_bound else 1.0
    return write_study(
        folder, server.base_url, price=DOLLARS, concurrency=IN_FLIGHT, attempts=2, timeout=timeout, **settings
    )


def command(study: Path, cap: object, *more: str) -> list[str]:
    return [sys.executable, "-m", "umpirical", "run", str(study), "--trust", "--yes", "--max-cost", str(cap), *more]


def booked(study: Path) -> Decimal:
    return Budget(study.parent).booked([ACCOUNT]).total


@pytest.mark.parametrize("name", behaviours())
def test_the_true_bill_stays_within_the_budget_over_several_commands(umpirical, tmp_path, name):
    behaviour = BEHAVIOURS[name]
    with BillingServer(behaviour) as server:
        study, said = study_at(tmp_path, server), ""
        for cap in (12, 12, 20):
            before = server.bill
            _, _, err = umpirical("run", study, "--yes", "--no-preflight", "--max-cost", cap)
            said += err
            assert server.bill <= booked(study), "what was billed and is not booked"
            if not behaviour.breaks_bound:
                assert server.bill <= cap, err
            # A lie that is proven is believed twice, and what is in flight by then cannot be called back.
            over = server.dearest * (IN_FLIGHT + 2)
            assert server.bill - before <= cap + over
    assert server.requests > 0
    assert behaviour.named in said
    if behaviour.honest:
        assert booked(study) == server.bill
        assert "uncertain" not in said


def test_every_kind_of_lie_is_there():
    liars = [behaviour for behaviour in BEHAVIOURS.values() if not behaviour.honest]
    assert len(BEHAVIOURS) >= 40
    assert len(liars) >= 30


@pytest.mark.parametrize("caps", [("50", "20", "20", "20"), ("8", "16", "16.5", "40")])
def test_commands_share_one_budget(umpirical, tmp_path, caps):
    with BillingServer(BEHAVIOURS["honest"]) as server:
        study = study_at(tmp_path, server)
        for most, cap in enumerate(caps, start=1):
            umpirical("run", study, "--yes", "--max-cost", cap)
            assert server.bill <= max(map(Decimal, caps[:most]))
            assert server.bill == booked(study)


def test_the_command_that_would_go_on_is_named_and_does(umpirical, tmp_path):
    with BillingServer(BEHAVIOURS["honest"]) as server:
        study = study_at(tmp_path, server)
        code, _, err = umpirical("run", study, "--yes", "--max-cost", "10")
        assert code == 6
        (enough,) = re.findall(r"run the same command with --max-cost (\S+)", err)
        so_far = server.bill
        assert f"${so_far:.4f} of the budget of $10 is spent or reserved" in err
        code, _, _ = umpirical("run", study, "--yes", "--max-cost", enough)
        assert code != 6
        assert server.requests == CALLS
        assert so_far < server.bill <= Decimal(enough)
        assert booked(study) == server.bill


def test_what_was_never_sent_costs_nothing(umpirical, tmp_path):
    # The port is taken and never opened, so that no server ever answers there.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        study = write_study(tmp_path, address, price=DOLLARS, concurrency=IN_FLIGHT, attempts=2, timeout=60.0)
        code, _, err = umpirical("run", study, "--yes", "--no-preflight", "--max-cost", "1000")
    assert code == 5
    assert "uncertain" not in err
    assert booked(study) == 0


@pytest.mark.parametrize(
    ("name", "rounds"),
    [
        ("honest", 1),
        *(
            pytest.param(name, 8, marks=pytest.mark.attack)
            for name in ("honest", "honest, busy", "every second count is 1/1", "worked, then 504")
        ),
    ],
)
def test_processes_at_once_share_one_budget(tmp_path, name, rounds):
    """Several processes ask one judge of one study, each in a run of its own."""
    cap = 30
    with BillingServer(BEHAVIOURS[name], latency=0.002) as server:
        study = study_at(tmp_path, server)
        subprocess.run(command(study, 1), capture_output=True, check=False)
        for _ in range(rounds):
            processes = [
                subprocess.Popen(command(study, cap, *flags), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for flags in (["--no-preflight"], ["--fresh", "--no-preflight"])
            ]
            codes = [(process.communicate()[1], process.returncode)[1] for process in processes]
            assert set(codes) <= {2, 6}, codes
            assert server.bill <= booked(study) <= cap
        if BEHAVIOURS[name].honest:
            assert server.bill == booked(study)
        # Another process gave up while room was held by the first; what is left is used by the next. What may have been
        # billed stays booked at its worst, some four times what it was.
        assert server.bill > cap / (4 if BEHAVIOURS[name].honest else 16)


@pytest.mark.parametrize("kills", [2, pytest.param(40, marks=pytest.mark.attack)], ids=["twice", "40 times"])
def test_a_killed_process_leaves_its_lease_booked(tmp_path, kills):
    rng, cap = random.Random(kills), 100 + 140 * kills  # noqa: S311  # moments, not secrets
    killed = 0
    with BillingServer(BEHAVIOURS["honest"], latency=0.005) as server:
        study = study_at(tmp_path, server, repeats=max(1, kills // 8))
        for _ in range(kills):
            process = subprocess.Popen(
                command(study, cap, "--no-preflight"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            until = server.requests + rng.randrange(1, 30)
            deadline = time.monotonic() + 60
            while process.poll() is None and server.requests < until and time.monotonic() < deadline:
                time.sleep(0.001)
            killed += process.poll() is None
            process.send_signal(signal.SIGKILL)
            process.wait()
            # What was in flight may reach the bill after its client is gone.
            time.sleep(0.05)
            assert server.bill <= booked(study) <= cap
        # A lease is a few calls: twice what is in flight, at its worst.
        assert booked(study) - server.bill <= killed * 2 * IN_FLIGHT * Decimal(4)
        done = subprocess.run(command(study, cap, "--no-preflight"), capture_output=True, text=True, check=False)
        assert server.bill <= booked(study) <= cap
    assert killed >= kills - 1
    assert "uncertain" in done.stderr


def test_judges_of_one_command_share_the_budget_and_have_accounts_of_their_own(umpirical, tmp_path):
    with BillingServer(BEHAVIOURS["honest"]) as server:
        study = study_at(tmp_path, server)
        head, entry, tail = re.split(r"(?s)(  - name: loopback.*?)(?=design:)", study.read_text())
        study.write_text(head + entry + entry.replace("loopback", "second").replace("swayed", "swayed-2") + tail)
        umpirical("run", study, "--yes", "--max-cost", "9", "--judge", "second")
        alone = server.bill
        code, _, err = umpirical("run", study, "--yes", "--max-cost", "20")
        assert code == 6, err
        budget = Budget(study.parent)
        assert budget.booked(["judge second"]).total == alone
        assert budget.booked([ACCOUNT, "judge second"]).total == server.bill <= 20


def test_a_lie_is_on_the_page_too(umpirical, tmp_path):
    behaviour = replace(BEHAVIOURS["every second count is 1/1"])
    with BillingServer(behaviour) as server:
        study = study_at(tmp_path, server)
        umpirical("run", study, "--yes", "--max-cost", "100000")
        (run,) = (tmp_path / "runs").iterdir()
        page = (run / "datasheet.html").read_text()
        assert "spent" in page.lower()
        assert "report fewer tokens than were sent and received" in page
        assert server.bill < booked(study)
