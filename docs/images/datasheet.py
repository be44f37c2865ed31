"""Makes datasheet.png: the first screen of the page that `umpirical demo` writes for the slot-locked judge."""

import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

from umpirical.progress import watch_run
from umpirical.study.demo import run_demo

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
WIDTH, HEIGHT = 1100, 850

# The first end of a table row below HEIGHT, so that no line is cut.
ROW_END = f"""Math.min(...[...document.querySelectorAll('tbody')]
    .map(row => row.getBoundingClientRect().bottom).filter(end => end > {HEIGHT}))"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = list(run_demo(Path(folder), watch_run))
        picture(next(found for found in results if found.judge == "slot-locked").documents.html)


def picture(html: Path) -> None:
    with sync_playwright() as engine:
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        page = browser.new_page(viewport={"width": WIDTH, "height": 2 * HEIGHT}, color_scheme="light")
        page.goto(html.as_uri())
        end = round(page.evaluate(ROW_END)) + 4
        page.screenshot(path=Path(__file__).with_suffix(".png"), clip={"x": 0, "y": 0, "width": WIDTH, "height": end})
        browser.close()


if __name__ == "__main__":
    main()
