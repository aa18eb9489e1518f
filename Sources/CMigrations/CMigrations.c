#include "CMigrations.h"

// A new migration is one more array and one more row; a test compares the rows with the directory.
// SwiftPM's `embedInCode` writes every byte as a literal of Swift, which takes minutes to compile.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const unsigned char apps_0001[] = {
#embed "../../migrations/0001_apps.sql"
};
static const unsigned char collections_0002[] = {
#embed "../../migrations/0002_collections.sql"
};
static const unsigned char accounts_0003[] = {
#embed "../../migrations/0003_accounts.sql"
};
static const unsigned char administration_0004[] = {
#embed "../../migrations/0004_administration.sql"
};
static const unsigned char logs_0005[] = {
#embed "../../migrations/0005_logs.sql"
};
static const unsigned char hidden_fields_0007[] = {
#embed "../../migrations/0007_hidden_fields.sql"
};
static const unsigned char indexes_0008[] = {
#embed "../../migrations/0008_indexes.sql"
};
static const unsigned char mapped_tables_0009[] = {
#embed "../../migrations/0009_mapped_tables.sql"
};
static const unsigned char accounts_0010[] = {
#embed "../../migrations/0010_accounts.sql"
};
static const unsigned char watch_0011[] = {
#embed "../../migrations/0011_watch.sql"
};
static const unsigned char partial_indexes_0012[] = {
#embed "../../migrations/0012_partial_indexes.sql"
};
static const unsigned char typed_reads_0013[] = {
#embed "../../migrations/0013_typed_reads.sql"
};
static const unsigned char functions_0014[] = {
#embed "../../migrations/0014_functions.sql"
};
static const unsigned char outbound_0015[] = {
#embed "../../migrations/0015_outbound.sql"
};
static const unsigned char text_indexes_0016[] = {
#embed "../../migrations/0016_text_indexes.sql"
};
static const unsigned char triggers_0017[] = {
#embed "../../migrations/0017_triggers.sql"
};
static const unsigned char mixed_indexes_0018[] = {
#embed "../../migrations/0018_mixed_indexes.sql"
};
static const unsigned char account_limits_0020[] = {
#embed "../../migrations/0020_account_limits.sql"
};
static const unsigned char sync_0021[] = {
#embed "../../migrations/0021_sync.sql"
};
static const unsigned char sync_lifecycle_0022[] = {
#embed "../../migrations/0022_sync_lifecycle.sql"
};
static const unsigned char idempotency_0024[] = {
#embed "../../migrations/0024_idempotency.sql"
};
static const unsigned char names_0025[] = {
#embed "../../migrations/0025_names.sql"
};
static const unsigned char sync_lookups_0027[] = {
#embed "../../migrations/0027_sync_lookups.sql"
};
static const unsigned char sync_modes_0028[] = {
#embed "../../migrations/0028_sync_modes.sql"
};
static const unsigned char unsynced_documents_0029[] = {
#embed "../../migrations/0029_unsynced_documents.sql"
};
static const unsigned char schema_versions_0030[] = {
#embed "../../migrations/0030_schema_versions.sql"
};
static const unsigned char breaking_schemas_0031[] = {
#embed "../../migrations/0031_breaking_schemas.sql"
};
static const unsigned char checked_functions_0032[] = {
#embed "../../migrations/0032_checked_functions.sql"
};
static const unsigned char slow_requests_0033[] = {
#embed "../../migrations/0033_slow_requests.sql"
};
static const unsigned char parsed_sources_0034[] = {
#embed "../../migrations/0034_parsed_sources.sql"
};

static const struct cmigration cmigrations[] = {
    {"0001_apps", apps_0001, sizeof apps_0001},
    {"0002_collections", collections_0002, sizeof collections_0002},
    {"0003_accounts", accounts_0003, sizeof accounts_0003},
    {"0004_administration", administration_0004, sizeof administration_0004},
    {"0005_logs", logs_0005, sizeof logs_0005},
    {"0007_hidden_fields", hidden_fields_0007, sizeof hidden_fields_0007},
    {"0008_indexes", indexes_0008, sizeof indexes_0008},
    {"0009_mapped_tables", mapped_tables_0009, sizeof mapped_tables_0009},
    {"0010_accounts", accounts_0010, sizeof accounts_0010},
    {"0011_watch", watch_0011, sizeof watch_0011},
    {"0012_partial_indexes", partial_indexes_0012, sizeof partial_indexes_0012},
    {"0013_typed_reads", typed_reads_0013, sizeof typed_reads_0013},
    {"0014_functions", functions_0014, sizeof functions_0014},
    {"0015_outbound", outbound_0015, sizeof outbound_0015},
    {"0016_text_indexes", text_indexes_0016, sizeof text_indexes_0016},
    {"0017_triggers", triggers_0017, sizeof triggers_0017},
    {"0018_mixed_indexes", mixed_indexes_0018, sizeof mixed_indexes_0018},
    {"0020_account_limits", account_limits_0020, sizeof account_limits_0020},
    {"0021_sync", sync_0021, sizeof sync_0021},
    {"0022_sync_lifecycle", sync_lifecycle_0022, sizeof sync_lifecycle_0022},
    {"0024_idempotency", idempotency_0024, sizeof idempotency_0024},
    {"0025_names", names_0025, sizeof names_0025},
    {"0027_sync_lookups", sync_lookups_0027, sizeof sync_lookups_0027},
    {"0028_sync_modes", sync_modes_0028, sizeof sync_modes_0028},
    {"0029_unsynced_documents", unsynced_documents_0029, sizeof unsynced_documents_0029},
    {"0030_schema_versions", schema_versions_0030, sizeof schema_versions_0030},
    {"0031_breaking_schemas", breaking_schemas_0031, sizeof breaking_schemas_0031},
    {"0032_checked_functions", checked_functions_0032, sizeof checked_functions_0032},
    {"0033_slow_requests", slow_requests_0033, sizeof slow_requests_0033},
    {"0034_parsed_sources", parsed_sources_0034, sizeof parsed_sources_0034},
};
const size_t cmigration_count = sizeof cmigrations / sizeof cmigrations[0];

const struct cmigration *cmigration_table(void) {
    return cmigrations;
}
