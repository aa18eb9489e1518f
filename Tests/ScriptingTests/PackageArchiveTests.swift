import Foundation
import TestSupport
import Testing

@testable import Scripting

/// A package `twice` with one of its own, `inner`, a file of a long name and one that is of no use to scripts.
enum PackageFixture {
    /// As GNU tar packs it, compressed.
    static let tar = [
        "H4sIAAAAAAACA+2Yz0rDQBCHc/Yphj21IvmzySZgqSjYW734AhKTtaxtdusmxYL47qYRxKbWUG03KZ3vsiFd6OHjNz",
        "MZqVL+kKl0MeO5Yx0GtyRirDpL6ufms0e9iFrALAMs8iLWAJZWqvjtXtPvR4r87r94FQl3OuDf912G/lvyfz+6ub0b",
        "2Vm6T/9hEGz3T+v+A8YCC1z0b8B/AU9KQ55oMS/yMws5KX7Iv9z3SLB7/WdRiP2/E/6FlFw7pv1H5X303x3/QqZ8aT",
        "/nB+r/vr/un7rMD7H/m+DTs82Xc6WLHIbQk30YXoEc4Chwov1/HifTeMLLuCtpZv5ntN7/WeRi/k3wRmSccXIJpJJP",
        "LoBksZCrFzPx+FX4yTuWg1PJ/8p7y/ufoBwAcP4zge3YzvVYyclYyOmB/qOp/lNam/88LywPGKP/tvIft8SfvzGQ7v",
        "pvnP/caD3/PmU0wvnPBI4zK4s/DneY/7X8/2/hs2P/99xw4/vPY5h/EyRK5gVUWz4YguYvC6F5j1QvSH8A2/ZD1YXV",
        "8zlQXBUhCIIgyHHxAatxReMAKAAA",
    ].joined()
    /// With the headers of pax.
    static let pax = [
        "H4sIAAAAAAAAA+2bzY7TMBSFu+5TWFnNINT6J7anjIqExEhskBAvgEJqhkCblCQVlRDvTmLEkLpJPfmpYZr7bRrFlZ",
        "zq5pwTX6ez+btg/0YFK5Vm8zhZqQ+bZLVbq2wyHLhA+L7+LDA/MZb+3+PyPKGCyQnaD3gNjeyyPEiL6V3M9R/CMAry",
        "aKOWRC44w4T5YiaJf8MFkWxajIbmqMC0HBWL6b++dqA/VcnPzzSHljjnzfo3j4v7TNIJ4me6ngP+6D9NkvzU92zj5o",
        "97IhzUvxIF+fcoVAPNYfd/ZtZfEB/83wWn/Z8uavyfYT0K9n8JHOhfi374FGjv/77AHPzfBTX1r6TA+7tXr9/ezTar",
        "XnO0939OOAb/dwH4/7ip0f8woq9g1T81/b+w/+L5z4kmR+//OfqUpCgL02ibZyDqkXE6/4dpCNrz3+z/CVqu/yH/zw",
        "/0/8ZNjf4Hbwlqibda/0kqoP/nBFv9K2EQxbFKu8xh939z/Sd9DP0/J8D6b9zY9K9F3zMFWvs/xUxC/88Jj6v/QQqs",
        "1H72pc1yoLX/U0KoAP93Afj/uHmc/juIvoJV/8zUfxEAAvp/Lvhd55nab5M0z9ASXcXXaPkSxbeg7zFwuv+3DcKvwb",
        "0qlJ/E3eew5/9R/48I2P9zQof+H2ELWW7RgkFcADX6H0b0Faz659Ts/2CJIf9d8MOLg43yXiBPF997jrxNEMXliXX0",
        "8eHBz/sJar9ITud/cQsMMEf7/PeZYJD/LuiQ//JGj1JwhAugRv+l7w86h5Z4q/0/zjiD/q8LGupfyYCgNzb/Z8yoPy",
        "MY/v/lBsIF2gb552XDjdC/+t0onjmnkE3nx0XZrc9/WBr69zGVsP5zwXy+TuJ7kMtYsed/v72fEqv+j97/EQTe/3ED",
        "7P+Omwb99xd9BZv+CRZH/V/CIf9dECZxliO9y4+WKFXfdlGqrjx9wru+RU37w/oL5fEzRGGrGAAAAAAAAACeBr8Agb",
        "1AfgBQAAA=",
    ].joined()
    /// As zip packs it: one file stored, the others deflated.
    static let zip = [
        "UEsDBBQAAAAIACO2dV16ZzRBEgAAABAAAAAcAAAAbm9kZV9tb2R1bGVzL3R3aWNlL1JFQURNRS5tZMvLL1FIyy9SKE",
        "4uyiwoKeYCAFBLAwQUAAAAAAAjtnVdW0C71yoAAAAqAAAAHwAAAG5vZGVfbW9kdWxlcy90d2ljZS9wYWNrYWdlLmpz",
        "b257Im5hbWUiOiAidHdpY2UiLCAibWFpbiI6ICJsaWIvaW5kZXguanMifQpQSwMEFAAAAAgAI7Z1Xfsr13cdAAAAGw",
        "AAAC4AAABub2RlX21vZHVsZXMvdHdpY2Uvbm9kZV9tb2R1bGVzL2lubmVyL2luZGV4Lmpzy81PKc1J1UutKMgvKilW",
        "sFXQyNNUsLVTyLPmAgBQSwMEFAAAAAgAI7Z1XaWuxOUJAAAABwAAAJIAAABub2RlX21vZHVsZXMvdHdpY2UvbGliL2",
        "FhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh",
        "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYS5qc9PXz8nPS+cCAFBLAw",
        "QUAAAACAAjtnVdLJFOlz0AAABGAAAAHwAAAG5vZGVfbW9kdWxlcy90d2ljZS9saWIvaW5kZXguanNLzs8rLlHIzMtL",
        "LVKwVShKLSzNLErVUAILKGlaK+Tmp5TmpOqlVhTkF5UUA5Vo5Gkq2NpBdIDYWgpG1lwAUEsBAhQDFAAAAAgAI7Z1XX",
        "pnNEESAAAAEAAAABwAAAAAAAAAAAAAAKSBAAAAAG5vZGVfbW9kdWxlcy90d2ljZS9SRUFETUUubWRQSwECFAMUAAAA",
        "AAAjtnVdW0C71yoAAAAqAAAAHwAAAAAAAAAAAAAApIFMAAAAbm9kZV9tb2R1bGVzL3R3aWNlL3BhY2thZ2UuanNvbl",
        "BLAQIUAxQAAAAIACO2dV37K9d3HQAAABsAAAAuAAAAAAAAAAAAAACkgbMAAABub2RlX21vZHVsZXMvdHdpY2Uvbm9k",
        "ZV9tb2R1bGVzL2lubmVyL2luZGV4LmpzUEsBAhQDFAAAAAgAI7Z1XaWuxOUJAAAABwAAAJIAAAAAAAAAAAAAAKSBHA",
        "EAAG5vZGVfbW9kdWxlcy90d2ljZS9saWIvYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh",
        "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYW",
        "FhYWFhYWFhYWFhLmpzUEsBAhQDFAAAAAgAI7Z1XSyRTpc9AAAARgAAAB8AAAAAAAAAAAAAAKSB1QEAAG5vZGVfbW9k",
        "dWxlcy90d2ljZS9saWIvaW5kZXguanNQSwUGAAAAAAUABQAAAgAATwIAAAAA",
    ].joined()

