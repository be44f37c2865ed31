"""The kit for model adapters: those that ship keep every promise, and a broken adapter is caught by its promise."""

from dataclasses import replace
from typing import get_args

import pytest

from tests.models.inspect_opening import OLD_NAME
from umpirical.domain.responses import Usage
from umpirical.models.adapters.openai_compatible import ADAPTER
from umpirical.models.adapters.protocols import ChatConnection
from umpirical.models.caller import Caller, CallFailed
from umpirical.models.money import Ledger, Meter
from umpirical.models.spec import ADAPTERS
from umpirical.testing.models import Promise, check_model_adapter

from .chat_backend import KEY, chat_backend

NAMES = {"openai-compatible": "echo", "anthropic": "echo", "inspect": "openai-api/kit/echo"}


@OLD_NAME
@pytest.mark.parametrize("adapter", NAMES)
def test_adapters_that_ship_keep_every_promise(adapter, monkeypatch):
    with chat_backend(adapter, NAMES[adapter], monkeypatch) as backend:
        check_model_adapter(ADAPTERS.get(adapter), backend)


def test_a_key_that_the_connection_does_not_declare_is_known_from_the_spec(monkeypatch):
    with chat_backend("openai-compatible", "echo", monkeypatch) as backend:
        check_model_adapter(Broken(SaysNothingOfItsKey), backend)


def test_every_adapter_that_ships_is_tried_or_simulated_or_has_no_server_to_try_it_with():
    served = {name for name in ADAPTERS.names() if not (ADAPTERS.get(name).simulated or ADAPTERS.get(name).loads)}
    assert served == set(NAMES)
    # What it promises is tried with a real engine: tests/models/test_vllm_engine.py.
    assert {name for name in ADAPTERS.names() if ADAPTERS.get(name).loads} == {"vllm"}


class Broken(type(ADAPTER)):
    """The adapter that ships, with a connection that breaks one promise."""

    def __init__(self, connection):
        self._connection = connection

    def connect(self, spec, calling):  # noqa: ARG002  # as the adapter has it
        return self._connection(self.protocol, self.exchanges(spec, self.path), KEY)


class Trims(ChatConnection):
    async def send(self, request, *, trial_id):
        reply = await super().send(request, trial_id=trial_id)
        return replace(reply, text=reply.text.strip())


class CountsNothing(ChatConnection):
    async def send(self, request, *, trial_id):
        return replace(await super().send(request, trial_id=trial_id), usage=Usage())


class MixesUp(ChatConnection):
    """Holds what was asked last where several calls share it."""

    async def send(self, request, *, trial_id):
        self.asked = request
        reply = await super().send(request, trial_id=trial_id)
        return replace(reply, text=self.asked.messages[-1].content)


class AlwaysTheSameParameters(ChatConnection):
    def parameters(self, request):  # noqa: ARG002
        return "{}"


class TellsTheKey(ChatConnection):
    def parameters(self, request):
        return f'{{"temperature": {request.decoding.temperature}, "key": "{KEY}"}}'


class RaisesItsOwn(ChatConnection):
    async def send(self, request, *, trial_id):
        try:
            return await super().send(request, trial_id=trial_id)
        except CallFailed as failed:
            raise RuntimeError(failed.detail) from None


class CallsAllTheSame(ChatConnection):
    async def send(self, request, *, trial_id):
        try:
            return await super().send(request, trial_id=trial_id)
        except CallFailed as failed:
            raise CallFailed("refused", failed.detail) from None


class TriesAgain(ChatConnection):
    async def send(self, request, *, trial_id):
        try:
            return await super().send(request, trial_id=trial_id)
        except CallFailed:
            return await super().send(request, trial_id=trial_id)


class NeverGivesUp(ChatConnection):
    async def send(self, request, *, trial_id):
        try:
            return await super().send(request, trial_id=trial_id)
        except BaseException as error:
            if isinstance(error, CallFailed):
                raise
            raise CallFailed("timeout", "it was given up") from None


class ClosesOnce(ChatConnection):
    closed = False

    async def close(self):
        await super().close()
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True


class SaysNothingOfItsKey(ChatConnection):
    def __init__(self, *parts):
        super().__init__(*parts)
        self.secrets = ()


class RecordsTheKey(Broken):
    """Opens its connection by itself, past what the catalogue knows of the spec."""

    def open(self, spec, calling):
        return Caller(self.connect(spec, calling), meter=calling.meter)


class BooksNothing(Broken):
    def open(self, spec, calling):
        return super().open(spec, replace(calling, meter=Meter(calling.meter.pricer, Ledger())))


BROKEN = [
    ("answer", Broken(Trims)),
    ("usage", Broken(CountsNothing)),
    ("its own answer", Broken(MixesUp)),
    ("parameters", Broken(AlwaysTheSameParameters)),
    ("secrets", Broken(TellsTheKey)),
    ("secrets", RecordsTheKey(SaysNothingOfItsKey)),
    ("failures", Broken(RaisesItsOwn)),
    ("failures", Broken(CallsAllTheSame)),
    ("one attempt", Broken(TriesAgain)),
    ("cancelled", Broken(NeverGivesUp)),
    ("closed", Broken(ClosesOnce)),
    ("money", BooksNothing(ChatConnection)),
]


@pytest.mark.parametrize(("promise", "adapter"), BROKEN, ids=lambda each: str(each) if isinstance(each, str) else "")
def test_a_broken_promise_is_named(promise, adapter, monkeypatch):
    with (
        chat_backend("openai-compatible", "echo", monkeypatch) as backend,
        pytest.raises(AssertionError, match=f"^{promise}: "),
    ):
        check_model_adapter(adapter, backend)


def test_no_promise_goes_untried():
    assert {promise for promise, _ in BROKEN} == set(get_args(Promise))
