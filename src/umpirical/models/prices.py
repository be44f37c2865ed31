"""What a model's tokens cost, and where the price comes from.

The first of these that applies counts:

    --price NAME=IN,OUT
    the price in the study file
    nothing, for a simulated judge and for a model that is loaded on this machine
    genai-prices, if the model's provider is known: by its prefix (openai/gpt-4o), or by the host that serves it

An unknown price is None and never a guess: the same model has a different price on another server.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from umpirical.domain.errors import SpendRefused, UsageError
from umpirical.domain.responses import Usage
from umpirical.models.money import FREE, Pricer, most_input_tokens
from umpirical.models.requests import ChatRequest
from umpirical.models.spec import ADAPTERS, ModelSpec, PriceSpec

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice, Provider, TieredPrices


MILLION = Decimal(1_000_000)

PROVIDERS = {
    "anthropic": "anthropic",
    "azureai": "azure",
    "bedrock": "aws",
    "cf": "cloudflare",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "google": "google",
    "grok": "x-ai",
    "groq": "groq",
    "mistral": "mistral",
    "openai": "openai",
    "openrouter": "openrouter",
    "perplexity": "perplexity",
    "together": "together",
}
"""Maps a provider's name in Inspect to its name in genai-prices."""

RESOLD = {
    ("anthropic", "bedrock"): "aws",
    ("anthropic", "vertex"): "google",
    ("google", "vertex"): "google",
    ("mistral", "azure"): "azure",
    ("openai", "azure"): "azure",
}
"""One company's models on another's cloud, as in anthropic/bedrock/NAME: the cloud sends the bill."""

BATCH_SHARES = {"anthropic": Decimal("0.5"), "openai": Decimal("0.5")}
"""What a token costs in a batch, as a share of its price: "all usage is charged at 50% of the standard API prices"
(Anthropic's guide to message batches), "50% lower costs" (OpenAI's guide to the Batch API). genai-prices has none."""

MOCK = "mockllm"
"""Inspect's own simulated models."""

INPUT = ("input_mtok", "cache_read_mtok")
OUTPUT = ("output_mtok", "output_reasoning_mtok", "output_citation_mtok")
"""Prices in genai-prices at which a token of text can be billed."""


@dataclass(frozen=True, slots=True)
class TokenPrices:
    """US dollars per million tokens."""

    input: Decimal
    output: Decimal
    call: Decimal = Decimal(0)
    """Dollars per call, whatever its tokens."""
    cached: Decimal | None = None
    """For input tokens that the provider read from its cache; None if they cost what others do."""


@dataclass(frozen=True, slots=True)
class PricedModel:
    """The parts of a model that decide its price."""

    name: str
    base_url: str | None = None
    declared: Literal["free"] | TokenPrices | None = None
    """The price in the study file."""
    named_by_provider: bool = True
    """Whether the name begins with the provider's, as in openai/gpt-4o; if not, it is the name on its server."""
    simulated: bool = False

    @classmethod
    def of(cls, spec: ModelSpec) -> "PricedModel":
        """Returns a model as a study file names it."""
        price, adapter = spec.price, ADAPTERS.get(spec.adapter)
        declared = (
            TokenPrices(price.input, price.output, cached=price.cached) if isinstance(price, PriceSpec) else price
        )
        if declared is None and adapter.loads:
            declared = "free"
        return cls(spec.name, spec.base_url, declared, adapter.names_provider, adapter.simulated)


def pricer_for(model: PricedModel, overrides: Mapping[str, TokenPrices]) -> Pricer | None:
    """Returns the pricer of a model; None if its price is unknown. `overrides` are by model name."""
    if model.name in overrides:
        return RatePricer(overrides[model.name], "--price")
    if isinstance(model.declared, TokenPrices):
        return RatePricer(model.declared, "study file")
    if model.declared == "free" or model.simulated or _prefix(model) == MOCK:
        return FREE
    place = _place(model)
    return _look_up(*place) if place else None


