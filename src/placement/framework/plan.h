#pragma once
// A pod class compiled for one profile: what each plugin made of it, kept as long as the class is
// in use. Plugins find theirs by their slot.
//
//   struct FitPlan final : PlanData { std::vector<Request> checked; };
//   const auto& mine = plan.get<FitPlan>(slot());

#include <memory>
#include <vector>

#include "base/check.h"
#include "placement/cluster/pod_class.h"

namespace mangrove::placement {

struct PlanData {
  virtual ~PlanData() = default;
};

struct PodPlan {
  ClassPtr cls;
  std::vector<std::unique_ptr<PlanData>> data;  // by plugin slot; null: nothing compiled

  template <class T>
  const T& get(size_t slot) const {
    return static_cast<const T&>(*data[slot]);
  }
  bool has(size_t slot) const { return data[slot] != nullptr; }
};

}  // namespace mangrove::placement
