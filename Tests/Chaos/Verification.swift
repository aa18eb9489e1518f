import Foundation
import SQL

/// Holds the database against what the load was told.
struct Verification {
    let stage: Stage
    let ledger: Ledger

    /// Enters every contradiction into the ledger.
    func run() throws {
        let rows = try stage.database.query(
            """
            SELECT doc->>'name', (doc->'n')::numeric::int, coalesce(doc->'marks', '[]')::text
            FROM chaos."Items"
            """
        )
        var found: [String: (n: Int, marks: [String])] = [:]
        for row in rows {
            let marks = (try? JSONSerialization.jsonObject(with: Data(row[2].utf8))) as? [String] ?? []
            if found.updateValue((Int(row[1]) ?? -1, marks), forKey: row[0]) != nil {
                ledger.violated("\(row[0]) is there twice")
            }
        }
        checkDocuments(Set(found.keys))
        checkShared(found)
        try checkChangeLog()
        try checkSessions()
    }

    private func checkDocuments(_ found: Set<String>) {
        let documents = ledger.documents
        for (name, fate) in documents {
            switch fate {
            case .present where !found.contains(name): ledger.violated("\(name) was acknowledged and is gone")
            case .absent where found.contains(name): ledger.violated("\(name) was deleted and is back")
            default: break
            }
        }
        for group in ledger.groups {
            let count = group.count { found.contains($0) }
            if count != 0 && count != group.count {
                ledger.violated("insertMany of \(group[0]) left \(count) of \(group.count) documents")
            }
        }
        let shared = ledger.shared
        for name in found where documents[name] == nil && shared[name] == nil && !name.hasPrefix("probe") {
            ledger.violated("\(name) is there, and nobody sent it")
        }
    }

    private func checkShared(_ found: [String: (n: Int, marks: [String])]) {
        for (name, marks) in ledger.shared {
            guard let (n, left) = found[name] else {
                ledger.violated("\(name), which everybody changes, is gone")
                continue
            }
            let set = Set(left)
            if set.count != left.count { ledger.violated("\(name): a change was applied twice") }
            if n != left.count {
                ledger.violated("\(name): n is \(n) after \(left.count) changes of one each")
            }
            for lost in marks.acknowledged.subtracting(set) {
                ledger.violated("\(name): the change \(lost) was acknowledged and is gone")
            }
            for stranger in set.subtracting(marks.acknowledged).subtracting(marks.unknown) {
                ledger.violated("\(name): the change \(stranger) was never sent, or refused")
            }
        }
        for (group, members) in Dictionary(grouping: found.keys, by: Round.group) {
            guard group != nil else { continue }
            if Set(members.map { found[$0]?.marks ?? [] }).count > 1 {
                ledger.violated("updateMany of \(group ?? "") changed some documents and not others")
            }
        }
    }

    /// The log tells the story of every document from its insertion to what it is now, without a gap.
    private func checkChangeLog() throws {
        let gaps = try stage.database.query(
            """
            SELECT key, seq FROM (
                SELECT key, seq, operation, before, lag(operation) OVER story AS last_operation,
                       lag(after) OVER story AS last_after
                FROM tidegate.changes WINDOW story AS (PARTITION BY key ORDER BY seq)
            ) AS steps
            WHERE CASE WHEN operation = 'insert' THEN coalesce(last_operation, 'delete') <> 'delete'
                       ELSE last_operation IS NULL OR before IS DISTINCT FROM last_after END
            LIMIT 5
            """
        )
        for gap in gaps { ledger.violated("the change log of \(gap[0]) has a gap before \(gap[1])") }
        let ends = try stage.database.query(
            """
            SELECT coalesce(last.key, items._id) FROM (
                SELECT DISTINCT ON (key) key, operation, after FROM tidegate.changes ORDER BY key, seq DESC
            ) AS last FULL JOIN chaos."Items" AS items ON items._id = last.key
            WHERE CASE WHEN items._id IS NULL THEN last.operation <> 'delete'
                       ELSE last.operation = 'delete' OR last.after IS DISTINCT FROM items.doc END
            LIMIT 5
            """
        )
        for end in ends { ledger.violated("the change log of \(end[0]) does not end where the document is") }
    }

    /// Nothing is left open: no transaction, and no more sessions than the pools and listeners may have.
    private func checkSessions() throws {
        var open: [[String]] = []
        for _ in 0..<200 {
            open = try stage.database.query(
                """
                SELECT count(*), count(*) FILTER (WHERE state LIKE 'idle in%') FROM pg_stat_activity
                WHERE application_name LIKE 'tidegate%' AND pid <> pg_backend_pid()
                """
            )
            let sessions = Int(open[0][0]) ?? 0
            if sessions <= stage.gateways.count * Stage.sessionsPerGateway, open[0][1] == "0" { break }
            usleep(100_000)
        }
        if (Int(open[0][0]) ?? 0) > stage.gateways.count * Stage.sessionsPerGateway {
            ledger.violated("\(open[0][0]) sessions are open")
        }
        if open[0][1] != "0" { ledger.violated("\(open[0][1]) transactions were left open") }
        for gateway in stage.gateways {
            if gateway.descriptors > 150 {
                ledger.violated("\(gateway.name) has \(gateway.descriptors) open files")
            }
            if gateway.memory > Stage.memoryLimit {
                ledger.violated("\(gateway.name) holds \(gateway.memory) MB")
            }
        }
    }
}
