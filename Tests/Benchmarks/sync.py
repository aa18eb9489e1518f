"""Device Sync: bootstraps, large and small transactions, idle sessions, and a write handed on to many.

    sync.py <base url> <token> <user> <token of another> <that one> <server's pid> <connected> <interested> <objects> <rounds>
"""

import asyncio
import statistics
import sys
import time
from urllib.parse import urlsplit

from devices import Device, keys, post

base, token, user, other, stranger = sys.argv[1:6]
pid, connected, interested, objects, rounds = map(int, sys.argv[6:11])
place = urlsplit(base)
action = f"{base}/app/bench/endpoint/data/v1/action/"
HEADERS = {"Authorization": f"Bearer {token}", "Accept": "application/json"}


def act(name, members, headers=HEADERS):
    return post(action + name, {"dataSource": "mongodb-atlas", "database": "bench", "collection": "Item", **members},
                headers)


def document(owner):
    return {"ownerId": owner, "itemName": "made by the Data API", "complexity": {"$numberLong": "3"}}


def resident():
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def processor():
    """Seconds of the server so far."""
    with open(f"/proc/{pid}/stat") as line:
        return sum(map(int, line.read().rsplit(")", 1)[1].split()[11:13])) / 100


async def device(token):
    made = Device()
    await made.connect(place.hostname, place.port, token)
    await made.begin()
    return made


async def bootstrap():
    for _ in range(objects // 1000):
        await asyncio.to_thread(act, "insertMany", {"documents": [document(user)] * 1000})
    rates = []
    for _ in range(rounds):
        one = await device(token)
        start = time.monotonic()
        size = await one.subscribe({"Item": f"ownerId == '{user}'"})
        rates.append(objects / (time.monotonic() - start))
        one.writer.close()
    print(f"bootstrap: {statistics.median(rates):.0f} objects/s of {objects} ({size} bytes)")


async def transactions():
    costs = {}
    for count, each in ((1, 1000), (1000, 1)):
        taken = []
        for _ in range(rounds):
            one = await device(other)
            await one.subscribe({"Item": f"ownerId == '{stranger}'"})
            start = time.monotonic()
            for _ in range(count):
                one.upload(keys(each), stranger)
                if count == 1 or one.version % 50 == 0:
                    await one.acknowledged()
            await one.acknowledged()
            taken.append(time.monotonic() - start)
            one.writer.close()
        costs[count] = statistics.median(taken)
    print(f"1,000 objects in one transaction: {costs[1] * 1000:.0f} ms; in 1,000: {costs[1000] * 1000:.0f} ms; "
          f"{costs[1000] / costs[1]:.1f} times as much")


async def broadcast(devices):
    """Times from sending a write until each device has it, in milliseconds."""
    async def one(device, start):
        while (await device.receive())[0][0] != "download":
            pass
        return time.monotonic() - start

    times = []
    for _ in range(20):
        start = time.monotonic()
        waiting = asyncio.gather(*(one(device, start) for device in devices))
        await asyncio.to_thread(act, "insertOne", {"document": document(user)})
        times += await waiting
    times.sort()
    return times[len(times) // 2] * 1000, times[len(times) * 99 // 100] * 1000


async def writes(count=200):
    """Milliseconds of processor time of a write that concerns nobody."""
    before = processor()
    for _ in range(count):
        await asyncio.to_thread(act, "insertOne", {"document": document(stranger)},
                                {**HEADERS, "Authorization": f"Bearer {other}"})
    await asyncio.sleep(1)
    return (processor() - before) * 1000 / count


async def many():
    alone = await writes()
    before = resident()
    devices = []
    for index in range(connected):
        mine = index < interested
        one = await device(token if mine else other)
        await one.subscribe({"Item": f"ownerId == '{user if mine else 'nobody'}'"})
        devices.append(one)
    idle = (resident() - before) / connected
    print(f"{connected} idle sessions: {idle:.1f} KiB each")
    return alone, devices


async def main():
    alone, devices = await many()
    crowd = await writes()
    print(f"a write that concerns nobody: {alone:.2f} ms of processor time alone, {crowd:.2f} with {connected} connected")
    half, most = await broadcast(devices[:interested])
    print(f"a write handed on to {interested} of {connected}: p50 {half:.0f} ms, p99 {most:.0f} ms")
    for one in devices:
        one.writer.close()
    await asyncio.sleep(2)
    await transactions()
    await bootstrap()


asyncio.run(main())
