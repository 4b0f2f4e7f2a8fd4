#pragma once
// What we ask of rtnetlink: a bridge, a pair of virtual Ethernet interfaces across two network
// namespaces, the end of either, and single addresses on an interface. Blocking, microseconds. Any
// thread.

#include <array>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace mangrove::runtime {

using HardwareAddress = std::array<uint8_t, 6>;

// Up. Exists already: left as it is.
Result<> makeBridge(const std::string& name, const HardwareAddress& hardware);
// A network namespace: that of a process, or an open one.
struct NetworkOf {
  int64_t pid = 0;
  int fd = -1;
};
// `name` on our side, up and on `bridge`; the peer is "eth0" in the other namespace and has the
// given address.
Result<> makeVeth(const std::string& name, const std::string& bridge, NetworkOf peer,
                  const HardwareAddress& hardware);
Result<> removeLink(const std::string& name);
// One IPv4 address, /32. Adding one that is there is fine.
Result<> addAddress(const std::string& interface, const std::string& address);
Result<> removeAddress(const std::string& interface, const std::string& address);

}  // namespace mangrove::runtime
