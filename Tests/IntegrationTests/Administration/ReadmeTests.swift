import Foundation
import TestSupport
import Testing

/// The README's section on administration, statement by statement.
@Suite("Administer with SQL, as the README says", .serialized)
struct ReadmeTests {
    private static let logins = ["tidegate_server", "ops", "report"]

    /// The SQL of the section, a text per block.
    private static func blocks() throws -> [String] {
        let readme = try String(
            contentsOf: RunningServer.packageRoot.appendingPathComponent("README.md"),
            encoding: .utf8
        )
        let section = try #require(readme.components(separatedBy: "\n## Administer with SQL\n").last)
            .components(separatedBy: "\n## ")[0]
        return section.components(separatedBy: "```sql\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
    }

    @Test("its logins can be made, and every statement runs as the administrator among them")
    func statements() async throws {
        let server = try await SharedServer.caller().server
        let blocks = try Self.blocks()
        #expect(blocks.count >= 9)
        try Shell.psql(server.database, script: blocks[0])
        let end = try #require(blocks.firstIndex { $0.contains("tidegate.drop_app(") })
        let middle = blocks[1..<end].joined(separator: "\n")
        let output = try Shell.psql(server.database(as: "ops"), script: middle)
        #expect(output.contains("items_sku_1"))
        // The process takes all of it: none of the examples is refused when it is loaded.
        let shop = APICaller(server: server, app: "shop-abcde")
        try await eventually {
            try await shop.send("GET", "/api/client/v2.0/app/shop-abcde/location").status == 200
        }
        let errors = try Shell.psql(server.database, "select * from tidegate.list_config_errors('shop')")
        #expect(errors == "")
        try Shell.psql(server.database(as: "ops"), script: blocks[end...].joined(separator: "\n"))
        #expect(
            try Shell.psql(server.database, "select count(*) from tidegate.list_apps() where name = 'shop'")
                == "0"
        )
        try Shell.psql(server.database, "drop role \(Self.logins.joined(separator: ", "))")
    }

    @Test("it shows each kind of act at least once")
    func groups() throws {
        let text = try Self.blocks().joined(separator: "\n")
        for word in [
            "create_app", "set_environment", "set_value", "set_secret", "set_provider", "create_user",
            "disable_user",
            "list_sessions", "create_api_key", "rotate_signing_key", "set_schema", "set_rules",
            "set_data_api",
            "list_config_errors", "recent_denials", "slow_requests", "find_request", "trim_logs",
            "set_function", "set_endpoint", "set_trigger", "tidegate_views",
            "typed_key",
            "create_collection", "promote_field", "create_index", "drop_index", "drop_collection", "drop_app",
        ] {
            #expect(text.contains(word), "\(word)")
        }
    }
}
