"""`umpirical prices`."""

from typing import TYPE_CHECKING

import click

from umpirical.cli.terminal import say, say_json

if TYPE_CHECKING:
    from umpirical.models.prices import KnownPrice, Rate

WORDS = {
    "input_mtok": ("input", "per million tokens"),
    "output_mtok": ("output", "per million tokens"),
    "cache_read_mtok": ("cached input", "per million tokens"),
    "requests_kcount": ("calls", "per thousand"),
}


@click.group("prices")
def command() -> None:
    """Show what is known about the prices of models."""


@command.command("show")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def show(model: str, as_json: bool) -> None:  # noqa: FBT001
    """Show the known price of MODEL and its source: openai/gpt-4o, or gpt-4o for every provider that offers it."""
    from umpirical.domain.errors import UsageError
    from umpirical.models.prices import PricedModel, known_prices, near_names

    found = known_prices(model)
    if not found:
        near = ", ".join(near_names(PricedModel(model)))
        hint = f"known: {near}" if near else f"umpirical run --price {model}=IN,OUT  says what it costs"
        raise UsageError(f"no price is known for {model}", fix=hint)
    if as_json:
        import json
        from dataclasses import asdict

        say_json(json.dumps([asdict(price) for price in found], indent=1, default=str))
        return
    for price in found:
        _say(price)


def _say(price: "KnownPrice") -> None:
    say(f"{price.model}  at {price.provider}  from {price.table}")
    for rate in price.rates:
        say(f"  {_rate(rate)}")
    if not price.rates:
        say("  no rate is listed")
    if price.comment:
        say(f"  {price.comment}")
    for url in price.urls[:1]:
        say(f"  the provider's own list: {url}")


def _rate(rate: "Rate") -> str:
    name, per = WORDS[rate.key]
    tiers = "".join(f"; ${price:f} if a call has over {start:,} input tokens" for start, price in rate.tiers)
    return f"{name:<12}  ${rate.base:f} {per}{tiers}"
