import Errors

/// Where a pipeline stands, which decides what it may contain.
enum PipelinePlace {
    case top
    /// In the aggregation of a database, which reads no collection: the pipeline brings its own documents.
    case database
    case facet
    /// In a stage that reads another collection; without one, the pipeline brings its own documents.
    case inside(String, hasCollection: Bool)

    /// - Throws: ``ServiceError`` with server code 40600 to 40602, 51047, 31441 or 73 for a stage that may not stand here.
    func check(_ stage: String, isFirst: Bool, inFacet: Bool) throws(ServiceError) {
        if stage == "$documents" { try checkDocuments(isFirst: isFirst) }
        if case .database = self, isFirst, stage != "$documents", !Self.databaseStages.contains(stage) {
            throw .mongo(73, "{aggregate: 1} is not valid for '\(stage)'; a collection is required.")
        }
        if case .inside(let outer, _) = self, stage == "$out" || stage == "$merge" {
            throw .mongo(
                outer == "$unionWith" ? 31441 : 51047,
                "\(stage) is not allowed within a \(outer)'s sub-pipeline"
            )
        }
        if inFacet, Self.notInFacet.contains(stage) {
            throw .mongo(40600, "\(stage) is not allowed to be used within a $facet stage")
        }
        if case .inside = self, stage == "$changeStream" {
            throw .mongo(40573, "\(stage) is only allowed as the first stage of a pipeline that is watched")
        }
        if !isFirst, Self.firstStages.contains(stage) {
            throw .mongo(40602, "\(stage) is only valid as the first stage in a pipeline.")
        }
        if case .inside(let outer, _) = self, Self.databaseStages.contains(stage) {
            throw .mongo(73, "\(stage) is not allowed on a collection, and so not within \(outer)")
        }
    }

    /// Stages that begin a pipeline which reads no collection.
    private static let databaseStages: Set<String> = ["$currentOp", "$listSessions", "$listLocalSessions"]

    /// Stages that tell about the server, and so begin a pipeline.
    private static let firstStages: Set<String> = [
        "$collStats", "$currentOp", "$geoNear", "$indexStats", "$listCatalog", "$listLocalSessions",
        "$listSessions", "$planCacheStats", "$querySettings", "$queryStats",
    ]

    private static let notInFacet: Set<String> = [
        "$facet", "$out", "$merge", "$geoNear", "$search", "$searchMeta", "$vectorSearch", "$collStats",
        "$indexStats", "$planCacheStats", "$changeStream", "$changeStreamSplitLargeEvent", "$currentOp",
        "$listCatalog", "$querySettings", "$queryStats",
    ]

    private func checkDocuments(isFirst: Bool) throws(ServiceError) {
        if case .facet = self {
            throw .mongo(40600, "$documents is not allowed to be used within a $facet stage")
        }
        guard isFirst else {
            throw .mongo(40602, "$documents is only valid as the first stage in a pipeline.")
        }
        switch self {
        case .database, .inside(_, hasCollection: false): return
        case .top, .facet, .inside: break
        }
        throw .mongo(
            73,
            "$documents is not allowed on a collection; use it in the pipeline of $lookup or $unionWith"
        )
    }
}
