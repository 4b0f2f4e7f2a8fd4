#pragma once
// Whether an address can be reached from this machine alone: what may be served without asking who
// comes. Pure, any thread.
//
//   if (!isLoopback(bind)) return invalid("--bind {}: other machines could connect", bind);

#include <string_view>

namespace mangrove::net {

constexpr bool isLoopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

}  // namespace mangrove::net
