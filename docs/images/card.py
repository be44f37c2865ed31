"""Draws card.png: the verdict and the six tiles of a judge of `umpirical demo`, readable at half its size."""

import sys
import tempfile
from html import escape
from pathlib import Path
from string import Template

from playwright.sync_api import sync_playwright

from umpirical.progress import watch_run
from umpirical.protocols.datasheet.overview import overview_of
from umpirical.protocols.datasheet.record import Datasheet
from umpirical.protocols.datasheet.tiles import tiles
from umpirical.reports.tiles import Tile
from umpirical.study.demo import run_demo

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]

SIGNS = {"pass": "✓", "fail": "✗", "open": "?", "none": "–"}

PAGE = Template("""<!doctype html><meta charset="utf-8"><style>
* { box-sizing: border-box; margin: 0 }
body { width: 1200px; height: 600px; padding: 40px; font: 26px system-ui, sans-serif; color: #1b1f24; background: #fff }
h1 { font-size: 52px; color: #b42318 } h1 small { float: right; font-size: 26px; font-weight: 400; color: #57606a }
p { margin: 14px 0 30px; font-size: 30px }
main { display: grid; grid-template-columns: repeat(3, 1fr); gap: 22px }
div { padding: 18px 22px; border-left: 10px solid #2e7d4f; background: #f6f8fa } div.fail { border-color: #b42318 }
div.open { border-color: #b7791f } div.none { border-color: #57606a }
b { display: block; font-size: 40px } b small { font-size: 22px; font-weight: 400; color: #57606a }
span { font-size: 20px; color: #57606a }
</style><h1>$verdict<small>$judge, $calls calls</small></h1><p>$sentence</p><main>$tiles</main>""")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        results = list(run_demo(Path(folder), watch_run))
        draw(next(found.record for found in results if found.judge == "slot-locked"))


def draw(sheet: Datasheet) -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as engine:
        (page := Path(folder) / "card.html").write_text(card(sheet), encoding="utf-8")
        browser = engine.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        tab = browser.new_page(viewport={"width": 1200, "height": 600}, color_scheme="light")
        tab.goto(page.as_uri())
        tab.screenshot(path=Path(__file__).with_suffix(".png"))
        browser.close()


def card(sheet: Datasheet) -> str:
    """The card as a page of its own."""
    decision = sheet.decision
    if decision is None:
        sys.exit("the demo has no decision")
    return PAGE.substitute(
        verdict=escape(decision.title),
        judge=escape(sheet.judge.name),
        calls=f"{sheet.run.trials:,}",
        sentence=escape(overview_of(sheet).worst),
        tiles="".join(map(drawn, tiles(sheet))),
    )


def drawn(tile: Tile) -> str:
    return (
        f'<div class="{tile.mark}">{SIGNS[tile.mark]} {tile.name}<b>{tile.value} <small>{tile.threshold}</small></b>'
        f"<span>{tile.about}</span></div>"
    )


if __name__ == "__main__":
    main()
