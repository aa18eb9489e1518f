import SyncModel
import TestSupport
import Testing

extension RealmClient {
    /// Connects, sends everything and takes everything; again where the session was closed because the app or a role
    /// had changed (200).
    ///
    /// - Throws: Any other end.
    func meet() async throws {
        try await eventually {
            do {
                if !isConnected { try connect() }
                upload()
                try catchUp()
                return true
            } catch let error as RealmClient.Ended where error.code == 200 {
                disconnect()
                return false
            }
        }
    }
}
