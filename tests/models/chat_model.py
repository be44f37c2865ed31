"""A model behind an OpenAI-compatible server, as the adapter opens it, with what a test wants to set."""

from umpirical.models.adapters.exchanges import Exchanges, under
from umpirical.models.adapters.openai_compatible import PROTOCOL
from umpirical.models.adapters.protocols import ChatConnection
from umpirical.models.caller import Caller


def chat_model(base_url, *, api_key=None, timeout=120.0, **options):
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    exchanges = Exchanges(under(base_url, "/chat/completions"), headers=headers, timeout=timeout)
    return Caller(ChatConnection(PROTOCOL, exchanges, api_key), **options)
