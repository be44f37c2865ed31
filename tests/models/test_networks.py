"""Proxies, private authorities and client certificates, with real ones: what is sent where, and what is refused."""

import asyncio
import base64
import json
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.models.test_exchanges import MOST, close_all, opened, serving, whole
from tests.servers.chat_server import ChatServer
from tests.servers.networks import Authority, azure, proxying
from umpirical.domain.errors import UsageError
from umpirical.domain.responses import Usage
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.models.adapters.anthropic import read_message
from umpirical.models.caller import CallFailed
from umpirical.models.prices import pricer_of
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, ModelSpec, TlsSpec, open_model
from umpirical.study.trust import powers_of_judges

__all__ = ["close_all"]

KEY = {"Authorization": "Bearer a-key-that-must-stay-4711"}
HOST = "judge.example"
"""A host that only the proxy can find."""


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    """Whatever the machine that runs the tests has set."""
    for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy", "ssl_cert_file", "ssl_cert_dir", "netrc"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "private")


@pytest.fixture
def other(tmp_path):
    return Authority(tmp_path, "other")


@asynccontextmanager
async def encrypted(authority, *, clients=None, answer=lambda _, body: whole(body)):
    """A server that is judge.example and localhost; with `clients`, for those whom that authority knows."""
    async with serving(answer, ssl=authority.serves(HOST, "localhost", clients=clients)) as server:
        server.local = f"https://localhost:{server.port}/v1"
        yield server


async def ask(url, text="a question", **how):
    return await opened(url, **how).ask(text, "t", most=MOST)


async def refused(url, match, **how):
    """Asks, and returns the failure: nothing was sent that is billed."""
    with pytest.raises(CallFailed, match=match) as failed:
        await ask(url, "a secret", **how)
    assert failed.value.kind == "connection"
    return failed.value


async def test_a_server_of_a_private_authority_is_asked_only_if_that_is_named(authority, other, monkeypatch):
    async with encrypted(authority) as server:
        failed = await refused(server.local, "cannot connect to localhost:.*certificate verify failed")
        assert failed.turned_down
        tls = TlsSpec(ca=authority.ca)
        exchanges = opened(server.local, tls=tls)
        for size in (1, 300_000):
            assert await exchanges.ask("x" * size, "t", most=MOST) == b"x" * size
        assert server.connections == 1
        # The certificate is of localhost, and not of its number.
        assert (await refused(server.local.replace("localhost", "127.0.0.1"), "verify failed", tls=tls)).turned_down
        monkeypatch.setenv("SSL_CERT_FILE", authority.ca)
        assert await ask(server.local) == b"a question"
        # What a spec names is trusted alone.
        assert (await refused(server.local, "verify failed", tls=TlsSpec(ca=other.ca))).turned_down
        assert b"a secret" not in server.bodies


@pytest.mark.parametrize("one_file", [True, False])
async def test_a_server_that_wants_a_client_certificate_gets_it(authority, other, tmp_path, one_file):
    certificate, key = other.issue("client")
    async with encrypted(authority, clients=other) as server:
        await refused(server.local, None, tls=TlsSpec(ca=authority.ca))
        stranger, theirs = authority.issue("stranger")
        await refused(server.local, None, tls=TlsSpec(ca=authority.ca, certificate=stranger, key=theirs))
        assert server.bodies == []
        if one_file:
            both = tmp_path / "both.pem"
            await asyncio.to_thread(lambda: both.write_bytes(Path(key).read_bytes() + Path(certificate).read_bytes()))
            certificate, key = str(both), None
        tls = TlsSpec(ca=authority.ca, certificate=certificate, key=key)
        assert await ask(server.local, tls=tls) == b"a question"


