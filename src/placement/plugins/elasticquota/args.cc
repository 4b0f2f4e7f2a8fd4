#include "placement/plugins/elasticquota/args.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "placement/framework/args.h"

namespace mangrove::placement {

namespace {

// What the reference writes for "no limit".
constexpr int64_t kEverything = std::numeric_limits<int64_t>::max() / 5;

Amounts maximum(Args& args, std::string_view key) {
  const json::Value* value = args.find(key);
  if (value == nullptr) {
    api::ResourceList all;
    for (std::string_view name : {"cpu", "memory"}) all.set(name, Quantity::of(kEverything));
    return amountsOf(all);
  }
  auto list = api::decodeText<api::ResourceList>(json::write(*value));
  if (list) return amountsOf(*list);
  args.complain(fmt::format("{}: {}", key, list.error().text()));
  return {};
}

void readDuration(Args& args, std::string_view key, Duration& into) {
  if (const auto said = args.duration(key)) into = *said;
  if (into < Duration::zero()) args.complain(fmt::format("{} is below zero", key));
}

void readHooks(Args& args, QuotaArgs& out) {
  for (const json::Value& one : args.list("hookPlugins")) {
    Args hook(one, args.where() + ": hookPlugins");
    hook.only({"key", "factoryKey", "factoryArgs"});
    const json::Value* with = hook.find("factoryArgs");
    out.hooks.push_back({hook.text("key"), hook.text("factoryKey"), with ? *with : json::Value()});
    if (out.hooks.back().factory.empty()) hook.complain("factoryKey is missing");
    args.take(hook);
  }
  if (const auto made = makeHooks(out.hooks); !made) args.complain(made.error().text());
}

}  // namespace

bool QuotaArgs::isFair(std::string_view treeId) const {
  return fairHalfLife && (!fairTrees || std::find(fairTrees->begin(), fairTrees->end(), treeId) !=
                                            fairTrees->end());
}

Result<QuotaArgs> readQuotaArgs(const json::Value& value) {
  Args args(value, "ElasticQuotaArgs");
  args.only({"delayEvictTime", "revokePodInterval", "defaultQuotaGroupMax", "systemQuotaGroupMax",
             "quotaGroupNamespace", "monitorAllQuotas", "enableCheckParentQuota",
             "enableRuntimeQuota", "enableMinQuotaScale", "disableDefaultQuotaPreemption",
             "enableQueueHint", "quotaSnapshotUpdateInterval", "hookPlugins", "reclaim",
             "fairOverTime"});
  QuotaArgs out;
  readDuration(args, "delayEvictTime", out.delayEvictTime);
  readDuration(args, "revokePodInterval", out.revokePodInterval);
  out.defaultMax = maximum(args, "defaultQuotaGroupMax");
  out.systemMax = maximum(args, "systemQuotaGroupMax");
  out.quotaGroupNamespace = args.text("quotaGroupNamespace", out.quotaGroupNamespace);
  out.monitorAllQuotas = args.boolean("monitorAllQuotas", out.monitorAllQuotas);
  out.checkParents = args.boolean("enableCheckParentQuota", out.checkParents);
  out.runtime = args.boolean("enableRuntimeQuota", out.runtime);
  out.scaleMins = args.boolean("enableMinQuotaScale", out.scaleMins);
  out.sparesDefaultQuota = args.boolean("disableDefaultQuotaPreemption", out.sparesDefaultQuota);
  // Waiting pods are always asked whether an event helps them, on the numbers of the moment.
  args.boolean("enableQueueHint", false);
  args.duration("quotaSnapshotUpdateInterval");
  out.reclaim = args.boolean("reclaim", out.reclaim);
  readHooks(args, out);
  if (args.has("fairOverTime")) {
    Args fair = args.object("fairOverTime");
    fair.only({"halfLife", "trees"});
    if (fair.has("trees")) out.fairTrees = fair.texts("trees");
    out.fairHalfLife = fair.duration("halfLife").value_or(std::chrono::hours(1));
    if (*out.fairHalfLife <= Duration::zero()) fair.complain("halfLife must be above zero");
    args.take(fair);
  }
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
