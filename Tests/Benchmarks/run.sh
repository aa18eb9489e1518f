#!/usr/bin/env bash
# Measures tidegate beside the peers of the kit in ../shared/bench, in one run, and prints its table.
# What is given to this script goes to the kit's run.sh: --seconds 3 --workloads findOne,find20 …
# BENCH_KIT names another place of the kit; BENCH_TYPED=1 stores ObjectIds and Dates.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
kit=${BENCH_KIT:-$root/../shared/bench}
[ -x "$kit/run.sh" ] || { echo "the benchmark kit is not at $kit; set BENCH_KIT" >&2; exit 1; }
"$kit/setup.sh"
. "$kit/settings.sh"
export PYTHONDONTWRITEBYTECODE=1

bin=$(cd "$root" && swift build -c release --show-bin-path)/tidegate
port=${BENCH_TIDEGATE_PORT:-18090}
base=http://127.0.0.1:$port
work=$(mktemp -d "$BENCH_HOME/tidegate.XXXXXX")
export TIDEGATE_DATABASE_URL="postgresql://postgres@127.0.0.1:$BENCH_PGPORT/tidegate"
server=

finish() {
    if [ -n "$server" ]; then
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    fi
    rm -rf "$work"
    "$kit/cluster.sh" stop
}
trap finish EXIT

post() { # path body [curl's options]
    local path=$1 body=$2
    shift 2
    curl -fsS -H 'Content-Type: application/json' "$@" -d "$body" "$base/api/client/v2.0$path"
}
member() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }

dropdb --if-exists tidegate
createdb tidegate
"$bin" migrate >"$work/migrate.log"
"$bin" import "$here/app" >"$work/import.log"
"$bin" serve --port "$port" --admin-port off --log-level warning >"$work/server.log" 2>&1 &
server=$!
for _ in $(seq 100); do
    curl -fsS "$base/ready" >/dev/null 2>&1 && break
    kill -0 "$server" 2>/dev/null || { cat "$work/server.log" >&2; exit 1; }
    sleep 0.1
done

owners=$(seq -f 'user-%04.0f' 0 7)
password=$(head -c 18 /dev/urandom | base64)
login() { # owner
    post /app/bench/auth/providers/local-userpass/login \
        "{\"username\":\"$1@example.com\",\"password\":\"$password\"}"
}
for owner in $owners; do
    post /app/bench/auth/providers/local-userpass/register \
        "{\"email\":\"$owner@example.com\",\"password\":\"$password\"}"
    printf '%s\t%s\n' "$owner" "$(login "$owner" | member user_id)" >>"$work/callers.txt"
done

typed=() ids=string
if [ -n "${BENCH_TYPED:-}" ]; then typed=(--typed) ids=oid; fi
python3 "$kit/gen.py" ejson --callers "$work/callers.txt" "${typed[@]}" >"$work/documents.ejson"
"$bin" import-documents --app bench --source mongodb-atlas --database bench --collection tasks \
    "$work/documents.ejson" 2>&1 | tail -1
# What an operator would make for "the caller's documents, in order".
psql -qX -d tidegate -c 'create index on bench.tasks (owner_id, _id)' -c 'vacuum analyze bench.tasks'

while read -r owner user; do
    printf '%s\t%s\t%s\n' "$owner" "$user" "$(login "$owner" | member access_token)"
done <"$work/callers.txt" >"$work/tokens.txt"

"$kit/run.sh" "$@" --target \
    "tidegate=$base,prefix=/app/bench/endpoint/data/v1,callers=$work/tokens.txt,ping=/health,ids=$ids"