async def test_files_that_cannot_be_used_are_named_before_anything_is_asked(authority, tmp_path):
    certificate, key = authority.issue("client", passphrase=b"a passphrase")
    nothing = str(tmp_path / "nothing.pem")
    for tls, named in (
        (TlsSpec(ca=nothing), f"tls.ca: cannot use {nothing}: No such file"),
        (TlsSpec(ca=key), "tls.ca: cannot use .*"),
        (TlsSpec(certificate=certificate, key=nothing), "tls.certificate: cannot use .*: No such file"),
        (TlsSpec(certificate=certificate, key=key), "tls.certificate: cannot use .*"),
        (TlsSpec(certificate=certificate), "tls.certificate: cannot use .*"),
    ):
        with pytest.raises(UsageError, match=named) as error:
            opened("https://127.0.0.1:1/", tls=tls)
        assert "a key without a passphrase" in error.value.fix


async def test_a_path_in_the_home_folder_is_found(authority, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    async with encrypted(authority) as server:
        assert await ask(server.local, tls=TlsSpec(ca="~/private.pem")) == b"a question"


# Proxies.


async def tunnel(authority, monkeypatch):
    """Asks an encrypted server through a proxy, twice at a time, and holds what each of them saw to what it may see."""
    async with encrypted(authority) as server, proxying(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.address}")
        exchanges = opened(f"https://{HOST}/v1", headers=KEY, tls=TlsSpec(ca=authority.ca))
        for _ in range(3):
            asked = (exchanges.ask(text, "t", most=MOST) for text in ("a question", "another"))
            assert await asyncio.gather(*asked) == [b"a question", b"another"]
        await exchanges.close()
    assert server.connections == len(proxy.heads) == 2
    assert {head.split("\r\n")[0] for head in proxy.heads} == {f"CONNECT {HOST}:443 HTTP/1.1"}
    # The proxy passes the key on, and cannot read it.
    assert "4711" not in "".join(proxy.heads)
    assert b"4711" not in proxy.seen
    assert all(f"Authorization: {KEY['Authorization']}" in head for head in server.heads)


async def test_an_encrypted_server_is_asked_through_the_proxy(authority, monkeypatch):
    await tunnel(authority, monkeypatch)


def test_and_so_it_is_on_the_loop_that_runs_use(authority, monkeypatch):
    uvloop = pytest.importorskip("uvloop")
    uvloop.run(tunnel(authority, monkeypatch))


async def test_the_server_behind_a_proxy_has_to_be_who_it_says(authority, other, monkeypatch):
    async with encrypted(authority) as server, proxying(server.port) as proxy:
        monkeypatch.setenv("https_proxy", proxy.address)
        for url, tls in ((f"https://{HOST}/", TlsSpec(ca=other.ca)), ("https://no.example/", TlsSpec(ca=authority.ca))):
            assert (await refused(url, "verify failed", tls=tls)).turned_down
        assert server.bodies == []


async def test_a_plain_server_is_asked_through_its_own_proxy_unless_no_proxy_names_it(monkeypatch):
    async with serving(lambda _, body: whole(body)) as server, proxying(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
        assert await ask(server.url, headers=KEY) == b"a question"
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        for direct in ("127.0.0.1", f"127.0.0.1:{server.port}", "other.example,127.0.0.1", "*"):
            monkeypatch.setenv("NO_PROXY", direct)
            assert await ask(server.url, headers=KEY) == b"a question"
        assert proxy.heads == []
        monkeypatch.setenv("NO_PROXY", "localhost,.other.example")
        assert await ask(f"http://{HOST}/v1/ask") == b"a question"
        assert proxy.heads[0].startswith(f"POST http://{HOST}/v1/ask HTTP/1.1\r\n")


async def test_a_password_for_the_proxy_is_for_the_proxy_alone(authority, monkeypatch):
    sent = f"Proxy-Authorization: Basic {base64.b64encode(b'name:pass word').decode()}"
    async with encrypted(authority) as server, proxying(server.port) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://name:pass%20word@{proxy.address}")
        assert await ask(f"https://{HOST}/", headers=KEY, tls=TlsSpec(ca=authority.ca)) == b"a question"
    assert sent in proxy.heads[0]
    assert KEY["Authorization"] not in proxy.heads[0]
    assert "Proxy-Authorization" not in server.heads[0]


async def test_a_proxy_that_refuses_or_is_not_there_is_a_failure_that_nobody_bills(monkeypatch):
    asks = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    async with proxying(1, refuses=asks) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://name:word@{proxy.address}")
        failed = await refused(f"https://{HOST}/", "the proxy did not connect: HTTP 407", headers=KEY)
        assert failed.turned_down
        assert "word" not in failed.detail
    monkeypatch.setenv("HTTPS_PROXY", "http://name:word@127.0.0.1:1")
    failed = await refused(f"https://{HOST}/", "cannot connect to the proxy 127.0.0.1:1: ", headers=KEY)
    assert failed.turned_down
    assert "word" not in failed.detail


@pytest.mark.parametrize(
    "proxy",
    [
        "socks5://name:word@{}",
        "http://name:wo/rd@{}",
        "http://name:word@127.0.0.1:port",
        "http://name:wo#rd@{}",
        "http://[::1",
    ],
)
async def test_a_proxy_that_cannot_be_is_named_without_its_password(monkeypatch, proxy):
    monkeypatch.setenv("ALL_PROXY", proxy.format("127.0.0.1:1"))
    with pytest.raises(CallFailed, match=r"never sent: ALL_PROXY must be http://HOST:PORT or ") as failed:
        await ask(f"https://{HOST}/", headers=KEY)
    assert failed.value.turned_down
    for secret in ("name", "wo/rd", "wo#rd"):
        assert secret not in failed.value.detail


async def test_one_proxy_may_be_named_for_all(monkeypatch):
    async with serving(lambda _, body: whole(body)) as server, proxying(server.port) as proxy:
        monkeypatch.setenv("ALL_PROXY", f"http://name:p@ss@{proxy.address}/")
        assert await ask(f"http://{HOST}/v1/ask") == b"a question"
        assert len(proxy.heads) == 1


async def test_passwords_of_the_users_other_programs_are_not_sent(tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    async with serving(lambda _, body: whole(body)) as server:
        assert await ask(server.url) == b"a question"
    assert "Authorization" not in server.heads[0]


# As a study names them.


def completion(_, __):
    said = b'{"choices": [{"message": {"content": "2"}}], "verdict": "2"}'
    return whole(said, b"Content-Type: application/json")


async def test_a_model_and_an_endpoint_take_tls_from_their_spec(authority, other):
    certificate, key = other.issue("client")
    tls = {"ca": authority.ca, "certificate": certificate, "key": key}
    async with encrypted(authority, clients=other, answer=completion) as server:
        spec = ModelSpec(adapter="openai-compatible", name="m", base_url=server.local, tls=tls, attempts=1)
        model = open_model(spec, Calling())
        request = ChatRequest("m", (Message("user", "x"),), Decoding(max_tokens=8))
        assert (await model.generate(request, trial_id="t")).text == "2"
        await model.close()
        http = {"url": server.local, "body": ["{{first}} {{second}}"], "answer": "verdict", "tls": tls, "attempts": 1}
        judge = build_judge(JudgeSpec(name="j", http=http), folder=None, calling=Calling())
        shown = judge.request(Presented("t", "a", "b"), Presentation())
        assert (await judge.ask(shown, trial_id="t")).text == "2"
        await judge.close()


@pytest.mark.parametrize(
    ("adapter", "tls", "said"),
    [
        ("simulated", {"ca": "/ca.pem"}, "this adapter does not support tls"),
        ("openai-compatible", {}, "tls needs ca, certificate, or both certificate and key"),
        ("openai-compatible", {"key": "/key.pem"}, "tls needs ca, certificate, or both certificate and key"),
        ("openai-compatible", {"ca": "ca.pem"}, "must be an absolute path or start with ~/"),
        ("openai-compatible", {"ca": "/ca.pem\n"}, "must be an absolute path or start with ~/"),
    ],
)
def test_tls_that_makes_no_sense_is_refused(adapter, tls, said):
    url = None if adapter == "simulated" else "https://judge.example/v1"
    with pytest.raises(ValidationError, match=said):
        ModelSpec(adapter=adapter, name="perfect", base_url=url, tls=tls)


def test_files_of_this_machine_are_agreed_to_and_are_no_part_of_the_judge(tmp_path):
    def judge(**more):
        return JudgeSpec(name="j", http={"url": "https://judge.example/v1", "body": ["{{first}}{{second}}"], **more})

    named = judge(tls={"ca": "~/ca.pem", "certificate": "/mine.pem", "key": "/mine.key"})
    assert named.model_dump() == judge().model_dump()
    found = {power.kind: power.words for power in powers_of_judges([named], tmp_path)}
    assert found == {
        "send": "sends prompts to judge.example, port 443",
        "data": "reads ~/ca.pem, and trusts its authorities to identify judge.example:443",
        "secret": "identifies you to judge.example:443 with the certificate and key in /mine.pem and /mine.key",
    }


# Addresses with a query, and headers of one's own.


def gateway(**more):
    usual = {"adapter": "openai-compatible", "name": "m", "base_url": "http://127.0.0.1:1", "attempts": 1}
    return ModelSpec(**usual | more)


async def told(spec, text="a question"):
    model = open_model(spec, Calling())
    response = await model.generate(ChatRequest("m", (Message("user", text),), Decoding(max_tokens=8)), trial_id="t")
    await model.close()
    return response


async def test_what_azures_filter_catches_is_refused_and_a_wrong_version_is_not_there(monkeypatch):
    monkeypatch.setenv("AZURE_KEY", "a-key")
    with ChatServer(lambda _: "2", path="/openai/deployments/judge", layers=(azure("a-key"),)) as server:
        for query, text, outcome in (
            ("?api-version=2024-10-21", "a question", ("2", None)),
            ("?api-version=2024-10-21", "FILTERED", (None, "refused")),
            ("", "a question", (None, "rejected")),
        ):
            headers = {"api-key": "{{key}}"}
            found = await told(
                gateway(base_url=server.base_url + query, api_key_env="AZURE_KEY", headers=headers), text
            )
            assert (found.text, found.failure) == outcome


@pytest.mark.parametrize(
    ("adapter", "sent"), [("openai-compatible", "Authorization: Bearer "), ("anthropic", "x-api-key: ")]
)
@pytest.mark.parametrize("header", ["", "X-Gateway-Key"])
async def test_a_key_is_in_one_header_only(adapter, sent, header, monkeypatch):
    monkeypatch.setenv("GATEWAY_KEY", "a-key")
    own = {header: "Key {{key}}", "X-Title": "judges"} if header else {"X-Title": "judges"}
    async with serving(completion) as server:
        where = {"base_url": f"http://127.0.0.1:{server.port}/v1?v=1", "api_key_env": "GATEWAY_KEY"}
        await told(gateway(adapter=adapter, headers=own, **where))
    [head] = server.heads
    path = {"openai-compatible": "/v1/chat/completions", "anthropic": "/v1/messages"}[adapter]
    assert head.startswith(f"POST {path}?v=1 HTTP/1.1\r\n")
    assert "X-Title: judges\r\n" in head
    assert [line for line in head.split("\r\n") if "a-key" in line] == [
        f"{header}: Key a-key" if header else f"{sent}a-key"
    ]


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"base_url": "https://judge.example/v1?api-key=4711"}, "base_url: api-key looks like a key"),
        ({"base_url": "https://judge.example/v1?x=sk-abcdefghij"}, "base_url: x looks like a key"),
        ({"headers": {"X-Key": "sk-abcdefghij"}}, "X-Key looks like a key"),
        ({"headers": {"X-Key": "{{key}}"}}, "requires api_key_env"),
        ({"headers": {"Host": "other.example"}}, "'Host' cannot be set"),
        ({"adapter": "inspect", "name": "openai/gpt-4o", "headers": {"X-Title": "t"}}, "does not support headers"),
        ({"price": {"input": 1, "output": 1, "cached": 2}}, "cached must not be above input"),
    ],
)
def test_a_spec_holds_no_key_and_nothing_that_cannot_be_sent(spec, said):
    with pytest.raises(ValidationError, match=said):
        gateway(**spec)


