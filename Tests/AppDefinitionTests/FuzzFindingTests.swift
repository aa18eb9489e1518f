import AppDefinition
import BSON
import Testing

/// What `make fuzz` found, one test each.
@Suite("Findings of fuzzing: app directories")
struct FuzzFindingTests {
    @Test("a function of an older export that only its folder names keeps its name and settings")
    func functionWithoutName() throws {
        var files = ConfigurationTreeReaderTests.version1
        files["functions/hello/config.json"] = #"{"private": true, "run_as_system": true}"#
        let tree = try #require(
            ConfigurationTreeReader.read(FileTree(files: files.mapValues { Array($0.utf8) })).tree
        )
        let again = try #require(ConfigurationTreeReader.read(ConfigurationTreeWriter.write(tree)).tree)
        let function = try #require(again.functions["hello"])
        #expect(function.config.document["private"] == true)
        #expect(function.config.document["run_as_system"] == true)
    }

    @Test(
        "a function's name that no export can hold is refused",
        arguments: ["", "a//b", "/a", "a/", ".a", "a/../b", "node_modules/a"]
    )
    func functionNameThatIsNoPath(name: String) throws {
        var files = ConfigurationTreeReaderTests.version1
        files["functions/hello/config.json"] = #"{"name": "\#(name)", "private": true}"#
        let (tree, _) = ConfigurationTreeReader.read(FileTree(files: files.mapValues { Array($0.utf8) }))
        let parsed = AppConfigurationParser.parse(try #require(tree))
        #expect(parsed.app == nil)
        #expect(parsed.findings.list.contains { $0.message.contains("cannot be the path of a file") })
    }

    @Test("a stray file in a folder that is no data source makes none, and is kept")
    func strayFileBesideDataSources() throws {
        var files = ConfigurationTreeReaderTests.version1
        files["data_sources/elsewhere/notes.txt"] = "why"
        let read = ConfigurationTreeReader.read(FileTree(files: files.mapValues { Array($0.utf8) }))
        let tree = try #require(read.tree)
        #expect(tree.sources["elsewhere"] == nil)
        let exported = ConfigurationTreeWriter.write(tree)
        #expect(exported["data_sources/elsewhere/notes.txt"] == Array("why".utf8))
        #expect(exported["data_sources/elsewhere/config.json"] == nil)
    }

    @Test(
        "a collection keeps its name through an export, whatever is in it",
        arguments: [
            ("I%tem", "I%tem"), ("I%25tem", "I%tem"), ("a%2Fb", "a/b"), ("a%2fb", "a%2fb"), ("%41", "%41"),
        ]
    )
    func collectionName(folder: String, name: String) throws {
        var files = ConfigurationTreeReaderTests.version1
        files["data_sources/other/config.json"] = #"{"name": "other", "type": "mongodb-atlas"}"#
        files["data_sources/other/todo/\(folder)/schema.json"] = #"{"title": "x", "bsonType": "object"}"#
        let tree = try #require(
            ConfigurationTreeReader.read(FileTree(files: files.mapValues { Array($0.utf8) })).tree
        )
        let key = ConfigurationTree.CollectionKey(database: "todo", collection: name)
        #expect(tree.sources["other"]?.collections[key] != nil)
        let again = try #require(ConfigurationTreeReader.read(ConfigurationTreeWriter.write(tree)).tree)
        #expect(again.sources["other"]?.collections[key] != nil)
    }
}
