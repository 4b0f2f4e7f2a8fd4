#include "sim/testing/small_world.h"

#include <deque>

#include <fmt/format.h>

#include "api/wire/names.h"
#include "placement/testing/lab.h"
#include "sim/placer.h"
#include "sim/seller.h"
#include "sim/testing/small_state.h"

namespace mangrove::sim {
namespace {

using placement::Lab;

constexpr std::string_view kRoomUid = "00000000-0000-4000-9000-00000000abcd";
constexpr std::string_view kSellAll = R"(kind: ConfigMap
data:
  colocation-config: '{"enable":true,"cpuReclaimThresholdPercent":100,"memoryReclaimThresholdPercent":100}'
)";

std::string labelsOf(PodKind kind) {
  switch (kind) {
    case PodKind::kBatch:
      return R"("koordinator.sh/qosClass":"BE")";
    case PodKind::kExclusive:
      return R"("koordinator.sh/qosClass":"LSE")";
    case PodKind::kOwner:
      return R"("app":"x")";
    case PodKind::kQuotaA:
      return R"("quota.scheduling.koordinator.sh/name":"a")";
    case PodKind::kQuotaB:
      return R"("quota.scheduling.koordinator.sh/name":"b")";
    case PodKind::kService:
      break;
  }
  return R"("app":"y")";
}

std::string notesOf(const SmallPod& pod, Mutant mutant) {
  std::string out;
  if (!pod.cpuset.empty() && mutant != Mutant::kCpusForgotten)
    out = fmt::format(R"("{}":"{{\"cpuset\":\"{}\"}}")", api::annotation::kResourceStatus,
                      pod.cpuset);
  if (pod.isReserved)
    out += fmt::format(
        R"({}"scheduling.koordinator.sh/reservation-allocated":"{{\"name\":\"r\",\"uid\":\"{}\"}}")",
        out.empty() ? "" : ",", kRoomUid);
  return out;
}

std::string podText(const std::string& name, const SmallPod& pod, const std::string& node,
                    Mutant mutant) {
  const bool isBatch = pod.kind == PodKind::kBatch;
  const int cpus = infoOf(pod.kind).cpus;
  const std::string amount = isBatch ? fmt::format(R"("kubernetes.io/batch-cpu":"{}")", cpus * 1000)
                                     : fmt::format(R"("cpu":"{}")", cpus);
  return fmt::format(
      R"({{"metadata":{{"name":"{}","labels":{{{}}},"annotations":{{{}}}}},"spec":{{"nodeName":"{}",)"
      R"("schedulerName":"koord-scheduler","priority":{},"preemptionPolicy":"Never","containers":)"
      R"([{{"name":"c","resources":{{"requests":{{{}}},"limits":{{{}}}}}}}]}},)"
      R"("status":{{"phase":"{}"}}}})",
      name, labelsOf(pod.kind), notesOf(pod, mutant), node, isBatch ? 5500 : 9500, amount, amount,
      node.empty() ? "Pending" : "Running");
}

placement::SchedulerConfig configFor(Mutant mutant) {
  auto config = placement::defaultConfig({"koord-scheduler"});
  auto& profile = config.profiles[0];
  if (mutant == Mutant::kNoQuota)
    for (auto& [point, plugins] : profile.points)
      std::erase_if(plugins, [](const auto& one) { return one.name == "ElasticQuota"; });
  return config;
}

// A scheduler that has just begun, with everything the server has.
class Shown {
 public:
  Shown(const SmallWorld& world, const SmallState& state)
      : world_(world), state_(state), lab_(configFor(world.mutant)) {
    for (size_t i = 0; i < state.nodes.size(); i++) addNode(i);
    if (world.rules.contains(Rule::kQuota)) addQuotas();
    if (world.mutant != Mutant::kReservationHidden) addRoom();
    for (size_t i = 0; i < state.nodes.size(); i++)
      for (const SmallPod& pod : state.nodes[i].pods) addPod(pod, nodeName(i));
    for (PodKind kind : state.waiting) addPod({kind, "", false}, "");
  }
  void addPod(const SmallPod& pod, const std::string& node) {
    const std::string name = fmt::format("p{}", pods_.size());
    pods_.push_back({name, pod.kind});
    lab_.pod(podText(name, pod, node, world_.mutant));
  }
  void removePod(size_t index) {
    lab_.removePod(pods_[index].name);
    pods_[index].name.clear();
  }
  SmallState after() {
    lab_.run();
    SmallState out = state_;
    out.waiting.clear();
    for (SmallNode& node : out.nodes) node.pods.clear();
    for (const Named& one : pods_) read(one, out);
    out.order();
    return out;
  }

 private:
  struct Named {
    std::string name;
    PodKind kind;
  };
  static std::string nodeName(size_t index) { return fmt::format("n{}", index); }

  void addNode(size_t index) {
    const std::string name = nodeName(index);
    const bool sellsAll = world_.mutant == Mutant::kLedgerUnread;
    const int sold = sellsAll ? kSmallCpus : state_.nodes[index].sold;
    lab_.node(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"status":{{"capacity":{{"cpu":"{}"}},"allocatable":{{"cpu":"{}","kubernetes.io/batch-cpu":"{}"}}}}}})",
        name, kSmallCpus, kSmallCpus, sold * 1000));
    if (!world_.rules.contains(Rule::kCpus)) return;
    std::string detail;
    for (int cpu = 0; cpu < kSmallCpus; cpu++)
      detail += fmt::format(R"({}{{\"id\":{},\"core\":{},\"socket\":0,\"node\":0}})",
                            cpu ? "," : "", cpu, cpu / 2);
    auto topology = api::decodeText<api::NodeResourceTopology>(fmt::format(
        R"({{"metadata":{{"name":"{}","annotations":{{"node.koordinator.sh/cpu-topology":"{{\"detail\":[{}]}}"}}}},"zones":[{{"name":"node-0","type":"Node","resources":[{{"name":"cpu","allocatable":"8"}}]}}]}})",
        name, detail));
    CHECK(topology.has_value(), "{}", topology.error().text());
    lab_.cluster().putTopology(name, std::make_shared<api::NodeResourceTopology>(*topology));
  }
  void addQuotas() {
    for (PodKind kind : {PodKind::kQuotaA, PodKind::kQuotaB}) {
      const std::string name = kind == PodKind::kQuotaA ? "a" : "b";
      auto quota = api::decodeText<api::ElasticQuota>(fmt::format(
          R"({{"metadata":{{"name":"{}","namespace":"default"}},"spec":{{"min":{{"cpu":"2"}},"max":{{"cpu":"{}"}}}}}})",
          name, infoOf(kind).most));
      CHECK(quota.has_value(), "{}", quota.error().text());
      lab_.cluster().putQuota("default/" + name, std::make_shared<api::ElasticQuota>(*quota));
    }
  }
  void addRoom() {
    for (size_t i = 0; i < state_.nodes.size(); i++) {
      if (!state_.nodes[i].hasRoom) continue;
      lab_.reservation(fmt::format(
          R"({{"metadata":{{"name":"r","uid":"{}"}},"spec":{{"owners":[{{"labelSelector":{{"matchLabels":{{"app":"x"}}}}}}],)"
          R"("allocateOnce":false,"ttl":"0s","allocatePolicy":"Restricted","template":{{"spec":{{"schedulerName":"koord-scheduler",)"
          R"("containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}}}}}},)"
          R"("status":{{"phase":"Available","nodeName":"{}","allocatable":{{"cpu":"{}"}}}}}})",
          kRoomUid, kReserved, nodeName(i), kReserved));
    }
  }
  void read(const Named& one, SmallState& out) const {
    if (one.name.empty()) return;
    const std::string node = lab_.nodeOf(one.name);
    if (node.empty()) {
      out.waiting.push_back(one.kind);
      return;
    }
    SmallPod pod{one.kind, "", false};
    const std::string status = lab_.annotation(one.name, api::annotation::kResourceStatus);
    if (auto value = json::parse(status.empty() ? "{}" : status); value && value->is_object())
      if (const auto* cpus = value->as_object().if_contains("cpuset"))
        pod.cpuset = std::string(cpus->as_string());
    // Those that the mutant hid had theirs before.
    if (pod.cpuset.empty()) pod.cpuset = hidden(one);
    pod.isReserved =
        !lab_.annotation(one.name, "scheduling.koordinator.sh/reservation-allocated").empty();
    out.nodes[static_cast<size_t>(node.back() - '0')].pods.push_back(pod);
  }
  std::string hidden(const Named& one) const {
    size_t index = 0;
    for (const SmallNode& node : state_.nodes)
      for (const SmallPod& pod : node.pods)
        if (fmt::format("p{}", index++) == one.name) return pod.cpuset;
    return "";
  }

  const SmallWorld& world_;
  const SmallState& state_;
  Lab lab_;
  std::vector<Named> pods_;
};

