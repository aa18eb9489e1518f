#!/bin/sh
# Builds the client program against a checkout of realm-core that has been built with sync.
#
#   REALM_CORE        the checkout (14.14.0)
#   REALM_CORE_BUILD  its build directory ($REALM_CORE/build), with the targets Storage, Sync, ObjectStore, QueryParser
#   OUTPUT            where the program goes (./realm-core-client)
set -eu

: "${REALM_CORE:?names no checkout of realm-core}"
build=${REALM_CORE_BUILD:-$REALM_CORE/build}
here=$(cd "$(dirname "$0")" && pwd)
output=${OUTPUT:-realm-core-client}
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

for file in HTTPTransport Shop Device main; do
    ${CXX:-c++} -std=c++17 -O1 -fPIC -Wall -Wextra -DNDEBUG -DREALM_ENABLE_SYNC=1 -DREALM_APP_SERVICES=1 \
        -DREALM_HAVE_EPOLL=1 -I"$REALM_CORE/src" -I"$build/src" -I"$REALM_CORE/external/json" \
        -c "$here/$file.cpp" -o "$objects/$file.o"
done

${CXX:-c++} -o "$output" "$objects"/*.o \
    "$build/src/realm/object-store/librealm-object-store.a" "$build/src/realm/sync/librealm-sync.a" \
    "$build/src/realm/parser/librealm-parser.a" "$build/src/realm/librealm.a" \
    $(find "$build" -name 'libs2*.a' -o -name 'libbid*.a') -lcurl -lssl -lcrypto -lz -lpthread
