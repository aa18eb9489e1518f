import Postgres
import TestSupport
import Testing

extension AdministrationSuites {
    /// Made from the catalogue, so that no function is forgotten.
    @Suite("Functions of an administrator")
    struct FunctionContractTests {
        struct Function {
            let name: String
            let comment: String
            let arguments: [(name: String, type: String, defaultText: String?)]
            let isDefiner: Bool

            /// A call with good arguments but for one.
            func call(replacing place: Int? = nil, by value: String = "") -> String {
                let list = arguments.enumerated().map { index, argument in
                    "\"\(argument.name)\" => "
                        + (index == place
                            ? value
                            : FunctionContractTests.good["\(name).\(argument.name)"]
                                ?? FunctionContractTests
                                .good[argument.name] ?? "'missing'")
                }
                return "SELECT * FROM tidegate.\(name)(\(list.joined(separator: ", ")))"
            }
        }

        /// Arguments by name, or by function and name, that fit what the fixture has.
        static let good: [String: String] = [
            "app": "'shop'", "source": "'mongodb-atlas'", "database": "'store'", "collection": "'items'",
            "id": "'ann@example.com'", "email": "'new@example.com'", "password": "'a new password'",
            "name": "'new-name'", "path": "'sku'", "type": "'string'", "listener": "'somebody'",
            "pattern": "'api.example.com'",
            "keys": #"'{"sku": 1}'"#, "options": #"'{"unique": true}'"#, "with_documents": "true",
            "most": "10", "relation": "'public.legacy'", "map_table.collection": "'fresh'",
            "map_table.mapping": "'{}'", "unmap_table.collection": "'legacy'",
            "environment": "'qa'", "values": "'{}'", "origins": "ARRAY['https://a.example']",
            "client_app_id": "'new-abcde'", "route": "'/g'", "http_method": "'GET'",
            "keep": "interval '1 day'",
            "lifetime": "interval '1 day'", "partition_rows": "1000", "overlap": "interval '1 day'",
            "secret": "'s'", "value": "'1'",
            "session_id": "'65f0c0ffee00000000000003'", "schema": "'{}'", "relationships": "'{}'",
            "rules": #"'{"roles": []}'"#, "config": "'{}'", "request_id": "'65f0c0ffee00000000000001'",
            "limit": "10", "doc": "'{}'::jsonb", "spec": "'{}'::jsonb", "allowed": "true",
            "purpose": "'confirm'", "body": "'%link%'",
            "subject": "'Hello'", "force_client_reset.ident": "2",
            "revert_to_partition_sync.app": "(SELECT 'shop' FROM tidegate.migrate_to_flexible_sync('shop'))",
            "commit_flexible_sync.app": "(SELECT 'shop' FROM tidegate.migrate_to_flexible_sync('shop'))",
            "mail": "(SELECT max(o.id) FROM tidegate.outbox o)",
            "account": #"'{"_id": "65f0c0ffee00000000000009", "email": "eve@example.com"}'"#,
            "provider_type": "'custom-token'", "identity_id": "'ann-elsewhere'",
            "since": "interval '1 hour'", "at_least": "interval '1 second'", "errors_only": "true",
            "user_id": "'65f0c0ffee00000000000001'",
            "add_data_source.source": "'third'", "remove_data_source.source": "'other'",
            "create_collection.collection": "'fresh'", "drop_index.name": "'items_price_1'",
            "create_user.email": "'carl@example.com'", "set_function.source": "'exports = () => 2'",
            "set_function.name": "'f'", "parse_source.source": "'exports = () => 2'",
            "parse_source.script": "'exports = () => 2'", "patience": "interval '1 second'",
            "remove_function.name": "'f'",
            "run_function.name": "'f'", "run_function.args": "'[]'", "function_logs.name": "'f'",
            "set_schema_version.version": "7", "drop_schema_version.version": "0",
            "function_result.run": "(SELECT max(r.id) FROM tidegate.function_runs r)",
            "remove_trigger.name": "'t'",
            "resume_trigger.name": "'t'", "skip": "false",
            "remove_value.name": "'v'", "remove_secret.name": "'s'", "remove_provider.name": "'api-key'",
            "set_provider.name": "'anon-user'", "disable_api_key.id": "'65f0c0ffee00000000000002'",
            "enable_api_key.id": "'65f0c0ffee00000000000002'",
            "revoke_api_key.id": "'65f0c0ffee00000000000002'",
            "set_endpoint.config": #"'{"function_name": "f"}'"#,
            "set_trigger.config": #"'{"type": "AUTHENTICATION", "function_name": "f"}'"#,
            "order_key.path": "ARRAY['sku']",
            "typed_key.id": #"'{"$oid": "65f0c0ffee00000000000001"}'::jsonb"#,
        ]

