#!/usr/bin/env bash
# What misbehaving functions do to others: a fixed, modest load of findOne on the Data API, alone, and then while each
# fault goes on. Prints p99 of those others, and what the callers of the faulty functions get.
#   [AUTOGROUP=1] faults.sh [seconds]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
seconds=${1:-5}
# As README advises for a server: each of PostgreSQL's processes is a session, so that the kernel's autogroups weigh it
# against everything else that this script starts. AUTOGROUP=1 leaves them as they are.
groups=/proc/sys/kernel/sched_autogroup_enabled
if [ -z "${AUTOGROUP:-}" ] && [ -w "$groups" ] && [ "$(cat "$groups")" = 1 ]; then
    trap 'echo 1 >"$groups"; finish' EXIT
    echo 0 >"$groups"
    echo "kernel.sched_autogroup_enabled is 0 for this run"
fi
# Room for more connections and requests than callers have, so that the others are not turned away.
start_server --function-timeout 3 --requests-per-second-per-user 0 --requests-per-second-per-address 0 --max-connections 12000 --max-concurrent-requests 12000 --max-concurrent-functions 10000
register_owners
login_owners
token=$(head -1 "$work/tokens.txt" | cut -f3)
owner=$(head -1 "$work/callers.txt" | cut -f2)
fault() { # name source
    psql -qAtX -v ON_ERROR_STOP=1 -d tidegate -v name="$1" -v source="$2" >/dev/null <<'SQL'
select tidegate.set_function('bench', :'name', :'source', '{"run_as_system": true}');
select tidegate.set_endpoint('bench', '/' || :'name', 'GET',
    jsonb_build_object('function_name', :'name', 'respond_result', true, 'return_type', 'JSON'));
SQL
}
fault loop 'exports = () => { for (;;); }'
fault bomb 'exports = () => { const a = []; for (;;) a.push(new Array(1000).fill({})); }'
fault crash 'exports = () => { function f(n) { return n === 0 ? 0 : f(n - 1) } for (;;) { try { f(1e9) } catch {} new Uint8Array(1 << 28).fill(1) } }'
fault never 'exports = () => new Promise((done) => setTimeout(done, 1e8));'
fault stdout 'exports = () => { for (let i = 0; i < 20000; i++) console.log("x".repeat(1000)); return 1; };'
# Needs the engine: what does not, needs no worker, and waits for none.
fault plain 'exports = () => Math.max(0, 1);'
psql -qAtX -d tidegate >/dev/null <<SQL
select tidegate.ensure_collection('bench', 'tasks');
insert into bench.tasks (_id, doc) values
    (tidegate.typed_key('"one"'), jsonb_build_object('_id', 'one', 'owner_id', '$owner', 'text', 'x'));
SQL
sleep 1
endpoint=$base/app/bench/endpoint
others=(python3 "$here/steady.py" "$endpoint/data/v1/action/findOne" "$token" "$seconds")
printf '%-28s %s\n' "nothing else" "$("${others[@]}")"
during() { # title, then a command that makes the fault go on
    local title=$1
    shift
    "$@" >"$work/fault.out" 2>&1 &
    local faulty=$!
    sleep 1
    printf '%-28s %s\n' "$title" "$("${others[@]}")"
    wait "$faulty" 2>/dev/null || true
    if [ -s "$work/fault.out" ]; then printf '%30s%s\n' "" "$(tail -1 "$work/fault.out")"; fi
}
callers() { # name count: so many callers ask again and again; tells what they got
    python3 "$here/callers.py" "$endpoint/$1" "$2" "$((seconds + 1))"
}
during "a busy loop" callers loop 1
during "an allocation bomb" callers bomb 1
during "deep recursion and memory" callers crash 1
during "a promise that never settles" callers never 4
during "20,000 lines of output" callers stdout 1
during "10,000 calls at once" callers plain 10000
# A worker that somebody ends stands for an engine that crashes.
crashes() { for _ in $(seq $((seconds * 2))); do pkill -ABRT -P "$server" || true; sleep 0.5; done; }
during "workers that crash" crashes
kill "$server"
wait "$server" 2>/dev/null || true
server=
echo "processes left: $(pgrep -c -f "$bin" || true)"
