#include "HTTPTransport.hpp"

#include <curl/curl.h>

#include <memory>

namespace {

size_t append_body(char* data, size_t size, size_t count, void* target)
{
    static_cast<std::string*>(target)->append(data, size * count);
    return size * count;
}

size_t append_header(char* data, size_t size, size_t count, void* target)
{
    std::string line(data, size * count);
    auto colon = line.find(':');
    if (colon != std::string::npos) {
        auto first = line.find_first_not_of(" \t", colon + 1);
        auto last = line.find_last_not_of("\r\n");
        std::string value = first == std::string::npos || first > last ? "" : line.substr(first, last - first + 1);
        (*static_cast<realm::app::HttpHeaders*>(target))[line.substr(0, colon)] = value;
    }
    return size * count;
}

const char* name(realm::app::HttpMethod method)
{
    switch (method) {
        case realm::app::HttpMethod::get:
            return "GET";
        case realm::app::HttpMethod::post:
            return "POST";
        case realm::app::HttpMethod::patch:
            return "PATCH";
        case realm::app::HttpMethod::put:
            return "PUT";
        case realm::app::HttpMethod::del:
            return "DELETE";
    }
    return "GET";
}

realm::app::Response perform(const realm::app::Request& request)
{
    realm::app::Response response{};
    std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(), curl_easy_cleanup);
    curl_slist* list = nullptr;
    for (auto& [key, value] : request.headers)
        list = curl_slist_append(list, (key + ": " + value).c_str());
    std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list, curl_slist_free_all);

    curl_easy_setopt(curl.get(), CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_CUSTOMREQUEST, name(request.method));
    curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, long(request.timeout_ms));
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    if (!request.body.empty()) {
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, request.body.data());
        curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE, long(request.body.size()));
    }
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, append_body);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &response.body);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERFUNCTION, append_header);
    curl_easy_setopt(curl.get(), CURLOPT_HEADERDATA, &response.headers);

    CURLcode result = curl_easy_perform(curl.get());
    if (result != CURLE_OK) {
        response.custom_status_code = int(result);
        response.body = curl_easy_strerror(result);
        return response;
    }
    long status = 0;
    curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    response.http_status_code = int(status);
    return response;
}

} // namespace

HTTPTransport::HTTPTransport()
{
    curl_global_init(CURL_GLOBAL_ALL);
}

HTTPTransport::~HTTPTransport()
{
    curl_global_cleanup();
}

void HTTPTransport::send_request_to_server(
    const realm::app::Request& request, realm::util::UniqueFunction<void(const realm::app::Response&)>&& completion)
{
    completion(perform(request));
}
