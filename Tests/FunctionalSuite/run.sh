#!/usr/bin/env bash
# Runs folders of the public suite documentdb/functional-tests, unmodified, against tidegate, and prints passes by folder.
#
#   FUNCTIONAL_TESTS=~/functional-tests Tests/FunctionalSuite/run.sh [--failures] FOLDER... [-- options of pytest]
#
# FOLDER lies below documentdb_tests/compatibility/tests of that checkout, such as core/operator/expressions/date; a
# file or file::test will do. Without one: core/operator.
#
# TIDEGATE_URL           a running tidegate whose app is the one in app/, such as
#                        http://127.0.0.1:8080/app/suite/endpoint/data/v1; without it one is started on a new database
# TIDEGATE_DATABASE_URL  its database, for collections and indexes, which are administered in SQL
# TIDEGATE               the program to start, else the build's; debug builds are much slower
# SUITE_VENV             a Python environment, made when it is not there: pymongo, pytest, pytest-xdist, -timeout, pyyaml
# SUITE_WORKERS          workers of pytest, 2 by default
# SUITE_DEPTH            levels of folders in the table, 4 by default
# SUITE_OUT              where results.jsonl stays: a line for each test with its outcome and the end of its output
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
suite=${FUNCTIONAL_TESTS:?must name a checkout of documentdb/functional-tests}
venv=${SUITE_VENV:-$root/.tidegate/suite-venv}
export PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1

failures=() folders=()
while [ $# -gt 0 ]; do
    case $1 in
        --failures) failures=(--failures) ;;
        --) shift; break ;;
        *) folders+=("documentdb_tests/compatibility/tests/$1") ;;
    esac
    shift
done
[ ${#folders[@]} -gt 0 ] || folders=(documentdb_tests/compatibility/tests/core/operator)

if [ ! -x "$venv/bin/pytest" ]; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install -q pymongo pytest pytest-xdist pytest-timeout pyyaml
fi

work=$(mktemp -d)
out=${SUITE_OUT:-$work}
mkdir -p "$out"
chmod 755 "$work"
started=()
finish() {
    for process in "${started[@]}"; do
        kill "$process" 2>/dev/null || true
        wait "$process" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap finish EXIT

await() { # file pattern process: waits until the file has a line like that, and prints what matched
    for _ in $(seq 600); do
        grep -om1 -E "$2" "$1" 2>/dev/null && return
        kill -0 "$3" 2>/dev/null || break
        sleep 0.1
    done
    cat "$1" >&2
    exit 1
}

if [ -z "${TIDEGATE_URL:-}" ]; then
    program=${TIDEGATE:-$root/.build/debug/tidegate}
    "$program" dev --app "$here/app" --data-dir "$work/data" --port 0 --https-port 0 --admin-port off \
        --max-body-bytes 67108864 --max-values 10000000 --max-array-length 2000000 --max-list-members 200000 \
        --max-pattern-bytes 32764 --max-projected-fields 100000 --max-key-bytes 65536 \
        --log-writes false --log-level warning >"$work/tidegate.log" 2>&1 &
    started+=($!)
    origin=$(await "$work/tidegate.log" 'http://127\.0\.0\.1:[0-9]+' $!)
    TIDEGATE_URL=$origin/app/suite/endpoint/data/v1
    TIDEGATE_DATABASE_URL=$(sed -n 's/^ *SQL *psql "\(.*\)"$/\1/p' "$work/tidegate.log")
fi

: >"$out/results.jsonl"
: >"$out/not-applicable.txt"
"$venv/bin/python" "$here/adapter.py" --url "$TIDEGATE_URL" --not-applicable "$out/not-applicable.txt" \
    ${TIDEGATE_DATABASE_URL:+--database-url "$TIDEGATE_DATABASE_URL"} >"$work/adapter.log" 2>"$out/adapter.err" &
started+=($!)
connection=$(await "$work/adapter.log" 'mongodb://.*' $!)

# By the environment, since the suite starts a second pytest for the tests that must run alone.
export SUITE_RESULTS=$out/results.jsonl PYTEST_ADDOPTS="-p results -p no:cacheprovider"
# Tests fail; the table says which.
(cd "$suite" && "$venv/bin/pytest" -q \
    -n "${SUITE_WORKERS:-2}" --connection-string "$connection" --engine-name mongodb \
    --tb=short --no-header --color=no --timeout 60 "${folders[@]}" "$@" >"$out/pytest.log" 2>&1) || true
"$venv/bin/python" "$here/results.py" "$out/results.jsonl" "$out/not-applicable.txt" "${failures[@]}"