    static func bytes(_ text: String) -> [UInt8] { [UInt8](Data(base64Encoded: text) ?? Data()) }
}

@Suite("Archives of packages")
struct PackageArchiveTests {
    @Test(
        "they give what scripts may require",
        arguments: [PackageFixture.tar, PackageFixture.pax, PackageFixture.zip]
    )
    func modules(archive: String) throws {
        let modules = try PackageArchive.modules(PackageFixture.bytes(archive))
        let long = "twice/lib/" + String(repeating: "a", count: 120) + ".js"
        #expect(
            Set(modules.keys) == [
                "twice/package.json", "twice/lib/index.js", "twice/node_modules/inner/index.js", long,
            ]
        )
        #expect(
            modules["twice/lib/index.js"].map { String(decoding: $0, as: UTF8.self) }
                == "const inner = require(\"inner\"); module.exports = (n) => inner(n) * 2;\n"
        )
    }

    @Test("damaged ones are refused at every length, and nothing else happens")
    func damaged() {
        for archive in [PackageFixture.tar, PackageFixture.zip] {
            let bytes = PackageFixture.bytes(archive)
            for length in stride(from: 0, to: bytes.count - 30, by: 7) where length > 0 {
                #expect(throws: ArchiveFault.self, "\(length)") {
                    try PackageArchive.modules(Array(bytes.prefix(length)))
                }
            }
        }
        #expect(throws: ArchiveFault.self) {
            try PackageArchive.modules([UInt8](repeating: 65, count: 2000))
        }
    }

    @Test("a random change of a byte is refused or read, and never more than that")
    func changed() {
        var random = SeededRandom(seed: 7)
        for archive in [PackageFixture.tar, PackageFixture.pax, PackageFixture.zip] {
            let bytes = PackageFixture.bytes(archive)
            for _ in 0..<500 {
                var changed = bytes
                changed[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(
                    in: 0...255,
                    using: &random
                )
                _ = try? PackageArchive.modules(changed)
            }
        }
    }

    @Test("paths that lead out, and files that are no sources, are left out")
    func places() {
        #expect(PackageArchive.place(of: "./node_modules/a/b.js") == "a/b.js")
        #expect(PackageArchive.place(of: "a/b.json") == "a/b.json")
        #expect(PackageArchive.place(of: "node_modules/../../etc/x.js") == nil)
        #expect(PackageArchive.place(of: "node_modules/a/README.md") == nil)
    }
}
