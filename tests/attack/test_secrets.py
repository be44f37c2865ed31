"""A server that quotes the key it was sent: the key is in nothing that leaves the process or stays on the disk."""

import json
import shutil
import sqlite3
from itertools import cycle

import pyarrow.parquet as pq
import pytest

from tests.attack.commands import umpirical
from tests.attack.raw_server import RawServer, completion, http
from tests.models.spellings import spellings

KEY = "Zq7-Xw9pLm3RtY8vBn2-KdF5sHjQ4-Tt1"
"""Not of the form of any provider's key, which would be recognized without being known."""

STUDY = """\
study: quoted
tasks: [jam-batch.plums, tool-hire.mower]
judges:
  - name: quoted
    model: {adapter: ADAPTER, name: NAME, base_url: "URL", api_key_env: QUOTED_KEY, price: free, attempts: 1}
    decoding: {max_tokens: 64, top_logprobs: 2}
    answer: {constrained: false}
design: {size: screen, repeats: REPEATS}
concurrency: 8
"""


def replies(written):
    """Every place of a reply in which a spelling of the key may stand."""
    whole = completion("1")
    choice = whole["choices"][0]
    token = {"token": written, "logprob": -0.1, "top_logprobs": []}
    header = "".join(sign for sign in written if sign.isascii() and sign.isprintable())
    quoted = json.dumps(
        {"error": {"message": f"wrong key {written}", "headers": {"authorization": f"Bearer {written}"}}}
    )
    return [
        http(quoted.encode(), status="401 Unauthorized"),
        http(quoted.encode(), status="500 Internal Server Error"),
        http(f"<html>{written}</html>".encode()),
        http(f"wrong key {written}".encode(), status="403 Forbidden"),
        http(b"." * 270 + written.encode(), status="400 Bad Request"),
        http(b"{}", status=f"400 {header[:200]}"),
        http(b"", status="307 Temporary Redirect", headers=[f"Location: http://{header[:200]}/{header[:200]}"]),
        http(completion(f"Bearer {written}")),
        http(completion(json.dumps({"verdict": "1", "reason": written}))),
        http(whole | {"model": written}),
        http(whole | {"system_fingerprint": f"fp {written}"}),
        http(whole | {"error": {"message": written}}),
        http(completion("1", finish=written)),
        http(whole | {"choices": [choice | {"message": {"content": None, "refusal": written}}]}),
        http(whole | {"choices": [choice | {"logprobs": {"content": [token]}}]}),
        http(
            whole | {"choices": [choice | {"message": {"content": written}, "logprobs": {"content": _apart(written)}}]}
        ),
        http(whole | {"choices": [choice | {"message": {"content": [{"type": "text", "text": written}]}}]}),
    ]


def _apart(written):
    return [{"token": sign, "logprob": -0.1, "top_logprobs": []} for sign in written]


def texts(folder):
    """Everything in a folder, as text: files as they are, tables and databases by their cells."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        yield path, path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".parquet":
            yield path, json.dumps(pq.read_table(path).to_pylist(), default=str, ensure_ascii=False)
        elif path.suffix in (".sqlite", ".db"):
            yield path, "\n".join(_dumped(path))


def _dumped(path):
    database = sqlite3.connect(path)
    try:
        yield from database.iterdump()
    finally:
        database.close()


def found_in(text, forms):
    """The spellings of which a piece of twelve signs is in a text: as they are, and as JSON writes them."""
    return [name for name, form in forms.items() if any(piece in text for piece in _pieces(form))]


def _pieces(form):
    for whole in {form, json.dumps(form)[1:-1], json.dumps(form, ensure_ascii=False)[1:-1]}:
        length = min(len(whole), max(12, len(whole) // 2))
        yield whole[:length]
        yield whole[-length:]


def run_against(forms, tmp_path, *, adapter, name, repeats):
    """Runs a study against a server that quotes the key in every spelling, at every place, and reports on it."""
    turns = cycle([reply for form in forms.values() for reply in replies(form)])

    async def answer(_asked, writer):
        writer.write(next(turns))

    with RawServer(answer) as server:
        study = STUDY.replace("URL", server.base_url).replace("ADAPTER", adapter).replace("NAME", name)
        (tmp_path / "study.yaml").write_text(study.replace("REPEATS", str(repeats)))
        options = ("--yes", "--no-preflight", "--json")
        run = umpirical("run", "study.yaml", *options, folder=tmp_path, QUOTED_KEY=KEY)
        asked = server.asked
    [folder] = [path.parent for path in (tmp_path / "runs").rglob("run.json")]
    report = umpirical("report", folder, folder=tmp_path, QUOTED_KEY=KEY)
    assert all(KEY in asked_one.headers.get("authorization", "") for asked_one in asked)
    return run.said + report.said, len(asked)


def leaks(said, tmp_path, forms):
    places = [("the terminal", said), *texts(tmp_path)]
    return [(str(place), found_in(text, forms)) for place, text in places if found_in(text, forms)], len(places)


def test_a_key_that_a_server_quotes_is_nowhere(tmp_path):
    forms = {name: form for name, form in spellings(KEY).items() if name in SOME}
    said, asked = run_against(forms, tmp_path, adapter="openai-compatible", name="judge", repeats=4)
    assert asked >= len(forms) * len(replies("x"))
    found, searched = leaks(said, tmp_path, forms)
    assert searched > 5
    assert found == []


SOME = ("as it is", "in base64 with a word before", "in an address", "in JSON", "with blanks", "its beginning")


def test_the_search_finds_a_key_that_is_there(tmp_path):
    forms = spellings(KEY)
    for form in forms.values():
        shutil.rmtree(tmp_path / "x", ignore_errors=True)
        (tmp_path / "x").mkdir()
        (tmp_path / "x" / "a.txt").write_text(f"wrong key {form}", encoding="utf-8", errors="surrogatepass")
        assert leaks("", tmp_path, forms)[0]


@pytest.mark.attack
@pytest.mark.parametrize(("adapter", "name"), [("openai-compatible", "judge"), ("inspect", "openai-api/local/judge")])
def test_no_spelling_of_a_key_is_anywhere(adapter, name, tmp_path):
    forms = spellings(KEY)
    said, asked = run_against(forms, tmp_path, adapter=adapter, name=name, repeats=20)
    found, _ = leaks(said, tmp_path, forms)
    assert asked >= len(forms) * len(replies("x"))
    assert found == []