def pricer_of(spec: ModelSpec, overrides: Mapping[str, TokenPrices], *, allow_unpriced: bool) -> Pricer:
    """Returns the pricer of a model that is not a judge. Raises if its price is unknown, unless that is allowed."""
    model = PricedModel.of(spec)
    found = pricer_for(model, overrides) or (UNPRICED if allow_unpriced else None)
    if found is not None:
        return found
    known = [f"use a known id: {', '.join(near)}"] if (near := near_names(model)) else []
    own = f"--price {spec.name}=IN,OUT in dollars per million tokens, 0,0 for your own server"
    raise SpendRefused(
        str(no_price(model)), fix=", or ".join([*known, own, "--allow-unpriced to run without a spending cap"])
    )


@dataclass(frozen=True, slots=True)
class RatePricer:
    """One price for input and one for output, as the user gave them."""

    prices: TokenPrices
    said_by: str

    @property
    def table(self) -> str:
        cached = "" if self.prices.cached is None else f", cached {self.prices.cached:f}"
        return f"{self.said_by} {self.prices.input:f},{self.prices.output:f}{cached}"

    def cost(self, usage: Usage) -> Decimal | None:
        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        whole = _total(self.prices, usage.input_tokens, usage.output_tokens)
        if self.prices.cached is None:
            return whole
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        return whole + (self.prices.cached - self.prices.input) * cached / MILLION

    def worst(self, request: ChatRequest) -> Decimal:
        return _most(self.prices, request)


@dataclass(frozen=True, slots=True)
class TablePricer:
    """A model in genai-prices. Every call is priced separately: long inputs may cost more per token."""

    provider: str
    model: str
    table: str
    dearest: tuple[tuple[int, TokenPrices], ...]
    """(input tokens above which it holds, the most that a token costs then at any hour), in rising order from -1."""

    def cost(self, usage: Usage) -> Decimal | None:
        from genai_prices import Usage as Counted
        from genai_prices import calc_price

        if usage.input_tokens is None or usage.output_tokens is None:
            return None
        # A recorded answer may have been counted by an older version, which believed in more cached than input tokens.
        cached = min(usage.cached_tokens or 0, usage.input_tokens)
        counted = Counted(
            input_tokens=usage.input_tokens, output_tokens=usage.output_tokens, cache_read_tokens=cached or None
        )
        return calc_price(counted, self.model, provider_id=self.provider).total_price

    def worst(self, request: ChatRequest) -> Decimal:
        tokens = most_input_tokens(request)
        return _most([prices for start, prices in self.dearest if start < tokens][-1], request)


@dataclass(frozen=True, slots=True)
class UnpricedPricer:
    """For an unknown price that the user agreed to. No budget can limit it."""

    table: str = "unpriced"

    def cost(self, usage: Usage) -> Decimal | None:  # noqa: ARG002
        return None

    def worst(self, request: ChatRequest) -> Decimal:  # noqa: ARG002
        return Decimal(0)


UNPRICED = UnpricedPricer()


@dataclass(frozen=True, slots=True)
class BatchPricer:
    """The price of a model's batches: a known share of its price or, where none is known, the whole."""

    single: Pricer
    """The price of its single calls."""
    share: Decimal | None

    @property
    def table(self) -> str:
        if self.share is None:
            return f"{self.single.table}; the batch price is unknown, so the price of single calls is used"
        return f"{self.single.table}, {self.share:%} of it for batches"

    def cost(self, usage: Usage) -> Decimal | None:
        cost = self.single.cost(usage)
        return None if cost is None else cost * (self.share or 1)

    def worst(self, request: ChatRequest) -> Decimal:
        return self.single.worst(request) * (self.share or 1)


def batch_pricer(single: Pricer) -> Pricer:
    """Returns the price of a model's batches. A price that a person gave is used as it is."""
    if single in (FREE, UNPRICED):
        return single
    return BatchPricer(single, BATCH_SHARES.get(single.provider) if isinstance(single, TablePricer) else None)


