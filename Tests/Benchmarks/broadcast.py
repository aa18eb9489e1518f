"""A bare websocket server that hands a message on to many: what that costs at least.

    broadcast.py <host> <port> <connected> <interested>
"""

import asyncio
import sys
import time
import urllib.request

host, port, connected, interested = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])


async def connect(path):
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                 "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def receive(reader, start):
    await reader.readexactly(4 + 200)
    return time.monotonic() - start


async def main():
    sockets = [await connect("/wanted" if index < interested else "/") for index in range(connected)]
    times = []
    for _ in range(20):
        start = time.monotonic()
        waiting = asyncio.gather(*(receive(reader, start) for reader, _ in sockets[:interested]))
        await asyncio.to_thread(lambda: urllib.request.urlopen(f"http://{host}:{port}/").read())
        times += await waiting
    times.sort()
    print(f"a bare websocket server, to {interested} of {connected}: p50 {times[len(times) // 2] * 1000:.0f} ms, "
          f"p99 {times[len(times) * 99 // 100] * 1000:.0f} ms")
    for _, writer in sockets:
        writer.close()


asyncio.run(main())
