#include "CMail.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

struct cursor {
    const char *next;
    size_t left;
};

static size_t read_message(char *buffer, size_t size, size_t count, void *context) {
    struct cursor *cursor = context;
    size_t room = size * count;
    size_t taken = cursor->left < room ? cursor->left : room;
    memcpy(buffer, cursor->next, taken);
    cursor->next += taken;
    cursor->left -= taken;
    return taken;
}

// The last refusal is the reason; what follows is the server's good-bye.
static size_t keep_line(char *line, size_t size, size_t count, void *context) {
    size_t length = size * count;
    char *last = context;
    if (length == 0 || (line[0] != '4' && line[0] != '5')) return length;
    size_t kept = length < 199 ? length : 199;
    while (kept > 0 && (line[kept - 1] == '\r' || line[kept - 1] == '\n')) kept--;
    memcpy(last, line, kept);
    last[kept] = 0;
    return length;
}

int cmail_send(
    const struct cmail_server *server, const char *sender, const char *recipient, const char *message,
    size_t length, char *reason, size_t capacity) {
    char failure[CURL_ERROR_SIZE] = "";
    char last[200] = "";
    struct cursor cursor = {message, length};
    CURL *curl = curl_easy_init();
    if (!curl) {
        snprintf(reason, capacity, "libcurl cannot start");
        return -1;
    }
    struct curl_slist *recipients = curl_slist_append(NULL, recipient);
    curl_easy_setopt(curl, CURLOPT_URL, server->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "smtp,smtps");
    curl_easy_setopt(curl, CURLOPT_USE_SSL, (long)(server->requires_tls ? CURLUSESSL_ALL : CURLUSESSL_NONE));
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (server->authorities) curl_easy_setopt(curl, CURLOPT_CAINFO, server->authorities);
    if (server->username) {
        curl_easy_setopt(curl, CURLOPT_USERNAME, server->username);
        curl_easy_setopt(curl, CURLOPT_PASSWORD, server->password ? server->password : "");
    }
    curl_easy_setopt(curl, CURLOPT_MAIL_FROM, sender);
    curl_easy_setopt(curl, CURLOPT_MAIL_RCPT, recipients);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, read_message);
    curl_easy_setopt(curl, CURLOPT_READDATA, &cursor);
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, keep_line);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, last);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, failure);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, server->connect_seconds);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, server->total_seconds);
    // Signals for timeouts are the whole process's; threads must do without.
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    // Environment variables such as ALL_PROXY are not meant for mail.
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    CURLcode code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        const char *words = failure[0] ? failure : curl_easy_strerror(code);
        snprintf(reason, capacity, last[0] ? "%s (%s)" : "%s", words, last);
    }
    curl_slist_free_all(recipients);
    curl_easy_cleanup(curl);
    return (int)code;
}
