#pragma once
// Whether an address can be reached from this machine alone: what may be served without asking who
// comes, and by which names it may be asked for then. Pure, any thread.
//
//   if (!isLoopback(bind)) return invalid("--bind {}: other machines could connect", bind);
//   if (!isOwnHost(request.headers.get("Host"))) return HttpResponse::text(421, "…");

#include <string_view>

namespace mangrove::net {

constexpr bool isLoopback(std::string_view host) {
  return host.starts_with("127.") || host == "::1" || host == "localhost";
}

// Whether a request that names this host was meant for us. A page of elsewhere whose name its owner
// points at this machine (DNS rebinding) is read by a browser as if it were ours, and names itself
// here: only addresses and localhost are nobody's to point.
bool isOwnHost(std::string_view hostHeader);

}  // namespace mangrove::net
