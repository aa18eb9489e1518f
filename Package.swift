// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A library target and the arrows that may leave it.
func room(_ name: String, _ arrows: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .target(name: name, dependencies: arrows, exclude: exclude, swiftSettings: settings)
}

/// The tests of one room, or of several at once.
func tests(_ name: String, _ arrows: [Target.Dependency], exclude: [String] = []) -> Target {
    .testTarget(name: name, dependencies: arrows + ["TestSupport"], exclude: exclude, swiftSettings: settings)
}

func product(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package)
}

let package = Package(
    name: "tidegate",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "tidegate", targets: ["tidegate"]),
        .library(name: "TidegateClient", targets: ["TidegateClient"]),
    ],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
        .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-certificates", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-asn1", exact: "1.7.4"),
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0"),
        .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        // Languages
        room("Errors"),
        room("BSON", ["Errors", product("Crypto", "swift-crypto")]),
        room("SQL", ["Errors"]),
        .systemLibrary(name: "CPCRE2", pkgConfig: "libpcre2-8", providers: [.apt(["libpcre2-dev"])]),
        .target(
            name: "CCollation",
            linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]
        ),
        room("MQL", ["BSON", "CCollation", "CPCRE2", "Errors"]),

        // Core
        room("Schemas", ["MQL", "BSON", "Errors"]),
        room("Rules", ["Schemas", "MQL", "BSON", "Errors"]),
        room("QueryCompiler", ["Rules", "MQL", "SQL", "BSON", "Errors"]),
        .target(name: "CCrypt", linkerSettings: [.linkedLibrary("crypt")]),
        room(
            "Accounts",
            [
                "CCrypt", "SQL", "BSON", "Errors", product("Crypto", "swift-crypto"),
                product("CryptoExtras", "swift-crypto"),
            ]
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        room("Sync", ["CZlib", "Schemas", "MQL", "BSON", "Errors"]),
        room("AppDefinition", ["Rules", "Schemas", "Accounts", "MQL", "BSON", "Errors"]),

        // Devices
        room("Threading"),
        room(
            "Observability",
            ["Errors", product("Logging", "swift-log"), product("CoreMetrics", "swift-metrics")]
        ),
        .systemLibrary(name: "CLibpq", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .target(name: "CEpoll"),
        room("Postgres", ["CLibpq", "CEpoll", "SQL", "Threading", "Observability", "Errors"]),
        .target(name: "CMail", linkerSettings: [.linkedLibrary("curl")]),
        room("Mail", ["CMail", "Threading", "Errors"]),
        .systemLibrary(
            name: "CJavaScript",
            pkgConfig: "javascriptcoregtk-4.1",
            providers: [.apt(["libjavascriptcoregtk-4.1-dev"])]
        ),
        .target(name: "CScriptRuntime", exclude: ["js"]),
        room(
            "Scripting",
            [
                "CJavaScript", "CScriptRuntime", "CEpoll", "CZlib", "BSON", "Errors", "Threading",
                "Observability", product("Crypto", "swift-crypto"), product("CryptoExtras", "swift-crypto"),
                product("HeapModule", "swift-collections"),
                product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
            ],
            exclude: ["README.md"]
        ),
        .target(name: "CMigrations"),
        room(
            "Migrations",
            ["CMigrations", "Postgres", "SQL", "Errors", product("Crypto", "swift-crypto")]
        ),

        // Services
        room(
            "Services",
            [
                "AppDefinition", "Accounts", "QueryCompiler", "Rules", "Schemas", "Sync", "MQL", "SQL",
                "BSON",
                "Postgres", "Mail", "Scripting", "Threading",
                "Observability", "Errors",
                product("AsyncHTTPClient", "async-http-client"),
                product("CryptoExtras", "swift-crypto"),
                product("Crypto", "swift-crypto"),
                product("NIOCore", "swift-nio"),
                product("NIOHTTP1", "swift-nio"),
                product("NIOPosix", "swift-nio"),
                product("NIOHTTPCompression", "swift-nio-extras"),
                product("NIOFoundationCompat", "swift-nio"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
            ]
        ),

        // Doors
        .target(name: "COpenAPI"),
        .target(name: "CPages", exclude: ["pages"]),
        room(
            "HTTPGateway",
            [
                "COpenAPI", "CPages", "Services", "AppDefinition", "Accounts", "Rules", "MQL", "BSON",
                "Scripting", "Observability",
                "Errors",
                product("Yams", "Yams"),
                product("Crypto", "swift-crypto"),
                product("Hummingbird", "hummingbird"),
                product("HummingbirdCore", "hummingbird"),
                product("HummingbirdTLS", "hummingbird"),
                product("HummingbirdHTTP2", "hummingbird"),
                product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
                product("NIOHTTPTypes", "swift-nio-extras"),
                product("HTTPTypes", "swift-http-types"),
                product("Logging", "swift-log"),
            ]
        ),

        room(
            "SyncBridge",
            [
                "Services", "Sync", "Accounts", "BSON", "Errors",
                product("Crypto", "swift-crypto"),
                product("HTTPTypes", "swift-http-types"),
                product("HummingbirdCore", "hummingbird"),
                product("NIOCore", "swift-nio"),
                product("NIOHTTP1", "swift-nio"),
                product("NIOHTTPTypes", "swift-nio-extras"),
                product("NIOHTTPTypesHTTP1", "swift-nio-extras"),
                product("NIOWebSocket", "swift-nio"),
            ]
        ),

        // Command line
        .executableTarget(
            name: "tidegate",
            dependencies: [
                "HTTPGateway", "SyncBridge", "Services", "Scripting", "Threading", "Migrations", "Postgres",
                "CEpoll", "Mail", "SQL", "AppDefinition", "Accounts", "BSON",
                "MQL", "QueryCompiler", "Observability", "Errors",
                product("Hummingbird", "hummingbird"),
                product("HummingbirdCore", "hummingbird"),
                product("HummingbirdHTTP2", "hummingbird"),
                product("UnixSignals", "swift-service-lifecycle"),
                product("ArgumentParser", "swift-argument-parser"),
                product("Configuration", "swift-configuration"),
                product("ServiceLifecycle", "swift-service-lifecycle"),
                product("X509", "swift-certificates"),
                product("SwiftASN1", "swift-asn1"),
                product("Crypto", "swift-crypto"),
                product("Logging", "swift-log"),
                product("NIOCore", "swift-nio"), product("NIOPosix", "swift-nio"),
                product("NIOHTTP1", "swift-nio"),
                product("NIOSSL", "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),

        // Client: for apps and their extensions, with nothing of the server in it.
        room("TidegateClient", [product("GRDB", "GRDB.swift")]),

        // A share extension and its main app, as two programs; the third shows what Foundation alone costs.
        .target(
            name: "SampleSupport",
            dependencies: ["TidegateClient"],
            path: "Tests/Sample/Support",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "sample-share-extension",
            dependencies: ["SampleSupport", "TidegateClient"],
            path: "Tests/Sample/ShareExtension",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "sample-main-app",
            dependencies: ["SampleSupport", "TidegateClient"],
            path: "Tests/Sample/MainApp",
            swiftSettings: settings
        ),
        .executableTarget(name: "sample-empty", path: "Tests/Sample/Empty", swiftSettings: settings),

        // What `make instructions` counts.
        .executableTarget(
            name: "hot-path",
            dependencies: ["QueryCompiler", "Rules", "MQL", "SQL", "BSON", "Errors"],
            path: "Tests/HotPath",
            swiftSettings: settings
        ),

        // Tests
        .target(
            name: "TestSupport",
            dependencies: ["Postgres", "Migrations", "SQL", "BSON", "Threading", "Errors"],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .target(
            name: "SyncModel",
            dependencies: ["TestSupport", "Sync", "Schemas", "MQL", "BSON", "Postgres", "SQL"],
            path: "Tests/SyncModel",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tidegate-chaos",
            dependencies: [
                "TestSupport", "SyncModel", "Sync", "BSON", "Postgres", "SQL", "Threading", "Errors",
                product("ArgumentParser", "swift-argument-parser"),
            ],
            path: "Tests/Chaos",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "tidegate-fuzz",
            dependencies: [
                "TestSupport", "Services", "Scripting", "AppDefinition", "Accounts", "QueryCompiler", "Rules",
                "Schemas", "MQL", "SQL", "BSON", "Postgres", "Observability", "Errors",
                product("ArgumentParser", "swift-argument-parser"),
            ],
            path: "Tests/Fuzzing",
            exclude: ["Corpus"],
            swiftSettings: settings
        ),
        tests("BSONTests", ["BSON", "Errors"]),
        tests("SQLTests", ["SQL", "Errors"]),
        tests("MQLTests", ["MQL", "BSON", "Errors"]),
        tests("SchemasTests", ["Schemas", "MQL", "BSON", "Errors"]),
        tests("RulesTests", ["Rules", "Schemas", "MQL", "BSON", "Errors"]),
        tests("SyncTests", ["SyncModel", "Sync", "Schemas", "MQL", "BSON", "Errors"]),
        tests("QueryCompilerTests", ["QueryCompiler", "Rules", "MQL", "SQL", "BSON", "Postgres", "Errors"]),
        tests(
            "AccountsTests",
            [
                "Accounts", "SQL", "BSON", "Errors", product("Crypto", "swift-crypto"),
                product("CryptoExtras", "swift-crypto"),
            ]
        ),
        tests(
            "AppDefinitionTests",
            ["AppDefinition", "Rules", "Schemas", "Accounts", "MQL", "BSON", "Errors"]
        ),
        tests(
            "ObservabilityTests",
            [
                "Observability", "Errors", product("CoreMetrics", "swift-metrics"),
                product("Logging", "swift-log"),
            ]
        ),
        tests("PostgresTests", ["Postgres", "SQL", "Threading", "Observability", "Errors"]),
        tests(
            "MailTests",
            [
                "Mail", "Errors", product("NIOSSL", "swift-nio-ssl"),
                product("NIOPosix", "swift-nio"), product("NIOCore", "swift-nio"),
            ]
        ),
        tests("ScriptingTests", ["Scripting", "BSON", "Errors", "Observability", "tidegate"]),
        tests("MigrationsTests", ["Migrations", "Postgres", "SQL", "Errors"]),
        tests(
            "ServicesTests",
            [
                "Services", "AppDefinition", "Accounts", "QueryCompiler", "Rules", "Schemas", "MQL", "SQL",
                "BSON",
                "Postgres", "Sync", "Mail", "Migrations", "Scripting", "Observability", "Errors",
                product("Crypto", "swift-crypto"),
                product("CryptoExtras", "swift-crypto"),
            ]
        ),
        tests(
            "ConformanceTests",
            [
                "HTTPGateway", "tidegate", "Services", "AppDefinition", "Accounts", "Postgres", "SQL", "MQL",
                "QueryCompiler", "Rules", "Schemas", "Scripting",
                "BSON", "Observability", "Errors", product("Hummingbird", "hummingbird"),
                product("ArgumentParser", "swift-argument-parser"),
                product("HTTPTypes", "swift-http-types"), product("Logging", "swift-log"),
                product("NIOCore", "swift-nio"), product("NIOEmbedded", "swift-nio"),
                product("NIOPosix", "swift-nio"),
            ]
        ),
        tests("TidegateClientTests", ["TidegateClient", product("GRDB", "GRDB.swift")]),
        tests(
            "IntegrationTests",
            [
                "BSON", "Errors", "MQL", "Postgres", "SQL", "Sync", "SyncModel", "Threading", "tidegate",
                "TidegateClient", "sample-share-extension", "sample-main-app", "sample-empty",
                product("Crypto", "swift-crypto"),
            ],
            exclude: ["Administration/operators-day.sql", "Attacks/README.md"]
        ),
    ],
    swiftLanguageModes: [.v6]
)
