"""One real model through three frameworks: the page is what was found, and a verdict is the model's own."""

import json

import pytest

from tests.frameworks.real_model import CHOSEN, FOUND, UNREADABLE, found_by, page
from tests.servers.llama_server import LlamaServer, installed_model

KNOWN = json.loads(FOUND.read_text(encoding="utf-8"))


def test_the_page_is_what_was_found():
    assert FOUND.with_suffix(".md").read_text(encoding="utf-8") == page(KNOWN)
    assert list(KNOWN) == list(CHOSEN)


@pytest.mark.parametrize("name", CHOSEN)
def test_what_was_recorded_is_what_the_model_says_directly(name):
    found = KNOWN[name]
    assert found["same"] == found["asked"]
    assert found["verdicts"].get(UNREADABLE, 0) < found["asked"] / 2


@pytest.mark.slow
@pytest.mark.llm
def test_a_verdict_through_a_framework_is_that_of_its_request():
    with LlamaServer(installed_model(), cache=False, threads=1) as server:
        found = found_by("openevals", server.base_url, 4)
    assert found["same"] == found["asked"] == 4
