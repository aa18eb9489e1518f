// libcurl's options are set by a variadic function, which Swift cannot call.
#ifndef CMAIL_H
#define CMAIL_H
#include <stddef.h>

/// Where mail is handed in.
struct cmail_server {
    /// `smtp://host:port` or, with TLS from the first byte, `smtps://host:port`.
    const char *url;
    /// Null for no authentication.
    const char *username;
    const char *password;
    /// A PEM file of the authorities that may vouch for the server; null for the system's.
    const char *authorities;
    /// Whether the connection must become TLS before anything is said.
    int requires_tls;
    long connect_seconds;
    long total_seconds;
};

/// Hands one message in; blocks for at most `total_seconds`.
///
/// Returns 0, or another number with the reason in `reason`, of at least 256 bytes.
int cmail_send(
    const struct cmail_server *server, const char *sender, const char *recipient, const char *message,
    size_t length, char *reason, size_t capacity);
#endif
