#!/usr/bin/env bash
# The same requests on 10,000, 100,000 and 1,000,000 documents, in one run: rates should not fall.
#   growth.sh [seconds] [rounds]      each figure is the median of the rounds
# Eight callers own 100 documents each, spread over the whole table; all others belong to others.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
seconds=${1:-3} rounds=${2:-3}
start_server
register_owners
cut -f2 "$work/callers.txt" >"$work/users.txt"

fill() { # documents: as if inserted one after the other, by so many owners that each has 100
    psql -qX -v ON_ERROR_STOP=1 -d tidegate -v count="$1" -v users="$(paste -sd, "$work/users.txt")" <<'SQL'
select tidegate.ensure_collection('bench', 'tasks') \g /dev/null
truncate bench.tasks;
insert into bench.tasks (_id, doc)
select id, jsonb_build_object('_id', id, 'owner_id',
        coalesce((string_to_array(:'users', ','))[1 + n % (:count / 100)], 'other-' || n % (:count / 100)),
        'text', 'a line of text for document ' || n, 'priority', n % 5, 'tags', jsonb_build_array('a', 'b'),
        'status', (array['open', 'done', 'done'])[1 + n / (:count / 100) % 3], 'number', 0)
from (select n, md5(n::text) as id from generate_series(0, :count - 1) as n) as numbers;
create index if not exists bench_owner on bench.tasks (owner_id, _id);
vacuum analyze bench.tasks;
checkpoint;
SQL
}

request() { # work body: a wrk script whose requests go round the callers and their documents
    cat >"$work/$1.lua" <<LUA
local callers, requests, number = {}, {}, 0
for line in io.lines("$work/tokens.txt") do
    local _, user, token = line:match("(%S+)%s+(%S+)%s+(%S+)")
    callers[#callers + 1] = {user, token}
end
function init()
    for index = 1, 800 do
        local caller = callers[index % 8 + 1]
        local id = ids[caller[1]] and ids[caller[1]][math.floor((index - 1) / 8) + 1]
        local body = ([[$2]]):gsub("@ID", id)
        requests[index] = wrk.format("POST", nil,
            {Authorization = "Bearer " .. caller[2], ["Content-Type"] = "application/json"}, body)
    end
end
ids = {}
for line in io.lines("$work/ids.txt") do
    local user, id = line:match("(%S+)%s+(%S+)")
    ids[user] = ids[user] or {}
    table.insert(ids[user], id)
end
function request() number = number % 800 + 1; return requests[number] end
function response(status) if status ~= 200 and status ~= 201 then print("status " .. status) os.exit(1) end end
LUA
}

rate() { # work action
    for _ in $(seq "$rounds"); do
        wrk -t1 -c64 -d"${seconds}s" -s "$work/$1.lua" "$base/app/bench/endpoint/data/v1/action/$2" |
            awk '/Non-2xx/ { bad = 1 } /Requests\/sec/ { rate = $2 } END { print bad ? "failed" : int(rate) }'
    done | sort -n | sed -n "$(((rounds + 1) / 2))p"
}

target='"dataSource":"mongodb-atlas","database":"bench","collection":"tasks"'
printf '%10s %10s %10s %12s\n' documents findOne find20 updateOne
for count in 10000 100000 1000000; do
    fill "$count"
    login_owners
    psql -qXAt -F ' ' -d tidegate -c "select owner_id, _id from bench.tasks where owner_id not like 'other-%'" \
        >"$work/ids.txt"
    request findOne "{$target,\"filter\":{\"_id\":\"@ID\"}}"
    request find20 "{$target,\"filter\":{\"status\":\"done\"},\"sort\":{\"_id\":1},\"limit\":20}"
    request updateOne "{$target,\"filter\":{\"_id\":\"@ID\"},\"update\":{\"\$inc\":{\"number\":1}}}"
    rate findOne findOne >/dev/null # warms caches
    printf '%10d %10s %10s %12s\n' "$count" "$(rate findOne findOne)" "$(rate find20 find)" "$(rate updateOne updateOne)"
done
