"""The site: built from a clean copy, every page is reachable, every link leads somewhere, and nothing is fetched."""

import json
import os
import re
import threading
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml

from tests.docs.reading import ROOT, load_script, table

site = load_script(ROOT / "docs" / "site" / "build.py", "site_build")

TERMS = ROOT / "docs" / "explanation" / "papers.md"

LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href"), ("object", "data")}
"""What a browser fetches by itself."""


class Page(HTMLParser):
    """What a page of the site links to, what it loads, and what can be linked to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if (tag, name) in LOADED:
                self.loads.append(value)
            elif (tag, name) == ("a", "href"):
                self.links.append(value)
            elif name == "id" or (tag, name) == ("a", "name"):
                self.anchors.add(value)


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    """The site, built. Where it must be possible, as in CI, a missing builder is an error and not a skip."""
    if find_spec("zensical") is None and not os.environ.get("UMPIRICAL_REQUIRE_SITE"):
        pytest.skip("needs the group site: uv sync")
    return site.build(tmp_path_factory.mktemp("site") / "built")


@pytest.fixture(scope="module")
def pages(html):
    return {path: Page(path.read_text(encoding="utf-8")) for path in html.rglob("*.html")}


def goals(html: Path, path: Path, links: list[str]) -> Iterator[tuple[str, Path, str]]:
    """Each link into the site, with the file and the anchor that it leads to."""
    for link in links:
        parts = urlsplit(link)
        if parts.scheme or parts.netloc:
            continue
        start = html if parts.path.startswith("/") else path.parent
        goal = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
        yield link, goal / "index.html" if goal.is_dir() else goal, unquote(parts.fragment)


def test_every_link_and_anchor_of_every_page_is_there(html, pages):
    lost = [
        (str(path.relative_to(html)), link)
        for path, page in pages.items()
        if path.name != "404.html"
        for link, goal, anchor in goals(html, path, [*page.links, *page.loads])
        if not goal.is_file() or (goal in pages and anchor not in pages[goal].anchors)
    ]
    assert lost == []


def test_every_page_is_reached_from_the_index_in_the_text_of_pages_alone(html, pages):
    """The navigation has all of them: this holds without it."""
    seen, waiting = set(), [html / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in seen or path not in pages:
            continue
        seen.add(path)
        text = path.read_text(encoding="utf-8")
        article = re.search(r"<article.*?</article>", text, re.DOTALL)
        waiting += [goal for _, goal, _ in goals(html, path, Page(article[0] if article else text).links)]
    assert {path.relative_to(html) for path in set(pages) - seen} == {Path("404.html")}


def test_the_navigation_has_every_page_once(html):
    config = yaml.safe_load((html.parent / "mkdocs.yml").read_text(encoding="utf-8"))
    named = list(site.nav_pages(config["nav"]))
    there = {path.relative_to(html.parent / "pages").as_posix() for path in (html.parent / "pages").rglob("*.md")}
    assert sorted(named) == sorted(there)


def test_nothing_is_loaded_from_another_host(html, pages):
    assert [load for page in pages.values() for load in page.loads if urlsplit(load).netloc] == []
    for style in html.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text(encoding="utf-8")), style


def entries() -> list[str]:
    """Every term of both papers, as the page about them names it; what stands in brackets is one of its own."""
    rows = [row[0] for row in _rows(TERMS)]
    words = [re.sub(r"[`*\\]", "", part).strip() for cell in rows for part in re.split(r"[,()]", cell)]
    return sorted(set(filter(None, words)))


def _rows(page: Path) -> list[list[str]]:
    text = page.read_text(encoding="utf-8")
    first, second = (part.partition("| term |")[2] for part in text.split("\n## ")[1:])
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for part in (first, second)
        for line in part.splitlines()[2:]
        if line.startswith("|")
    ]


def test_the_search_finds_every_term_of_both_papers(html):
    index = json.loads((html / "search.json").read_text(encoding="utf-8"))
    text = " ".join(f"{item['title']} {re.sub(r'<[^>]+>', '', item['text'])}" for item in index["items"]).casefold()
    assert len(entries()) >= 60
    assert [term for term in entries() if term.casefold() not in text] == []


@pytest.mark.browser
def test_in_a_browser_the_search_is_loaded_and_nobody_else_is_asked(html, browser):
    handler = partial(SimpleHTTPRequestHandler, directory=html)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        own = f"http://127.0.0.1:{server.server_port}/"
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        with page.expect_request("**/search.json"):
            page.goto(own + "reference/exit-codes/")
        page.wait_for_load_state("networkidle")
        server.shutdown()
    assert [url for url in asked if not url.startswith((own, "data:", "blob:"))] == []


TYPED = (
    *("MBT", "RFP0", "Other", "DC", "SCS", "PFP", "OSC", "dark current", "quality ladder", "criterion shift"),
    *("order reversal", "label flip", "format invariance", "semantic paraphrase", "verbosity", "stochastic stability"),
    *("synthetic ordinal", "agent judge"),
)
"""What readers of the papers would type; the index having a word does not show that the search finds it."""

FOUND = """query => {
  const box = [...document.querySelectorAll("*")].find(each => each.shadowRoot).shadowRoot;
  const links = [...box.querySelectorAll("ol a, ul a")].map(each => new URL(each.href));
  const fresh = links.filter(each => each.searchParams.get("h") === query);
  return fresh.length ? fresh.map(each => each.pathname) : null;
}"""


@pytest.mark.browser
def test_in_a_browser_what_is_typed_leads_to_a_page_that_has_it(html, browser):
    handler = partial(SimpleHTTPRequestHandler, directory=html)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        page.wait_for_load_state("networkidle")
        page.keyboard.press("/")
        found = {}
        for term in TYPED:
            page.locator("input[aria-label=Search]").fill(term)
            found[term] = page.wait_for_function(FOUND, arg=term).json_value()
        server.shutdown()
    for term, paths in found.items():
        texts = [(html / path.strip("/") / "index.html").read_text(encoding="utf-8").casefold() for path in paths]
        assert any(all(word in text for word in term.casefold().split()) for text in texts), term


def test_a_link_that_leads_nowhere_stops_the_build(tmp_path, monkeypatch):
    if find_spec("zensical") is None and not os.environ.get("UMPIRICAL_REQUIRE_SITE"):
        pytest.skip("needs the group site: uv sync")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n\n[gone](index.md#nowhere)\n")
    (tmp_path / "mkdocs.yml").write_text("site_name: s\ndocs_dir: pages\nsite_dir: html\nnav: [index.md]\n")
    monkeypatch.setattr(site, "ROOT", tmp_path)
    monkeypatch.setattr(site, "CONFIG", tmp_path / "mkdocs.yml")
    monkeypatch.setattr(site, "PROJECT", ())
    with pytest.raises(SystemExit, match="cannot be built"):
        site.build(tmp_path / "out")


# What the gathering does with links.


def test_a_page_that_lies_elsewhere_in_the_site_is_linked_to_where_it_lies():
    assert site.place(ROOT / "docs" / "automate" / "gates.md") == Path("automate/gates.md")
    assert site.place(ROOT / "README.md") == Path("index.md")
    assert site.place(ROOT / "SECURITY.md") == Path("project/SECURITY.md")
    assert site.place(ROOT / "examples" / "gate" / "judge.yml") == Path("examples/gate/judge.yml")


def test_links_are_written_anew_files_are_taken_along_and_code_is_left_alone(tmp_path):
    site.gather(tmp_path)
    gate = (tmp_path / "examples" / "gate" / "README.md").read_text(encoding="utf-8")
    assert "](../../automate/gates.md)" in gate
    assert (tmp_path / "examples" / "gate" / "judge.yml").is_file()
    assert "](../examples/gate/README.md)" in (tmp_path / "automate" / "gates.md").read_text(encoding="utf-8")
    assert not list(tmp_path.rglob("head.md"))
    for page in (ROOT / "docs" / "reference" / "api.md", ROOT / "docs" / "connect" / "judges.md"):
        there, here = (path.read_text(encoding="utf-8") for path in (page, tmp_path / site.place(page)))
        fenced = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
        assert fenced.findall(there) == fenced.findall(here)


def test_the_tables_of_terms_name_measures_and_tests_that_there_are():
    from umpirical.measures.catalogue import MEASURES
    from umpirical.stimuli.perturbations.catalogue import PERTURBATIONS

    known = {*MEASURES.names(), *PERTURBATIONS.names()}
    named = {word for row in _rows(TERMS) for word in re.findall(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`", row[1])}
    assert named - known <= {"different-subset", "forced-choice"}
    assert {row[0].strip("`") for row in table(ROOT / "docs" / "data" / "stress-tests.md", "harness")} <= {
        word.strip("`") for row in _rows(TERMS) for word in re.findall(r"`\w+`", row[0])
    }
