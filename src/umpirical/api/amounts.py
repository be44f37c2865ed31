"""Amounts of money, as a caller gives them."""

from decimal import Decimal, InvalidOperation

from umpirical.domain.errors import UsageError

__all__ = ["in_dollars"]


def in_dollars(name: str, given: Decimal | float | str | None) -> Decimal | None:
    """Returns an amount in US dollars; None if none is given. Raises UsageError for what is no amount."""
    try:
        amount = None if given is None else Decimal(str(given))
    except InvalidOperation:
        amount = Decimal("NaN")
    if amount is None or (amount.is_finite() and amount >= 0):
        return amount
    raise UsageError(f"{name} is {given!r}", fix=f"give an amount in US dollars, such as {name}=5")
