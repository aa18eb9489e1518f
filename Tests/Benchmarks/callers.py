"""So many callers that ask the same URL again and again, each on a connection of its own. Prints what they got.

    callers.py <url> <callers> <seconds>
"""

import asyncio
import collections
import sys
import time
from urllib.parse import urlsplit

url, count, seconds = urlsplit(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
REQUEST = f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\n\r\n".encode()
answers = collections.Counter()


async def caller(end):
    try:
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        while time.monotonic() < end:
            writer.write(REQUEST)
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = next((int(line.split(":")[1]) for line in head.split("\r\n")
                           if line.lower().startswith("content-length")), 0)
            body = (await reader.readexactly(length)).decode()
            answers[head.split(" ", 2)[1] + (" " + body[:90] if not head.startswith("HTTP/1.1 2") else "")] += 1
        writer.close()
    except (OSError, asyncio.IncompleteReadError) as error:
        answers[type(error).__name__] += 1


async def main():
    end = time.monotonic() + seconds
    tasks = [asyncio.create_task(caller(end)) for _ in range(count)]
    _, late = await asyncio.wait(tasks, timeout=seconds + 2)
    for task in late:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if late:
        answers["no answer yet"] += len(late)
    print("; ".join(f"{number} x {text}" for text, number in answers.most_common(4)))


asyncio.run(main())
