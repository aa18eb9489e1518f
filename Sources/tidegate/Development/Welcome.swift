import Foundation

/// What `tidegate dev` prints once it serves.
struct Welcome {
    let addresses: DevelopmentLock.Addresses
    let clientAppID: String
    let sample: SampleData.User?
    let authority: String

    func show() {
        var lines = [
            "",
            "tidegate serves app \(clientAppID)",
            "  HTTPS  \(addresses.https)   (local CA: \(authority))",
            "  HTTP   \(addresses.http)",
            "  SQL    psql \"\(addresses.database)\"",
        ]
        if let admin = addresses.admin { lines.append("  STATUS \(admin)/status") }
        lines += ["  DOCS   \(addresses.http)/docs", ""]
        if let sample {
            let credentials = "-H 'email: \(sample.email)' -H 'password: \(sample.password)'"
            lines += [
                "The sample user's items (three of four in the collection):",
                "",
                call("find", credentials, #""filter":{}"#),
                "",
                "A new one, and what the rules say to one that belongs to somebody else:",
                "",
                call(
                    "insertOne",
                    credentials,
                    #""document":{"ownerId":"\#(sample.id)","itemName":"from curl","complexity":1}"#
                ),
                "",
                call(
                    "insertOne",
                    credentials,
                    #""document":{"ownerId":"somebody","itemName":"from curl","complexity":1}"#
                ),
            ]
        } else {
            lines += [
                "Make an API key, and call the Data API with it (header apiKey):",
                "",
                "  psql \"\(addresses.database)\" -c \"select * from tidegate.create_api_key('\(clientAppID)', 'curl')\"",
                "  curl --cacert \(authority) \(addresses.https)/api/client/v2.0/app/\(clientAppID)/location",
            ]
        }
        lines += ["", "Ctrl-C stops everything; the data stay."]
        print(lines.joined(separator: "\n"))
        fflush(nil)
    }

    private func call(_ action: String, _ credentials: String, _ members: String) -> String {
        """
          curl --cacert \(authority) \(addresses.https)/app/\(clientAppID)/endpoint/data/v1/action/\(action) \\
            \(credentials) -H 'Content-Type: application/ejson' -H 'Accept: application/json' \\
            -d '{"dataSource":"mongodb-atlas","database":"todo","collection":"Item",\(members)}'
        """
    }
}
