"""One event loop serves every run of a process: from a script, from inside a running loop, many at once, cancelled."""

import asyncio
import contextvars
import os
import subprocess
import sys
import threading

import pytest

import umpirical
from tests.api.calls import Calls
from umpirical.domain.errors import UsageError
from umpirical.runs.loop import STOPPER, Stopper, run_on_loop
from umpirical.stimuli.controlled.datasheet_set import RECIPES

CALLS = RECIPES["screen"].calls
"""Of a datasheet of size screen."""


def ties(*_):
    return "tie"


def counting(calls, *, enough=CALLS, reached=None):
    """A judge that notes what it was shown, and lets a test know when there was enough of it."""

    async def judge(*shown):
        calls.note(*shown)
        if reached is not None and calls.total() >= enough:
            reached.set()
        await asyncio.sleep(0.001)
        return "tie"

    return judge


def test_inside_a_running_loop_the_plain_functions_work(settings):
    async def main():
        return umpirical.datasheet(ties, **settings), umpirical.datasheet("simulated:coin", **settings)

    one, other = asyncio.run(main())
    assert (one.judge, other.judge) == ("ties", "coin")
    assert one.record.complete
    assert other.record.complete


async def test_a_twin_gives_what_its_function_gives(settings):
    twin = await umpirical.datasheet_async(ties, **settings)
    assert twin.json() == umpirical.datasheet(ties, **settings).json()
    assert (await umpirical.load_async(twin.folder)).json() == twin.json()


async def test_a_twin_leaves_the_loop_free(settings):
    """A judge that only goes on once the caller's own loop has gone on would hang a twin that blocks it."""
    asked, released = threading.Event(), threading.Event()

    def waits(*_):
        asked.set()
        assert released.wait(60)
        return "tie"

    running = asyncio.create_task(umpirical.datasheet_async(waits, **settings))
    while not asked.is_set():  # noqa: ASYNC110  # set in another thread
        await asyncio.sleep(0.001)
    released.set()
    assert (await running).measure("failure-rate").result.numerator == 0


async def test_two_twins_at_once_in_one_folder_are_two_runs(settings):
    both = threading.Barrier(2, timeout=60)
    met = {"one": False, "other": False}

    def meets(name):
        def judge(*_):
            if not met[name]:
                both.wait()
                met[name] = True
            return "tie"

        return judge

    one, other = await asyncio.gather(
        *(umpirical.datasheet_async(meets(name), name=name, concurrency=1, **settings) for name in met)
    )
    assert (one.judge, other.judge) == ("one", "other")
    assert one.record.complete
    assert other.record.complete
    assert one.folder != other.folder


async def test_the_same_judge_twice_at_once_is_asked_once_and_the_second_call_says_who_has_it(settings):
    calls = Calls()
    judge = counting(calls)
    results = await asyncio.gather(
        *(umpirical.datasheet_async(judge, **settings) for _ in range(2)), return_exceptions=True
    )
    refused = [result for result in results if isinstance(result, BaseException)]
    # Where the second came after the first had ended, it was not refused, and asked nothing.
    assert len(refused) <= 1
    assert all(isinstance(error, UsageError) and "is working on run" in str(error) for error in refused)
    assert calls.total() == CALLS
    assert (await umpirical.datasheet_async(judge, **settings)).record.complete
    assert calls.total() == CALLS


