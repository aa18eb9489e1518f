import Foundation
import TestSupport
import Testing

@Suite("Packages of functions", .timeLimit(.minutes(30)))
struct FunctionPackageTests {
    @Test("a function requires what the app's archive holds; what is not there is named")
    func require() async throws {
        let (api, user) = try await FunctionServer.user()
        try Shell.psql(
            api.server.database,
            script: """
                insert into tidegate.other_files (app, path, body)
                    select id, 'functions/node_modules.tar.gz', decode('\(Self.archive)', 'base64')
                    from tidegate.apps where name = 'functions' on conflict do nothing;
                select tidegate.set_function('functions', 'packed', 'exports = (n) => require("twice")(n);');
                select tidegate.set_function('functions', 'missing', 'exports = () => require("nowhere");');
                """
        )
        try await eventually {
            try await api.call("packed", #"[{"$numberInt":"21"}]"#, as: user).text == #"{"$numberInt":"42"}"#
        }
        let missing = try await api.call("missing", as: user)
        #expect(missing.status == 400)
        #expect(missing.error.contains(#"module "nowhere" is not available"#), "\(missing.text)")
    }

    /// A package `twice`, as GNU tar and gzip pack it.
    private static let archive = """
        H4sIAAAAAAACA+2Yz0rDQBCHc/Yphj21IvmzySZgqSjYW734AhKTtaxtdusmxYL47qYRxKbWUG03KZ3vsiFd6OHjNzMZqVL+
        kKl0MeO5Yx0GtyRirDpL6ufms0e9iFrALAMs8iLWAJZWqvjtXtPvR4r87r94FQl3OuDf912G/lvyfz+6ub0b2Vm6T/9hEGz3
        T+v+A8YCC1z0b8B/AU9KQ55oMS/yMws5KX7Iv9z3SLB7/WdRiP2/E/6FlFw7pv1H5X303x3/QqZ8aT/nB+r/vr/un7rMD7H/
        m+DTs82Xc6WLHIbQk30YXoEc4Chwov1/HifTeMLLuCtpZv5ntN7/WeRi/k3wRmSccXIJpJJPLoBksZCrFzPx+FX4yTuWg1PJ
        /8p7y/ufoBwAcP4zge3YzvVYyclYyOmB/qOp/lNam/88LywPGKP/tvIft8SfvzGQ7vpvnP/caD3/PmU0wvnPBI4zK4s/DneY
        /7X8/2/hs2P/99xw4/vPY5h/EyRK5gVUWz4YguYvC6F5j1QvSH8A2/ZD1YXV8zlQXBUhCIIgyHHxAatxReMAKAAA
        """
}