def parse_price(text: str) -> tuple[str, TokenPrices]:
    """Parses `NAME=IN,OUT`, in dollars per million tokens."""
    name, _, numbers = text.rpartition("=")
    try:
        prices = [Decimal(number) for number in numbers.split(",")]
    except InvalidOperation:
        prices = []
    if not name or len(prices) != 2 or not all(price.is_finite() and price >= 0 for price in prices):
        raise UsageError(
            f"--price {text}: expected NAME=IN,OUT in dollars per million tokens", fix="--price openai/gpt-4o=2.50,10"
        )
    return name, TokenPrices(*prices)


def no_price(model: PricedModel) -> SpendRefused:
    place = _place(model)
    host = urlsplit(model.base_url).hostname if model.base_url else None
    where = f" at {host}" if host else ""
    ways = [f"--price {model.name}=IN,OUT in dollars per million tokens"]
    if place is None:
        ways.append("price: free in the study file for your own server")
    elif near := near_names(model):
        ways.insert(0, f"use a known id: {', '.join(near)}")
    ways.append("--allow-unpriced to run without a spending cap")
    return SpendRefused(f"unknown price for {model.name}{where}", fix=", or ".join(ways))


def near_names(model: PricedModel) -> list[str]:
    """Returns up to three similar ids of the same provider, spelled as in a study file."""
    place = _place(model)
    provider = _providers().get(place[0]) if place else None
    if place is None or provider is None:
        return []
    ids = {_bare(known.id): known.id for known in provider.models}
    sought = _bare(place[1])
    held = [bare for bare in ids if len(sought) > 2 and sought in bare]
    near = [ids[bare] for bare in (held or get_close_matches(sought, ids, n=6)) if _look_up(place[0], ids[bare])]
    return [f"{model.name.removesuffix(place[1])}{known}" for known in near[:3]]


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of one kind of token or call."""

    key: str
    """As in genai-prices: input_mtok, output_mtok, cache_read_mtok, requests_kcount."""
    base: Decimal
    tiers: tuple[tuple[int, Decimal], ...] = ()
    """(input tokens above which it holds, price), for models that cost more if a call's input is long."""


@dataclass(frozen=True, slots=True)
class KnownPrice:
    """What genai-prices currently says about a model."""

    provider: str
    model: str
    table: str
    rates: tuple[Rate, ...]
    comment: str
    urls: tuple[str, ...]
    """Where the provider publishes its prices."""


def known_prices(name: str) -> list[KnownPrice]:
    """Returns the price of PROVIDER/NAME, or of a bare NAME with every provider that has it."""
    place = _place(PricedModel(name))
    if place is not None:
        provider = _providers().get(place[0])
        return list(_known([provider], place[1])) if provider else []
    return list(_known(list(_providers().values()), name))


def _known(providers: "list[Provider]", name: str) -> Iterator[KnownPrice]:
    now, everyone = datetime.now(UTC), list(_providers().values())
    for provider in providers:
        found = provider.find_model(name, all_providers=everyone if len(providers) == 1 else None)
        if found is None:
            continue
        shown = ("input_mtok", "output_mtok", "cache_read_mtok", "requests_kcount")
        prices = found.get_prices(now)
        rates = [_rate(key, value) for key in shown if (value := getattr(prices, key)) is not None]
        comment = found.price_comments or provider.price_comments or ""
        yield KnownPrice(
            provider.id, found.id, _table(), tuple(rates), comment.strip(), tuple(provider.pricing_urls or ())
        )


def _rate(key: str, price: "Decimal | TieredPrices") -> Rate:
    if isinstance(price, Decimal):
        return Rate(key, price)
    return Rate(key, price.base, tuple((tier.start, tier.price) for tier in price.tiers))


