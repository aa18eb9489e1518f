"""A steady load of findOne: 100 requests a second over four connections. Prints p50 and p99 in milliseconds.

    steady.py <url> <token> <seconds>
"""

import asyncio
import sys
import time
from urllib.parse import urlsplit

url, token, seconds = urlsplit(sys.argv[1]), sys.argv[2], float(sys.argv[3])
BODY = b'{"dataSource":"mongodb-atlas","database":"bench","collection":"tasks","filter":{"_id":"one"}}'
REQUEST = (f"POST {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {token}\r\n"
           f"Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n").encode() + BODY
CONNECTIONS, RATE = 4, 100


async def ask(reader, writer):
    writer.write(REQUEST)
    head = await reader.readuntil(b"\r\n\r\n")
    length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
    await reader.readexactly(length)
    return head.startswith(b"HTTP/1.1 200")


async def caller(number, begin, times, failures):
    reader, writer = await asyncio.open_connection(url.hostname, url.port)
    due = begin + number / RATE
    while due < begin + seconds:
        await asyncio.sleep(max(0, due - time.monotonic()))
        # From when it was due: a request that waits for the one before it counts with its waiting.
        if not await ask(reader, writer):
            failures.append(1)
        times.append((time.monotonic() - due) * 1000)
        due += CONNECTIONS / RATE
    writer.close()


async def main():
    times, failures, begin = [], [], time.monotonic() + 0.1
    await asyncio.gather(*(caller(number, begin, times, failures) for number in range(CONNECTIONS)))
    times.sort()
    at = lambda share: times[min(len(times) - 1, int(len(times) * share))]
    print(f"findOne p50 {at(0.5):6.1f} ms  p99 {at(0.99):6.1f} ms  of {len(times)}, failed {len(failures)}")


asyncio.run(main())
