"""What has been written is used as long as the texts it was written from are the same."""

import json
import re

import pytest

from tests.protocols.stress.end_to_end.loopback import answer
from tests.protocols.stress.end_to_end.studies import DECIDED, persuade_study
from tests.servers.chat_server import ChatServer


@pytest.fixture
def study(persuade, server, tmp_path):
    return persuade_study(
        tmp_path, persuade, server.base_url, size=12, tests=("paraphrase", "synthetic-ordinal"), judges=["word-counter"]
    )


def edit(folder, old, new):
    file = folder / "umpirical.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def calls(server):
    return sum(server.asked.values())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("strata: [grade_level]", "strata: [grade_level, prompt_name]"),
        ("strata: [grade_level]", "cluster: prompt_name"),
    ],
    ids=["another stratum", "clusters"],
)
def test_what_is_known_about_an_item_may_change(study, server, umpirical, old, new):
    assert umpirical("generate", study, "--outside")[0] == 0
    assert umpirical("run", study, "--outside")[0] in DECIDED
    before = calls(server)
    edit(study, old, new)
    assert umpirical("generate", study, "--outside")[0] == 0
    code, out, _ = umpirical("run", study, "--outside", "--json")
    assert code in DECIDED
    # Nothing was asked again, neither of the models that write nor of the judge.
    assert calls(server) == before
    record = json.loads((study / "runs" / json.loads(out)[0]["run"] / "stress.json").read_text())
    changed = [m for m in record["measures"] if m["name"] == "change-rate" and m["stratum"] == "paraphrase"]
    if "prompt_name" in new and "cluster" not in new:
        assert any(m["group"].startswith("prompt_name=") for m in changed)
    else:
        assert changed[0]["result"]["clusters"] < 12


def test_another_rubric_is_another_commission(study, server, umpirical):
    assert umpirical("generate", study, "--outside")[0] == 0
    before = calls(server)
    (study / "mine.txt").write_text("6 is best, 1 is worst.")
    file = study / "umpirical.yaml"
    file.write_text(re.sub(r"rubric: .*", "rubric: mine.txt", file.read_text()))
    assert umpirical("generate", study, "--outside")[0] == 0
    assert calls(server) > before


def test_a_request_that_a_server_will_never_take_does_not_block_the_study(persuade, tmp_path, umpirical):
    """A provider's content policy turns one essay down, whoever asks and however often."""

    class Picky(ChatServer):
        async def _complete(self, request):
            from aiohttp import web

            body = await request.json()
            if body["model"] == "writer" and "Seagoing Cowboys" in body["messages"][-1]["content"]:
                return web.json_response({"error": {"message": "against our policy"}}, status=400)
            return await super()._complete(request)

    with Picky(answer) as server:
        folder = persuade_study(
            tmp_path, persuade, server.base_url, size=30, tests=("paraphrase",), judges=["word-counter"]
        )
        code, out, _ = umpirical("generate", folder, "--outside", "--json")
        assert code == 0
        made = json.loads(out)["paraphrase"]
        assert made["rejected"]["the generator had its request rejected"] > 0
        assert made["open"] == 0
        assert umpirical("run", folder, "--outside")[0] in DECIDED


def test_a_wrong_key_leaves_everything_open_and_says_so(persuade, tmp_path, umpirical):
    class Locked(ChatServer):
        async def _complete(self, request):  # noqa: ARG002  # whatever is asked
            from aiohttp import web

            return web.json_response({"error": {"message": "no such key"}}, status=401)

    with Locked(answer) as server:
        folder = persuade_study(
            tmp_path, persuade, server.base_url, size=8, tests=("paraphrase",), judges=["word-counter"]
        )
        code, out, _ = umpirical("generate", folder, "--outside")
    assert code == 5
    assert re.search(r"failed 8: rejected: HTTP 401: .*no such key", out)
    assert "missing 8" in out
