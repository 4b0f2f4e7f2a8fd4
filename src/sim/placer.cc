#include "sim/placer.h"

#include <utility>

#include <fmt/format.h>

#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::sim {

Placer::Placer(const Policy& policy, WallTime start, uint64_t seed)
    : policy_(policy), clock_(start), engine_(clock_, *this, registry_), ingress_(engine_) {
  engine_.seed(seed);
}

// Reports are silent for up to ten minutes while nothing changes.
Result<> Placer::configure() {
  auto config = placement::defaultConfig({"koord-scheduler"});
  config.profiles[0].args["LoadAwareScheduling"] =
      json::Object{{"nodeMetricExpirationSeconds", 1200},
                   {"usageThresholds", json::Object{{"cpu", policy_.busyNode}, {"memory", 95}}}};
  return engine_.configure(config);
}

void Placer::moveTo(WallTime now) {
  clock_.advance(now - clock_.wall());
  engine_.tick();
}

void Placer::bind(const placement::PodInfo& pod, std::string_view node,
                  const placement::BindNotes& notes, Done done) {
  auto bound = std::make_shared<api::Pod>(*pod.pod);
  bound->nodeName = Interned(node);
  bound->status.phase = api::PodPhase::kRunning;
  bound->status.startTime = clock_.wall();
  for (const auto& [key, value] : notes.annotations) bound->meta.annotations.set(key, value);
  pending_.push_back({pod.pod, std::move(bound), std::move(done)});
}

void Placer::preempt(const api::Pod& victim, const api::Pod&, std::string_view, std::string_view,
                     Done done) {
  victims_.push_back(std::make_shared<api::Pod>(victim));
  victimsDone_.push_back(std::move(done));
}

std::vector<Placed> Placer::schedule() {
  std::vector<Placed> out;
  while (engine_.scheduleOne()) {
    for (Binding& one : std::exchange(pending_, {})) {
      one.done({});
      ingress_.pod(one.before, one.after);
      out.push_back({one.after, one.after->nodeName.str()});
    }
    for (Done& done : std::exchange(victimsDone_, {})) done({});
  }
  return out;
}

std::shared_ptr<const api::Node> makeNode(std::string_view name, const NodeGroup& group) {
  const MilliCpu cpu =
      group.allocatableCpu.v > 0 ? group.allocatableCpu : group.cpu - group.systemCpu;
  const Bytes memory =
      group.allocatableMemory.v > 0 ? group.allocatableMemory : group.memory - group.systemMemory;
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{0}","labels":{{"kubernetes.io/hostname":"{0}"}}}},"status":{{)"
      R"("capacity":{{"cpu":"{1}m","memory":"{2}","pods":"250"}},)"
      R"("allocatable":{{"cpu":"{3}m","memory":"{4}","pods":"250"}}}}}})",
      name, group.cpu.v, group.memory.v, cpu.v, memory.v);
  auto node = api::decodeText<api::Node>(text);
  CHECK(node.has_value(), "a node of our own: {}", node.error().text());
  return std::make_shared<api::Node>(std::move(*node));
}

std::shared_ptr<const api::Pod> makePod(const PodWish& wish) {
  const std::string amounts =
      wish.isTask
          ? fmt::format(R"("kubernetes.io/batch-cpu":"{}","kubernetes.io/batch-memory":"{}")",
                        wish.cpu.v, wish.memory.v)
          : fmt::format(R"("cpu":"{}m","memory":"{}")", wish.cpu.v, wish.memory.v);
  // Tasks preempt nobody: what they wait for is that something is for sale.
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"default","uid":"00000000-0000-4000-8000-{1:012x}",)"
      R"("labels":{{"koordinator.sh/qosClass":"{2}"}}}},"spec":{{"schedulerName":"koord-scheduler",)"
      R"("priorityClassName":"{3}","priority":{4},"preemptionPolicy":"{5}","containers":[{{"name":"c",)"
      R"("resources":{{"requests":{{{6}}},"limits":{{{7}}}}}}}]}},"status":{{"phase":"Pending"}}}})",
      wish.name, wish.number, wish.isTask ? "BE" : "LS", wish.isTask ? "koord-batch" : "koord-prod",
      wish.isTask ? 5500 : 9500, wish.isTask ? "Never" : "PreemptLowerPriority", amounts,
      wish.isTask ? amounts : "");
  auto pod = api::decodeText<api::Pod>(text);
  CHECK(pod.has_value(), "a pod of our own: {}", pod.error().text());
  pod->meta.creationTimestamp = wish.created;
  return std::make_shared<api::Pod>(std::move(*pod));
}

}  // namespace mangrove::sim
