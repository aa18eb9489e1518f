#pragma once

#include <realm/object-store/sync/generic_network_transport.hpp>

/// Sends the requests of the client's library with libcurl, one after the other on the calling thread.
class HTTPTransport final : public realm::app::GenericNetworkTransport {
public:
    HTTPTransport();
    ~HTTPTransport() override;

    void send_request_to_server(const realm::app::Request& request,
                                realm::util::UniqueFunction<void(const realm::app::Response&)>&& completion) override;
};
