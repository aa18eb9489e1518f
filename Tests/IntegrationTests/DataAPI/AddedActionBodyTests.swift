import TestSupport
import Testing

@Suite("The added actions of the Data API")
struct AddedActionBodyTests {
    @Test("answer in the style of the others")
    func bodies() async throws {
        let api = try await SharedServer.caller()
        let key = try SharedServer.apiKey(api)
        func act(_ action: String, _ members: String, status: Int = 200, accept: String = "application/json")
            async throws -> String
        {
            let answer = try await api.act(action, "Open", members, as: key, accept: accept)
            #expect(answer.status == status, "\(action): \(answer.text)")
            return answer.text
        }
        let tag = "added-actions"
        #expect(
            try await act(
                "bulkWrite",
                """
                "operations":[{"insertOne":{"document":{"_id":"b1","tag":"\(tag)","n":1}}},
                {"insertOne":{"document":{"_id":"b2","tag":"\(tag)","n":[2,3]}}},
                {"updateOne":{"filter":{"_id":"b3"},"update":{"$set":{"tag":"\(tag)"}},"upsert":true}},
                {"insertOne":{"document":{"_id":"b1"}}}]
                """
            )
                == #"{"insertedCount":2,"matchedCount":0,"modifiedCount":0,"deletedCount":0,"upsertedCount":1,"insertedIds":{"0":"b1","1":"b2"},"upsertedIds":{"2":"b3"},"writeErrors":[{"index":3,"code":11000,"codeName":"DuplicateKey","errmsg":"E11000 duplicate key error collection: todo.Open index: _id_ dup key: { _id: \"b1\" }"}]}"#
        )
        let atomic = try await act(
            "bulkWrite",
            #""atomic":true,"operations":[{"deleteMany":{"filter":{}}},{"insertOne":{"document":{"_id":"b1"}}},{"insertOne":{"document":{"_id":"b1"}}}]"#,
            status: 400
        )
        #expect(atomic.contains(#""error":"operations[2]: E11000 "#))
        #expect(atomic.contains(#""writeErrors":[{"index":2,"code":11000"#))
        #expect(try await act("countDocuments", #""filter":{"tag":"\#(tag)"}"#) == #"{"count":3}"#)
        #expect(
            try await act(
                "countDocuments",
                #""filter":{"tag":"\#(tag)"},"limit":2"#,
                accept: "application/ejson"
            )
                == #"{"count":{"$numberInt":"2"}}"#
        )
        #expect(try await act("estimatedDocumentCount", #""skip":0"#).hasPrefix(#"{"count":"#))
        #expect(try await act("distinct", #""key":"n","filter":{"tag":"\#(tag)"}"#) == #"{"values":[1,2,3]}"#)
        #expect(
            try await act(
                "findOneAndUpdate",
                #""filter":{"tag":"\#(tag)"},"sort":{"_id":1},"update":{"$inc":{"n":1}},"returnNewDocument":true"#
            ) == #"{"document":{"_id":"b1","tag":"\#(tag)","n":2}}"#
        )
        #expect(
            try await act("findOneAndReplace", #""filter":{"_id":"none"},"replacement":{"n":1}"#)
                == #"{"document":null}"#
        )
        #expect(
            try await act("findOneAndDelete", #""filter":{"_id":"b3"},"projection":{"_id":0}"#)
                == #"{"document":{"tag":"\#(tag)"}}"#
        )
        let unordered = try await act(
            "insertMany",
            #""ordered":false,"documents":[{"_id":"b1"},{"_id":"b4","tag":"\#(tag)"}]"#,
            status: 400
        )
        #expect(unordered.contains(#""writeErrors":[{"index":0,"#))
        #expect(try await act("deleteMany", #""filter":{"tag":"\#(tag)"}"#) == #"{"deletedCount":3}"#)
    }
}
