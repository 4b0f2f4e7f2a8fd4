#pragma once
// What the manager is told at its start.
//
//   ManagerOptions options;
//   options.controllers = {"*", "-nodeslo"};
//   options.own.of<ProfileControllerOptions>().perSecond = 5;    // of one controller alone
//
// Plain values.

#include <any>
#include <map>
#include <string>
#include <typeindex>
#include <vector>

#include "base/feature_gates.h"
#include "manager/gates.h"

namespace mangrove::manager {

// Options of single controllers, each of a type that its folder declares.
class OwnOptions {
 public:
  // Stays where it is while this object does, so that flags may be bound to its members.
  template <class T>
  T& of() {
    auto& slot = byType_[typeid(T)];
    if (!slot.has_value()) slot = T();
    return *std::any_cast<T>(&slot);
  }
  // The defaults where nothing was set.
  template <class T>
  T get() const {
    const auto found = byType_.find(typeid(T));
    return found == byType_.end() ? T() : std::any_cast<const T&>(found->second);
  }

 private:
  std::map<std::type_index, std::any> byType_;
};

struct ManagerOptions {
  // Names as the reference has them: "*", "name", "-name"; the first decisive entry counts.
  std::vector<std::string> controllers = {"*"};
  std::string configNamespace = "koordinator-system";
  std::string configName = "slo-controller-config";
  FeatureGates gates{managerGates()};
  OwnOptions own;
  bool dryRun = false;  // decides, says what it would write, and writes nothing
  uint64_t seed = 1;    // of the jitter
};

}  // namespace mangrove::manager
