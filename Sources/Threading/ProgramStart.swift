public import Glibc

/// Starts other programs.
public enum ProgramStart {
    /// Starts one, in a process group of its own.
    ///
    /// Signals that we ignore or block would stay so in the child: it begins with all as they are by default. Its
    /// environment is what is given, and nothing of ours.
    ///
    /// - Parameters:
    ///   - command: Path and arguments.
    ///   - environment: `NAME=value`
    ///   - files: Says which descriptors the program has.
    /// - Returns: The process, or the error number why there is none.
    public static func spawn(
        _ command: [String],
        environment: [String],
        files: (inout posix_spawn_file_actions_t) -> Void
    ) -> (id: pid_t, status: Int32) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        files(&actions)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes,
            Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)
        )

        var arguments = command.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var variables = environment.map { strdup($0) } + [nil]
        defer { for variable in variables { free(variable) } }
        var id = pid_t()
        let status = posix_spawn(&id, command[0], &actions, &attributes, &arguments, &variables)
        return (id, status)
    }
}