// The manager's pass over one node: what services use is what they asked for.
int soldOn(const SmallNode& node, Mutant mutant) {
  static const auto policy = readPolicy(kSellAll, "small world");
  CHECK(policy.has_value(), "{}", policy.error().text());
  const auto object = makeNode("n", {.name = "n",
                                     .cpu = MilliCpu{kSmallCpus * 1000},
                                     .memory = kGiB * 64,
                                     .systemCpu = {},
                                     .systemMemory = {}});
  std::vector<manager::PodFacts> facts;
  manager::MetricFacts metric;
  metric.updateTime = WallTime{std::chrono::seconds(1)};
  metric.hasNodeMetric = metric.hasNodeUsage = true;
  for (size_t i = 0; i < node.pods.size(); i++) {
    if (node.pods[i].kind == PodKind::kBatch) continue;
    const MilliCpu cpu{infoOf(node.pods[i].kind).cpus * 1000};
    facts.push_back(manager::podFacts(
        *makePod({.name = fmt::format("p{}", i), .number = i, .cpu = cpu, .memory = kGiB})));
    metric.pods.push_back(
        {facts.back().key, facts.back().band, {Quantity::of(cpu), Quantity::of(kGiB)}});
  }
  std::sort(metric.pods.begin(), metric.pods.end(),
            [](const auto& a, const auto& b) { return a.key < b.key; });
  if (mutant == Mutant::kSellsTwice) facts.clear(), metric.pods.clear();
  std::vector<const manager::PodFacts*> pods;
  for (const auto& one : facts) pods.push_back(&one);
  Seller seller(*policy, object);
  seller.sell(metric.updateTime, pods, metric);
  return static_cast<int>(seller.batchCpu().v / 1000);
}

