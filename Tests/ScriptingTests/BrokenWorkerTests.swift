import BSON
import Scripting
import Synchronization
import Testing

/// Workers that do not keep to the protocol: broken, or taken over by a script.
@Suite("Workers that say what none says", .timeLimit(.minutes(2)))
struct BrokenWorkerTests {
    /// Reads frames at descriptor 3; answers each run as its argument says.
    private static let program = #"""
        my ($kind) = @ARGV;
        open(my $link, "+<&=", 3) or exit 1;
        binmode $link;
        sub document { my $body = join "", @_; pack("V", length($body) + 5) . $body . "\0" }
        sub text { "\x02$_[0]\0" . pack("V", length($_[1]) + 1) . "$_[1]\0" }
        sub number { "\x12$_[0]\0" . pack("q<", $_[1]) }
        sub binary { "\x05$_[0]\0" . pack("V", length($_[1])) . "\0$_[1]" }
        my $goes = "\x08goOn\0\x01";
        while (sysread($link, my $head, 4) == 4) {
            my ($rest, $left) = ("", unpack("V", $head) - 4);
            while ($left > 0) { my $count = sysread($link, $rest, $left, length $rest) or exit 0; $left -= $count }
            next unless $rest =~ /\x02t\0\x04\0\0\0run\0/ and $rest =~ /\x12run\0(.{8})/s;
            my $run = unpack("q<", $1);
            my $answer =
                $kind eq "checked" ? document(text("t", "checked"), number("run", $run), "\x0afault\0")
                : $kind eq "unknown" ? document(text("t", "hello"), number("run", $run))
                : $kind eq "no outcome" ? document(text("t", "done"), number("run", $run), $goes)
                : $kind eq "no value" ? document(text("t", "done"), number("run", $run), $goes, binary("text", "zzz"))
                : $kind eq "no fact" ? document(text("t", "fact"), number("run", $run), text("name", "secrets"))
                : $kind eq "no arguments" ? document(text("t", "call"), number("run", $run), number("call", 1),
                    text("name", "data"), binary("text", "zzz"))
                : $kind eq "early" ? document(text("t", "call"), number("run", $run), number("call", 1),
                    text("name", "data"), binary("text", "{}"))
                    . document(text("t", "done"), number("run", $run), $goes, binary("text", "{5:valuei1;}"))
                : $kind eq "length" ? pack("V", 0x7fffffff)
                : $kind eq "half" ? pack("V", 100) . "abc"
                : $kind eq "other" ? document(text("t", "done"), number("run", $run + 1), $goes, binary("text", "n"))
                : exit 0;
            syswrite $link, $answer;
            exit 0 if $kind eq "half";
        }
        """#

    @Test(
        "are ended, and their runs told as crashed",
        arguments: [
            "checked", "unknown", "no outcome", "no value", "no fact", "no arguments", "length", "half",
            "exit",
        ]
    )
    func ends(_ kind: String) async {
        let pool = Self.pool(kind)
        for _ in 1...2 {
            let outcome = await Self.run(pool, within: .seconds(60))
            #expect(Self.reason(outcome) == .crash)
            // Its place is free once its end of the socket is closed.
            while pool.counts.busy > 0 { try? await Task.sleep(for: .milliseconds(5)) }
        }
        await pool.shutdown()
        #expect(pool.processIDs == [])
    }

    @Test("and answer for another run do not end this one before its time")
    func answersForAnother() async {
        let pool = Self.pool("other")
        let begin = ContinuousClock.now
        let outcome = await Self.run(pool, within: .seconds(1))
        #expect(Self.reason(outcome) == .time)
        #expect(ContinuousClock.now - begin >= .seconds(1))
        await pool.shutdown()
        #expect(pool.processIDs == [])
    }

    @Test("and end runs whose host calls still go on keep no other from beginning")
    func endsBeforeItsHostCalls() async {
        let pool = Self.pool("early")
        let held = Mutex<[CheckedContinuation<Void, Never>]>([])
        let asked = AsyncStream<Void>.makeStream()
        // To be cancelled does not end it, as with a statement that PostgreSQL does not let go of.
        let host = RecordingHost { _ in
            await withCheckedContinuation { answer in
                held.withLock { $0.append(answer) }
                asked.continuation.yield()
            }
            return .success(.null)
        }
        // More than there may be ends that nobody has heard (`WorkerFleet.unheardAtOnce`).
        let count = 40
        await withTaskGroup(of: ScriptOutcome.self) { runs in
            for _ in 0..<count { runs.addTask { await Self.run(pool, within: .seconds(60), host) } }
            var begun = 0
            for await _ in asked.stream {
                begun += 1
                if begun == count { break }
            }
            #expect(pool.counts.waiting == 0)
            for answer in held.withLock({ $0 }) { answer.resume() }
            for await outcome in runs { #expect(ScriptFixture.text(outcome) == #"{"$numberInt":"1"}"#) }
        }
        await pool.shutdown()
        #expect(pool.processIDs == [])
    }

    private static func pool(_ kind: String) -> ScriptPool {
        ScriptPool(
            command: ["/usr/bin/perl", "-e", program, kind],
            limits: ScriptLimits(workers: 1),
            runsStraight: false
        )
    }

    private static func run(
        _ pool: ScriptPool,
        within: Duration,
        _ host: any ScriptHost = RecordingHost()
    ) async -> ScriptOutcome {
        let bundle = ScriptFixture.bundle(["test": "exports = () => 1"])
        return await pool.run(
            ScriptFixture.call(.named("test"), within: within),
            of: bundle,
            host: host
        )
    }

    private static func reason(_ outcome: ScriptOutcome) -> ScriptFailure.Reason? {
        guard case .failure(let failure) = outcome.result else { return nil }
        return failure.reason
    }
}
