"""What the tests of the Inspect adapter share."""

from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version

import pytest

from umpirical.integrations.inspect.model import InspectConnection, Provider
from umpirical.models.caller import Caller, Retrying
from umpirical.models.pace import Pace
from umpirical.models.requests import ChatRequest, Decoding, Message

# Inspect 0.3.285 gives tenacity's wait a parameter that has got another name; every call of Inspect's would raise here.
OLD_NAME = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

VERSION = version("inspect-ai")
KEY = "the-key-of-the-tests"
QUICK = Retrying(attempts=2, first_wait=0.01)
VERDICT = '{"verdict": "tie"}'
SCHEMA = (
    '{"additionalProperties":false,"properties":{"verdict":{"enum":["1","2","tie"],"type":"string"}},'
    '"required":["verdict"],"type":"object"}'
)


def request(decoding=None, schema="", text="Which is better?"):
    return ChatRequest("the model", (Message("user", text),), decoding or Decoding(), schema)


def tie(_body):
    return VERDICT


def inspect_model(provider, *, retrying=None, meter=None, concurrency=16, **options):
    """As the adapter opens it, with what a test wants to set."""
    connection = InspectConnection(provider, concurrency=concurrency, **options)
    pace = Pace(concurrency, first=concurrency) if connection.gathers else Pace(concurrency)
    return Caller(connection, retrying=retrying, pace=pace, meter=meter)


@asynccontextmanager
async def opened(name, base_url, *, api_key=KEY, model_args=None, batch=False, **options):
    provider = Provider(name, base_url=base_url, api_key=api_key, model_args=model_args or {}, batch=batch)
    model = inspect_model(provider, **{"retrying": QUICK, "timeout": 10.0} | options)
    try:
        yield model
    finally:
        await model.close()


async def generate(name, base_url, asked=None, **options):
    async with opened(name, base_url, **options) as model:
        return await model.generate(asked or request(), trial_id="trial-1")


@dataclass(frozen=True)
class PennyPricer:
    """A cent a token; an attempt is at most a dollar."""

    table: str = "pennies 1"

    def cost(self, usage):
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        return Decimal(usage.input_tokens + usage.output_tokens) / 100

    def worst(self, _request):
        return Decimal(1)
