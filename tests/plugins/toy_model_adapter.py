"""A model adapter in one file: the chat protocol over a plain socket, one connection for each request."""

import asyncio
import json
from urllib.parse import urlsplit

from umpirical.domain.digests import canonical_json
from umpirical.domain.responses import Usage
from umpirical.models.caller import CallFailed, Connection, Reply
from umpirical.models.spec import ModelAdapter, key_of


class Socket(Connection):
    client = "toy-socket/1"

    def __init__(self, base_url, key, timeout):  # it belongs to the spec
        self._address, self._key, self._timeout = urlsplit(base_url), key, timeout

    async def send(self, request, *, trial_id):  # noqa: ARG002  # this server keeps no log
        try:
            async with asyncio.timeout(self._timeout):
                head, _, body = (await self._exchange(request)).partition(b"\r\n\r\n")
        except TimeoutError:
            raise CallFailed("timeout", f"no answer within {self._timeout:g} s") from None
        except OSError as error:
            raise CallFailed("connection", str(error)) from None
        if not head:
            raise CallFailed("connection", "the server closed the connection")
        status = int(head.split()[1])
        if status != 200:
            kind = "rate-limited" if status == 429 else "server-error" if status >= 500 else "rejected"
            raise CallFailed(kind, f"HTTP {status}", busy=status == 429, turned_down=True)
        try:
            reply = json.loads(body)
            text, usage = reply["choices"][0]["message"]["content"], reply["usage"]
            return Reply(text, usage=Usage(usage["prompt_tokens"], usage["completion_tokens"]))
        except (ValueError, LookupError, TypeError) as error:
            raise CallFailed("malformed", f"{type(error).__name__} in the reply") from None

    def parameters(self, request):
        return canonical_json(dict(request.decoding.sent()))

    async def close(self):
        """Every request has closed its own connection."""

    async def _exchange(self, request):
        reader, writer = await asyncio.open_connection(self._address.hostname, self._address.port)
        try:
            messages = [{"role": message.role, "content": message.content} for message in request.messages]
            body = json.dumps({"model": request.model, "messages": messages, **dict(request.decoding.sent())}).encode()
            lines = [
                f"POST {self._address.path}/chat/completions HTTP/1.0",
                f"Host: {self._address.netloc}",
                "Content-Type: application/json",
                f"Content-Length: {len(body)}",
                *([f"Authorization: Bearer {self._key}"] if self._key else []),
            ]
            writer.write("\r\n".join([*lines, "", ""]).encode() + body)
            return await reader.read()
        finally:
            writer.close()


class SocketAdapter(ModelAdapter):
    """Any server of the chat protocol, by its address."""

    def connect(self, spec, calling):  # noqa: ARG002  # what is left is the caller's affair
        return Socket(spec.base_url, key_of(spec), spec.timeout)


ADAPTER = SocketAdapter()
