#pragma once
// What is compared: a slo-controller-config, and two things no configuration can say: that the
// future is known, and how busy a node may be before the scheduler leaves it alone.
//
//   auto ours = builtInPolicy("ours");
//   auto mine = readPolicy(text, "mine.yaml");        // a ConfigMap, refused as admission would
//
// Values; pure functions, any thread.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manager/config/slo_config.h"

namespace mangrove::sim {

struct Policy {
  std::string name;
  manager::SloConfig config;
  bool seesAhead = false;  // sells by what services will use at most in the next hour
  bool predicts = false;   // learns peaks and sells mid resources by them
  bool careless = false;   // tasks run like services, by the weight of what they asked for
  int64_t busyNode = 65;   // percent: LoadAwareScheduling's threshold of CPU
};

// reference: the defaults; max-usage-request, request-memory: what calculatePolicy offers; ours: the
// margins that this project recommends, with steadied rises; oracle: knows the next hour; careless:
// sells as much as the oracle by use alone, and nothing holds tasks back.
std::vector<std::string_view> builtInPolicies();
Result<Policy> builtInPolicy(std::string_view name);
// The text of its ConfigMap, to begin with.
Result<std::string> builtInPolicyText(std::string_view name);
Result<Policy> readPolicy(std::string_view text, std::string_view name);

}  // namespace mangrove::sim
