"""MongoDB's wire protocol: just enough of it for a driver to send commands (OP_MSG, and OP_QUERY for the first hello)."""

import socketserver
import struct

import bson
from bson.codec_options import CodecOptions, DatetimeConversion

OP_REPLY, OP_QUERY, OP_MSG = 1, 2004, 2013
HEADER = struct.Struct("<iiii")
MORE_TO_COME = 2

# Dates stay counts of milliseconds, since Python's own reach only to the year 9999.
CODEC = CodecOptions(document_class=dict, datetime_conversion=DatetimeConversion.DATETIME_MS)


def decode(data):
    """A document, and whether all of it is there: of two fields with one name a dictionary holds the last."""
    document = bson.decode(data, CODEC)
    return document, len(bson.encode(document)) == len(data)


def read_command(payload):
    """The command in an OP_MSG's payload, with its document sequences as arrays; and its flags."""
    (flags,) = struct.unpack_from("<I", payload)
    command, sequences, at, is_whole = {}, {}, 4, True
    # A checksum may stand behind the last section.
    end = len(payload) - (4 if flags & 1 else 0)
    while at < end:
        kind = payload[at]
        at += 1
        (size,) = struct.unpack_from("<i", payload, at)
        if kind == 0:
            command, is_whole = decode(payload[at : at + size])
        else:
            name_end = payload.index(0, at + 4)
            name = payload[at + 4 : name_end].decode()
            sequences[name] = bson.decode_all(payload[name_end + 1 : at + size], CODEC)
        at += size
    # No member of a command has this name: what cannot be repeated in JSON does not apply.
    return command | sequences | ({} if is_whole else {"$repeated": True}), flags


def read_query(payload):
    """The command in an OP_QUERY's payload: the hello of a driver that does not know the server yet."""
    name_end = payload.index(0, 4)
    (size,) = struct.unpack_from("<i", payload, name_end + 9)
    namespace = payload[4:name_end].decode()
    return bson.decode(payload[name_end + 9 : name_end + 9 + size], CODEC) | {"$db": namespace.split(".")[0]}


class Connection(socketserver.StreamRequestHandler):
    """One driver's connection: a command in, its answer out, until it closes."""

    disable_nagle_algorithm = True

    def handle(self):
        """Serves commands; the server's `answer` turns each into its reply."""
        try:
            while header := self.rfile.read(HEADER.size):
                length, request, _, opcode = HEADER.unpack(header)
                payload = self.rfile.read(length - HEADER.size)
                if opcode == OP_MSG:
                    command, flags = read_command(payload)
                    reply = b"\0\0\0\0\0" + bson.encode(self.server.answer(command))
                    if not flags & MORE_TO_COME:
                        self.send(OP_MSG, request, reply)
                elif opcode == OP_QUERY:
                    reply = bson.encode(self.server.answer(read_query(payload)))
                    self.send(OP_REPLY, request, struct.pack("<iqii", 8, 0, 0, 1) + reply)
                else:
                    return
        except (ConnectionError, struct.error):
            return

    def send(self, opcode, request, payload):
        """Writes one message in answer to a request's id."""
        self.wfile.write(HEADER.pack(HEADER.size + len(payload), 0, request, opcode) + payload)


class Server(socketserver.ThreadingTCPServer):
    """Listens on loopback; `answer` is called with each command and returns the document that answers it."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, port, answer):
        """Listens at a port, 0 for any."""
        super().__init__(("127.0.0.1", port), Connection)
        self.answer = answer
