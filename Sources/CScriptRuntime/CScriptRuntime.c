#include "CScriptRuntime.h"

// A new file is one more array and one more row; a test compares the rows with the directory.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char file_bson[] = {
#embed "js/bson.js"
};
static const unsigned char file_bulk[] = {
#embed "js/bulk.js"
};
static const unsigned char file_ciphers[] = {
#embed "js/ciphers.js"
};
static const unsigned char file_console[] = {
#embed "js/console.js"
};
static const unsigned char file_context[] = {
#embed "js/context.js"
};
static const unsigned char file_core[] = {
#embed "js/core.js"
};
static const unsigned char file_crypto[] = {
#embed "js/crypto.js"
};
static const unsigned char file_cursor[] = {
#embed "js/cursor.js"
};
static const unsigned char file_ejson[] = {
#embed "js/ejson.js"
};
static const unsigned char file_endpoint[] = {
#embed "js/endpoint.js"
};
static const unsigned char file_equality[] = {
#embed "js/equality.js"
};
static const unsigned char file_failure[] = {
#embed "js/failure.js"
};
static const unsigned char file_http[] = {
#embed "js/http.js"
};
static const unsigned char file_jwt[] = {
#embed "js/jwt.js"
};
static const unsigned char file_long[] = {
#embed "js/long.js"
};
static const unsigned char file_mongodb[] = {
#embed "js/mongodb.js"
};
static const unsigned char file_node_assert[] = {
#embed "js/node/assert.js"
};
static const unsigned char file_node_buffer[] = {
#embed "js/node/buffer.js"
};
static const unsigned char file_node_crypto[] = {
#embed "js/node/crypto.js"
};
static const unsigned char file_node_events[] = {
#embed "js/node/events.js"
};
static const unsigned char file_node_path[] = {
#embed "js/node/path.js"
};
static const unsigned char file_node_querystring[] = {
#embed "js/node/querystring.js"
};
static const unsigned char file_node_string_decoder[] = {
#embed "js/node/string_decoder.js"
};
static const unsigned char file_node_timers[] = {
#embed "js/node/timers.js"
};
static const unsigned char file_node_url[] = {
#embed "js/node/url.js"
};
static const unsigned char file_node_util[] = {
#embed "js/node/util.js"
};
static const unsigned char file_node_zlib[] = {
#embed "js/node/zlib.js"
};
static const unsigned char file_process[] = {
#embed "js/process.js"
};
static const unsigned char file_realm[] = {
#embed "js/realm.js"
};
static const unsigned char file_require[] = {
#embed "js/require.js"
};
static const unsigned char file_session[] = {
#embed "js/session.js"
};
static const unsigned char file_signatures[] = {
#embed "js/signatures.js"
};
static const unsigned char file_utils[] = {
#embed "js/utils.js"
};
static const unsigned char file_wire[] = {
#embed "js/wire.js"
};

static const struct cscript_file files[] = {
    {"bson", file_bson, sizeof file_bson},
    {"bulk", file_bulk, sizeof file_bulk},
    {"ciphers", file_ciphers, sizeof file_ciphers},
    {"console", file_console, sizeof file_console},
    {"context", file_context, sizeof file_context},
    {"core", file_core, sizeof file_core},
    {"crypto", file_crypto, sizeof file_crypto},
    {"cursor", file_cursor, sizeof file_cursor},
    {"ejson", file_ejson, sizeof file_ejson},
    {"endpoint", file_endpoint, sizeof file_endpoint},
    {"equality", file_equality, sizeof file_equality},
    {"failure", file_failure, sizeof file_failure},
    {"http", file_http, sizeof file_http},
    {"jwt", file_jwt, sizeof file_jwt},
    {"long", file_long, sizeof file_long},
    {"mongodb", file_mongodb, sizeof file_mongodb},
    {"node/assert", file_node_assert, sizeof file_node_assert},
    {"node/buffer", file_node_buffer, sizeof file_node_buffer},
    {"node/crypto", file_node_crypto, sizeof file_node_crypto},
    {"node/events", file_node_events, sizeof file_node_events},
    {"node/path", file_node_path, sizeof file_node_path},
    {"node/querystring", file_node_querystring, sizeof file_node_querystring},
    {"node/string_decoder", file_node_string_decoder, sizeof file_node_string_decoder},
    {"node/timers", file_node_timers, sizeof file_node_timers},
    {"node/url", file_node_url, sizeof file_node_url},
    {"node/util", file_node_util, sizeof file_node_util},
    {"node/zlib", file_node_zlib, sizeof file_node_zlib},
    {"process", file_process, sizeof file_process},
    {"realm", file_realm, sizeof file_realm},
    {"require", file_require, sizeof file_require},
    {"session", file_session, sizeof file_session},
    {"signatures", file_signatures, sizeof file_signatures},
    {"utils", file_utils, sizeof file_utils},
    {"wire", file_wire, sizeof file_wire},
};
const size_t cscript_count = sizeof files / sizeof files[0];

const struct cscript_file *cscript_table(void) {
    return files;
}
