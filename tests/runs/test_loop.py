"""The event loop of the process."""

import subprocess
import sys

CODE = """
import asyncio, atexit, threading
# Registered before the loop is, and so called after it.
atexit.register(lambda: print([each.name for each in threading.enumerate() if each.name == "umpirical-loop"]))
from umpirical.runs.loop import run_on_loop
run_on_loop(asyncio.sleep(0))
print("asked")
"""


def test_the_loop_ends_before_the_interpreter_does():
    """uvloop crashes in a thread that is still running when the interpreter ends."""
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout == "asked\n[]\n"
