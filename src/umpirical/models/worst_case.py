"""The worst case: the most that the remaining calls can cost in total."""

from decimal import Decimal

from umpirical.domain.errors import SpendRefused
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.models.money import Pricer
from umpirical.models.prices import UNPRICED
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ModelSpec


class WorstCase:
    """Adds up calls, each at the worst case of one attempt.

    A client that retries by itself needs room for that under a cap, even for the last call. So the bound is larger by
    the cost of the most expensive call for each of its client's retries.
    """

    def __init__(self) -> None:
        self.total: Decimal | None = Decimal(0)
        """Every call once, in US dollars; None if the worst case of a call is unknown."""
        self._room = Decimal(0)
        self.refusal: SpendRefused | None = None
        """Why a call has no bounded worst case."""

    def of(self, request: ChatRequest, pricer: Pricer | None) -> Decimal | None:
        """Returns the most that one attempt at a request can cost; None if that is unknown."""
        try:
            return None if pricer is None or pricer is UNPRICED else pricer.worst(request)
        except SpendRefused as refused:
            self.refusal = refused
            return None

    def add(self, cost: Decimal | None, model: ModelSpec, *, times: int = 1) -> None:
        """Adds `times` calls to a model, each at this worst case; None makes the total unknown."""
        if cost is None or self.total is None:
            self.total = None
            return
        self.total += cost * times
        if times:
            self._room = max(self._room, cost * ADAPTERS.get(model.adapter).client_retries)

    @property
    def at_most(self) -> Decimal | None:
        """The total, including the room for retries under a cap."""
        return None if self.total is None else self.total + self._room
