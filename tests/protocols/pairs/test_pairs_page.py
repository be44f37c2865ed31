"""The page of labelled pairs in a real browser: quiet, in shape, readable by everyone, and inert."""

import pytest

from tests.browsing import visit
from tests.protocols.pairs.pair_studies import labelled, write_study
from tests.reports.payloads import PAYLOADS
from umpirical import run

pytestmark = pytest.mark.browser

HOSTILE = "\n".join(PAYLOADS).encode("utf-8", "replace").decode()
"""Half of a surrogate pair is refused where the data are read."""


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A judge that is wrong about many pairs, and one whose data is hostile."""
    folder = tmp_path_factory.mktemp("pages")
    plain = write_study(folder / "plain", rows=labelled(16), profiles=["short-sighted"])
    rows = [
        {"prompt": f"{HOSTILE} {number}", "chosen": f"{HOSTILE} good", "rejected": "W" * 400, "subset": HOSTILE[:60]}
        for number in range(4)
    ]
    hostile = write_study(folder / "hostile", rows=rows, profiles=["coin"], more="edits: [inline-spacing]\n")
    reports = {"plain": run(plain, trust=True), "hostile": run(hostile, trust=True)}
    return {name: report.folder / "pairs.html" for name, [report] in reports.items()}


@pytest.mark.parametrize("name", ["plain", "hostile"])
def test_the_page_is_quiet_and_fits(browser, pages, name):
    for width in (390, 1200):
        requests, complaints, (document, body, window), scripts = visit(browser, pages[name], width)
        assert [url for url in requests if not url.startswith("data:")] == [pages[name].as_uri()]
        assert complaints == []
        assert scripts == 0
        assert max(document, body) <= window


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(browser, pages, scheme):
    from axe_playwright_python.sync_playwright import Axe

    page = browser.new_page(color_scheme=scheme)
    page.goto(pages["plain"].as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = Axe().run(page)
    page.close()
    assert found.response["violations"] == [], found.generate_report()
