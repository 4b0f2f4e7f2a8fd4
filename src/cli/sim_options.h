#pragma once
// What `mangrove sim` and `mangrove rehearse` are both told: how often, on how many threads, and what
// a slo-controller-config does not say.
//
//   SimOptions options;
//   options.declare(flags);
//   if (auto ok = options.check(); !ok) …
//   auto policy = options.policyIn("slo-controller-config.yaml");

#include <cstdint>
#include <string>

#include "base/result.h"
#include "frame/flags.h"
#include "sim/policy.h"

namespace mangrove::cli {

struct SimOptions {
  int64_t seeds = 3, threads = 2, busyNode = 65;
  std::string write;

  void declare(frame::Flags& flags);
  Result<> check() const;
  // As the cluster has it in that file.
  Result<sim::Policy> policyIn(const std::string& file) const;
};

}  // namespace mangrove::cli
