import Accounts
import Errors

/// Slows the guessing of credentials, without letting anybody lock others out.
///
/// Only failures count, by three measures: the address they come from, the account that they name as seen
/// from that address, and the account from everywhere. The last one does not hold for addresses from which
/// the account has logged in before, so that whoever attacks an account from elsewhere cannot keep its owner
/// out. Checks look before they charge: many at once may pass, and what they used up is owed afterwards.
///
/// What counts here counts in all gateways: a failure's ``Charge``s go to the database, which adds them up, and what
/// the others used up comes back by ``learn(_:remaining:)``. A login that goes well asks nobody.
///
/// Anonymous logins and signed tokens are not guessed, and do not count.
///
/// Source: `reference/peers.md` §6.1, brute-force controls.
final class LoginThrottle: Sendable {
    /// One try, to be told its outcome.
    struct Attempt: Sendable {
        fileprivate let address: RateKey?
        fileprivate let account: RateKey?
        fileprivate let pair: RateKey?
        fileprivate let isFamiliar: Bool

        fileprivate static let uncounted = Attempt(
            address: nil,
            account: nil,
            pair: nil,
            isFamiliar: false
        )
    }

    /// A token taken from a bucket that all gateways share.
    struct Charge: Sendable {
        let key: RateKey
        let rate: TokenBuckets.Rate
        /// Why the next one is turned away; nil where it is not.
        let refusal: (@Sendable (_ wait: Int64) -> ServiceError)?
    }

    private let addresses: TokenBuckets?
    private let pairs: TokenBuckets?
    private let accounts: TokenBuckets?
    /// Where accounts have logged in from; remembered as keys that have to wait.
    private let familiar = TokenBuckets(
        .init(tokens: 1, per: LoginThrottle.familiarFor, burst: 1),
        capacity: 131_072,
        debtLimit: 0
    )
    private let now: @Sendable () -> Int64

    /// Thirty days, in nanoseconds.
    private static let familiarFor: Int64 = 30 * 86_400 * 1_000_000_000
    /// How many addresses' worth of failures one account takes before strangers have to wait.
    private static let accountFactor = 5

    /// - Parameters:
    ///   - perAddress: Failures per minute; 0 is no limit.
    ///   - perAccount: Failures per minute that name one account; 0 is no limit.
    ///   - now: Nanoseconds on a clock that only grows.
    init(perAddress: Int, perAccount: Int, now: @escaping @Sendable () -> Int64) {
        addresses = perAddress > 0 ? TokenBuckets(.perMinute(perAddress)) : nil
        pairs = perAccount > 0 ? TokenBuckets(.perMinute(perAccount)) : nil
        accounts = perAccount > 0 ? TokenBuckets(.perMinute(perAccount * Self.accountFactor)) : nil
        self.now = now
    }

    /// Lets a try pass, before it costs anything.
    ///
    /// - Throws: `tooManyRequests` with the seconds to wait.
    func begin(
        _ login: Credentials,
        appID: String,
        from address: NetworkAddress?
    ) throws(ServiceError) -> Attempt {
        guard login.canBeGuessed else { return .uncounted }
        // A key names no account before it is checked.
        guard case .emailPassword(let username, _) = login else {
            return try begin(account: nil, appID: appID, from: address)
        }
        return try begin(account: username, appID: appID, from: address)
    }

    /// As ``begin(_:appID:from:)`` for what is tried without credentials, such as a token out of a mail.
    func begin(
        account username: String?,
        appID: String,
        from address: NetworkAddress?
    ) throws(ServiceError) -> Attempt {
        guard addresses != nil || pairs != nil else { return .uncounted }
        let now = now()
        let source = address.map { RateKey(shared: "address", address: $0) }
        if let source, let wait = addresses?.wait(source, now: now), wait > 0 {
            throw Self.addressRefused(wait)
        }
        guard let username else {
            return Attempt(address: source, account: nil, pair: nil, isFamiliar: false)
        }
        let account = RateKey(shared: "account", appID, username)
        let pair = address.map { RateKey(shared: "pair", appID, username, address: $0) }
        var wait = pair.flatMap { pairs?.wait($0, now: now) } ?? 0
        let isFamiliar = pair.map { familiar.wait($0, now: now) > 0 } ?? false
        if !isFamiliar { wait = max(wait, accounts?.wait(account, now: now) ?? 0) }
        if wait > 0 { throw Self.accountRefused(wait) }
        return Attempt(address: source, account: account, pair: pair, isFamiliar: isFamiliar)
    }

    /// The credentials were good.
    func succeeded(_ attempt: Attempt) {
        guard let pair = attempt.pair else { return }
        familiar.charge(pair, now: now())
    }

    /// The credentials were not good.
    ///
    /// - Returns: What is to be counted with the other gateways.
    @discardableResult
    func failed(_ attempt: Attempt) -> [Charge] {
        let now = now()
        var charges: [Charge] = []
        func charge(
            _ buckets: TokenBuckets?,
            _ key: RateKey?,
            _ refusal: (@Sendable (Int64) -> ServiceError)?
        ) {
            guard let buckets, let key else { return }
            buckets.charge(key, now: now)
            charges.append(Charge(key: key, rate: buckets.rate, refusal: refusal))
        }
        charge(addresses, attempt.address, Self.addressRefused)
        charge(accounts, attempt.account, attempt.isFamiliar ? nil : Self.accountRefused)
        charge(pairs, attempt.pair, Self.accountRefused)
        return charges
    }

    /// Takes over what all gateways together used up of a bucket, in nanoseconds until it is full.
    func learn(_ key: RateKey, remaining: Int64) {
        // Which measure the key belongs to is part of its digest.
        for buckets in [addresses, accounts, pairs] { buckets?.learn(key, remaining: remaining, now: now()) }
    }

    private static let addressRefused: @Sendable (Int64) -> ServiceError = { wait in
        TokenBuckets.refusal(
            wait: wait,
            "failed logins from this address",
            limit: "failed-logins-per-minute-per-address"
        )
    }

    private static let accountRefused: @Sendable (Int64) -> ServiceError = { wait in
        TokenBuckets.refusal(
            wait: wait,
            "failed logins of this account",
            limit: "failed-logins-per-minute-per-account"
        )
    }
}

extension Credentials {
    fileprivate var canBeGuessed: Bool {
        switch self {
        case .emailPassword, .apiKey, .customFunction: true
        case .anonymous, .customToken, .idToken: false
        }
    }
}
