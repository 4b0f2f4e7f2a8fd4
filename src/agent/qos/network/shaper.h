#pragma once
// Carries a NetPlan out through a netlink socket; needs CAP_NET_ADMIN and says so when it is
// missing. One socket per call: it is asked when a plan changes, not at every tick. Owner thread.

#include "agent/executor/net_plan.h"

namespace mangrove::agent {

class NetlinkShaper final : public NetShaper {
 public:
  Result<> apply(const NetPlan& plan) override;
  Result<> remove(const std::string& device) override;
  Result<bool> isThere(const std::string& device) override;
};

}  // namespace mangrove::agent
