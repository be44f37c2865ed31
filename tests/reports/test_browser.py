"""The page in a real browser."""

import pytest

from tests.browsing import visit
from umpirical.reports.html import render_html

from .payloads import PAYLOADS, infected
from .samples import SAMPLES, datasheet

pytestmark = pytest.mark.browser


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
