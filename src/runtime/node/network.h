#pragma once
// The pods' network on this machine: one bridge with an address, one pair of virtual interfaces per
// pod, one address each. Plain netlink, no helper programs. There is no way out of the machine from
// a pod unless the administrator forwards and masquerades.
//
//   Network network({.bridge = "mangrove0", .subnet = "10.88.0.0/16", .stateDir = dir});
//   network.start();                       // false: no network for pods here, network.trouble()
//   why auto lease = network.allocate(uid);    // the same address for the same pod, also after a
//   restart network.connect(uid, shimPid);
//
// Any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/result.h"

namespace mangrove::runtime {

struct NetworkOptions {
  std::string bridge = "mangrove0";
  std::string subnet = "10.88.0.0/16";
  std::string stateDir;  // one file per address: its pod's uid
};

struct PodLease {
  std::string address, mask, gateway;
};

class Network {
 public:
  explicit Network(NetworkOptions options);

  Result<> start();
  bool available() const { return available_; }
  const std::string& trouble() const { return trouble_; }

  Result<PodLease> allocate(const std::string& uid);
  // Joins the network namespace of `pid` to the bridge; its end is called eth0.
  Result<> connect(const std::string& uid, int64_t pid);
  // Gives the address back. The interfaces go with the namespace.
  void release(const std::string& uid);
  // Pods that hold an address.
  std::vector<std::string> holders();
  // Takes the bridge away when no pod is left on it.
  void stop();

 private:
  Result<> readSubnet();
  PodLease leaseFor(uint32_t address) const;
  void loadLeases();

  const NetworkOptions options_;
  uint32_t base_ = 0, maskBits_ = 0;
  bool available_ = false;
  std::string trouble_;
  std::mutex mutex_;
  std::map<std::string, uint32_t> leases_;  // by uid
};

}  // namespace mangrove::runtime
