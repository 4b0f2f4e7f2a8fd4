#include "placement/plugins/elasticquota/hooks/hook.h"

#include <array>

#include "base/text/nearest.h"

namespace mangrove::placement {

#define HOOK(make, name) Result<std::unique_ptr<QuotaHook>> make(const json::Value& args);
#include "placement/plugins/elasticquota/hooks/hooks.def"
#undef HOOK

std::span<const HookEntry> hookEntries() {
  static constexpr std::array kEntries = {
#define HOOK(make, name) HookEntry{name, make},
#include "placement/plugins/elasticquota/hooks/hooks.def"
#undef HOOK
  };
  return kEntries;
}

Result<std::vector<std::unique_ptr<QuotaHook>>> makeHooks(const std::vector<HookWish>& wishes) {
  std::vector<std::unique_ptr<QuotaHook>> out;
  for (const HookWish& wish : wishes) {
    const HookEntry* found = nullptr;
    std::vector<std::string_view> known;
    for (const HookEntry& entry : hookEntries()) {
      known.push_back(entry.name);
      if (entry.name == wish.factory) found = &entry;
    }
    if (found == nullptr)
      return invalid("hookPlugins '{}': there is no factoryKey '{}'{}", wish.key, wish.factory,
                     didYouMean(wish.factory, known));
    auto hook = found->make(wish.args);
    if (!hook) return hook.error().in("hookPlugins '{}'", wish.key);
    out.push_back(std::move(*hook));
  }
  return out;
}

}  // namespace mangrove::placement
