"""A study of hostile answers with a judge whose replies are hostile: what is printed, and what is reported."""

import json
import re
import subprocess
import sys
from hashlib import sha256

import pytest

from tests.browsing import visit
from tests.hostile import HOSTILE
from tests.protocols.datasheet.samples import paper
from tests.protocols.stress.infecting import infected as infected_report
from tests.protocols.stress.samples import small
from tests.reports.payloads import HIDDEN, PAYLOADS
from tests.reports.payloads import infected as infected_datasheet
from tests.servers.chat_server import ChatServer
from umpirical.protocols.datasheet.page import render_html
from umpirical.protocols.stress.rendering import render_stress_pages

LABELS = ["<img src=x onerror=window.fired=1>", "=cmd|' /C calc'!A0", "{{7*7}} \u202e\x1b[2J"]

WHOLE = [each for each in HOSTILE if not re.search("[\ud800-\udfff]", each)]
"""Without lone surrogates, which a dataset refuses."""

TOGETHER = 8
"""Payloads in one answer."""


class HostileJudge:
    """Answers with one of the labels or, about every other time, with payloads instead: all of them, in turn."""

    def __init__(self):
        self.said = 0

    def __call__(self, body):
        place = int.from_bytes(sha256(json.dumps(body["messages"]).encode()).digest()[:4])
        if place % 2:
            return json.dumps({"grade": LABELS[place // 2 % len(LABELS)]})
        self.said += TOGETHER
        return "\n".join(HOSTILE[(self.said - TOGETHER) % len(HOSTILE) :][:TOGETHER])


def hostile_study(folder, url):
    folder.mkdir()
    texts = ["\n\n".join(WHOLE[start : start + TOGETHER]) for start in range(0, len(WHOLE), TOGETHER)]
    rows = [
        {"id": f"a{number}", "answer": text, "label": LABELS[number % 3], "task": WHOLE[number]}
        for number, text in enumerate(texts)
    ]
    (folder / "answers.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    # A rubric must not contain what looks like a placeholder.
    (folder / "rubric.txt").write_text("\n".join(each for each in WHOLE if "{{" not in each), encoding="utf-8")
    study = {
        "study": "hostile",
        "dataset": {
            "path": "answers.jsonl",
            "columns": {"response": "answer", "label": "label", "id": "id", "task": "task"},
            "scale": {"kind": "nominal", "labels": LABELS},
        },
        "rubric": "rubric.txt",
        "stress": {"tests": ["vertical-spacing"], "repeats": 2},
        "judges": [
            {
                "name": "hostile",
                "model": {"adapter": "openai-compatible", "name": "judge", "base_url": url, "price": "free"},
            }
        ],
    }
    (folder / "umpirical.yaml").write_text(json.dumps(study))
    return folder


def quiet(browser, path):
    requests, complaints, _, scripts = visit(browser, path, 1200)
    assert [url for url in requests if not url.startswith("data:,")] == [path.as_uri()]
    assert (complaints, scripts) == ([], 0)


@pytest.mark.browser
def test_a_hostile_judge_is_reported_and_does_nothing(browser, tmp_path):
    judge = HostileJudge()
    with ChatServer(judge) as server:
        folder = hostile_study(tmp_path / "study", server.base_url)
        # In another process, because the browser uses the event loop of this one.
        command = [sys.executable, "-m", "umpirical", "run", str(folder), "--trust"]
        done = subprocess.run(command, capture_output=True, check=False)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode in {0, 3, 4}, said
    assert not HIDDEN.search(said)
    assert judge.said >= len(HOSTILE)
    pages = sorted((folder / "report").glob("*.html"))
    assert pages
    source = "".join(page.read_text(encoding="utf-8") for page in pages)
    # Labels and texts are in the pages, escaped, and nothing hidden is.
    assert "&lt;img src=x onerror=window.fired=1&gt;" in source
    assert not HIDDEN.search(source)
    for page in pages:
        quiet(browser, page)


@pytest.mark.browser
def test_a_payload_in_every_place_of_a_report_does_nothing(browser, tmp_path):
    """Only the payloads that the tests of the reports do not have, since those test them one by one."""
    text = "\n".join(each for each in HOSTILE if each not in PAYLOADS and len(each) < 1_000)
    pages = {
        "stress": render_stress_pages([infected_report(small(), text, structure=False)])["index.html"],
        "datasheet": render_html(infected_datasheet(paper(), text, structure=False)),
    }
    for name, source in pages.items():
        assert not HIDDEN.search(source), name
        path = tmp_path / f"{name}.html"
        path.write_text(source, encoding="utf-8")
        quiet(browser, path)
