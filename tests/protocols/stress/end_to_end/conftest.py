import pytest

from tests.protocols.stress.end_to_end.loopback import PERSUADE, answer
from tests.servers.chat_server import ChatServer


@pytest.fixture(scope="module")
def server():
    with ChatServer(answer) as running:
        yield running


@pytest.fixture(scope="session")
def persuade():
    if not PERSUADE.is_dir():
        pytest.skip("needs the essays of ../shared/data/persuade")
    return PERSUADE
