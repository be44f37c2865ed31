"""The page in a real browser."""

from pathlib import Path

import pytest

from umpirical.reports.html import render_html

from .payloads import PAYLOADS, infected
from .samples import SAMPLES, datasheet

pytestmark = pytest.mark.browser

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM.exists():
        pytest.skip(f"needs Debian's chromium at {CHROMIUM}")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield opened
        opened.close()


def visit(browser, path, width):
    """What the page asked for, what it complained of, and its sizes."""
    page = browser.new_page(viewport={"width": width, "height": 800})
    requests, complaints = [], []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: (complaints.append(dialog.message), dialog.dismiss()))
    page.goto(path.as_uri())
    page.wait_for_load_state("networkidle")
    sizes = page.evaluate("[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]")
    scripts = page.locator("script").count()
    page.close()
    return requests, complaints, sizes, scripts


@pytest.mark.parametrize("width", [360, 1200])
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_page_is_quiet_and_fits(browser, tmp_path, name, width):
    path = tmp_path / "datasheet.html"
    path.write_text(render_html(SAMPLES[name]()), encoding="utf-8")
    requests, complaints, (document, body, window), scripts = visit(browser, path, width)
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert complaints == []
    assert scripts == 0
    assert document <= window
    assert body <= window


@pytest.mark.parametrize("structure", [False, True])
@pytest.mark.parametrize("payload", ["\n".join(PAYLOADS), "W" * 400], ids=["markup", "one long word"])
def test_hostile_text_does_nothing(browser, tmp_path, payload, structure):
    path = tmp_path / "datasheet.html"
    path.write_text(render_html(infected(datasheet(), payload, structure=structure)), encoding="utf-8")
    requests, complaints, (document, _, window), scripts = visit(browser, path, 360)
    assert [url for url in requests if not url.startswith("data:")] == [path.as_uri()]
    assert complaints == []
    assert scripts == 0
    assert document <= window
