import Glibc
import Synchronization

/// The value of the `Date` header, made anew every second.
///
/// Source: RFC 9110 §5.6.7, IMF-fixdate.
public enum HTTPDate {
    private struct Written {
        var second = Int.min
        var text = ""
    }

    private static let newest = Mutex(Written())

    /// Now.
    public static var text: String {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME_COARSE, &now)
        let second = now.tv_sec
        return newest.withLock { written in
            if written.second != second { written = Written(second: second, text: text(of: second)) }
            return written.text
        }
    }

    /// Seconds since 1970 as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(of second: Int) -> String {
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = days[Int(parts.tm_wday)]
        let month = months[Int(parts.tm_mon)]
        let time = "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
        return "\(day), \(two(parts.tm_mday)) \(month) \(Int(parts.tm_year) + 1900) \(time) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