def test_headers_and_a_query_make_another_judge_and_none_leaves_it_as_it_was():
    def judge(**more):
        return JudgeSpec(
            name="j", model={"adapter": "openai-compatible", "name": "m", "base_url": "https://a.example", **more}
        )

    assert "headers" not in judge().model_dump()["model"]
    prints = {
        build_judge(judge(**more), folder=Path(), calling=Calling()).fingerprint
        for more in (
            {},
            {"headers": {"X-Route": "a"}},
            {"headers": {"X-Route": "b"}},
            {"base_url": "https://a.example?v=1"},
        )
    }
    assert len(prints) == 4
    found = powers_of_judges([judge(base_url="https://a.example?v=1")], Path())
    assert [power.words for power in found] == [
        "sends prompts to a.example, port 443",
        "calls a.example:443 with v=1",
    ]


@pytest.mark.parametrize(
    ("code", "kind"),
    [(429, "rate-limited"), ("429", "rate-limited"), ("402", "rejected"), (408, "server-error"), (502, "server-error")],
)
async def test_an_error_with_status_200_is_what_its_code_says(code, kind):
    error = b'{"error": {"code": %s, "message": "no"}}' % json.dumps(code).encode()
    async with serving(lambda _, __: whole(error)) as server:
        assert (await told(gateway(base_url=f"http://127.0.0.1:{server.port}"))).failure == kind


