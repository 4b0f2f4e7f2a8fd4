#include "placement/plugins/deviceshare/args.h"

#include <fmt/core.h>

#include "api/wire/names.h"
#include "placement/framework/args.h"

namespace mangrove::placement {
namespace {

void readStrategy(Args strategy, Args& complaints, DeviceShareArgs& out) {
  strategy.only({"type", "resources"});
  const std::string type = strategy.text("type", "LeastAllocated");
  if (type == "MostAllocated")
    out.order = CardOrder::kMostAllocated;
  else if (type != "LeastAllocated")
    strategy.complain(fmt::format("type '{}': want LeastAllocated or MostAllocated", type));
  CardWeights weights;
  for (const json::Value& item : strategy.list("resources")) {
    Args one(item, strategy.where() + ".resources");
    one.only({"name", "weight"});
    const std::string name = one.text("name");
    const int64_t weight = one.integer("weight", 1);
    if (name.empty()) one.complain("name is missing");
    if (weight < 1 || weight > 100)
      one.complain(fmt::format("weight of {} is {}; want 1 to 100", name, weight));
    weights.emplace_back(Interned(name), weight);
    strategy.take(one);
  }
  if (!weights.empty()) out.weights = std::move(weights);
  complaints.take(strategy);
}

void readModels(Args& args, DeviceShareArgs& out) {
  for (const json::Value& item : args.list("gpuShareUnsupportedModels")) {
    Args one(item, args.where() + ".gpuShareUnsupportedModels");
    one.only({"vendor", "model"});
    out.unshareable.push_back({one.text("vendor"), one.text("model")});
    if (out.unshareable.back().model.empty()) one.complain("model is missing");
    args.take(one);
  }
}

void readTemplates(Args& args, DeviceShareArgs& out) {
  Args templates = args.object("gpuSharedResourceTemplatesConfig");
  templates.only({"configMapNamespace", "configMapName", "matchedResources"});
  out.templatesNamespace = templates.text("configMapNamespace");
  out.templatesName = templates.text("configMapName", "gpu-shared-resource-templates");
  for (const std::string& name : templates.texts("matchedResources"))
    out.templated.emplace_back(name);
  if (!templates.has("matchedResources")) out.templated.emplace_back(api::resource::kHuaweiNpuCore);
  args.take(templates);
}

}  // namespace

Result<DeviceShareArgs> readDeviceShareArgs(const json::Value& value) {
  Args args(value, "DeviceShareArgs");
  args.only({"scoringStrategy", "disableDeviceNUMATopologyAlignment",
             "gpuSharedResourceTemplatesConfig", "gpuShareUnsupportedModels", "allocator",
             "keepShapes"});
  DeviceShareArgs out;
  readStrategy(args.object("scoringStrategy"), args, out);
  out.alignsNuma = !args.boolean("disableDeviceNUMATopologyAlignment", false);
  out.keepsShapes = args.boolean("keepShapes", false);
  readModels(args, out);
  readTemplates(args, out);
  if (const std::string word = args.text("allocator"); !word.empty() && word != "default")
    args.complain(fmt::format("allocator '{}': want default, or leave it out", word));
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::placement
