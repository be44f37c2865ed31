"""docs/data/transcripts.md names the formats, preprocessors and limits that there are, and its example runs."""

import json
import re
from dataclasses import asdict

from tests.docs.reading import ROOT, blocks, table
from umpirical.datasets.transcripts.files import ENDINGS, FORMATS, PREPROCESSORS
from umpirical.datasets.transcripts.sources import TranscriptLimits

PAGE = ROOT / "docs" / "data" / "transcripts.md"


def test_it_names_every_format_preprocessor_and_limit():
    formats = table(PAGE, "format")
    assert [name.strip("`") for name, *_ in formats] == list(FORMATS)
    assert {ending for _, endings, *_ in formats for ending in re.findall(r"\.\w+", endings)} == set(ENDINGS)
    assert [name.strip("`") for name, _ in table(PAGE, "preprocessor")] == list(PREPROCESSORS)
    limits = {name.strip("`"): default for name, default, _ in table(PAGE, "limit")}
    assert limits == {name: f"{value:,}" for name, value in asdict(TranscriptLimits()).items() if name != "archive"}


def test_its_example_runs(tmp_path, monkeypatch, capsys):
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "Gone.", "reasoning": "Hm."}]
    known = {"level": 2, "rubric": "Be kind."}
    (tmp_path / "runs.jsonl").write_text(
        json.dumps({"id": "a", "metadata": known, "messages": messages})
        + "\n"
        + json.dumps({"id": "b", "metadata": known, "messages": []})
    )
    monkeypatch.chdir(tmp_path)
    [script] = blocks(PAGE, "python")
    exec(script, {})  # noqa: S102  # the page's own example
    assert capsys.readouterr().out.splitlines() == [
        "a () {'level': '2'}",
        "note: runs.jsonl: runs.jsonl:2: no messages; excluded",
    ]
