"""The loopback chat server as a backend for the kit of model adapters."""

from contextlib import contextmanager

from tests.servers.chat_server import ChatServer
from umpirical.models.spec import ModelSpec

KEY = "the-kit-s-own-key-4711"
VARIABLE = "KIT_API_KEY"
FAULTS = {
    "answer": None,
    "busy": "rate-limit",
    "broken": "server-error",
    "nonsense": "malformed",
    "silent": "hang",
    "closed": "reset",
}


class ChatBackend:
    key = KEY

    def __init__(self, server, spec):
        self.server, self.spec = server, spec

    def behave(self, how):
        self.server.quoting = how == "quoting"
        fault = FAULTS.get(how)
        self.server.misbehave = lambda _id, _times: fault

    def requests(self):
        return self.server.asked.total()


@contextmanager
def chat_backend(adapter, name, monkeypatch, **options):
    """A chat server that says what it was asked, and how that adapter reaches it."""
    monkeypatch.setenv(VARIABLE, KEY)
    with ChatServer(lambda body: body["messages"][-1]["content"]) as server:
        reached = {"base_url": server.base_url, "api_key_env": VARIABLE}
        yield ChatBackend(server, ModelSpec(adapter=adapter, name=name, **reached, **options))
