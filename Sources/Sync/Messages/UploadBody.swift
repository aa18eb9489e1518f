/// The changesets in the body of an UPLOAD, each after a header of five numbers.
///
/// Source: `realm-sync-protocol.md` §3.4.
enum UploadBody {
    static func changesets(_ body: ArraySlice<UInt8>) throws(SyncFault) -> [UploadedChangeset] {
        var changesets: [UploadedChangeset] = []
        var offset = body.startIndex
        while offset < body.endIndex {
            let clientVersion = try number(body, &offset)
            let serverVersion = try number(body, &offset)
            let timestamp = try number(body, &offset)
            let originFile = try number(body, &offset)
            let size = try number(body, &offset)
            guard size <= body.endIndex - offset else {
                throw SyncFault(.badChangesetSize, "Bad size specified in changeset header (UPLOAD)")
            }
            changesets.append(
                UploadedChangeset(
                    clientVersion: clientVersion,
                    serverVersion: serverVersion,
                    timestamp: timestamp,
                    originFile: originFile,
                    bytes: Array(body[offset..<(offset + Int(size))])
                )
            )
            offset += Int(size)
        }
        return changesets
    }

    /// Digits and the space after them.
    private static func number(_ body: ArraySlice<UInt8>, _ offset: inout Int) throws(SyncFault) -> Int64 {
        let rest = body[offset..<min(body.endIndex, offset + 20)]
        guard let end = rest.firstIndex(of: UInt8(ascii: " ")), end > offset,
            let number = Int64(String(decoding: body[offset..<end], as: UTF8.self)), number >= 0
        else { throw SyncFault(.badChangesetHeaderSyntax, "Bad syntax in a changeset header (UPLOAD)") }
        offset = end + 1
        return number
    }
}
