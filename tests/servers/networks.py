"""Networks on loopback: certificate authorities, proxies, and gateways with their own ways of the OpenAI protocol."""

import asyncio
import datetime as dt
import json
import ssl
import threading
from contextlib import asynccontextmanager, closing, contextmanager, suppress

import pytest
from aiohttp import web

x509 = pytest.importorskip("cryptography.x509")

from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402  # only if it is installed
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

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

    def serves(self, *names, clients=None):
        """Returns what a server of those names needs; with `clients`, it is for those whom that authority knows."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=clients and clients.ca)
        context.load_cert_chain(*self.issue("server", *names))
        if clients:
            context.verify_mode = ssl.CERT_REQUIRED
        return context


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


@contextmanager
def proxied(target):
    """The same in a thread of its own, for what waits until a command has ended."""
    loop, ready, found = asyncio.new_event_loop(), threading.Event(), []

    async def serve():
        async with proxying(target) as proxy:
            found.append((proxy, asyncio.current_task()))
            ready.set()
            await asyncio.Event().wait()

    def run():
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(serve())
        loop.close()

    thread = threading.Thread(target=run, name="proxy", daemon=True)
    thread.start()
    assert ready.wait(timeout=120)
    proxy, task = found[0]
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(timeout=120)


# Servers that speak the protocol in their own way, each as a layer around a ChatServer.


def azure(key):
    """A deployment of Azure OpenAI: a version in the query, the key in a header of its own, a filter in front."""

    @web.middleware
    async def layer(request, handler):
        if request.query.get("api-version") != "2024-10-21":
            return _error(404, {"code": "404", "message": "Resource not found"})
        if request.headers.get("api-key") != key or "Authorization" in request.headers:
            return _error(401, {"code": "401", "message": "Access denied due to invalid subscription key."})
        if "FILTERED" in await request.text():
            said = "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."
            inner = {"code": "ResponsibleAIPolicyViolation"}
            whole = {"message": said, "type": None, "param": "prompt", "code": "content_filter", "status": 400}
            return _error(400, {**whole, "innererror": inner})
        reply = await _of(handler, request)
        passed = {"hate": {"filtered": False, "severity": "safe"}}
        reply["prompt_filter_results"] = [{"prompt_index": 0, "content_filter_results": passed}]
        reply["choices"][0]["content_filter_results"] = passed
        return web.json_response(reply)

    return layer


def openrouter(key, asked):
    """OpenRouter: it waits with white space, and what goes wrong while a provider answers has status 200."""
    failures = (
        {"error": {"code": 429, "message": "Rate limit exceeded", "metadata": {"provider_name": "Stand-in"}}},
        {"choices": [{"error": {"code": 502, "message": "Provider returned error"}, "finish_reason": "error"}]},
    )

    @web.middleware
    async def layer(request, handler):
        if request.headers.get("Authorization") != f"Bearer {key}" or request.headers.get("X-Title") != "judges":
            return _error(401, {"code": 401, "message": "No auth credentials found"})
        asked.append(request.headers["X-Client-Request-Id"])
        if len(asked) % 10 == 1:
            # `code` stands in the choice or beside it, and the message is there in part.
            failed = json.loads(json.dumps(failures[len(asked) % 20 == 1]))
            for choice in failed.get("choices", ()):
                choice["message"] = {"role": "assistant", "content": "Some"}
            return web.json_response({"id": "gen-1", "model": "stand-in/judge", **failed})
        reply = await _of(handler, request)
        reply["choices"][0] |= {"native_finish_reason": "STOP", "logprobs": None}
        reply["choices"][0]["message"] |= {"refusal": None, "reasoning": None}
        reply |= {"provider": "Stand-in", "usage": {**reply["usage"], "cost": 0.00042, "is_byok": False}}
        reply["usage"] |= {"prompt_tokens_details": {"cached_tokens": 10, "audio_tokens": 0}}
        return web.Response(text=f"\n         \n{json.dumps(reply)}", content_type="application/json")

    return layer


def litellm(key, asked):
    """A LiteLLM proxy: numbers as text in its errors, fields of all providers in its usage."""

    @web.middleware
    async def layer(request, handler):
        if request.headers.get("Authorization") != f"Bearer {key}":
            return _error(
                401, {"message": "Authentication Error", "type": "auth_error", "param": "None", "code": "401"}
            )
        asked.append(request.headers["X-Client-Request-Id"])
        if len(asked) % 10 == 1:
            said = {"message": "litellm.RateLimitError", "type": "throttling_error", "param": None, "code": "429"}
            return _error(429 if len(asked) % 20 == 1 else 200, said)
        reply = await _of(handler, request)
        reply["choices"][0]["message"] |= {"tool_calls": None, "function_call": None, "provider_specific_fields": None}
        reply["usage"] |= {
            "completion_tokens_details": None,
            "prompt_tokens_details": {"audio_tokens": None, "cached_tokens": 10},
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 10,
        }
        return web.json_response(reply, headers={"x-litellm-model-id": "1", "x-litellm-response-cost": "0.00042"})

    return layer


def _error(status, error):
    return web.json_response({"error": error}, status=status)


async def _of(handler, request):
    return json.loads((await handler(request)).body)
