import BSON
import Sync
import SyncModel

/// A device that keeps a state of one class.
protocol StatefulDevice {
    var client: RealmClient { get }
    /// Where an object of its class is.
    static func object(_ id: String) -> ObjectAddress
}

extension StatefulDevice {
    /// Sends everything, and takes everything.
    func meet() throws {
        client.upload()
        try client.catchUp()
        client.upload()
    }

    /// What the device holds; nil when there is no such object.
    func value(_ id: String, _ field: String) -> RealmState.Value? {
        client.file.state.objects[Self.object(id)]?[ByteText(field)]
    }

    func holds(_ id: String) -> Bool { client.file.state.objects[Self.object(id)] != nil }
}
