import AppDefinition
import BSON
import Errors

/// Directories of apps, as one object from paths to contents: what is imported is exported and imported again
/// without a change.
struct AppSubject: FuzzSubject {
    let name = "app"

    func run(_ input: [UInt8]) throws -> Bool {
        guard let text = try attempt({ () throws(ServiceError) in try ExtendedJSON.readDocument(input) })
        else { return false }
        var files: [String: [UInt8]] = [:]
        for field in text {
            if let content = field.value.string {
                files[field.key] = Array(content.utf8)
            } else {
                var content: [UInt8] = []
                ExtendedJSON.writeRelaxed(field.value, to: &content)
                files[field.key] = content
            }
        }
        let (tree, findings) = ConfigurationTreeReader.read(FileTree(files: files))
        guard let tree, !findings.hasErrors, AppConfigurationParser.parse(tree).app != nil else {
            return false
        }
        let exported = ConfigurationTreeWriter.write(tree)
        guard let again = ConfigurationTreeReader.read(exported).tree else {
            throw Finding("an exported app cannot be imported")
        }
        guard AppConfigurationParser.parse(again).app != nil else {
            throw Finding(
                "an exported app does not pass the check: \(AppConfigurationParser.parse(again).findings)"
            )
        }
        let second = ConfigurationTreeWriter.write(again)
        for path in Set(exported.paths).union(second.paths) where exported[path] != second[path] {
            throw Finding("exporting twice changes \(path)")
        }
        return true
    }
}
