"""Prices: known values, where they come from, and that no call costs more than its worst case."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from genai_prices import Usage as Counted
from genai_prices import calc_price
from genai_prices.data import providers
from hypothesis import given, settings
from hypothesis import strategies as st

from umpirical.domain.errors import SpendRefused, UsageError
from umpirical.domain.responses import Usage
from umpirical.models.money import FREE, most_input_tokens
from umpirical.models.prices import (
    PROVIDERS,
    UNPRICED,
    PricedModel,
    RatePricer,
    TablePricer,
    TokenPrices,
    known_prices,
    near_names,
    no_price,
    parse_price,
    pricer_for,
)
from umpirical.models.requests import ChatRequest, Decoding, Message

MILLION = 1_000_000


def through_inspect(name: str) -> PricedModel:
    return PricedModel(name)


def served_at(base_url: str, name: str) -> PricedModel:
    return PricedModel(name, base_url, named_by_provider=False)


def question(text: str = "Which is better?", *, max_tokens: int | None = 256, schema: str = "") -> ChatRequest:
    return ChatRequest("any", (Message("user", text),), Decoding(max_tokens=max_tokens), schema)


@pytest.mark.parametrize(
    ("name", "per_million_in", "per_million_out"),
    [
        ("openai/gpt-4o", "2.50", "10"),
        ("openai/azure/gpt-4o", "2.50", "10"),
        ("openrouter/openai/gpt-4o", "2.50", "10"),
        ("anthropic/claude-sonnet-4-5", "3", "15"),
        ("anthropic/vertex/claude-sonnet-4-5@20250929", "3", "15"),
        ("anthropic/claude-opus-4-5", "5", "25"),
        ("google/gemini-2.5-pro", "1.25", "10"),
        ("bedrock/meta.llama4-maverick-17b-instruct-v1:0", "0.24", "0.97"),
        ("groq/llama-3.3-70b-versatile", "0.59", "0.79"),
        ("together/meta-llama/Llama-3.3-70B-Instruct-Turbo", "0.88", "0.88"),
    ],
)
def test_prices_as_published(name, per_million_in, per_million_out):
    pricer = pricer_for(through_inspect(name), {})
    assert pricer.table == "genai-prices 0.2.1"
    # A thousand calls of a thousand tokens each, so that no tier for long inputs is reached.
    assert pricer.cost(Usage(1000, 0)) * 1000 == Decimal(per_million_in)
    assert pricer.cost(Usage(0, 1000)) * 1000 == Decimal(per_million_out)


def test_what_was_read_from_the_cache_costs_less():
    pricer = pricer_for(through_inspect("openai/gpt-4o"), {})
    # 200 tokens at 2.50, 800 cached at 1.25, 100 out at 10.
    assert pricer.cost(Usage(1000, 100, 800)) == Decimal("0.0005") + Decimal("0.001") + Decimal("0.001")


def test_a_server_that_counts_more_cached_than_read_is_not_a_reason_to_fail():
    pricer = pricer_for(through_inspect("openai/gpt-4o"), {})
    assert pricer.cost(Usage(1000, 0, 5000)) == Decimal("0.00125")


def test_a_thousand_short_calls_are_not_priced_as_one_long_call():
    """Sonnet 4.5 is dearer above 200,000 input tokens of one call: summed tokens would be priced at 28.50."""
    pricer = pricer_for(through_inspect("anthropic/claude-sonnet-4-5"), {})
    assert pricer.cost(Usage(MILLION, MILLION)) == Decimal("28.50")
    assert sum(pricer.cost(Usage(1000, 1000)) for _ in range(1000)) == Decimal("18.00")


def test_a_fee_per_call_is_billed_and_is_in_the_worst_case():
    pricer = pricer_for(through_inspect("perplexity/sonar"), {})
    assert pricer.cost(Usage(0, 0)) == Decimal("0.012")
    assert pricer.worst(question(max_tokens=1)) > Decimal("0.012")


@pytest.mark.parametrize("usage", [Usage(), Usage(input_tokens=5), Usage(output_tokens=5)])
def test_tokens_nobody_counted_have_no_price(usage):
    assert pricer_for(through_inspect("openai/gpt-4o"), {}).cost(usage) is None
    assert RatePricer(TokenPrices(Decimal(1), Decimal(1)), "--price").cost(usage) is None


@pytest.mark.parametrize(
    ("base_url", "name", "provider"),
    [
        ("https://api.openai.com/v1", "gpt-4o", "openai"),
        ("https://openrouter.ai/api/v1", "openai/gpt-4o", "openrouter"),
        ("https://api.together.xyz/v1", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "together"),
        ("https://api.groq.com/openai/v1", "llama-3.3-70b-versatile", "groq"),
        ("https://api.deepseek.com", "deepseek-chat", "deepseek"),
        ("https://api.deepseek.com/v1", "deepseek-chat", "deepseek"),
        ("https://generativelanguage.googleapis.com/v1beta/openai", "gemini-2.5-pro", "google"),
        ("https://mine.openai.azure.com/openai/v1", "gpt-4o", "azure"),
        ("https://router.huggingface.co/groq/openai/v1", "openai/gpt-oss-120b", "huggingface_groq"),
    ],
)
def test_a_known_host_decides_whose_price_it_is(base_url, name, provider):
    pricer = pricer_for(served_at(base_url, name), {})
    assert isinstance(pricer, TablePricer)
    assert pricer.provider == provider


@pytest.mark.parametrize(
    "base_url",
    [
        "http://127.0.0.1:8000/v1",
        "http://localhost/v1",
        "https://llm.example.org/v1",
        "https://api.openai.com.example.org/v1",
        "https://api.openai.com@example.org/v1",
        "https://api-openai.com/v1",
        "https://proxy.example.org/api.openai.com/v1",
        "https://proxy.example.org/x.googleapis.com/v1",
        "https://openai.azure.com.example.org/v1",
    ],
)
def test_an_unknown_host_has_no_price_whatever_the_model_is_called(base_url):
    for name in ("gpt-4o", "openai/gpt-4o", "gemini-2.5-pro"):
        assert pricer_for(served_at(base_url, name), {}) is None
        assert pricer_for(PricedModel(f"openai/{name}", base_url), {}) is None


def test_through_inspect_the_host_decides_too_where_one_is_named():
    pricer = pricer_for(PricedModel("openai/gpt-4o", "https://api.openai.com/v1"), {})
    assert isinstance(pricer, TablePricer)
    assert (pricer.provider, pricer.model) == ("openai", "gpt-4o")


@pytest.mark.parametrize(
    "name", ["openai/gpt-99", "nobody/gpt-4o", "gpt-4o", "ollama/llama3", "openai-api/mine/gpt-4o", "openai/"]
)
def test_an_unknown_model_has_no_price(name):
    assert pricer_for(through_inspect(name), {}) is None


def test_a_model_without_a_price_for_output_is_not_taken_to_answer_for_free():
    name = "together/together/Tev1-4B-experimental"
    assert known_prices(name)
    assert pricer_for(through_inspect(name), {}) is None


def test_the_order_is_command_line_then_study_file_then_table():
    one, two = TokenPrices(Decimal(1), Decimal(2)), TokenPrices(Decimal(3), Decimal(4))
    declared = PricedModel("openai/gpt-4o", declared=two)
    assert pricer_for(declared, {"openai/gpt-4o": one}).table == "--price 1,2"
    assert pricer_for(declared, {"openai/other": one}).table == "study file 3,4"
    assert pricer_for(PricedModel("openai/gpt-4o", declared="free"), {}) is FREE
    assert pricer_for(PricedModel("openai/gpt-4o", declared="free"), {"openai/gpt-4o": one}) == RatePricer(
        one, "--price"
    )
    assert pricer_for(through_inspect("openai/gpt-4o"), {}).table == "genai-prices 0.2.1"


@pytest.mark.parametrize("model", [PricedModel("careful", simulated=True), PricedModel("mockllm/model")])
def test_simulated_models_are_free(model):
    assert pricer_for(model, {}) is FREE


def test_a_declared_price_is_exact():
    pricer = RatePricer(TokenPrices(Decimal("0.1"), Decimal("0.3")), "study file")
    assert pricer.cost(Usage(1, 1)) == Decimal("0.0000004")
    assert pricer.cost(Usage(3, 0, 3)) == Decimal("0.0000003")


def test_the_worst_case_by_hand():
    pricer = RatePricer(TokenPrices(Decimal(1), Decimal(10)), "--price")
    # 4 letters, one of them of 2 bytes, and the overhead of one message; then 100 tokens of output.
    assert most_input_tokens(question("näh!")) == 5 + 32
    assert pricer.worst(question("näh!", max_tokens=100)) == (37 * Decimal(1) + 100 * Decimal(10)) / MILLION
    assert most_input_tokens(question("näh!", schema='{"a":1}')) == 5 + 32 + 7 + 512


def test_the_worst_case_reaches_the_dear_tier_only_if_the_call_can():
    pricer = pricer_for(through_inspect("anthropic/claude-sonnet-4-5"), {})
    assert pricer.worst(question("a" * 968, max_tokens=1000)) == Decimal("0.018")
    tokens = most_input_tokens(long := question("a" * 200_000, max_tokens=1000))
    assert pricer.worst(long) == tokens * Decimal(6) / MILLION + 1000 * Decimal("22.5") / MILLION


@pytest.mark.parametrize("name", ["openai/gpt-4o", "anthropic/claude-sonnet-4-5"])
def test_without_max_tokens_there_is_no_worst_case(name):
    with pytest.raises(SpendRefused, match="max_tokens") as refused:
        pricer_for(through_inspect(name), {}).worst(question(max_tokens=None))
    assert "decoding" in refused.value.fix
    assert refused.value.exit_code == 6


def test_what_costs_nothing_needs_no_bound():
    unbounded = question(max_tokens=None)
    assert FREE.worst(unbounded) == UNPRICED.worst(unbounded) == 0
    assert RatePricer(TokenPrices(Decimal(0), Decimal(0)), "--price").worst(unbounded) == 0


def test_an_unpriced_call_is_recorded_as_such():
    assert (UNPRICED.cost(Usage(5, 5)), UNPRICED.table) == (None, "unpriced")


PRICERS = [
    pricer_for(model, {"mine": TokenPrices(Decimal("0.7"), Decimal("2.1"))})
    for model in [
        served_at("http://127.0.0.1/v1", "mine"),
        through_inspect("openai/gpt-4o"),
        through_inspect("anthropic/claude-sonnet-4-5"),
        through_inspect("google/gemini-2.5-pro"),
        through_inspect("deepseek/deepseek-chat"),
        through_inspect("perplexity/sonar-pro"),
        # Its cached input costs more than its input, by the table.
        through_inspect("openrouter/~deepseek/deepseek-pro-latest"),
    ]
]


@settings(deadline=None, max_examples=150)
@given(
    pricer=st.sampled_from(PRICERS),
    texts=st.lists(st.tuples(st.text(max_size=60), st.sampled_from([1, 10, 4000])), min_size=1, max_size=4),
    schema=st.sampled_from(["", '{"type":"object"}']),
    max_tokens=st.integers(1, 5000),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1)),
)
def test_no_call_within_its_bounds_costs_more_than_its_worst_case(pricer, texts, schema, max_tokens, shares):
    messages = tuple(Message("user", text * times) for text, times in texts)
    request = ChatRequest("any", messages, Decoding(max_tokens=max_tokens), schema)
    read = int(shares[0] * most_input_tokens(request))
    usage = Usage(read, int(shares[1] * max_tokens), int(shares[2] * read))
    assert pricer.cost(usage) <= pricer.worst(request)


SPELLED = {known: inspect for inspect, known in PROVIDERS.items()}
ALL_MODELS = [(SPELLED[p.id], model.id) for p in providers if p.id in SPELLED for model in p.models]


def test_no_model_in_the_table_costs_more_than_its_worst_case():
    """At the bound, at a tenth of it, uncached and all cached, for a short and for a very long prompt."""
    short, long = question("a" * 2000), question("a" * 1_500_000)
    checked = 0
    for prefix, name in ALL_MODELS:
        pricer = pricer_for(through_inspect(f"{prefix}/{name}"), {})
        if pricer is None:
            continue
        checked += 1
        for request in (short, long):
            tokens, worst = most_input_tokens(request), pricer.worst(request)
            assert worst > 0
            for usage in (Usage(tokens, 256), Usage(tokens // 10, 256), Usage(tokens, 256, tokens)):
                assert pricer.cost(usage) <= worst, (prefix, name, usage)
    assert checked > 1000


@pytest.mark.parametrize("name", ["deepseek-chat", "deepseek-reasoner", "deepseek-v4-pro", "deepseek-v4-flash"])
def test_the_worst_case_is_that_of_the_dearest_hour(name):
    """DeepSeek is dearer by day: a run that begins at night may go on into it."""
    request = question("a" * 1000)
    tokens = most_input_tokens(request)
    now = datetime.now(UTC)
    by_hour = {
        calc_price(
            Counted(input_tokens=tokens, output_tokens=256),
            name,
            provider_id="deepseek",
            genai_request_timestamp=now.replace(hour=hour, minute=45),
        ).total_price
        for hour in range(24)
    }
    assert len(by_hour) > 1
    assert pricer_for(through_inspect(f"deepseek/{name}"), {}).worst(request) == max(by_hour)


@given(st.text(max_size=200))
def test_a_tokenizer_of_bytes_stays_within_the_bound(text):
    assert most_input_tokens(question(text)) >= len(text.encode("utf-8", "surrogatepass"))


def test_lone_surrogates_have_a_bound_too():
    assert most_input_tokens(question("\ud800")) == 3 + 32


@pytest.mark.parametrize(
    ("text", "name", "prices"),
    [
        ("gpt-4o=2.50,10", "gpt-4o", ("2.50", "10")),
        ("aws/x=0.24,0.97", "aws/x", ("0.24", "0.97")),
        ("odd=name=0,0", "odd=name", ("0", "0")),
    ],
)
def test_a_price_on_the_command_line(text, name, prices):
    assert parse_price(text) == (name, TokenPrices(*map(Decimal, prices)))


@pytest.mark.parametrize(
    "text", ["", "x", "x=", "x=1", "x=1,2,3", "=1,2", "x=a,b", "x=-1,2", "x=NaN,1", "x=1,Infinity", "x=1;2"]
)
def test_a_malformed_price_is_answered_with_how_to_write_it(text):
    with pytest.raises(UsageError, match="NAME=IN,OUT"):
        parse_price(text)


def test_an_unknown_model_is_refused_with_what_to_do():
    refused = no_price(through_inspect("bedrock/llama-4-maverick"))
    assert isinstance(refused, SpendRefused)
    assert str(refused) == "unknown price for bedrock/llama-4-maverick"
    assert "bedrock/meta.llama4-maverick-17b-instruct-v1:0" in refused.fix
    assert "--price bedrock/llama-4-maverick=IN,OUT" in refused.fix
    assert "--allow-unpriced" in refused.fix
    assert "price: free" not in refused.fix


def test_an_unknown_server_is_refused_with_how_to_call_it_ones_own():
    refused = no_price(served_at("http://127.0.0.1:8000/v1", "qwen"))
    assert str(refused) == "unknown price for qwen at 127.0.0.1"
    assert "price: free" in refused.fix
    assert "--price qwen=IN,OUT" in refused.fix


def test_near_names_are_spelled_as_the_study_file_spells_them():
    assert near_names(served_at("https://api.openai.com/v1", "gpt-4o-minni"))[0] == "gpt-4o-mini"
    assert near_names(through_inspect("openai/gpt-4o-minni"))[0] == "openai/gpt-4o-mini"
    assert near_names(served_at("http://127.0.0.1/v1", "gpt-4o-minni")) == []
    assert near_names(through_inspect("nobody/gpt-4o")) == []


@pytest.mark.parametrize("name", ["openai/gpt-4.0", "openai/o9-mini", "anthropic/claude-sonnet", "bedrock/llama"])
def test_every_near_name_has_a_price(name):
    near = near_names(through_inspect(name))
    assert 0 < len(near) <= 3
    assert all(pricer_for(through_inspect(other), {}) for other in near)


def test_what_is_known_of_a_price():
    (known,) = known_prices("anthropic/claude-sonnet-4-5")
    assert (known.provider, known.model, known.table) == ("anthropic", "claude-sonnet-4-5", "genai-prices 0.2.1")
    rates = {rate.key: rate for rate in known.rates}
    assert rates["input_mtok"].base == 3
    assert rates["output_mtok"].tiers == ((200_000, Decimal("22.5")),)
    assert known.urls


def test_a_bare_name_is_looked_up_at_every_provider():
    assert {"anthropic", "google"} <= {known.provider for known in known_prices("claude-sonnet-4-5")}
    assert known_prices("no-such-model") == []
    assert known_prices("openai/no-such-model") == []