async def test_a_cancelled_twin_stops_asking_and_the_same_call_asks_only_the_rest(settings):
    calls, reached = Calls(), threading.Event()
    judge = counting(calls, enough=50, reached=reached)
    running = asyncio.create_task(umpirical.datasheet_async(judge, concurrency=4, **settings))
    assert await asyncio.to_thread(reached.wait, 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    stopped_at = calls.total()
    assert 50 <= stopped_at < CALLS
    await asyncio.sleep(0.1)
    assert calls.total() == stopped_at

    report = await umpirical.datasheet_async(judge, concurrency=4, **settings)
    assert report.record.complete
    # Asked again is at most what was in flight when it was cancelled.
    assert CALLS <= calls.total() <= CALLS + 4
    assert calls.different() == CALLS


async def test_a_twin_that_is_cancelled_before_it_begins_asks_nothing(settings):
    calls = Calls()
    running = asyncio.create_task(umpirical.datasheet_async(counting(calls), **settings))
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert calls.total() <= 16


async def test_a_study_of_two_judges_is_cancelled_as_a_whole(folder):
    names = ("one", "other")
    judges = "".join(f"  - {{name: {name}, callable: 'slow_pair:{name}'}}\n" for name in names)
    (folder / "umpirical.yaml").write_text(f"study: pair\ndesign: {{size: screen}}\nconcurrency: 1\njudges:\n{judges}")
    (folder / "slow_pair.py").write_text(
        "from pathlib import Path\nimport time\n"
        f"def one(*shown):\n    Path({str(folder)!r}, 'one').touch(); time.sleep(0.01); return 'tie'\n"
        f"def other(*shown):\n    Path({str(folder)!r}, 'other').touch(); return 'tie'\n"
    )
    running = asyncio.create_task(umpirical.run_async(folder, progress=False, trust=True))
    while not (folder / "one").exists():  # noqa: ASYNC110  # touched in another thread
        await asyncio.sleep(0.001)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not (folder / "other").exists()
    sys.modules.pop("slow_pair")


def test_every_run_of_a_process_has_the_same_loop(settings):
    loops = set()

    async def judge(*_):
        loops.add(asyncio.get_running_loop())
        return "tie"

    umpirical.datasheet(judge, name="one", **settings)
    umpirical.datasheet(judge, name="one", **{**settings, "repeats": 2})
    asyncio.run(umpirical.datasheet_async(judge, name="one", **{**settings, "repeats": 3}))

    async def main():
        umpirical.datasheet(judge, name="one", **{**settings, "repeats": 4})

    asyncio.run(main())
    assert len(loops) == 1
    assert not loops.pop().is_closed()


def test_a_judge_object_that_belongs_to_its_first_loop_is_asked_in_two_runs(settings):
    """As the clients of five frameworks do: made in one loop, they fail in another."""

    class Client:
        loop = None

        async def __call__(self, *_):
            here = asyncio.get_running_loop()
            if Client.loop is None:
                Client.loop = here
            if Client.loop is not here:
                raise RuntimeError("Event loop is closed")
            return "tie"

    for repeats in (1, 2):
        report = umpirical.datasheet(Client(), repeats=repeats, **settings)
        assert report.measure("failure-rate").result.numerator == 0


@pytest.mark.parametrize("concurrency", [3, 40])
def test_synchronous_judges_run_as_many_at_once_as_asked_and_no_more(settings, concurrency):
    # 40 is more than the default pool of asyncio has on any machine of fewer than 36 cores.
    barrier = threading.Barrier(concurrency)
    lock, running, most = threading.Lock(), 0, 0
    left = CALLS // concurrency * concurrency

    def meets(*_):
        nonlocal running, most, left
        with lock:
            running += 1
            most = max(most, running)
            left, waits = left - 1, left > 0
        try:
            # All of a round are here at once, or nobody gets on and the barrier breaks.
            if waits:
                barrier.wait(60)
            return "tie"
        finally:
            with lock:
                running -= 1

    report = umpirical.datasheet(meets, concurrency=concurrency, **settings)
    assert report.measure("failure-rate").result.numerator == 0
    assert most == concurrency


def test_a_barrier_of_one_more_than_the_concurrency_is_never_passed(settings):
    barrier = threading.Barrier(4)
    broken = threading.Event()

    def meets(*_):
        if not broken.is_set():
            try:
                barrier.wait(0.5)
            except threading.BrokenBarrierError:
                broken.set()
        return "tie"

    umpirical.datasheet(meets, concurrency=3, **settings)
    assert broken.is_set()


@pytest.mark.parametrize("delay", [0, 1], ids=["while it waits", "before it waits"])
def test_an_interrupt_ends_the_work_before_it_is_raised(delay):
    """Ctrl-C reaches the thread that waits; what runs on the loop is cancelled, and cleans up first."""
    script = """
import asyncio, os, signal, sys, time
from umpirical.runs.loop import STOPPER, Stopper, run_on_loop
from umpirical.stimuli.controlled.datasheet_set import RECIPES

class Slow(Stopper):
    def watch(self, cancel):
        if cancel is not None:
            time.sleep(float(sys.argv[1]))
        super().watch(cancel)

STOPPER.set(Slow())

async def work():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.05)
        print("cleaned up")

try:
    run_on_loop(work())
except KeyboardInterrupt:
    print("interrupted")

async def more():
    return "the loop lives"

print(run_on_loop(more()))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(delay)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["cleaned up", "interrupted", "the loop lives"], done.stderr


def test_a_forked_process_has_a_loop_of_its_own():
    script = """
import os
from umpirical.runs.loop import run_on_loop

async def who():
    return os.getpid()

assert run_on_loop(who()) == os.getpid()
child = os.fork()
if child == 0:
    os._exit(0 if run_on_loop(who()) == os.getpid() else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_what_would_end_the_loop_does_not(error):
    """A task of a judge's own that calls sys.exit would stop the loop under everybody else."""

    async def raises():
        raise error

    async def work():
        task = asyncio.get_running_loop().create_task(raises())
        await asyncio.wait([task])
        return type(task.exception())

    assert run_on_loop(work()) is type(error)


def test_work_on_the_loop_that_waits_for_the_loop_is_an_error_and_not_a_deadlock():
    async def inner():
        return 1

    async def outer():
        return run_on_loop(inner())

    with pytest.raises(RuntimeError, match="await"):
        run_on_loop(outer())


def test_a_stopper_that_was_used_before_the_work_began_stops_it():
    stopped = []
    stopper = Stopper()
    stopper.stop()
    stopper.watch(lambda: stopped.append(1))
    assert stopped == [1]


def test_work_that_is_stopped_before_its_first_step_is_cancelled_and_not_waited_for_in_vain():
    async def work():
        await asyncio.sleep(600)

    def stopped():
        stopper = Stopper()
        stopper.stop()
        STOPPER.set(stopper)
        run_on_loop(work())

    for _ in range(20):
        with pytest.raises(asyncio.CancelledError):
            contextvars.copy_context().run(stopped)


def test_a_judge_that_hangs_does_not_hold_up_the_exit(folder):
    script = f"""
import threading, umpirical
calls = threading.Semaphore(2)

def hangs(*_):
    if calls.acquire(blocking=False):
        threading.Event().wait()
    return "tie"

settings = dict(size="screen", deadline=3, progress=False, preflight=False)
report = umpirical.datasheet(hangs, folder={str(folder)!r}, **settings)
print(report.measure("failure-rate").result.numerator)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False, env=os.environ
    )
    # A busy machine may be late with others too.
    assert float(done.stdout or 0) >= 2, done.stderr


@pytest.mark.parametrize(("grace", "said"), [("0.1", ["given up"]), ("60", ["finished"])])
def test_after_sigterm_calls_may_finish_for_a_while_and_are_given_up_then(grace, said):
    """Whatever runs there, it raises Terminated; and what the process does after that is something new."""
    script = """
import asyncio, os, signal, sys
from umpirical.domain.errors import Terminated
from umpirical.runs import loop

loop.GRACE = float(sys.argv[1])

async def call():
    os.kill(os.getpid(), signal.SIGTERM)
    try:
        await asyncio.sleep(1)
        print("finished")
    except asyncio.CancelledError:
        print("given up")
        raise

try:
    loop.run_on_loop(call())
except Terminated as ended:
    print(ended.exit_code, loop.told_to_end())

async def more():
    return "the loop lives"

print(loop.run_on_loop(more()))
print(signal.getsignal(signal.SIGTERM) is signal.SIG_DFL)
"""
    done = subprocess.run(
        [sys.executable, "-c", script, grace], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == [*said, "5 False", "the loop lives", "True"], done.stderr
