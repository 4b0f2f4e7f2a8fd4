#include "descheduler/bench/still_cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/strings.h"
#include "base/text/time_text.h"

namespace mangrove::descheduler {
namespace {

constexpr int64_t kReplicas = 10;
constexpr int64_t kPage = 500;

class Silence final : public client::Watch {
 public:
  explicit Silence(client::WatchHandler handler) : handler_(std::move(handler)) {}
  void pause() override {}
  void resume() override {}

 private:
  client::WatchHandler handler_;
};

}  // namespace

int64_t StillCluster::sizeOf(std::string_view plural) const {
  if (plural == "nodes" || plural == "nodemetrics") return options_.nodes;
  if (plural == "pods") return options_.pods;
  if (plural == "replicasets") return options_.pods / kReplicas;
  if (plural == "namespaces") return 1;
  return 0;
}

std::string StillCluster::node(int64_t i) const {
  return fmt::format(
      R"({{"metadata":{{"name":"n{}","resourceVersion":"1","labels":{{"kubernetes.io/hostname":"n{}","topology.kubernetes.io/zone":"z{}"}}}},)"
      R"("status":{{"allocatable":{{"cpu":"32","memory":"128Gi","pods":"110"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      i, i, i % 3);
}

std::string StillCluster::pod(int64_t i) const {
  const int64_t set = i / kReplicas;
  return fmt::format(
      R"({{"metadata":{{"name":"p{}","namespace":"d","uid":"{:08x}-0000-4000-8000-000000000000","resourceVersion":"1","creationTimestamp":"{}",)"
      R"("labels":{{"app":"a{}","pod-template-hash":"x"}},"ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"s{}","uid":"set-{}","controller":true}}]}},)"
      R"("spec":{{"nodeName":"n{}","schedulerName":"koord-scheduler","priority":9000,"containers":[{{"name":"c","image":"app","resources":{{"requests":{{"cpu":"2","memory":"4Gi"}}}}}}]}},)"
      R"("status":{{"phase":"Running","startTime":"{}","conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      i, i, formatTime(now_ - std::chrono::hours(24)), set, set, set, i % options_.nodes,
      formatTime(now_ - std::chrono::hours(24)));
}

// A hot node's pods use between 2 and 3.5 cores each, a cold one's a quarter of a core.
std::string StillCluster::metric(int64_t i) const {
  std::string pods;
  for (int64_t p = i; p < options_.pods; p += options_.nodes) {
    const int64_t milli = isHot(i) ? 2000 + p * 7919 % 1500 : 250;
    pods += fmt::format(
        R"({}{{"namespace":"d","name":"p{}","podUsage":{{"resources":{{"cpu":"{}m","memory":"2Gi"}}}}}})",
        pods.empty() ? "" : ",", p, milli);
  }
  return fmt::format(
      R"({{"metadata":{{"name":"n{}","resourceVersion":"1"}},"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"4","memory":"24Gi"}}}},)"
      R"("systemUsage":{{"resources":{{"cpu":"500m","memory":"2Gi"}}}}}},"podsMetric":[{}]}}}})",
      i, formatTime(now_), pods);
}

std::string StillCluster::item(std::string_view plural, int64_t i) const {
  if (plural == "nodes") return node(i);
  if (plural == "pods") return pod(i);
  if (plural == "nodemetrics") return metric(i);
  if (plural == "namespaces") return R"({"metadata":{"name":"d","uid":"d","resourceVersion":"1"}})";
  return fmt::format(
      R"({{"metadata":{{"name":"s{}","namespace":"d","uid":"set-{}","resourceVersion":"1"}},"spec":{{"replicas":{},"selector":{{"matchLabels":{{"app":"a{}"}}}}}}}})",
      i, i, kReplicas, i);
}

std::string StillCluster::page(const client::Request& request) const {
  const std::string_view plural = request.ref.kind.plural;
  const int64_t size = sizeOf(plural);
  const int64_t from = parseInt<int64_t>(request.query.continueToken).value_or(0);
  const int64_t to = std::min(size, from + kPage);
  std::string items;
  for (int64_t i = from; i < to; ++i) {
    if (!items.empty()) items += ',';
    items += item(plural, i);
  }
  return fmt::format(
      R"({{"kind":"{}List","metadata":{{"resourceVersion":"1","continue":"{}"}},"items":[{}]}})",
      request.ref.kind.kind, to < size ? std::to_string(to) : "", items);
}

void StillCluster::submit(client::Request request, Done done) {
  client::Reply reply;
  reply.body = request.verb == client::Verb::kList ? page(request) : request.body;
  done(std::move(reply));
}

std::unique_ptr<client::Watch> StillCluster::watch(client::WatchRequest,
                                                   client::WatchHandler handler) {
  if (handler.onOpen) handler.onOpen();
  return std::make_unique<Silence>(std::move(handler));
}

}  // namespace mangrove::descheduler
