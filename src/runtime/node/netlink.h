#pragma once
// The three things we ask of rtnetlink: a bridge, a pair of virtual Ethernet interfaces across two
// network namespaces, and the end of either. Blocking, microseconds. Any thread.

#include <cstdint>
#include <string>

#include "base/result.h"

namespace mangrove::runtime {

// Up. Exists already: left as it is.
Result<> makeBridge(const std::string& name);
// `name` on our side, up and on `bridge`; the peer is "eth0" in the namespace of process `pid`.
Result<> makeVeth(const std::string& name, const std::string& bridge, int64_t pid);
Result<> removeLink(const std::string& name);

}  // namespace mangrove::runtime
