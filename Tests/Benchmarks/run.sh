#!/usr/bin/env bash
# Measures tidegate beside the peers of the kit in ../shared/bench, in one run, and prints its table.
# What is given to this script goes to the kit's run.sh: --seconds 3 --workloads findOne,find20 …
# BENCH_KIT names another place of the kit; BENCH_TYPED=1 stores ObjectIds and Dates; BENCH_STATUS_INDEX= leaves out the
# index that the aggregate would have had in the hosted service, {owner_id: 1, status: 1}, which the peers have not.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"
start_server
register_owners

typed=() ids=string
if [ -n "${BENCH_TYPED:-}" ]; then typed=(--typed) ids=oid; fi
python3 "$kit/gen.py" ejson --callers "$work/callers.txt" "${typed[@]}" >"$work/documents.ejson"
"$bin" import-documents --app bench --source mongodb-atlas --database bench --collection tasks \
    "$work/documents.ejson" 2>&1 | tail -1
# What an operator would make for "the caller's documents, in order".
psql -qX -d tidegate -c 'create index on bench.tasks (owner_id, _id)'
if [ -n "${BENCH_STATUS_INDEX-1}" ]; then
    psql -qX -d tidegate -v ON_ERROR_STOP=1 -o /dev/null \
        -c "select tidegate.create_index('bench', 'bench', 'tasks', '{\"owner_id\": 1, \"status\": 1}')"
fi
psql -qX -d tidegate -c 'vacuum analyze bench.tasks'
login_owners

"$kit/run.sh" "$@" --target \
    "tidegate=$base,prefix=/app/bench/endpoint/data/v1,callers=$work/tokens.txt,ping=/health,ids=$ids"
