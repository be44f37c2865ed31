import gc
import os
import sys
import time
from contextlib import redirect_stdout
from importlib.util import cache_from_source
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.browsing import ARGUMENTS, CHROMIUM
from tests.sharing import SHARED, locked, shared_folder
from tests.weights import (
    COMMITTED,
    WRITTEN,
    Record,
    Recorder,
    group_of,
    is_heavy,
    longest_first,
    read_record,
    recorded,
    write_record,
)

COMPILED = Path(cache_from_source(str(Path(__file__).parents[1] / "src" / "umpirical" / "__main__.py")))
"""A file that is there once the whole package was compiled."""

BYTECODE = pytest.StashKey[bool]()
"""Whether Python was told to write no bytecode."""

OWNER = pytest.StashKey[bool]()
"""Whether this process started the session: it is neither a worker nor started by a test."""

REMEMBERS = pytest.StashKey[bool]()
"""Whether stimuli are built once."""

WEIGHTS = pytest.StashKey[Record]()
"""What the tests are known to take."""


def pytest_configure(config):
    """Makes the folder that all processes of this session share, unless this is one of them."""
    config.stash[BYTECODE], sys.dont_write_bytecode = sys.dont_write_bytecode, False
    from hypothesis import HealthCheck, settings

    # Both go by wall time, which says how busy the machine is.
    settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("any machine")

    if owner := SHARED not in os.environ:
        shared = TemporaryDirectory(prefix="umpirical-tests-")
        os.environ[SHARED] = shared.name
        # The key of reviews and what tests agree to are kept there, and not in the home of whoever runs the tests.
        os.environ["XDG_STATE_HOME"] = str(Path(shared.name) / "state")
        # What tests start compiles the package once in a session, and not in each process, also where Python is told to
        # write no bytecode. Where all of it is compiled, as in CI, there is nothing to do.
        if not COMPILED.exists() and os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
            os.environ["PYTHONPYCACHEPREFIX"] = str(Path(shared.name) / "compiled")
        config.add_cleanup(lambda: (os.environ.pop(SHARED), shared.cleanup()))
    config.stash[OWNER], config.stash[WEIGHTS] = owner, read_record()
    if _is_of_the_session(config):
        config.pluginmanager.register(Recorder(_weights_folder()))


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Lets one worker collect before the others, which read the bytecode that it writes.

    pytest compiles tests and this package in a way of its own, which takes half the time of collecting them. Where
    Python is told to write no bytecode, every process that runs pytest would do that again, also what tests start.

    Modules and tests stay until the end: to look through them for garbage, every few seconds, would only take time.
    """
    worker = getattr(session.config, "workerinput", {}).get("workerid")
    collected = shared_folder() / "collected"
    end = time.monotonic() + 600
    gc.disable()
    while worker not in (None, "gw0") and not collected.exists() and time.monotonic() < end:
        time.sleep(0.1)
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = session.config.stash[BYTECODE]
        gc.freeze()
        gc.enable()
        session.config.add_cleanup(gc.unfreeze)
        if worker:
            collected.touch()


def pytest_collection_modifyitems(config, items):
    for item in items:
        if is_heavy(item, config.stash[WEIGHTS]):
            item.add_marker("heavy")
    items[:] = longest_first(items, config.stash[WEIGHTS])


def pytest_runtest_setup(item):
    """Once something measures judges, lets it take stimuli that were built before."""
    module = sys.modules.get("umpirical.protocols.datasheet.stimuli")
    if module and not item.config.stash.get(REMEMBERS, not _is_of_the_session(item.config)):
        from tests.stimuli.built import remember_stimuli

        remember_stimuli(module)
        item.config.stash[REMEMBERS] = True


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session):
    """Writes what the tests took, where whole files were run; of other files it keeps what was known."""
    options = session.config.option
    whole = options.markexpr in session.config.getini("addopts") and not options.keyword and not options.collectonly
    if session.config.stash[OWNER] and whole and not any("::" in argument for argument in session.config.args):
        known = read_record(WRITTEN if WRITTEN.exists() else COMMITTED)
        write_record(Record({**known.files, **recorded(_weights_folder()).files}))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Gives whole groups to the workers of `pytest -n`, in the order of collection."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid, config.stash[WEIGHTS])

    config.option.loadscopereorder = False
    return ByGroup(config, log)


def _is_of_the_session(config):
    """Whether this process is the session or one of its workers. What a test starts belongs to the test."""
    return config.stash[OWNER] or hasattr(config, "workerinput")


def _weights_folder():
    return shared_folder() / "weights"


@pytest.fixture(scope="module")
def browser():
    """Debian's chromium. Where it must be there, as in CI, its absence is an error and not a skip."""
    if not CHROMIUM.exists():
        if os.environ.get("UMPIRICAL_REQUIRE_BROWSER"):
            pytest.fail(f"no chromium at {CHROMIUM}")
        pytest.skip(f"needs Debian's chromium at {CHROMIUM}")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def run_demo():
    """The folder that `umpirical demo` has written to, and what it printed: made once for all workers."""
    from umpirical.cli import main

    folder, printed = shared_folder() / "demo", shared_folder() / "demo.txt"
    with locked(folder.with_suffix(".lock")):
        if not printed.exists():
            with pytest.raises(SystemExit) as stop, redirect_stdout(StringIO()) as out:
                main(["demo", "--out", str(folder), "--no-open"])
            assert stop.value.code == 0
            printed.write_text(out.getvalue(), encoding="utf-8")
    return folder, printed.read_text(encoding="utf-8")


@pytest.fixture
def umpirical(capsys):
    """Runs a command in this process, with --trust; returns exit code, standard output, standard error."""
    from tests.trusting import trusting
    from umpirical.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(trusting(arguments))
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run