        private func functions(_ fixture: AdministrationFixture) async throws -> [Function] {
            let rows = try await fixture.rows(
                """
                SELECT p.proname, coalesce(obj_description(p.oid, 'pg_proc'), ''),
                    (p.prosecdef OR p.provolatile <> 'v')::text, (
                    SELECT string_agg(concat_ws('~', a.name, format_type(a.type, NULL),
                        pg_get_function_arg_default(p.oid, a.place::integer)), '^' ORDER BY a.place)
                    FROM unnest(p.proargnames[1:p.pronargs], p.proargtypes::oid[]) WITH ORDINALITY AS a (name, type, place))
                FROM pg_proc p WHERE p.pronamespace = 'tidegate'::regnamespace
                    AND p.prokind = 'f' AND p.prorettype <> 'trigger'::regtype AND p.proname NOT IN ('refuse', 'check_span', 'log_app')
                    AND has_function_privilege('tidegate_admin', p.oid, 'EXECUTE')
                """
            )
            return rows.map { row in
                let parts = row.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
                let arguments = parts[parts.count - 1].split(separator: "^").map { text in
                    let fields = text.split(separator: "~", maxSplits: 2).map(String.init)
                    return (fields[0], fields[1], fields.count > 2 ? fields[2] : nil)
                }
                return Function(
                    name: parts[0],
                    comment: parts[1..<(parts.count - 2)].joined(separator: "|"),
                    arguments: arguments,
                    isDefiner: parts[parts.count - 2] == "true"
                )
            }
        }

        @Test("have a comment, run as their owner, and take good arguments", .postgres)
        func good() async throws {
            let fixture = try await AdministrationFixture()
            let functions = try await functions(fixture)
            #expect(functions.count > 70)
            for function in functions {
                #expect(function.comment.count > 5, "\(function.name) has no comment")
                #expect(function.isDefiner, "\(function.name) changes something with its caller's rights")
                let failure = try await fixture.refusal(of: function.call())
                #expect(failure == nil, "\(function.call())")
            }
        }

        @Test(
            "refuse null, empty and misshapen arguments by their names, unless the comment says what these mean",
            .postgres
        )
        func bad() async throws {
            let fixture = try await AdministrationFixture()
            for function in try await functions(fixture) {
                for (place, argument) in function.arguments.enumerated() {
                    var probes = [(word: "null", value: "NULL::\(argument.type)")]
                    switch argument.type {
                    case "anycompatible":
                        probes[0].value = "NULL::text"
                        probes += [("empty", "''"), ("unlikely", "'nonsense'")]
                        if !["value", "args"].contains(argument.name) {
                            probes.append(("unlikely", "'[1]'"))
                        }
                    case "text": probes.append(("empty", "''"))
                    case "text[]": probes.append(("unlikely", "ARRAY['']"))
                    case "interval": probes.append(("unlikely", "interval '-1 day'"))
                    case "bigint", "integer": probes.append(("unlikely", "-1"))
                    case "jsonb": probes.append(("unlikely", "'[1]'::jsonb"))
                    case "boolean": break
                    default:
                        Issue.record("\(function.name): arguments of type \(argument.type) are not probed")
                    }
                    for probe in probes {
                        let call = function.call(replacing: place, by: probe.value)
                        guard let failure = try await fixture.refusal(of: call) else {
                            // A filter by an id that nobody has.
                            if call.contains("tidegate.list_logs("), argument.name == "user_id" { continue }
                            let isDefault = argument.defaultText?.lowercased().hasPrefix(probe.word) == true
                            #expect(
                                isDefault || function.comment.contains(probe.word),
                                "\(call) is taken, and the comment does not say so"
                            )
                            continue
                        }
                        #expect(failure.sqlState.code == "22023", "\(call): \(failure)")
                        #expect(
                            failure.message.hasPrefix(argument.name)
                                || failure.message.hasPrefix("_\(argument.name)"),
                            "\(call): \(failure.message)"
                        )
                    }
                }
            }
        }
    }
}
