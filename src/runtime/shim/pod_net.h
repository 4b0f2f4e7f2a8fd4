#pragma once
// The pod's side of its network, done by the shim inside the pod's network namespace with plain
// ioctls: the loopback comes up, the interface gets its address and a default route.

#include <string>

#include "base/result.h"

namespace mangrove::runtime {

struct PodAddress {
  std::string interface = "eth0";
  std::string address;  // "10.88.0.5"
  std::string mask;     // "255.255.0.0"
  std::string gateway;  // "10.88.0.1"; "": no default route
};

Result<> bringUpLoopback();
Result<> configureInterface(const PodAddress& address);

}  // namespace mangrove::runtime
