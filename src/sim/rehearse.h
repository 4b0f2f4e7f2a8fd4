#pragma once
// What a changed configuration would have done: the same recorded day twice, with the configuration
// of then and with the new one, and the difference with its interval over the seeds.
//
//   auto done = rehearse({.trace = trace, .now = policyOf(*cluster.config()), .then = mine});
//   done->sentence()        // "+9 % batch cores sold, 12 more evictions, services short for 40 s more"
//
// rehearse() blocks; the rest is pure.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/compare.h"

namespace mangrove::sim {

struct RehearseOptions {
  Trace trace;
  Policy now, then;
  std::vector<uint64_t> seeds = {1, 2, 3};
  SimOptions each = {};
  std::function<void(double share)> progress = {};
};

// One figure with the configuration of then, with the new one, and how far apart they are: seed by
// seed, because both met the same day.
struct Change {
  std::string_view key, about;
  int digits = 0;
  stats::Interval before, after, difference;
};

struct Rehearsal {
  Comparison runs;
  std::vector<Change> changes;
  std::string sentence() const;
};

Result<Rehearsal> rehearse(const RehearseOptions& options);
std::string toTable(const Rehearsal& rehearsal);
std::string toJson(const Rehearsal& rehearsal);

// A ConfigMap's data as a policy, refused as admission would.
Result<Policy> policyOf(const std::map<std::string, std::string>& data, std::string_view name);

}  // namespace mangrove::sim
