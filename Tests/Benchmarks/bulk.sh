#!/usr/bin/env bash
# insertMany of 1000 documents beside COPY of the same documents into the same table, taking turns in one run.
#   bulk.sh [batches] [rounds]
# One connection each; documents a second, median of the rounds. Both keep _id unique, the promoted columns and
# their indexes, and commit after each thousand.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
start_server
register_owners
login_owners
psql -qX -d tidegate -c "select tidegate.ensure_collection('bench', 'tasks')" >/dev/null
python3 - "$base" "$work" "${1:-20}" "${2:-3}" <<'PYTHON'
import http.client, json, os, statistics, subprocess, sys, time

base, work, batches, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
_, user, token = open(f"{work}/tokens.txt").readline().split()


def document(round_, batch, number, kind):
    return {
        "_id": f"{kind}-{round_}-{batch}-{number}", "owner_id": user, "status": "open", "priority": number % 5,
        "text": f"a line of text for document {number}", "tags": ["a", "b"], "done": False, "number": number,
    }


def insert_many(round_):
    bodies = [
        json.dumps({"dataSource": "mongodb-atlas", "database": "bench", "collection": "tasks",
                    "documents": [document(round_, batch, number, "insert") for number in range(1000)]})
        for batch in range(batches)
    ]
    connection = http.client.HTTPConnection(base.removeprefix("http://"))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    start = time.perf_counter()
    for body in bodies:
        connection.request("POST", "/app/bench/endpoint/data/v1/action/insertMany", body, headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 201:
            sys.exit(f"insertMany: {answer.status} {text[:300]}")
    return batches * 1000 / (time.perf_counter() - start)


def copy(round_):
    lines = []
    for batch in range(batches):
        lines.append("COPY bench.tasks (_id, doc) FROM STDIN;")
        for number in range(1000):
            one = document(round_, batch, number, "copy")
            lines.append(one["_id"] + "\t" + json.dumps(one).replace("\\", "\\\\"))
        lines.append("\\.")
    path = f"{work}/copy.sql"
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")
    start = time.perf_counter()
    subprocess.run(["psql", "-qX", "-v", "ON_ERROR_STOP=1", "-d", "tidegate", "-f", path], check=True)
    return batches * 1000 / (time.perf_counter() - start)


inserted, copied = [], []
for round_ in range(rounds):
    inserted.append(insert_many(round_))
    copied.append(copy(round_))
many, bulk = statistics.median(inserted), statistics.median(copied)
print(f"insertMany of 1000: {many:,.0f} documents/s; COPY: {bulk:,.0f} documents/s; ratio {many / bulk:.2f}")
PYTHON
