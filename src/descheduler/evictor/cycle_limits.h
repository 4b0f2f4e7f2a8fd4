#pragma once
// How many evictions one cycle may ask for: of a node, of a namespace, in all. A dry run counts too,
// so that it shows what a real one would do.

#include <map>
#include <optional>
#include <string>

#include "api/pod/pod.h"

namespace mangrove::descheduler {

struct CycleLimits {
  std::optional<int64_t> perNode, perNamespace, total;
};

class CycleCount {
 public:
  explicit CycleCount(CycleLimits limits) : limits_(limits) {}
  // Why one more is too many; nullopt: it is not.
  std::optional<std::string> refusal(const api::Pod& pod) const;
  void count(const api::Pod& pod);
  void reset();

 private:
  CycleLimits limits_;
  int64_t total_ = 0;
  std::map<std::string, int64_t, std::less<>> byNode_;
  std::map<std::string, int64_t, std::less<>> byNamespace_;
};

}  // namespace mangrove::descheduler
