"""Proxies, private authorities and client certificates, with real ones: what is sent where, and what is refused."""

import asyncio
import base64
import datetime as dt
import ssl
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.models.test_exchanges import MOST, close_all, opened, serving, whole
from umpirical.domain.errors import UsageError
from umpirical.domain.trials import Presentation, Presented
from umpirical.judges.factory import build_judge
from umpirical.judges.spec import JudgeSpec
from umpirical.models.caller import CallFailed
from umpirical.models.requests import ChatRequest, Decoding, Message
from umpirical.models.spec import Calling, ModelSpec, TlsSpec, open_model
from umpirical.study.trust import powers_of_judges

x509 = pytest.importorskip("cryptography.x509")

from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402  # only if it is installed
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

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


# Certificates.


class Authority:
    """Signs certificates, and writes them into a folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder, x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.ca = self._written(name, self._signed(self.name, self.key, ca=True))

    def _signed(self, subject, key, *, ca=False, names=()):
        now = dt.datetime.now(dt.UTC)
        made = (
            x509.CertificateBuilder(self.name, subject, key.public_key(), x509.random_serial_number())
            .not_valid_before(now - dt.timedelta(days=1))
            .not_valid_after(now + dt.timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        )
        if names:
            made = made.add_extension(x509.SubjectAlternativeName(list(map(x509.DNSName, names))), critical=False)
        return made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def _written(self, name, content):
        path = self.folder / f"{name}.pem"
        path.write_bytes(content)
        return str(path)

    def issue(self, name, *names, passphrase=None):
        """Returns the paths of a certificate and of its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        hidden = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
        form = serialization.PrivateFormat.PKCS8
        return (
            self._written(name, self._signed(subject, key, names=names)),
            self._written(f"{name}-key", key.private_bytes(serialization.Encoding.PEM, form, hidden)),
        )


@pytest.fixture
def authority(tmp_path):
    return Authority(tmp_path, "private")


@pytest.fixture
def other(tmp_path):
    return Authority(tmp_path, "other")


@asynccontextmanager
async def encrypted(authority, *, clients=None, answer=lambda _, body: whole(body)):
    """A server that is judge.example and localhost; with `clients`, for those whom that authority knows."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=clients and clients.ca)
    context.load_cert_chain(*authority.issue("server", HOST, "localhost"))
    if clients:
        context.verify_mode = ssl.CERT_REQUIRED
    async with serving(answer, ssl=context) as server:
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


class Proxy:
    """Takes every host for the one server behind it. Passes tunnels and plain requests on, and keeps what it saw."""

    def __init__(self, target, *, refuses=b""):
        self.target, self.refuses = target, refuses
        self.heads, self.seen = [], b""

    async def connected(self, reader, writer):
        with closing(writer), suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode())
            if self.refuses:
                writer.write(self.refuses)
                await writer.drain()
                return
            there, onwards = await asyncio.open_connection("127.0.0.1", self.target)
            if head.startswith(b"CONNECT "):
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                onwards.write(head)
            with closing(onwards):
                await asyncio.gather(self._pass(reader, onwards), self._pass(there, writer))

    async def _pass(self, reader, writer):
        while piece := await reader.read(65536):
            self.seen += piece
            writer.write(piece)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def proxying(target, **how):
    proxy = Proxy(target, **how)
    listening = await asyncio.start_server(proxy.connected, "127.0.0.1", 0)
    proxy.address = f"127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    try:
        yield proxy
    finally:
        listening.close()


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
