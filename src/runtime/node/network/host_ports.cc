#include "runtime/node/network/host_ports.h"

namespace mangrove::runtime {

std::vector<HostPort> hostPortsOf(const api::PodSpec& spec) {
  std::vector<HostPort> out;
  if (spec.hostNetwork) return out;
  auto add = [&](const api::Container& container) {
    for (const auto& port : container.ports) {
      if (port.hostPort <= 0 || port.hostPort > 65535) continue;
      const std::string ip(port.hostIp.view());
      // Manifests that no server has filled up (static pods) may leave it out.
      const std::string protocol(port.protocol.view().empty() ? "TCP" : port.protocol.view());
      out.push_back({protocol, ip.empty() ? "0.0.0.0" : ip, static_cast<uint16_t>(port.hostPort),
                     static_cast<uint16_t>(port.containerPort)});
    }
  };
  for (const auto& container : spec.containers) add(container);
  for (const auto& container : spec.initContainers)
    if (container.isSidecar) add(container);
  return out;
}

HostPorts::~HostPorts() {
  while (!open_.empty()) close(open_.begin()->first);
}

std::vector<std::string> HostPorts::open(const RunPod& pod, const std::string& podIp) {
  std::vector<std::string> troubles;
  const auto wanted = hostPortsOf(*pod.pod.spec);
  if (wanted.empty()) return troubles;
  close(pod.uid());
  auto& mine = open_[pod.uid()];
  for (const auto& one : wanted) {
    auto listener = PortListener::open(loop_, one.protocol, one.hostIp, one.hostPort);
    if (!listener) {
      troubles.push_back(listener.error().text());
      continue;
    }
    (*listener)->setBackends({{podIp, one.containerPort}});
    mine.push_back(std::move(*listener));
  }
  return troubles;
}

void HostPorts::close(const std::string& uid) {
  auto node = open_.extract(uid);
  if (!node) return;
  for (auto& listener : node.mapped()) listener->close();
}

}  // namespace mangrove::runtime
