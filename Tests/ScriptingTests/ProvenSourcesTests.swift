import BSON
import TestSupport
import Testing

@testable import Scripting

/// Random sources that read and write properties by computed names, called with the worst of names.
///
/// Where the proof says that a source leaves the language's objects alone, the engine is asked whether it did.
@Suite("Sources of all kinds that are proven")
struct ProvenSourcesTests {
    /// Made anew for each: statements around accesses, some with a mistake in them.
    private struct Writer {
        var random: SeededRandom

        private static let bases = texts(
            """
            o ¦ o ¦ o ¦ a ¦ a ¦ s ¦ f ¦ d ¦ m ¦ o.a ¦ a[1] ¦ a[i] ¦ f.bind ¦ x ¦ console ¦ context ¦ o⏎
            (o) ¦ f(o) ¦ new f.g
            """
        )
        private static let names = texts(
            """
            k ¦ k ¦ k ¦ k ¦ o.n ¦ i ¦ i + 1 ¦ i - k ¦ k + '' ¦ a.length - 1 ¦ 'length' ¦ -k ¦ i++
            (k, i) ¦ +k ¦ s - 1, k ¦ j
            """
        )
        /// Some of these let a value get on.
        private static let uses = texts(
            """
            x = @ ¦ x = @ + 1 ¦ x = [@] ¦ x = { y: @ } ¦ x = (@ ?? 0) + 1 ¦ x = @ ?? 0 ¦ x = (@ ?? 0)
            f(@) ¦ f(@ + 1) ¦ f(@ ?? 0) + 1 ¦ f((@ || 0) + 1) ¦ x = @ || y ¦ x = @ && y ¦ x = y && @
            x = @ ? @ : y ¦ x = y ? 1 : @ ¦ x = !@ ¦ x = !@ || @ ¦ x = y || !@ ¦ x = () => @
            x = (() => @)() ¦ x = (() => { return @⏎++y })() ¦ x = (() => { return @++ })() ¦ x = @++
            ++@ ¦ @-- ¦ @ += 1 ¦ @ = y ¦ @ = @ ¦ @ = f ¦ x = @ = y ¦ [@] = [y] ¦ [x] = [@]
            ({ y: @ } = { y: 1 }) ¦ x = (@, 1) ¦ x = (1, @) ¦ @.mine = 1 ¦ @(y) ¦ @.push(1) ¦ new @ + 1
            new @(1) ¦ new f.@ + 1 ¦ x = await @ ¦ delete @ ¦ x = delete @ ¦ if (@) y = 1
            if (!@) @ = 1 ¦ while (@) { break } ¦ switch (@) { } ¦ for (x of [@]) f(x)
            for (x in @) f(x) ¦ throw @ ¦ throw @ + 1 ¦ x = @ === y ¦ x = y === @ ¦ x = typeof @
            x = f`${@}` ¦ x = `${@}` ¦ x = `${@ + 1}` ¦ x = @ in o ¦ x = @ < @ ¦ x = @ - @ ¦ x = @ ** 2
            x = [...@] ¦ f(...@) ¦ x = @?.a ¦ x = @[0] ¦ @[0] = 1 ¦ x = @[k] ¦ @[k] = 1 ¦ (@) = 1
            x = (@) ¦ x = (@) + 1 ¦ (@ ||= []).push(1) ¦ x = @ ??= 1 ¦ @ ||= y ¦ x = @ |= 1
            let x⏎[k] = [@] ¦ if (k) [k] = [@] ¦ x = y⏎@ = 1 ¦ x = y⏎++@ ¦ x = @⏎(y) ¦ x = @⏎+ y
            x = @⏎++y ¦ x = { [k]: y } ¦ ({ [k]: x } = o) ¦ const { [k]: z } = a; f(z)
            x = k ? 1 : @ + 1 ¦ x = @ ? 1⏎: @ ¦ x = @, y = @ + 1 ¦ x = @ / 2 ¦ x = 2 / @ ¦ x = f(1)[k]
            x = f(a)[i] ¦ x = Object.assign(o, a) ¦ x = Object.assign(a, @) ¦ x = Object.freeze(f)
            x = o instanceof Array ¦ x = f instanceof Array⏎[k].push(1) ¦ x = new Array(3) ¦ x = RegExp
            for (x of [1, @]) f(x) ¦ x = Object(f) ¦ x = Object.create(f) ¦ x = utils ¦ x = Math.PI⏎[k]
            x = BigInt(1)⏎[k] ¦ x = new Object ¦ x = new Object() ¦ x = Array.isArray
            """
        )
        /// Some of these make a counter of what is none.
        private static let counts = texts(
            """
            i = k ¦ [i] = [k] ¦ [(i)] = [k] ¦ ({ i } = { i: k }) ¦ i ??= k ¦ i += k ¦ i += 1 ¦ i -= 1
            i = 1 ¦ for (i of [k]) f(@) ¦ let q⏎[i] = [k] ¦ ((i) => f(@))(k) ¦ (i => f(@))(k)
            ((w, i) => f(@))(1, k) ¦ ((i = 0) => f(@))(k) ¦ (function (i) { f(@) })(k) ¦ f(i) ¦ x = i
            x = -i ¦ try { throw k } catch (i) { f(@) } ¦ for (let j = 0; j < 3; j++) f(@)
            for (var j = 0 in o) f(@) ¦ for (let j = 0, n = 2; j < n; j += 1) { f(@); f(j) }
            for (const j in o) f(@) ¦ x = a[i++] ¦ let j = 0; f(@) ¦ let j = 0 + k; f(@)
            let j = k; f(@) ¦ let j; f(@) ¦ { let i = 0, j = k; f(@) }
            """
        )
        private static let mistakes = [
            "\n", "(", ")", " = ", "!", "++", ", ", " ?? ", "new ", ";", " && ", "+", "[", "]",
        ]

