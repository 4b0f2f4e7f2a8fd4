#pragma once
// Amounts of several resources side by side: CPU in nano-cores, everything else in whole units, so
// that sums are exact. Where an amount is compared with a share of a node, or shown, it is taken in
// milli-cores, rounded up, as Kubernetes does.
//
//   Scale scale({"cpu", "memory"});
//   Loads sum = scale.zero();
//   add(sum, scale.of(usage.resources));
//   scale.plain(cpu, sum[cpu])                  milli-cores
//
// Values; const access from any thread.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod/resource_list.h"

namespace mangrove::descheduler {

using Loads = std::vector<int64_t>;

class Scale {
 public:
  explicit Scale(const std::set<std::string>& names);

  size_t size() const { return names_.size(); }
  const std::string& name(size_t i) const { return names_[i]; }
  std::optional<size_t> indexOf(std::string_view name) const;
  Loads zero() const { return Loads(names_.size(), 0); }
  Loads of(const api::ResourceList& list) const;
  // From and to what people read: milli-cores of cpu, units of the rest.
  int64_t plain(size_t i, int64_t load) const;
  int64_t fromPlain(size_t i, int64_t plain) const;

 private:
  std::vector<std::string> names_;
  std::vector<Interned> handles_;
  size_t cpu_;  // size() when there is none
};

void add(Loads& sum, const Loads& more);
void subtract(Loads& sum, const Loads& less);

}  // namespace mangrove::descheduler
