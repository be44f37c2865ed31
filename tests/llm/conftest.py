import os

import pytest

from tests.servers.llama_server import LlamaServer, installed_model


@pytest.fixture(scope="session")
def smollm2():
    """The smallest model's file. Where it must be there, as in CI, its absence is an error and not a skip."""
    try:
        return installed_model()
    except RuntimeError as error:
        if os.environ.get("UMPIRICAL_REQUIRE_LLM"):
            pytest.fail(str(error))
        pytest.skip(f"{error}: just bench")


THREADS = 1
"""Of a server: its threads wait for each other in a busy loop, which costs most where tests share the processors."""


@pytest.fixture(scope="session")
def server(smollm2):
    """As a person would run it."""
    with LlamaServer(smollm2, threads=THREADS) as running:
        yield running


@pytest.fixture(scope="session")
def exact_server(smollm2):
    """Reads every prompt anew, so that the same question gets the same answer, token by token."""
    with LlamaServer(smollm2, cache=False, threads=THREADS) as running:
        yield running
