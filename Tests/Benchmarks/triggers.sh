#!/usr/bin/env bash
# Changes through a database trigger while the gateway is killed (SIGKILL) twice and the changes go on: each must be
# handled at least once, and those of a document in their order. Fails when one is not.
#   triggers.sh [documents] [changes of each]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
documents=${1:-1000} changes=${2:-100}
start_server
handle='async (change) => {
    const n = change.operationType === "insert" ? 1 : change.updateDescription.updatedFields.n;
    await context.services.get("mongodb-atlas").db("bench").collection("handled")
        .updateOne({ _id: change.documentKey._id }, { $push: { seen: n } }, { upsert: true });
}'
ask() { psql -qAtX -v ON_ERROR_STOP=1 -d tidegate "$@"; }
ask -v handle="exports = $handle;" >/dev/null <<'SQL'
select tidegate.ensure_collection('bench', 'ticks'), tidegate.ensure_collection('bench', 'handled');
select tidegate.set_function('bench', 'handle', :'handle', '{"run_as_system": true}');
select tidegate.set_trigger('bench', 'ticks', '{"type": "DATABASE", "function_name": "handle", "config": {
    "service_name": "mongodb-atlas", "database": "bench", "collection": "ticks",
    "operation_types": ["INSERT", "UPDATE"], "unordered": false}}');
SQL
# What changes before the collection is logged is no event.
until [ "$(ask -c "select 'trigger' = any (listeners) from tidegate.collections where collection = 'ticks'")" = t ]; do
    sleep 0.2
done

begin=$(date +%s.%N)
{
    ask -c "insert into bench.ticks (_id, doc) select tidegate.typed_key(to_jsonb(i)), jsonb_build_object('_id', i, 'n', 1)
            from generate_series(1, $documents) as i" >/dev/null
    for n in $(seq 2 "$changes"); do
        ask -c "update bench.ticks set doc = jsonb_set(doc, '{n}', '$n')" >/dev/null
    done
} &
writer=$!
handled() { ask -c "select coalesce(sum(jsonb_array_length(doc->'seen')), 0) from bench.handled"; }
all=$((documents * changes))
wait_for() { # so many handled
    local before=-1 now still=0
    while now=$(handled) && [ "$now" -lt "$1" ]; do
        [ "$now" = "$before" ] && still=$((still + 1)) || still=0
        [ "$still" -lt 120 ] || { echo "stands still at $now of $all" >&2; exit 1; }
        before=$now
        sleep 0.5
    done
}
for share in 3 6; do
    wait_for $((all * share / 10))
    kill -KILL "$server"
    wait "$server" 2>/dev/null || true
    echo "killed after $(handled) handled"
    sleep 1
    serve
done
wait "$writer"
wait_for "$all"
while before=$(handled) && sleep 2 && [ "$(handled)" != "$before" ]; do :; done
seconds=$(awk -v begin="$begin" -v now="$(date +%s.%N)" 'BEGIN { printf "%.0f", now - begin }')

# A change that is handled again comes after what was handled before; one that is new follows the last new one.
ask -v documents="$documents" -v changes="$changes" -v seconds="$seconds" <<'SQL' | tee "$work/result"
with seen as (
    select _id, place, n::int, coalesce(max(n::int) over (partition by _id order by place
        rows between unbounded preceding and 1 preceding), 0) as before
    from bench.handled, jsonb_array_elements_text(doc->'seen') with ordinality as one (n, place)
)
select format('%s changes in %s s: never handled %s, out of order %s, handled again %s',
    :documents * :changes, :'seconds',
    :documents * :changes - count(distinct (_id, n)), count(*) filter (where n > before + 1),
    count(*) filter (where n <= before))
from seen;
SQL
grep -q 'never handled 0, out of order 0,' "$work/result"
