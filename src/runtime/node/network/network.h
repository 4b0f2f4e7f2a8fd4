#pragma once
// The pods' network on this machine: one bridge with an address, one pair of virtual interfaces per
// pod, one address each. Plain netlink, no helper programs. There is no way out of the machine from
// a pod unless the administrator forwards and masquerades.
//
//   Network network({.bridge = "mangrove0", .subnet = "10.88.0.0/16", .stateDir = dir});
//   network.start();                     // available()? If not, trouble() says why
//   auto lease = network.allocate(uid);  // the same for the same pod, also after a restart
//   network.connect(uid, shimPid);
//
// Any thread.

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/node/network/netlink.h"

namespace mangrove::runtime {

struct NetworkOptions {
  std::string bridge = "mangrove0";
  std::string subnet = "10.88.0.0/16";
  std::string stateDir;  // one file per address: its pod's uid
};

struct PodLease {
  std::string address, mask, gateway;
};

// Follows from the IPv4 address, so that whoever remembers it of the pod that had the address
// before reaches the pod that has it now: others would be heard again only after half a minute.
HardwareAddress hardwareAddressOf(uint32_t address);

// This machine's end of a pod's pair of interfaces.
std::string podInterface(std::string_view uid);

class Network {
 public:
  explicit Network(NetworkOptions options);

  Result<> start();
  bool available() const { return available_; }
  const std::string& trouble() const { return trouble_; }
  std::string gateway() const;  // the bridge's own address
  std::string mask() const;

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
  uint32_t freeAddress() const;  // 0: none left
  PodLease leaseFor(uint32_t address) const;
  void loadLeases();

  const NetworkOptions options_;
  uint32_t base_ = 0, maskBits_ = 0;
  bool available_ = false;
  std::string trouble_;
  std::mutex mutex_;
  std::map<std::string, uint32_t> leases_;  // by uid
  uint32_t newest_ = 0;                     // the address given out last
};

}  // namespace mangrove::runtime
