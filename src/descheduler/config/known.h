#pragma once
// The plugins that exist and what each can be used for.

#include <span>
#include <string_view>

namespace mangrove::descheduler {

struct KnownPlugin {
  std::string_view name;
  bool deschedule = false;
  bool balance = false;
  bool evict = false;  // and filter
};
std::span<const KnownPlugin> knownPlugins();
const KnownPlugin* knownPlugin(std::string_view name);  // nullptr: there is none

}  // namespace mangrove::descheduler
