#pragma once
// Core scheduling by class: services and batch work never share a core at the same time. Cookies
// are given to processes; what the kernel must do for it: executor/core_cookies.h.

#include "agent/qos/strategy.h"

namespace mangrove::agent {

class CoreSched final : public Strategy {
 public:
  StrategyInfo info() const override;
  Wishes decide(const Situation& now) override;
};

// The group of a pod; "": everybody's core; nullopt: never touched (SYSTEM).
std::optional<std::string> coreGroup(const api::ResourceQosStrategy& strategy, const api::Pod& pod);
// True when the class of the pod runs in the kernel's idle class.
bool isIdleClass(const api::ResourceQosStrategy& strategy, const api::Pod& pod);

}  // namespace mangrove::agent
