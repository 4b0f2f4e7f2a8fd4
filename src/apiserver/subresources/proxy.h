#pragma once
// …/pods/NAME/proxy and …/services/NAME/proxy: the request goes on to the pod, its answer comes
// back. NAME may say scheme and port: "https:web:443", "web:metrics". What leads to the machine
// itself by loopback or link-local addresses is refused. Owner thread.

#include <optional>
#include <string>
#include <string_view>

#include "apiserver/core/server.h"
#include "net/loop.h"

namespace mangrove::apiserver {

struct ProxyName {
  std::string scheme = "http";
  std::string name;
  std::string port;  // number or name; "": the only one, or 80
  bool operator==(const ProxyName&) const = default;
};
// nullopt: a scheme that is neither http nor https, or too many colons. Pure.
std::optional<ProxyName> readProxyName(std::string_view text);
// Path and query as they go on: "proxy/a/b" with its parameters becomes "/a/b?x=1". Pure.
std::string proxyTarget(const RequestInfo& info);

// `io` outlives the server.
void serveProxies(Server& server, Context& context, net::Loop& io);

}  // namespace mangrove::apiserver