def test_a_model_of_openai_on_azure_has_azures_price():
    spec = gateway(
        base_url="https://mine.openai.azure.com/openai/deployments/gpt-4o?api-version=2024-10-21", name="gpt-4o"
    )
    # 200 tokens at 2.50, 800 cached at 1.25, 100 out at 10.
    assert pricer_of(spec, {}, allow_unpriced=False).cost(Usage(1000, 100, 800)) == Decimal("0.0025")


def test_cached_input_of_anthropics_has_its_own_price():
    spec = ModelSpec(adapter="anthropic", name="claude-sonnet-4-5", base_url="https://api.anthropic.com")
    usage = {
        "input_tokens": 200,
        "cache_read_input_tokens": 800,
        "cache_creation_input_tokens": 0,
        "output_tokens": 100,
    }
    body = {"type": "message", "role": "assistant", "content": [{"type": "text", "text": "1"}], "usage": usage}
    # 200 tokens at 3, 800 cached at 0.30, 100 out at 15.
    assert pricer_of(spec, {}, allow_unpriced=False).cost(read_message(body).usage) == Decimal("0.00234")


def test_a_price_of_ones_own_may_have_one_for_cached_input():
    def priced(**more):
        return pricer_of(gateway(price={"input": 2, "output": 8, **more}), {}, allow_unpriced=False)

    assert priced().cost(Usage(1000, 100, 800)) == Decimal("0.0028")
    # 200 tokens at 2, 800 cached at 0.50, 100 out at 8.
    assert priced(cached="0.5").cost(Usage(1000, 100, 800)) == Decimal("0.0016")
    assert priced(cached="0.5").table == "study file 2,8, cached 0.5"
    # A server that counts more cached than read.
    assert priced(cached="0").cost(Usage(1000, 0, 2000)) == 0