def _place(model: PricedModel) -> tuple[str, str] | None:
    """Returns (provider, model) as genai-prices names them; None for a provider or a server that it does not know."""
    prefix, _, rest = model.name.partition("/")
    if model.base_url:
        provider = _provider_at(model.base_url)
        name = rest if model.named_by_provider else model.name
    else:
        cloud, _, inner = rest.partition("/")
        provider = RESOLD.get((prefix, cloud)) or PROVIDERS.get(prefix)
        name = inner if (prefix, cloud) in RESOLD else rest
    return (provider, name) if provider and name else None


def _prefix(model: PricedModel) -> str:
    return model.name.partition("/")[0] if model.named_by_provider else ""


def _provider_at(base_url: str) -> str | None:
    """Returns a server's provider. A pattern must match the whole host: api.openai.com.example.org is not OpenAI."""
    parts = urlsplit(base_url)
    host = f"{parts.scheme}://{parts.hostname}"
    url = f"{host}{parts.path}"
    for provider in _providers().values():
        match = re.match(provider.api_pattern, url)
        if match is None or match.end() < len(host):
            continue
        # A pattern that begins with a wildcard may have matched a host in the path.
        if "." not in url[len(host) : match.end()]:
            return provider.id
    return None


def _look_up(provider: str, name: str) -> TablePricer | None:
    known = _providers().get(provider)
    found = known.find_model(name, all_providers=list(_providers().values())) if known else None
    if found is None:
        return None
    possible = list(_possible(found))
    # A model without an output price is not a chat model, and genai-prices would count its output as free.
    if any(price.input_mtok is None or price.output_mtok is None for price in possible):
        return None
    starts = {start for price in possible for key in (*INPUT, *OUTPUT) for start, _ in _tiers(price, key)}
    dearest = [
        TokenPrices(
            _dearest(possible, INPUT, start),
            _dearest(possible, OUTPUT, start),
            _dearest(possible, ("requests_kcount",), start) / 1000,
        )
        for start in sorted(starts)
    ]
    return TablePricer(provider, name, _table(), tuple(zip(sorted(starts), dearest, strict=True)))


def _possible(model: "ModelInfo") -> "Iterator[ModelPrice]":
    """Yields every price that holds now, at another hour, or from a future day."""
    from genai_prices.types import ModelPrice, StartDateConstraint

    if isinstance(model.prices, ModelPrice):
        yield model.prices
        return
    now = datetime.now(UTC)
    # Later entries come first; one that holds permanently from now on hides all earlier ones.
    for entry in reversed(model.prices):
        yield entry.prices
        begun = isinstance(entry.constraint, StartDateConstraint) and entry.constraint.active(now)
        if entry.constraint is None or begun:
            return


def _tiers(prices: "ModelPrice", key: str) -> list[tuple[int, Decimal]]:
    """Returns (input tokens above which it holds, price) for each tier; empty if there is no such price."""
    price = getattr(prices, key)
    if price is None:
        return []
    rate = _rate(key, price)
    return [(-1, rate.base), *rate.tiers]


def _dearest(possible: "list[ModelPrice]", keys: tuple[str, ...], reached: int) -> Decimal:
    """Returns the highest price of any tier that starts at `reached` or before."""
    tiers = [tier for prices in possible for key in keys for tier in _tiers(prices, key)]
    return max((price for start, price in tiers if start <= reached), default=Decimal(0))


def _most(prices: TokenPrices, request: ChatRequest) -> Decimal:
    if request.decoding.max_tokens is None and prices.output:
        raise SpendRefused(
            f"max_tokens is not set for {request.model}, so the cost of a call has no upper limit",
            fix="set decoding: {max_tokens: 256} in the study file",
        )
    return _total(prices, most_input_tokens(request), request.decoding.max_tokens or 0)


def _total(prices: TokenPrices, input_tokens: int, output_tokens: int) -> Decimal:
    return (prices.input * input_tokens + prices.output * output_tokens) / MILLION + prices.call


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _providers() -> "dict[str, Provider]":
    from genai_prices.data import providers

    return {provider.id: provider for provider in providers}


def _table() -> str:
    from genai_prices import __version__

    return f"genai-prices {__version__}"


# The worst case: the most that the remaining calls can cost in total.


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