class Explorer {
 public:
  explicit Explorer(const SmallWorld& world) : world_(world) {}

  Explored run() {
    SmallState first;
    first.nodes.resize(static_cast<size_t>(world_.nodes));
    if (world_.rules.contains(Rule::kReservation)) first.nodes[0].hasRoom = true;
    first.order();
    reach(first, first, "the beginning");
    while (!open_.empty() && out_.violation.empty()) {
      const SmallState state = open_.front();
      open_.pop_front();
      expand(state);
    }
    return out_;
  }

 private:
  void reach(const SmallState& before, const SmallState& after, const std::string& how) {
    out_.steps++;
    if (auto trouble = violationOf(before, after); !trouble.empty() && out_.violation.empty())
      out_.violation = fmt::format("{}: {} - {} -> {}", trouble, before.text(), how, after.text());
    if (!seen_.insert(after).second) return;
    out_.states++;
    open_.push_back(after);
  }

  void expand(const SmallState& state) {
    if (state.pods() < world_.pods)
      for (PodKind kind : kindsUnder(world_.rules)) {
        Shown shown(world_, state);
        shown.addPod({kind, "", false}, "");
        reach(state, shown.after(), "a pod comes");
      }
    for (size_t i = 0; i < static_cast<size_t>(state.pods()); i++) {
      Shown shown(world_, state);
      shown.removePod(i);
      reach(state, shown.after(), "a pod goes");
    }
    if (!world_.rules.contains(Rule::kLedger)) return;
    for (size_t i = 0; i < state.nodes.size(); i++) sell(state, i);
  }

  void sell(const SmallState& state, size_t node) {
    SmallState told = state;
    told.nodes[node].sold = soldOn(state.nodes[node], world_.mutant);
    if (told.nodes[node].sold > kSmallCpus - state.nodes[node].native() && out_.violation.empty())
      out_.violation = "a core is sold twice: " + state.text();
    reach(told, Shown(world_, told).after(), "the manager writes");
  }

  const SmallWorld& world_;
  Explored out_;
  std::set<SmallState> seen_;
  std::deque<SmallState> open_;
};

}  // namespace

Explored explore(const SmallWorld& world) {
  return Explorer(world).run();
}

}  // namespace mangrove::sim
