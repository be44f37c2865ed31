"""A model behind an OpenAI-compatible server, as the adapter opens it, with what a test wants to set."""

from umpirical.models.adapters.openai_compatible import OpenAIConnection
from umpirical.models.caller import Caller


def chat_model(base_url, *, api_key=None, timeout=120.0, **options):
    return Caller(OpenAIConnection(base_url=base_url, api_key=api_key, timeout=timeout), **options)
