"""The worst case: the most that calls which are still to be made can cost together."""

from decimal import Decimal

from umpirical.domain.errors import SpendRefused
from umpirical.models.adapters.catalogue import ADAPTERS
from umpirical.models.money import Pricer
from umpirical.models.prices import UNPRICED
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ModelSpec

__all__ = ["WorstCase"]


class WorstCase:
    """Adds up calls, each at the worst case of one attempt.

    A client that sends again by itself needs room for that under a cap, also for the last call. So the bound is larger
    by what the dearest call may cost once more for each of its client's retries.
    """

    def __init__(self) -> None:
        self.total: Decimal | None = Decimal(0)
        """Every call once, in US dollars; None if a call's worst case is not known."""
        self._room = Decimal(0)
        self.refusal: SpendRefused | None = None
        """Why a call has no worst case that anybody would agree to."""

    def of(self, request: ChatRequest, pricer: Pricer | None) -> Decimal | None:
        """What one attempt at a request can cost; None if that is not known."""
        try:
            return None if pricer is None or pricer is UNPRICED else pricer.worst(request)
        except SpendRefused as refused:
            self.refusal = refused
            return None

    def add(self, cost: Decimal | None, model: ModelSpec, *, times: int = 1) -> None:
        """Adds so many calls to a model, each at that worst case; None makes the whole unknown."""
        if cost is None or self.total is None:
            self.total = None
            return
        self.total += cost * times
        if times:
            self._room = max(self._room, cost * ADAPTERS.get(model.adapter).client_retries)

    @property
    def at_most(self) -> Decimal | None:
        """The total with the room that it takes under a cap."""
        return None if self.total is None else self.total + self._room
