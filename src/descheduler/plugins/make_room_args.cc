// The arguments of MakeRoom: text → MakeRoomArgs, and shapes → pods that stand for them.
#include <fmt/format.h>

#include "api/wire/decode.h"
#include "descheduler/plugins/make_room.h"

namespace mangrove::descheduler {
namespace {

constexpr int64_t kMostOfAShape = 64;
// As the highest of services: who keeps places free means it.
constexpr int64_t kShapePriority = 9999;

json::Value memberOr(Args& args, std::string_view key, json::Value fallback) {
  const json::Value* found = args.find(key);
  return found != nullptr ? *found : std::move(fallback);
}

json::Object podOf(Args& args, const std::string& name, int64_t number) {
  const json::Value requests = memberOr(args, "requests", json::Object{});
  const json::Object container{
      {"name", "shape"}, {"resources", json::Object{{"requests", requests}, {"limits", requests}}}};
  return {{"metadata", json::Object{{"name", fmt::format("shape-{}-{}", name, number)},
                                    {"namespace", "default"},
                                    {"uid", fmt::format("shape-{}-{}", name, number)},
                                    {"labels", memberOr(args, "labels", json::Object{})}}},
          {"spec", json::Object{{"schedulerName", args.text("schedulerName", "koord-scheduler")},
                                {"priority", args.integer("priority", kShapePriority)},
                                {"nodeSelector", memberOr(args, "nodeSelector", json::Object{})},
                                {"tolerations", memberOr(args, "tolerations", json::Array{})},
                                {"containers", json::Array{container}}}},
          {"status", json::Object{{"phase", "Pending"}}}};
}

Shape shapeOf(Args& args) {
  args.only({"name", "count", "requests", "labels", "schedulerName", "priority", "nodeSelector",
             "tolerations"});
  Shape out;
  out.name = args.text("name");
  if (out.name.empty()) args.complain("name is missing, want a word for it");
  const json::Value* requests = args.find("requests");
  if (requests == nullptr || !requests->is_object() || requests->get_object().empty())
    args.complain(fmt::format("requests of shape '{}' name no resource", out.name));
  const int64_t count = args.integer("count", 1);
  if (count < 1 || count > kMostOfAShape) {
    args.complain(fmt::format("count is {}, want 1 to {}", count, kMostOfAShape));
    return out;
  }
  for (int64_t i = 0; i < count; ++i) {
    auto pod = api::decodeText<api::Pod>(json::write(podOf(args, out.name, i)));
    if (!pod) args.complain(pod.error().text());
    if (!pod) break;
    out.pods.push_back(std::make_shared<api::Pod>(std::move(*pod)));
  }
  return out;
}

void readWhom(Args& args, MakeRoomArgs& out) {
  for (const std::string& name : args.texts("for")) {
    if (name.find('/') == std::string::npos)
      args.complain(fmt::format("for names '{}', want namespace/name of a pod or gang", name));
    out.whom.insert(name);
  }
}

}  // namespace

Result<MakeRoomArgs> readMakeRoomArgs(const json::Value& value) {
  Args args(value, "MakeRoomArgs");
  args.only({"paused", "dryRun", "for", "budget", "patience", "shapes", "emptyNodes",
             "evictableNamespaces", "podSelectors"});
  MakeRoomArgs out;
  out.paused = args.boolean("paused", false);
  out.dryRun = args.boolean("dryRun", false);
  readWhom(args, out);
  out.budget = args.integer("budget", out.budget);
  if (out.budget < 1) args.complain(fmt::format("budget is {}, want at least 1 move", out.budget));
  out.patience = args.duration("patience").value_or(out.patience);
  for (const json::Value& entry : args.list("shapes")) {
    Args one(entry, args.where() + ".shapes");
    out.shapes.push_back(shapeOf(one));
    args.take(one);
  }
  out.emptyNodes = args.integer("emptyNodes", 0);
  if (out.emptyNodes < 0)
    args.complain(fmt::format("emptyNodes is {}, want at least 0 nodes", out.emptyNodes));
  out.choice = readPodChoice(args);
  if (auto ok = args.done(); !ok) return pass(ok.error());
  return out;
}

}  // namespace mangrove::descheduler
