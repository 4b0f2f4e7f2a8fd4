#pragma once
// Ports of this machine that belong to pods (containers' hostPort): carried to the pod's address.
//
//   HostPorts ports(loop);
//   for (const std::string& trouble : ports.open(pod, "10.88.0.3")) …    // what could not be had
//   ports.close(uid);
//
// Owner thread. Opening again for the same pod replaces what was open.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/core/pod_model.h"
#include "runtime/node/network/port_listener.h"

namespace mangrove::runtime {

struct HostPort {
  std::string protocol, hostIp;
  uint16_t hostPort = 0, containerPort = 0;
  bool operator==(const HostPort&) const = default;
};
// What a pod with a network of its own asks of the machine. Pure.
std::vector<HostPort> hostPortsOf(const api::PodSpec& spec);

class HostPorts {
 public:
  explicit HostPorts(FdLoop& loop) : loop_(loop) {}
  ~HostPorts();
  std::vector<std::string> open(const RunPod& pod, const std::string& podIp);
  void close(const std::string& uid);

 private:
  FdLoop& loop_;
  std::map<std::string, std::vector<std::shared_ptr<PortListener>>> open_;  // by uid
};

}  // namespace mangrove::runtime
