#!/usr/bin/env bash
# Functions, in one run: one without I/O behind an endpoint beside a bare Node handler of the same code, once with next
# to nothing to do and once with an order to price, one with a findOne beside the same findOne of the Data API, and how
# soon a new worker answers.
#   functions.sh [seconds] [rounds]      each figure is the median of the rounds
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
seconds=${1:-4} rounds=${2:-3}
start_server --requests-per-second-per-user 0 --requests-per-second-per-address 0
register_owners
login_owners
token=$(head -1 "$work/tokens.txt" | cut -f3)
owner=$(head -1 "$work/callers.txt" | cut -f2)

code='() => ({ ok: true, n: [1, 2, 3].map((x) => x * 2).reduce((a, b) => a + b, 0) })'
order='() => {
    const lines = Array.from({ length: 400 }, (_, i) => ({
        sku: "sku-" + (i * 7919) % 400, price: (i * 31) % 97 + 0.99, quantity: i % 5 + 1, kind: "kind-" + i % 7,
    }));
    lines.sort((a, b) => b.price - a.price || (a.sku < b.sku ? -1 : 1));
    const totals = {};
    for (const line of lines) totals[line.kind] = (totals[line.kind] ?? 0) + line.price * line.quantity;
    return { totals, best: lines.slice(0, 3).map((line) => line.sku) };
}'
find='() => context.services.get("mongodb-atlas").db("bench").collection("tasks").findOne({ _id: "one" })'
look="async () => (await ${find#*=> }).text"
psql -qAtX -v ON_ERROR_STOP=1 -d tidegate -v look="exports = $look;" -v plain="exports = $code;" -v order="exports = $order;" -v one="exports = $find;" -v owner="$owner" \
    >/dev/null <<'SQL'
select tidegate.set_function('bench', 'plain', :'plain', '{"run_as_system": true}');
select tidegate.set_function('bench', 'order', :'order', '{"run_as_system": true}');
select tidegate.set_function('bench', 'one', :'one', '{}');
select tidegate.set_function('bench', 'look', :'look', '{}');
select tidegate.set_endpoint('bench', '/plain', 'GET',
    '{"function_name": "plain", "respond_result": true, "return_type": "JSON"}');
select tidegate.set_endpoint('bench', '/order', 'GET',
    '{"function_name": "order", "respond_result": true, "return_type": "JSON"}');
select tidegate.set_endpoint('bench', '/' || name, 'POST',
    jsonb_build_object('function_name', name, 'respond_result', true, 'return_type', 'JSON'))
from unnest(array['one', 'look']) name;
select tidegate.ensure_collection('bench', 'tasks');
insert into bench.tasks (_id, doc) values
    (tidegate.typed_key('"one"'), jsonb_build_object('_id', 'one', 'owner_id', :'owner', 'text', 'x'));
SQL
sleep 1

cat >"$work/bare.js" <<JS
const handlers = { '/plain': $code, '/order': $order };
require('http').createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(handlers[request.url]()));
}).listen($((port + 1)), '127.0.0.1');
JS
node "$work/bare.js" &
node=$!
trap 'kill $node 2>/dev/null || true; finish' EXIT
sleep 1

script() { # name body
    cat >"$work/$1.lua" <<LUA
wrk.method, wrk.body = "POST", '$2'
wrk.headers["Authorization"] = "Bearer $token"
wrk.headers["Content-Type"] = "application/json"
LUA
}
script one ''
script findOne '{"dataSource":"mongodb-atlas","database":"bench","collection":"tasks","filter":{"_id":"one"}}'

once() { # url [wrk's options]
    local url=$1
    shift
    wrk -t1 -c16 -d"${seconds}s" "$@" "$url" |
        awk '/Non-2xx/ { bad = 1 } /Requests\/sec/ { rate = $2 } END { print bad ? "failed" : int(rate) }'
}
endpoint=$base/app/bench/endpoint
measure() { # the end of the names of the files of rates
    for name in plain order; do
        once "$endpoint/$name" >>"$work/$name.$1"
        once "http://127.0.0.1:$((port + 1))/$name" >>"$work/node-$name.$1"
    done
    for name in one look; do once "$endpoint/$name" -s "$work/one.lua" >>"$work/$name.$1"; done
    once "$endpoint/data/v1/action/findOne" -s "$work/findOne.lua" >>"$work/findOne.$1"
}
# Both engines compile anew what runs often, each worker for itself.
measure warming
for round in $(seq "$rounds"); do measure rates; done
median() { sort -n "$work/$1.rates" | sed -n "$(((rounds + 1) / 2))p"; }
ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a / b }'; }
printf '%-34s %8s requests/s\n' "function without I/O" "$(median plain)" \
    "bare Node handler" "$(median node-plain)" "function that prices an order" "$(median order)" \
    "bare Node handler of the order" "$(median node-order)" \
    "function with one findOne" "$(median one)" "function that looks at its document" "$(median look)" \
    "findOne of the Data API" "$(median findOne)"
printf '%-34s %8s\n' "function : Node" "$(ratio "$(median plain)" "$(median node-plain)")" \
    "order's function : Node" "$(ratio "$(median order)" "$(median node-order)")" \
    "function with findOne : findOne" "$(ratio "$(median one)" "$(median findOne)")" \
    "one that looks at it : findOne" "$(ratio "$(median look)" "$(median findOne)")"

cat >"$work/engine.c" <<'C'
#include <JavaScriptCore/JavaScript.h>
int main(void) {
    JSGlobalContextRef context = JSGlobalContextCreate(0);
    JSStringRef text = JSStringCreateWithUTF8CString("1 + 1");
    return JSValueToNumber(context, JSEvaluateScript(context, text, 0, 0, 1, 0), 0) != 2;
}
C
# shellcheck disable=SC2046
cc -O2 -o "$work/engine" "$work/engine.c" $(pkg-config --cflags --libs javascriptcoregtk-4.1)
python3 "$here/cold_worker.py" "$bin" "$work/engine"
