#!/usr/bin/env bash
# Runs realm-web's own integration tests, unmodified, against tidegate, and prints how many pass and why others do not.
#
#   REALM_WEB_BUILT=~/realm-web-built Tests/RealmWeb/run.sh
#
# REALM_WEB_BUILT  what a checkout of realm/realm-js was built to; README.md says how it is laid out
# MOCHA_TIMEOUT    milliseconds that a test may take (10000); a debug build on a busy machine wants more
# BAAS_BASE_URL    a running tidegate with the app in app/; without it one is started on a new database
# TIDEGATE         the program to start, else the debug build's; hashing passwords, that one may take longer than the
#                  tests' ten seconds
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
built=${REALM_WEB_BUILT:?must name a folder with tests/*.test.js and node_modules/realm-web}
built=$(cd "$built" && pwd)
command -v node >/dev/null || { echo "node is missing: apt-get install nodejs mocha chai" >&2; exit 1; }
# Where Debian keeps mocha and chai.
export NODE_PATH=${NODE_PATH:-/usr/share/nodejs}

if [ -z "${BAAS_BASE_URL:-}" ]; then
    work=$(mktemp -d)
    chmod 755 "$work"
    "${TIDEGATE:-$root/.build/debug/tidegate}" dev --app "$here/app" --data-dir "$work/data" \
        --port 0 --https-port 0 --admin-port off --log-level warning >"$work/tidegate.log" 2>&1 &
    process=$!
    finish() {
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
        rm -rf "$work"
    }
    trap finish EXIT
    for _ in $(seq 600); do
        BAAS_BASE_URL=$(grep -om1 -E 'http://127\.0\.0\.1:[0-9]+' "$work/tidegate.log" || true)
        [ -z "$BAAS_BASE_URL" ] || break
        kill -0 "$process" 2>/dev/null || { cat "$work/tidegate.log" >&2; exit 1; }
        sleep 0.1
    done
    database=$(sed -n 's/^ *SQL *psql "\(.*\)"$/\1/p' "$work/tidegate.log")
    psql -X -q -d "$database" -o /dev/null \
        -c "select tidegate.set_secret('realm-web-tests', 'jwt_key', '2k66QfKeTRk3MdZ5vpDYgZCu2k66QfKeTRk3MdZ5vpDYgZCu')"
fi
node "$here/runner.cjs" "$built" "$BAAS_BASE_URL" realm-web-tests
