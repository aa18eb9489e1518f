"""How long a new worker takes from its start to its first answer, beside a program that only starts the engine.

Speaks the worker's protocol (BSON over descriptor 3) as the gateway does.
    cold_worker.py <tidegate> <bare engine>
"""

import os
import socket
import statistics
import struct
import subprocess
import sys
import time


def document(fields):
    out = b""
    for name, value in fields.items():
        if isinstance(value, bool):
            kind, content = 8, bytes([value])
        elif isinstance(value, int):
            kind, content = 18, struct.pack("<q", value)
        elif isinstance(value, str):
            text = value.encode() + b"\0"
            kind, content = 2, struct.pack("<i", len(text)) + text
        elif isinstance(value, list):
            kind, content = 4, document({str(index): item for index, item in enumerate(value)})
        elif isinstance(value, bytes):
            kind, content = 5, struct.pack("<i", len(value)) + b"\0" + value
        elif value is None:
            kind, content = 10, b""
        else:
            kind, content = 3, document(value)
        out += bytes([kind]) + name.encode() + b"\0" + content
    return struct.pack("<i", len(out) + 5) + out + b"\0"


LIMITS = {"t": "limits", "memory": 350 << 20, "queue": 1000, "depth": 64, "response": 18 << 20, "lines": 25,
          "lineBytes": 512}
BUNDLE = {"t": "bundle", "bundle": {"functions": {"f": "exports = () => 1"}, "app": {}, "environment": {},
                                    "values": {}, "services": {}}}
RUN = {"t": "run", "run": 1, "function": "f", "source": None, "endpoint": False, "arguments": b"[[],null]\0",
       "user": b"[{},null]\0", "request": None, "system": True, "milliseconds": 30000}


def cold_worker(program):
    ours, theirs = socket.socketpair()
    start = time.monotonic()
    worker = subprocess.Popen(
        [program, "function-worker"], close_fds=False, preexec_fn=lambda: os.dup2(theirs.fileno(), 3),
        env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "JSC_forceRAMSize": str(350 << 20),
             "JSC_thresholdForFTLOptimizeAfterWarmUp": "1000000"},
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    theirs.close()
    ours.sendall(document(LIMITS) + document(BUNDLE) + document(RUN))
    answer = ours.recv(65536)
    took = time.monotonic() - start
    assert b"value" in answer, answer
    worker.kill()
    worker.wait()
    ours.close()
    return took * 1000


def bare_engine(program):
    start = time.monotonic()
    subprocess.run([program], check=True)
    return (time.monotonic() - start) * 1000


tidegate, engine = sys.argv[1:]
workers = [cold_worker(tidegate) for _ in range(11)]
engines = [bare_engine(engine) for _ in range(11)]
print(f"{'cold worker, start to first answer':34} {statistics.median(workers):8.0f} ms")
print(f"{'a program that starts the engine':34} {statistics.median(engines):8.0f} ms")
