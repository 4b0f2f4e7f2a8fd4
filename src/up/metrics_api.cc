#include "up/metrics_api.h"

#include <algorithm>

#include "api/select/selector.h"
#include "base/text/time_text.h"

namespace mangrove::up {
namespace {

using Known = workloads::UsageBoard::Known;

json::Object amounts(const api::ResourceList& usage) {
  json::Object out;
  for (const auto& entry : usage) out[entry.name.view()] = entry.amount.text();
  return out;
}

json::Object labelsJson(const api::Labels& labels) {
  json::Object out;
  for (const auto& [key, value] : labels) out[key.view()] = value.view();
  return out;
}

json::Object metaOf(const Known& known) {
  json::Object out{{"name", known.name}, {"creationTimestamp", formatTime(known.measured.at)}};
  if (!known.ns.empty()) out["namespace"] = known.ns;
  if (!known.labels.empty()) out["labels"] = labelsJson(known.labels);
  return out;
}

json::Object bodyOf(const Known& known, const apiserver::KindInfo& kind) {
  json::Object out{{"kind", kind.kind},
                   {"apiVersion", "metrics.k8s.io/v1beta1"},
                   {"metadata", metaOf(known)},
                   {"timestamp", formatTime(known.measured.at)},
                   {"window", formatDuration(known.measured.window)}};
  if (known.ns.empty()) {
    out["usage"] = amounts(known.measured.usage);
    return out;
  }
  json::Array containers;
  for (const auto& [name, usage] : known.measured.containers) {
    containers.push_back(json::Object{{"name", name}, {"usage", amounts(usage)}});
  }
  out["containers"] = std::move(containers);
  return out;
}

std::string listOf(const std::vector<Known>& all, const apiserver::KindInfo& kind) {
  json::Array items;
  for (const Known& one : all) items.push_back(bodyOf(one, kind));
  return json::write(json::Object{{"kind", kind.listKind},
                                  {"apiVersion", "metrics.k8s.io/v1beta1"},
                                  {"metadata", json::Object()},
                                  {"items", std::move(items)}});
}

// By namespace, name and labels; fields other than the name are not known of a measurement.
apiserver::Answer answerTo(const apiserver::RequestInfo& info, const apiserver::KindInfo& kind,
                           std::vector<Known> all) {
  std::erase_if(all, [&](const Known& one) {
    return (!info.ns.empty() && one.ns != info.ns) || (!info.name.empty() && one.name != info.name);
  });
  if (!info.name.empty()) {
    if (all.empty()) return apiserver::answer::notFound(kind, info.name);
    return apiserver::answer::json(200, json::write(bodyOf(all.front(), kind)));
  }
  const auto selector = api::Selector::parse(info.parameter("labelSelector"));
  if (!selector) return apiserver::answer::badRequest(selector.error().text());
  std::erase_if(all, [&](const Known& one) { return !selector->matches(one.labels); });
  return apiserver::answer::json(200, listOf(all, kind));
}

}  // namespace

void serveMeasurements(apiserver::Server& server,
                       const std::shared_ptr<const workloads::UsageBoard>& board) {
  const auto serve = [&](const char* plural, bool pods) {
    server.onSubresource(
        "metrics.k8s.io", plural, "",
        [board, pods](const apiserver::Call& call, apiserver::ResourcePtr resource,
                      apiserver::ResponderPtr to) {
          to->answer(answerTo(call.info, *resource->kind, pods ? board->pods() : board->nodes()));
        });
  };
  serve("pods", true);
  serve("nodes", false);
}

}  // namespace mangrove::up
