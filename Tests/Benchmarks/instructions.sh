#!/usr/bin/env bash
# Counts the instructions that one request costs between its bytes and its statement, and back (Tests/HotPath):
# the same number on every run of the same build, whatever else the machine does.
# Two lengths are run and subtracted, so that start-up does not count.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
swift build -c release --product hot-path >/dev/null
bin=$(mktemp)
trap 'rm -f "$bin"' EXIT
# valgrind 3.19 gives up on the debug sections that Swift writes.
strip --strip-debug -o "$bin" "$(swift build -c release --show-bin-path)/hot-path"
count() { # work rounds
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$bin" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : //p'
}
for work in ${*:-find-one find-20 update-one insert-one resolve}; do
    few=$(count "$work" 200)
    many=$(count "$work" 1200)
    printf '%-12s %8d instructions\n' "$work" $(((many - few) / 1000))
done
