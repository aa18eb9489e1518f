import Glibc

/// What the kernel knows of this process, under the names that Prometheus' own clients use.
///
/// Source: Prometheus, “Writing client libraries”, process metrics; proc(5).
public enum ProcessMetrics {
    /// Reads all of them; one that cannot be read is left out.
    public static func families() -> [MetricFamily] {
        var families: [MetricFamily] = []
        // Behind the name, which may hold anything but ends with the last parenthesis.
        if let stat = text(of: "/proc/self/stat"), let end = stat.lastIndex(of: ")") {
            let fields = stat[end...].dropFirst().split(separator: " ").map { Double($0) ?? 0 }
            if fields.count > 21 {
                let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
                families.append(
                    MetricFamily("process_cpu_seconds_total", .counter, (fields[11] + fields[12]) / ticks)
                )
                families.append(MetricFamily("process_threads", .gauge, fields[17]))
                families.append(MetricFamily("process_virtual_memory_bytes", .gauge, fields[20]))
                let page = Double(sysconf(Int32(_SC_PAGESIZE)))
                families.append(MetricFamily("process_resident_memory_bytes", .gauge, fields[21] * page))
                if let boot = bootTime {
                    families.append(
                        MetricFamily("process_start_time_seconds", .gauge, boot + fields[19] / ticks)
                    )
                }
            }
        }
        if let open = openDescriptors { families.append(MetricFamily("process_open_fds", .gauge, open)) }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            families.append(MetricFamily("process_max_fds", .gauge, Double(limit.rlim_cur)))
        }
        return families
    }

    /// When the machine started, in seconds since 1970.
    private static let bootTime: Double? = text(of: "/proc/stat")?
        .split(separator: "\n").first { $0.hasPrefix("btime ") }
        .flatMap { Double($0.dropFirst("btime ".count)) }

    private static var openDescriptors: Double? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        var count = 0.0
        while readdir(directory) != nil { count += 1 }
        // Without `.`, `..` and the directory itself.
        return max(0, count - 3)
    }

    private static func text(of path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &chunk, chunk.count)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
