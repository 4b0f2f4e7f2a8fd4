#include "agent/qos/evict/node_pause.h"

#include "api/object/event.h"
#include "api/wire/write.h"
#include "base/os/log.h"
#include "base/text/time_text.h"
#include "json/value.h"

namespace mangrove::agent {
namespace {

const Logger log("evict");

}  // namespace

// Taints are one list: the version makes the server refuse ours if somebody changed it meanwhile.
std::string taintPatch(const api::Node& node, bool wanted, const std::string& effect,
                       std::string_view key) {
  json::Array taints;
  bool has = false;
  for (const api::Taint& taint : node.spec.taints) {
    if (taint.key.view() == key)
      has = true;
    else
      taints.push_back(api::toJson(taint));
  }
  const bool put = wanted && !effect.empty();
  if (has == put) return "";
  if (put) taints.push_back(json::Object{{"key", key}, {"effect", effect}});
  return json::write(json::Object{{"metadata", {{"resourceVersion", node.meta.resourceVersion}}},
                                  {"spec", {{"taints", std::move(taints)}}}});
}

std::string conditionPatch(const api::Node& node, bool wanted, std::string_view why, WallTime now,
                           const PauseOptions& options) {
  if (api::isTrue(node.status.conditions, options.condition) == wanted) return "";
  const std::string at = formatTime(now);
  json::Object condition = {
      {"type", options.condition},
      {"status", wanted ? "True" : "False"},
      {"reason", wanted ? options.reason : std::string_view("Recovered")},
      {"message", wanted
                      ? "no new best-effort work until this node has recovered: " + std::string(why)
                      : std::string("best-effort work is welcome again")},
      {"lastHeartbeatTime", at},
      {"lastTransitionTime", at}};
  return json::write(json::Object{{"status", {{"conditions", json::Array{std::move(condition)}}}}});
}

NodePause::NodePause(PauseSetup setup, PauseOptions options)
    : setup_(setup), options_(std::move(options)) {}

NodePause::~NodePause() {
  life_.end();
}

void NodePause::want(bool paused, std::string_view why, const api::Node& node) {
  const MonoTime now = setup_.clock.mono();
  if (sentAt_ != MonoTime::min() && now - sentAt_ < kPatience) return;
  std::string taint = taintPatch(node, paused, options_.effect, options_.taint);
  std::string condition = conditionPatch(node, paused, why, setup_.clock.wall(), options_);
  if (taint.empty() && condition.empty()) return;
  if (told_ != paused)
    setup_.events.warning(api::refTo(client::kind::kNode, node.meta),
                          paused ? "BestEffortPaused" : "BestEffortResumed",
                          paused ? "no new best-effort work: " + std::string(why)
                                 : std::string("best-effort work is welcome again"));
  told_ = paused;
  sentAt_ = now;
  if (!taint.empty()) send(node, std::move(taint), "");
  if (!condition.empty()) send(node, std::move(condition), "status");
}

void NodePause::send(const api::Node& node, std::string body, std::string subresource) {
  const auto type = subresource.empty() ? client::PatchType::kMerge : client::PatchType::kStrategic;
  setup_.client.submit(
      setup_.owner,
      client::patchRequest({client::kind::kNode, "", node.meta.name.str(), std::move(subresource)},
                           type, std::move(body)),
      life_.guard([this](const Result<client::Reply>& reply) {
        if (!reply) log.warn("telling that best-effort work pauses: {}", reply.error().text());
        sentAt_ = MonoTime::min();
      }));
}

}  // namespace mangrove::agent
