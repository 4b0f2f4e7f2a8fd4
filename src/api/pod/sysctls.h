#pragma once
// Kernel parameters that a pod may set for itself alone: they are of its own network or IPC namespace and harm
// nobody else. What the Pod Security Standards call safe, and what a kubelet sets without being told to allow it.

#include <string>
#include <string_view>

namespace mangrove::api {

struct SafeSysctl {
  std::string_view name;
  int sinceMinor;  // of the Kubernetes version whose standard calls it safe
};
// nullptr: it is not one of them.
const SafeSysctl* safeSysctl(std::string_view name);

// "net.ipv4.ip_forward" and "net/ipv4/ip_forward" are both net/ipv4/ip_forward below /proc/sys: whichever stands
// first parts the words, so that the other can be in one (net/ipv4/conf/eth0.1/forwarding).
std::string sysctlPath(std::string_view name);

}  // namespace mangrove::api
