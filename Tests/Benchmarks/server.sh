# shellcheck shell=bash
# Sourced by the benchmarks beside it: a release build of tidegate on the kit's private PostgreSQL, with the app
# of ./app and its users. Sets bin, base, work and ids of callers; ends everything when the script ends.
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

start_server() { # tidegate on an empty database, with more options if any
    "$kit/cluster.sh" start
    dropdb --if-exists tidegate
    createdb tidegate
    "$bin" migrate >"$work/migrate.log"
    "$bin" import "${app:-$here/app}" >"$work/import.log"
    serve "$@"
}
serve() { # on the database as it is, with more options if any
    "$bin" serve --port "$port" --admin-port off --log-level warning "$@" >>"$work/server.log" 2>&1 &
    server=$!
    for _ in $(seq 100); do
        curl -fsS "$base/ready" >/dev/null 2>&1 && return
        kill -0 "$server" 2>/dev/null || break
        sleep 0.1
    done
    cat "$work/server.log" >&2
    exit 1
}

owners=$(seq -f 'user-%04.0f' 0 7)
password=$(head -c 18 /dev/urandom | base64)
login() { # owner
    post /app/bench/auth/providers/local-userpass/login \
        "{\"username\":\"$1@example.com\",\"password\":\"$password\"}"
}
register_owners() { # writes owner and user id to $work/callers.txt
    for owner in $owners; do
        post /app/bench/auth/providers/local-userpass/register \
            "{\"email\":\"$owner@example.com\",\"password\":\"$password\"}"
        printf '%s\t%s\n' "$owner" "$(login "$owner" | member user_id)" >>"$work/callers.txt"
    done
}
login_owners() { # adds fresh tokens: $work/tokens.txt
    while read -r owner user; do
        printf '%s\t%s\t%s\n' "$owner" "$user" "$(login "$owner" | member access_token)"
    done <"$work/callers.txt" >"$work/tokens.txt"
}
