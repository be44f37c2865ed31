"""In a real Jupyter kernel: three lines lead to a datasheet; killed or interrupted, the same cell goes on."""

import asyncio
import os
import re
import signal
from html import unescape

import pytest
from nbclient.exceptions import DeadKernelError

from tests.api.notebooks import Notebook
from tests.stimuli.built import lend_stimuli
from umpirical.stimuli.controlled.datasheet_set import RECIPES

CALLS = RECIPES["screen"].calls
"""Of a datasheet of size screen."""

CONCURRENCY = 4

THREE_LINES = """\
import umpirical
judge = lambda task, first, second: "1" if len(first) > len(second) else "2"
umpirical.datasheet(judge, size="screen")
"""

COUNTED = f"""\
import os, time, umpirical

with open("kernel", "w") as file:
    file.write(str(os.getpid()))

def judge(task, first, second):
    with open("calls", "a") as file:
        file.write(".")
    time.sleep(0.02)
    return "tie"

umpirical.datasheet(judge, size="screen", concurrency={CONCURRENCY})
"""


@pytest.fixture
def folder(tmp_path):
    lend_stimuli(tmp_path / "umpirical-runs")
    return tmp_path


def page_of(output):
    """The document in the frame that an output shows."""
    shown = output.data["text/html"]
    return unescape(re.fullmatch(r'<iframe sandbox srcdoc="([^"]*)"[^>]*></iframe>', shown)[1])


def bar_of(output):
    return re.search(r'<progress value="(\d+)" max="(\d+)">', output.data["text/html"]).groups()


async def test_three_lines_show_a_datasheet(folder):
    async with Notebook(folder, THREE_LINES, THREE_LINES) as notebook:
        bar, datasheet = await notebook.run()
        assert (bar.output_type, bar_of(bar)) == ("display_data", (str(CALLS), str(CALLS)))
        assert datasheet.output_type == "execute_result"
        assert re.fullmatch(r"<datasheet of lambda, do-not-use: \d+ measures>", datasheet.data["text/plain"])
        page = page_of(datasheet)
        assert "<h1" in page
        assert "prefers one wording over another of equal quality" in page
        # Typed again, it is the same judge: nothing is asked, and the bar is full from the start.
        bar, again = await notebook.run(1)
        assert bar_of(bar) == (str(CALLS), str(CALLS))
        assert again.data == datasheet.data
    assert len(list((folder / "umpirical-runs" / "runs").iterdir())) == 1


async def test_what_a_judge_raises_is_counted_and_what_it_prints_is_shown(folder):
    broken = """
import umpirical

calls = 0

def judge(task, first, second):
    global calls
    calls += 1
    if calls % 10 == 0:
        raise ValueError("broken")
    if calls == 1:
        print("hm")
    return "tie"

report = umpirical.datasheet(judge, size="screen", concurrency=1)
print(report.measure("failure-rate").result.numerator, calls)
"""
    awaited = """
twin, counted = await umpirical.datasheet_async(judge, size="screen", concurrency=1), umpirical.load(report.folder)
print(twin.measure("failure-rate").result.numerator, calls, counted.folder == report.folder)
counted.measures
"""
    async with Notebook(folder, broken, awaited) as notebook:
        outputs = await notebook.run()
        text = "".join(output.text for output in outputs if output.output_type == "stream")
        failed = CALLS // 10
        assert text == f"hm\n{failed}.0 {CALLS}\n"
        assert {output.output_type for output in outputs} == {"display_data", "stream"}
        # What has failed is asked again, calls of which every tenth fails, and nothing else is.
        *_, said, table = await notebook.run(1)
        assert said.text == f"{(CALLS + failed) // 10 - failed}.0 {CALLS + failed} True\n"
        assert table.data["text/html"].startswith("<table><thead><tr><th>Measure</th>")


async def test_without_progress_there_is_only_the_page(folder):
    quiet = THREE_LINES.replace('"screen"', '"screen", progress=False')
    async with Notebook(folder, quiet) as notebook:
        [datasheet] = await notebook.run()
        assert "<h1" in page_of(datasheet)


async def test_a_mistake_is_shown_as_an_error_that_says_what_to_do(folder):
    async with Notebook(folder, 'import umpirical\numpirical.datasheet("nobody", size="screen")') as notebook:
        [error] = await notebook.run()
        assert (error.output_type, error.ename) == ("error", "UsageError")
        assert "unknown judge 'nobody'" in error.evalue
        assert "what to do: name a judge in umpirical.yaml" in "".join(error.traceback)


async def test_a_killed_kernel_resumes(folder):
    async with Notebook(folder, COUNTED) as notebook:
        running = asyncio.create_task(notebook.run())
        await notebook.asked(80, running)
        os.kill(int((folder / "kernel").read_text()), signal.SIGKILL)
        with pytest.raises(DeadKernelError):
            await running
    killed_at = notebook.calls()
    assert 80 <= killed_at < CALLS

    async with Notebook(folder, COUNTED) as notebook:
        bar, datasheet = await notebook.run()
        assert bar_of(bar) == (str(CALLS), str(CALLS))
        assert "judge" in datasheet.data["text/plain"]
    # Asked twice is what was in flight, and what was not committed yet; each is at most the concurrency.
    assert CALLS <= notebook.calls() <= CALLS + 2 * CONCURRENCY
    assert len(list((folder / "umpirical-runs" / "runs").iterdir())) == 1


async def test_an_interrupted_cell_stops_asking_and_goes_on_in_the_same_kernel(folder):
    async with Notebook(folder, COUNTED) as notebook:
        running = asyncio.create_task(notebook.run())
        await notebook.asked(80, running)
        kernel = (folder / "kernel").read_text()
        await notebook.interrupt()
        *_, error = await running
        assert (error.output_type, error.ename) == ("error", "KeyboardInterrupt")
        stopped_at = notebook.calls()
        assert 80 <= stopped_at < CALLS
        await asyncio.sleep(0.2)
        assert notebook.calls() == stopped_at

        bar, datasheet = await notebook.run()
        assert bar_of(bar) == (str(CALLS), str(CALLS))
        assert "<h1" in page_of(datasheet)
        assert (folder / "kernel").read_text() == kernel
        assert CALLS <= notebook.calls() <= CALLS + CONCURRENCY
    assert len(list((folder / "umpirical-runs" / "runs").iterdir())) == 1
