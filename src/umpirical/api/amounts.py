"""Amounts of money, as a caller gives them."""

from decimal import Decimal

from umpirical.domain.bills import dollars_of
from umpirical.domain.errors import UsageError


def in_dollars(name: str, given: Decimal | float | str | None) -> Decimal | None:
    """Returns an amount in US dollars; None if none is given. Raises UsageError for what is no amount."""
    amount = None if given is None else dollars_of(given)
    if amount is None and given is not None:
        raise UsageError(f"{name} is {given!r}", fix=f"give an amount in US dollars, such as {name}=5")
    return amount
