"""A server for benchmarks: answers chat completions with next to no work, after the delay named in the path.

`http://127.0.0.1:PORT/20/v1/chat/completions` answers after 20 ms, and `/20/graded/v1/chat/completions` with a grade.
Prints its port, and serves until it is ended.
"""

import asyncio
import json


def reply(content: str) -> bytes:
    """Returns a whole reply with this answer in it."""
    answer = json.dumps(
        {
            "id": "chatcmpl-stub",
            "object": "chat.completion",
            "created": 0,
            "model": "stub",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 1200, "completion_tokens": 6, "total_tokens": 1206},
        }
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}\r\n\r\n"
    return head.encode() + answer


COMPARED, GRADED = reply('{"verdict": "tie"}'), reply('{"grade": "3"}')


class Stub(asyncio.Protocol):
    """HTTP/1.1 with keep-alive, one request at a time on a connection, as clients do it."""

    def __init__(self) -> None:
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101  # a TCP server makes no other
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while (end := self.buffer.find(b"\r\n\r\n")) >= 0:
            head = self.buffer[:end]
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.buffer) < end + 4 + length:
                return
            self.buffer = self.buffer[end + 4 + length :]
            _, delay, rest = head.split(b"/", 2)
            answer = GRADED if rest.startswith(b"graded/") else COMPARED
            if seconds := float(delay) / 1000:
                asyncio.get_running_loop().call_later(seconds, self.transport.write, answer)
            else:
                self.transport.write(answer)


async def main() -> None:
    server = await asyncio.get_running_loop().create_server(Stub, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
