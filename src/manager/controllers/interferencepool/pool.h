#pragma once
// Adds up what all nodes know of workloads (InterferenceFences of nodes) into one book for each
// workload, and says what is to be written. Pure but for what it gathers; one owner.
//
//   FencePool pool;
//   for (each object) pool.add(fences, nodeIsThere);
//   for (const PoolStep& step : pool.steps(now)) …

#include <map>
#include <set>
#include <string>
#include <vector>

#include "api/interference/fences.h"

namespace mangrove::manager {

struct PoolStep {
  enum class Kind : uint8_t { kCreate, kPatch, kDelete } kind = Kind::kCreate;
  std::string name;
  api::InterferenceFencesSpec spec = {};  // not of a deletion
};

class FencePool {
 public:
  // Workloads that no node has seen for so long are forgotten.
  static constexpr auto kForget = std::chrono::hours(24 * 7);

  // Returns why the object was left out; "": it was not.
  std::string add(const api::InterferenceFences& fences, bool nodeIsThere, WallTime now);
  // What makes the objects of workloads say what all nodes saw.
  std::vector<PoolStep> steps(WallTime now) const;
  size_t nodes() const { return nodes_; }

 private:
  struct Sum {
    api::FenceBook book;
    int nodes = 0;
  };
  std::map<std::string, Sum> workloads_;      // by key
  std::map<std::string, std::string> there_;  // text of those that are there, by name
  std::set<std::string> orphans_;             // of nodes that are gone
  size_t nodes_ = 0;
};

}  // namespace mangrove::manager
