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
