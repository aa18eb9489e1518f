import AppDefinition
import BSON
import MQL
import Sync

/// The queries of a device as filters.
enum SyncQueries {
    /// - Returns: A filter per class, or why there is none, in the documented words.
    static func filters(_ body: ByteText, _ app: SyncedApp) -> Result<[ByteText: Filter], SyncFault> {
        let fields = Dictionary(
            app.readableClasses.map { type in
                (type.name, Set(app.queryableFields(of: type).map { ByteText($0) }))
            },
            uniquingKeysWith: { first, _ in first }
        )
        let reader = SubscriptionReader(
            schema: app.schema,
            queryable: QueryableFields(
                byClass: fields,
                indexed: app.definition.indexedQueryableFields.first.map { ByteText($0) }
            )
        )
        return Result { () throws(SyncFault) in try reader.read(body.text).mapValues(\.filter) }
    }
}
