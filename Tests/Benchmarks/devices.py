"""Devices that sync, as many as are asked for, on sockets of their own: what the wire needs, and no state.

Source: realm-sync-protocol.md §§1-6.
"""

import asyncio
import json
import os
import urllib.request

SCHEMA = '{"schemaVersion":0,"sessionReason":0}'


def post(url, body, headers={}):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **headers})
    with urllib.request.urlopen(request, timeout=600) as answer:
        return json.load(answer)


def number(value):
    out = bytearray()
    while value >= 64:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def text(value):
    return number(len(value)) + value.encode()


NAMES = ["Item", "_id", "ownerId", "itemName", "complexity"]
INTERN = b"".join(b"\x3f" + number(place) + text(name) for place, name in enumerate(NAMES))


def created(key, owner):
    """The instructions that make one object."""
    address = b"\x00\x0a" + key
    return (b"\x02" + address
            + b"\x04" + address + b"\x02\x00" + b"\x03" + text(owner) + b"\x00"
            + b"\x04" + address + b"\x03\x00" + b"\x03" + text("made by a device") + b"\x00"
            + b"\x04" + address + b"\x04\x00" + b"\x01" + number(3) + b"\x00")


class Device:
    """One socket with one session."""

    def __init__(self):
        self.progress = (0, 0)
        self.version = 1

    async def connect(self, host, port, token, app="bench"):
        self.reader, self.writer = await asyncio.open_connection(host, port, limit=1 << 25)
        self.writer.write(
            f"GET /api/client/v2.0/app/{app}/realm-sync?baas_at={token} HTTP/1.1\r\nHost: x\r\n"
            "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Protocol: com.mongodb.realm-query-sync#14\r\n\r\n".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        assert b" 101 " in head.split(b"\r\n")[0], head

    def send(self, message):
        if isinstance(message, str):
            message = message.encode()
        size = len(message)
        head = (bytes([0x82, 0x80 | size]) if size < 126
                else b"\x82\xfe" + size.to_bytes(2) if size < 65536
                else b"\x82\xff" + size.to_bytes(8))
        # A mask of zeros leaves the bytes as they are.
        self.writer.write(head + b"\0\0\0\0" + message)

    async def receive(self):
        """The fields of the next message's head, and its body."""
        first = await self.reader.readexactly(2)
        assert first[0] == 0x82, first
        size = first[1] & 0x7F
        if size == 126:
            size = int.from_bytes(await self.reader.readexactly(2))
        elif size == 127:
            size = int.from_bytes(await self.reader.readexactly(8))
        head, _, body = (await self.reader.readexactly(size)).partition(b"\n")
        fields = head.decode().split()
        assert fields[0] != "error", (head, body)
        if fields[0] == "download":
            self.progress = (int(fields[2]), int(fields[3]))
        return fields, body

    async def begin(self):
        """A new file, which holds nothing yet."""
        self.send(f"bind 1 {len(SCHEMA)} 0 1 0\n{SCHEMA}")
        fields, _ = await self.receive()
        self.send(f"ident 1 {fields[2]} {fields[3]} 0 0 0 0 0 2\n{{}}")
        await self.receive()

    async def subscribe(self, query, version=1):
        """Asks, and takes everything; the sum of the bodies' bytes."""
        body = json.dumps(query)
        self.send(f"query 1 {version} {len(body)}\n{body}")
        return await self.mark(version)

    async def mark(self, request):
        self.send(f"mark 1 {request}\n")
        size = 0
        while True:
            fields, body = await self.receive()
            if fields[0] == "mark" and fields[2] == str(request):
                return size
            size += len(body)

    def upload(self, keys, owner):
        """One transaction that makes objects."""
        self.version += 1
        changeset = INTERN + b"".join(created(key, owner) for key in keys)
        entry = f"{self.version} {self.progress[0]} 375000000000 0 {len(changeset)} ".encode() + changeset
        self.send(f"upload 1 0 {len(entry)} 0 {self.version} {self.progress[0]} {self.progress[0]}\n".encode() + entry)

    async def acknowledged(self):
        """Waits until the server has integrated what was uploaded."""
        while self.progress[1] < self.version:
            await self.receive()


def keys(count):
    return [os.urandom(12) for _ in range(count)]
