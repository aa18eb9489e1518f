import BSON

extension AppConfigurationParser {
    mutating func triggers() -> [TriggerDefinition] {
        var triggers: [TriggerDefinition] = []
        for (name, node) in tree.triggers.sorted(by: { $0.key < $1.key }) {
            var reader = ObjectReader(node)
            _ = reader.value("name")
            if name.utf8.count > 64 || !Self.isPlain(name) {
                reader.warn("name", "should be 1 to 64 letters, digits, - and _")
            }
            guard let typeName = reader.requiredText("type"),
                let kind = TriggerDefinition.Kind(rawValue: typeName)
            else {
                if reader.document["type"]?.string != nil {
                    reader.error("type", "must be DATABASE, AUTHENTICATION or SCHEDULED")
                }
                findings.append(contentsOf: reader.findings)
                continue
            }
            let processors = reader.object("event_processors")
            let direct = reader.text("function_name")
            let nested = processors?["FUNCTION"]?.document?["config"]?.document?["function_name"]?.string
            if nested == nil, direct == nil {
                if processors?["AWS_EVENTBRIDGE"] != nil {
                    reader.note(
                        .notImported,
                        "trigger '\(name)' leads to AWS EventBridge; it does nothing here"
                    )
                } else if reader.value("function_id") == nil {
                    reader.error("event_processors", "names no function")
                }
            }
            for key in ["function_id", "error_handler"] { _ = reader.value(key) }
            let config = reader.object("config") ?? BSONDocument()
            var settings = ObjectReader(config, at: reader.place.key("config"))
            let source = TriggerSource(kind, &settings)
            findings.append(contentsOf: settings.findings)
            triggers.append(
                TriggerDefinition(
                    name: name,
                    kind: kind,
                    isDisabled: reader.flag("disabled"),
                    functionName: nested ?? direct,
                    config: config,
                    source: source
                )
            )
            reader.reportUnknown()
            reader.note(.imported, "trigger '\(name)'")
            findings.append(contentsOf: reader.findings)
        }
        return triggers
    }
}
