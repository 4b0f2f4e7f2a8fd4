#pragma once
// What somebody may add to quotas without touching them: a hook hears of quotas and of pods that run
// in them, may refuse a pod, and may write annotations beside the quota's figures. Named by
// ElasticQuotaArgs.hookPlugins: [{key, factoryKey, factoryArgs}]; none is on by default.
//
//   class MyHook final : public QuotaHook { … };      // its own folder, and a line in hooks.def
//
// Owner thread only.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/value.h"
#include "placement/quota/book.h"

namespace mangrove::placement {

class QuotaHook {
 public:
  virtual ~QuotaHook() = default;
  // Null: the quota is not there any more.
  virtual void quotaChanged(std::string_view /*name*/, const api::ElasticQuota* /*after*/) {}
  // A pod takes or leaves its place in a quota; trials included, which are undone.
  virtual void podAssigned(const QuotaPlace&, const QuotaPod&, bool /*assigned*/) {}
  // A sentence: one more pod that asks for this is refused although the amounts would allow it.
  virtual std::optional<std::string> check(const QuotaPlace&, const Amounts& /*asked*/, PodKind) {
    return std::nullopt;
  }
  // Annotations that are to stand on the quota's object.
  virtual void addStatus(const QuotaPlace&, json::Object& /*annotations*/) {}
};

struct HookEntry {
  std::string_view name;  // factoryKey
  Result<std::unique_ptr<QuotaHook>> (*make)(const json::Value& args);
};
std::span<const HookEntry> hookEntries();

// One entry of hookPlugins.
struct HookWish {
  std::string key, factory;
  json::Value args;
};
Result<std::vector<std::unique_ptr<QuotaHook>>> makeHooks(const std::vector<HookWish>& wishes);

}  // namespace mangrove::placement
