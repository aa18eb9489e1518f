#!/usr/bin/env bash
# What a flood of logins leaves to others: findOne on the Data API as fast as it goes, alone, and while many callers
# log in with a wrong password again and again, by the clients' route. The limits on failed logins are off, so that
# every login is worked on. Prints both rates and their ratio.
#   logins.sh [seconds] [callers of logins]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
seconds=${1:-5}
flood=${2:-64}
start_server --requests-per-second-per-user 0 --requests-per-second-per-address 0 \
    --failed-logins-per-minute-per-address 0 --failed-logins-per-minute-per-account 0
register_owners
login_owners
token=$(head -1 "$work/tokens.txt" | cut -f3)
owner=$(head -1 "$work/callers.txt" | cut -f2)
psql -qAtX -v ON_ERROR_STOP=1 -d tidegate >/dev/null <<SQL
select tidegate.ensure_collection('bench', 'tasks');
insert into bench.tasks (_id, doc) values
    (tidegate.typed_key('"one"'), jsonb_build_object('_id', 'one', 'owner_id', '$owner', 'text', 'x'));
SQL
script() { # file body [header]
    printf 'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\nwrk.body = [[%s]]\n%s\n' \
        "$2" "${3:-}" >"$work/$1.lua"
}
script find '{"dataSource":"mongodb-atlas","database":"bench","collection":"tasks","filter":{"_id":"one"}}' \
    "wrk.headers[\"Authorization\"] = \"Bearer $token\""
script login '{"username":"user-0001@example.com","password":"wrong horse"}'
load() { # script path connections seconds
    wrk -t1 -c"$3" -d"$4" --timeout 30 --latency -s "$work/$1.lua" "$base$2" >"$work/$1.out"
    awk -v name="$1" '/Requests\/sec/ {rate = $2} /99%/ {p99 = $2} /Non-2xx/ {other = $NF} /requests in/ {all = $1}
        END {printf "%-6s %8.1f/s  p99 %s  %d of %d not 2xx\n", name, rate, p99, other, all}' "$work/$1.out"
}
rate() { awk '/Requests\/sec/ {print $2}' "$work/find.out"; }
find=/app/bench/endpoint/data/v1/action/findOne
load find $find 16 2 >/dev/null
echo "alone:  $(load find $find 16 "$seconds")"
alone=$(rate)
load login /api/client/v2.0/app/bench/auth/providers/local-userpass/login "$flood" "$((seconds + 3))" \
    >"$work/flood.txt" &
flooding=$!
sleep 2
echo "beside: $(load find $find 16 "$seconds")"
beside=$(rate)
wait "$flooding"
echo "logins: $(cat "$work/flood.txt")"
awk -v a="$alone" -v b="$beside" 'BEGIN {printf "the data path keeps %.2f of its rate\n", b / a}'
