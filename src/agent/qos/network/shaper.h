#pragma once
// Carries a NetPlan out through a netlink socket; needs CAP_NET_ADMIN and says so when it is
// missing. One socket per call: it is asked when a plan changes, not at every tick. Owner thread.

#include <map>
#include <string>
#include <vector>

#include "agent/executor/net_plan.h"
#include "kernel/packet_priority.h"

namespace mangrove::agent {

class NetlinkShaper final : public NetShaper {
 public:
  Result<> apply(const NetPlan& plan) override;
  Result<> remove(const std::string& device) override;
  Result<bool> isThere(const std::string& device) override;

 private:
  struct Marked {
    uint16_t minor = 0;
    kernel::PacketPriority priority;
  };
  void followGroups(const std::vector<NetGroup>& groups);
  std::map<std::string, Marked> marked_;  // by the cgroup's directory
  std::string trouble_;                   // said already
};

}  // namespace mangrove::agent