        /// Of a list with `¦` between, and `⏎` where a line ends.
        private static func texts(_ list: String) -> [String] {
            list.replacing("\n", with: " ¦ ").split(separator: " ¦ ").map {
                String($0.replacing("⏎", with: "\n"))
            }
        }

        private mutating func pick(_ texts: [String]) -> String { texts[random.below(texts.count)] }

        private mutating func statement() -> String {
            var text = ""
            for character in pick(random.oneIn(2) ? Self.uses : Self.counts) {
                if character == "@" {
                    text += pick(Self.bases) + "[" + pick(Self.names) + "]"
                } else {
                    text.append(character)
                }
            }
            if random.oneIn(4) {
                var characters = Array(text)
                characters.insert(contentsOf: pick(Self.mistakes), at: random.below(characters.count + 1))
                text = String(characters)
            }
            return text
        }

        mutating func source() -> String {
            var body = ""
            for _ in 0...random.below(3) {
                body +=
                    "try { " + statement() + pick([";", "\n", ";", ";\n"]) + pick(["", "", "y = 1;", "f(x)"])
                body += " } catch (e) { f(e) }\n"
            }
            return """
                exports = async (k) => {
                  const f = (z, n = 2) => {
                    try { z.mine = 1 } catch { }
                    if (n > 0) for (const w of Object.values(z ?? {})) f(w, n - 1);
                    return z;
                  };
                  const o = { a: { b: 1 }, n: k }, a = [1, [2], "x"], s = "text", d = new Date(), m = new Map();
                  let i = 0; let x, y;
                  \(body)
                  const all = [x, y, o, a, s, d, m, f];
                  for (const z of all) f(z);
                };
                """
        }
    }

    private static let rounds = 10

    @Test("leave the language's objects alone, whatever the names are")
    func leaveThemAlone() async {
        let pool = ScriptFixture.pool(ScriptLimits(workers: 1, idle: .seconds(20)))
        var writer = Writer(random: SeededRandom(seed: 20_261_123))
        var proven = 0
        var ended = 0
        for _ in 0..<Self.rounds {
            var sources: [String: String] = ["look": "exports = (k) => [k][k]"]
            var written = 0
            while sources.count < 60, written < 4_000 {
                written += 1
                let source = writer.source()
                if SourceProof.holds(for: source, globals: SourceProofTests.globals) {
                    sources["f\(sources.count)"] = source
                }
            }
            let bundle = ScriptFixture.bundle(sources)
            func run(_ name: String, _ key: String = "") async -> ScriptOutcome {
                await pool.run(
                    ScriptFixture.call(.named(name), [.string(key)], within: .seconds(20)),
                    of: bundle,
                    host: RecordingHost()
                )
            }
            // A context that need not look for more globals than it knows.
            for _ in 0..<3 { _ = await run("look") }
            for name in sources.keys.sorted() where name.hasPrefix("f") {
                proven += 1
                for key in ["__proto__", "constructor", "prototype"] {
                    if case .success = await run(name, key).result { ended += 1 }
                }
                // It proves nothing, so all is looked at when it is over; the next one sees what was found.
                let before = await run("look").contextRuns
                let after = await run("look").contextRuns
                #expect(after == before + 1, "\(sources[name] ?? "")")
            }
        }
        #expect(proven > 50 * Self.rounds)
        // What does not parse, or throws, shows little.
        #expect(ended > proven)
        await pool.shutdown()
    }
}
