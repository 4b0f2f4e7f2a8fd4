#pragma once
// What a Responder can do beside its duty when it stands on a real connection: go on in SPDY, which
// kubectl before 1.30 and older client libraries ask for where newer ones ask for a WebSocket.
//
//   if (SpdyUpgrade* spdy = spdyOf(*to)) return spdy->upgradeToSpdy({"v4.channel.k8s.io"}, …);
//   to->upgrade(…);
//
// Owner thread; `opened` runs on an I/O thread.

#include <memory>
#include <string_view>
#include <vector>

#include "apiserver/core/call.h"
#include "base/fn.h"
#include "net/upgrade/byte_stream.h"

namespace mangrove::apiserver {

class SpdyUpgrade {
 public:
  virtual ~SpdyUpgrade() = default;
  virtual bool wantsSpdy() const = 0;
  // Speaks the first of `protocols` that the client offers; 400 when it offers none of them.
  using Opened = UniqueFn<void(std::unique_ptr<net::ByteStream>)>;
  virtual void upgradeToSpdy(const std::vector<std::string_view>& protocols, Opened opened) = 0;
};

// Null when the client did not ask for it.
inline SpdyUpgrade* spdyOf(Responder& to) {
  auto* spdy = dynamic_cast<SpdyUpgrade*>(&to);
  return spdy && spdy->wantsSpdy() ? spdy : nullptr;
}

}  // namespace mangrove::apiserver
