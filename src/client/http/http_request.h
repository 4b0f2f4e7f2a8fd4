#pragma once
// client::Request → net::HttpRequest. Pure functions, any thread.

#include "client/api_client.h"
#include "net/http/http.h"

namespace mangrove::client {

net::HttpRequest toHttp(const Request& request);
net::HttpRequest toHttp(const WatchRequest& request);

// The text of a Warning header (299 - "text"), as RFC 7234 §5.5 writes it; empty when malformed.
std::string warningText(std::string_view header);

}  // namespace mangrove::client
