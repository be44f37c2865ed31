import os

import pytest

from tests.browsing import ARGUMENTS, CHROMIUM


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


@pytest.fixture
def umpirical(capsys):
    """Runs a command in this process; returns exit code, standard output, standard error."""
    from umpirical.cli import main

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return stop.value.code or 0, captured.out, captured.err

    return run
