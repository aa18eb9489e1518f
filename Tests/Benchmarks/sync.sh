#!/usr/bin/env bash
# Device Sync, in one run: bootstraps, large and small transactions, idle sessions, and a write that is handed on to
# many of those connected, beside a bare websocket server that hands on a message to as many.
#   sync.sh [connected] [interested] [objects] [rounds]
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
connected=${1:-10000} interested=${2:-1000} objects=${3:-50000} rounds=${4:-3}
ulimit -n 20000
app=$here/sync-app
start_server --requests-per-second-per-user 0 --requests-per-second-per-address 0 --max-connections 20000
register_owners
login_owners
read -r _ user token < <(sed -n 1p "$work/tokens.txt")
read -r _ stranger other < <(sed -n 2p "$work/tokens.txt")

cat >"$work/bare.js" <<JS
const { WebSocketServer } = require('/usr/share/nodejs/ws');
const http = require('http').createServer((request, response) => {
  for (const socket of wanted) socket.send('x'.repeat(200));
  response.end('{}');
});
const wanted = new Set();
new WebSocketServer({ server: http }).on('connection', (socket, request) => {
  if (request.url === '/wanted') wanted.add(socket);
});
http.listen($((port + 1)), '127.0.0.1');
JS
node "$work/bare.js" &
node=$!
trap 'kill $node 2>/dev/null || true; finish' EXIT
sleep 1
python3 "$here/broadcast.py" 127.0.0.1 $((port + 1)) "$connected" "$interested"
python3 "$here/sync.py" "$base" "$token" "$user" "$other" "$stranger" "$server" "$connected" "$interested" "$objects" \
    "$rounds"
