// The whole colocation profile against the plain oracles: machines with sockets, NUMA nodes and
// threads, load reports, volumes; feasible nodes, every plugin's score, the choice and the CPUs.
// A hundred thousand pairs in `make test-long`.
#include <cstdlib>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "api/annotations/cpu.h"
#include "api/wire/names.h"
#include "base/number/cpu_set.h"
#include "base/testing/size.h"
#include "base/text/time_text.h"
#include "json/yaml.h"
#include "placement/testing/lab.h"
#include "placement/testing/oracle.h"
#include "placement/testing/oracle_load.h"
#include "placement/testing/oracle_numa.h"
#include "placement/testing/oracle_volumes.h"
#include "placement/testing/random_objects.h"

namespace mangrove::placement {
namespace {

struct Shape {
  int sockets, nodes, cores, threads;
  int zones() const { return sockets * nodes; }
  int perZone() const { return cores * threads; }
  int cpus() const { return zones() * perZone(); }
};

Shape randomShape(Rng& rng) {
  const auto upTo = [&](uint64_t most) { return 1 + static_cast<int>(rng.below(most)); };
  return {upTo(2), upTo(2), upTo(4), upTo(2)};
}

std::string quotedInside(std::string text) {
  std::string out;
  for (char c : text) out += c == '"' ? std::string("\\\"") : std::string(1, c);
  return out;
}

// One annotation whose value is JSON.
std::string note(std::string_view key, const std::string& value) {
  return fmt::format(R"("{}":"{}")", key, quotedInside(value));
}

std::string topologyJson(Rng& rng, const std::string& name, const Shape& shape, bool raised) {
  std::string detail, zones;
  for (int cpu = 0; cpu < shape.cpus(); cpu++) {
    const int zone = cpu / shape.perZone();
    detail += fmt::format(R"({}{{"id":{},"core":{},"socket":{},"node":{}}})", cpu ? "," : "", cpu,
                          cpu / shape.threads, zone / shape.nodes, zone);
  }
  std::string notes = note("node.koordinator.sh/cpu-topology", R"({"detail":[)" + detail + "]}");
  if (rng.chance(0.2))
    notes +=
        "," + note("kubelet.koordinator.sh/cpu-manager-policy",
                   fmt::format(R"({{"policy":"static","reservedCPUs":"0"{}}})",
                               rng.chance(0.3) ? R"(,"options":{"full-pcpus-only":"true"})" : ""));
  if (raised)
    notes += "," + note("node.koordinator.sh/resource-amplification-ratio", R"({"cpu":1.5})");
  for (int zone = 0; zone < shape.zones(); zone++)
    zones += fmt::format(
        R"({}{{"name":"node-{}","type":"Node","resources":[
            {{"name":"cpu","allocatable":"{}m"}},{{"name":"memory","allocatable":"{}Gi"}}]}})",
        zone ? "," : "", zone, shape.perZone() * (raised ? 1500 : 1000), 1 + rng.below(8));
  return fmt::format(
      R"({{"metadata":{{"name":"{}","annotations":{{{}}}}},"topologyPolicies":[{}],"zones":[{}]}})",
      name, notes, rng.chance(0.15) ? R"("SingleNUMANodePodLevel")" : "", zones);
}

template <class T>
std::shared_ptr<T> decoded(const std::string& text) {
  auto out = api::decodeText<T>(text);
  EXPECT_TRUE(out.has_value()) << text << "\n" << (out ? "" : out.error().text());
  return std::make_shared<T>(std::move(*out));
}

oracle::LoadRules randomLoadRules(Rng& rng) {
  oracle::LoadRules out;
  out.filterExpired = rng.chance(0.5);
  out.scheduleWhenExpired = rng.chance(0.3);
  if (rng.chance(0.3)) out.usage = {{"cpu", 80}, {"memory", 0}};
  if (rng.chance(0.4)) out.prod = {{"cpu", 55}};
  out.prodIncludesSystem = rng.chance(0.3);
  out.scoreByProd = rng.chance(0.4);
  if (rng.chance(0.3)) out.dominantWeight = 5;
  if (rng.chance(0.3)) out.weights = {{"cpu", 3}};
  if (rng.chance(0.3)) out.secondsAfterScheduled = 120;
  if (rng.chance(0.3)) {
    out.aggregated = {{"cpu", 60}, {"memory", 80}};
    out.usageType = pick(rng, {"p95", "avg"});
    out.usageSeconds = rng.chance(0.5) ? 300 : 0;
  }
  if (rng.chance(0.3)) {
    out.scoreType = pick(rng, {"p95", "p50"});
    out.scoreSeconds = rng.chance(0.5) ? 300 : 0;
  }
  return out;
}

class Colocation {
 public:
  explicit Colocation(uint64_t seed)
      : rng_(seed), load_(randomLoadRules(rng_)), lab_(config(seed)) {
    for (size_t i = 0; i < 3 + rng_.below(5); i++) addNode(nodes_++);
    addStorage();
  }

  void step() {
    change();
    const std::string text = randomText();
    compare(text);
    if (::testing::Test::HasFatalFailure()) return;
    lab_.pod(text);
    lab_.run();
    checkGrant(text);
    dropWaiting(text);
  }
  size_t cpusets = 0, zoned = 0, refused = 0;

 private:
  SchedulerConfig config(uint64_t seed) {
    Rng rng(seed * 7919);
    numa_ = {rng.chance(0.5), rng.chance(0.5), rng.chance(0.3)};
    SchedulerConfig out;
    out.profiles.push_back(colocationProfile("plain"));
    out.profiles[0].args["LoadAwareScheduling"] = *json::parse(load_.json());
    out.profiles[0].args["NodeNUMAResource"] = *json::parse(numa_.json());
    return out;
  }

  // ---- what there is
  void addNode(size_t number) {
    const std::string name = fmt::format("n{}", number);
    const Shape shape = randomShape(rng_);
    NodeExtras extras;
    const double chance = rng_.chance(0.5) ? 0.4 : 0;
    if (rng_.chance(chance))
      extras.labels += fmt::format(R"(,"node.koordinator.sh/numa-topology-policy":"{}")",
                                   pick(rng_, {"SingleNUMANode", "Restricted", "BestEffort"}));
    if (rng_.chance(chance))
      extras.labels += fmt::format(R"(,"node.koordinator.sh/cpu-bind-policy":"{}")",
                                   pick(rng_, {"FullPCPUsOnly", "SpreadByPCPUs"}));
    if (rng_.chance(0.2))
      extras.labels += fmt::format(R"(,"node.koordinator.sh/numa-allocate-strategy":"{}")",
                                   pick(rng_, {"MostAllocated", "LeastAllocated"}));
    const bool amplified = rng_.chance(0.25);
    if (amplified)
      extras.annotations =
          note("node.koordinator.sh/resource-amplification-ratio", R"({"cpu":1.5})");
    if (rng_.chance(0.2))
      extras.annotations +=
          (extras.annotations.empty() ? "" : ",") +
          note("scheduling.koordinator.sh/usage-thresholds", R"({"usageThresholds":{"cpu":50}})");
    extras.cpu = amplified ? shape.cpus() * 3 / 2 : shape.cpus();
    if (rng_.chance(0.1)) extras.cpu = 0;
    lab_.node(randomNode(rng_, number, extras));
    if (rng_.chance(0.9))
      lab_.cluster().putTopology(name, decoded<api::NodeResourceTopology>(topologyJson(
                                           rng_, name, shape, amplified && rng_.chance(0.5))));
    report(number);
  }

  std::string usage(double most) {
    return fmt::format(R"({{"cpu":"{}m","memory":"{}Mi"}})",
                       static_cast<int64_t>(rng_.unit() * most * 8000),
                       static_cast<int64_t>(rng_.unit() * most * 8000));
  }

  void report(size_t number) {
    const std::string name = fmt::format("n{}", number);
    const Row row = lab_.cluster().table.find(name);
    if (row == kNoRow) return;
    if (rng_.chance(0.1)) return void(lab_.cluster().putMetric(name, nullptr));
    std::string pods, aggregated;
    for (const PodPtr& pod : lab_.cluster().table.info(row).pods)
      if (rng_.chance(0.7))
        pods += fmt::format(
            R"({}{{"name":"{}","namespace":"{}","priority":"{}","podUsage":{{"resources":{}}}}})",
            pods.empty() ? "" : ",", pod->pod->meta.name.view(), pod->pod->meta.ns.view(),
            pick(rng_, {"koord-prod", "koord-batch"}), usage(0.1));
    for (int minutes : {5, 10})
      if (rng_.chance(0.6))
        aggregated += fmt::format(
            R"({}{{"duration":"{}m0s","usage":{{"p95":{{"resources":{}}},"avg":{{"resources":{}}}}}}})",
            aggregated.empty() ? "" : ",", minutes, usage(0.8), usage(0.5));
    const WallTime then = lab_.clock().wall() - std::chrono::seconds(rng_.below(240));
    const std::string body =
        rng_.chance(0.1)
            ? ""
            : fmt::format(
                  R"(,"nodeMetric":{{"nodeUsage":{{"resources":{}}},"systemUsage":{{"resources":{}}},
                      "aggregatedNodeUsages":[{}]}})",
                  usage(0.6), usage(0.1), aggregated);
    lab_.cluster().putMetric(name,
                             decoded<api::NodeMetric>(fmt::format(
                                 R"({{"metadata":{{"name":"{}"}},"spec":{{"metricCollectPolicy":{{
                      "reportIntervalSeconds":{}}}}},"status":{{"updateTime":"{}","podsMetric":[{}]{}}}}})",
                                 name, 30 + rng_.below(60), formatTime(then), pods, body)));
  }

  void addStorage() {
    Storage& s = lab_.cluster().storage;
    s.classes.put("late",
                  decoded<api::StorageClass>(
                      R"({"metadata":{"name":"late"},"provisioner":"kubernetes.io/no-provisioner",
                                  "volumeBindingMode":"WaitForFirstConsumer"})"));
    s.classes.put("made", decoded<api::StorageClass>(
                              R"({"metadata":{"name":"made"},"provisioner":"csi.test",
                                  "volumeBindingMode":"WaitForFirstConsumer","allowedTopologies":[{
                                  "matchLabelExpressions":[{"key":"topology.kubernetes.io/zone",
                                  "values":["a","b"]}]}]})"));
    s.drivers.put("csi.test",
                  decoded<api::CsiDriver>(
                      R"({"metadata":{"name":"csi.test"},"spec":{"storageCapacity":true}})"));
    s.capacities.put("x/c",
                     decoded<api::CsiStorageCapacity>(
                         R"({"metadata":{"name":"c","namespace":"x"},"storageClassName":"made",
                                    "capacity":"5Gi","nodeTopology":{"matchLabels":{
                                    "topology.kubernetes.io/zone":"a"}}})"));
    for (int i = 0; i < 6; i++) addVolume();
  }

  void addVolume() {
    Storage& s = lab_.cluster().storage;
    const std::string name = fmt::format("v{}", volumes_++);
    const std::string affinity =
        rng_.chance(0.6)
            ? fmt::format(
                  R"(,"nodeAffinity":{{"required":{{"nodeSelectorTerms":[{{"matchExpressions":[
            {{"key":"disk","operator":"In","values":["{}"]}}]}}]}}}})",
                  pick(rng_, {"ssd", "hdd"}))
            : "";
    s.volumes.put(
        name,
        decoded<api::PersistentVolume>(fmt::format(
            R"({{"metadata":{{"name":"{}","labels":{{{}}}}},"spec":{{"storageClassName":"late",
            "accessModes":["ReadWriteOnce","ReadWriteOncePod"],"capacity":{{"storage":"{}Gi"}},
            "csi":{{"driver":"csi.test","volumeHandle":"{}"}}{}}},"status":{{"phase":"Available"}}}})",
            name, rng_.chance(0.4) ? R"("topology.kubernetes.io/zone":"a__b")" : "",
            1 + rng_.below(4), name, affinity)));
    s.generation++;
  }

  std::string addClaim() {
    Storage& s = lab_.cluster().storage;
    const std::string name = fmt::format("c{}", claims_++);
    s.claims.put("default/" + name,
                 decoded<api::PersistentVolumeClaim>(fmt::format(
                     R"({{"metadata":{{"name":"{}","namespace":"default","uid":"u-{}"}},"spec":{{
            "storageClassName":"{}","accessModes":["{}"],"resources":{{"requests":{{"storage":"{}Gi"}}}}}},
            "status":{{"phase":"Pending"}}}})",
                     name, name, pick(rng_, {"late", "late", "made", "none"}),
                     rng_.chance(0.3) ? "ReadWriteOncePod" : "ReadWriteOnce", 1 + rng_.below(4))));
    s.generation++;
    return name;
  }

  void limitVolumes() {
    const std::string name = fmt::format("n{}", rng_.below(nodes_));
    lab_.cluster().storage.nodes.put(
        name, decoded<api::CsiNode>(fmt::format(
                  R"({{"metadata":{{"name":"{}"}},"spec":{{"drivers":[{{"name":"csi.test",
            "nodeID":"{}","allocatable":{{"count":{}}}}}]}}}})",
                  name, name, rng_.below(3))));
    lab_.cluster().storage.generation++;
  }

  void change() {
    lab_.clock().advance(std::chrono::seconds(rng_.below(20)));
    lab_.engine().tick();
    if (rng_.chance(0.1)) addNode(nodes_++);
    if (rng_.chance(0.1)) addNode(rng_.below(nodes_));
    if (rng_.chance(0.03)) lab_.removeNode(fmt::format("n{}", rng_.below(nodes_)));
    if (rng_.chance(0.6)) report(rng_.below(nodes_));
    if (rng_.chance(0.1)) addVolume();
    if (rng_.chance(0.05)) limitVolumes();
    for (int i = 0; i < 2; i++)
      if (pods_ > 0 && rng_.chance(0.45)) {
        const size_t number = rng_.below(pods_);
        for (auto ns : {"default", "other"}) lab_.removePod(fmt::format("{}/p{}", ns, number));
      }
  }

  // ---- who comes
  std::string randomText() {
    PodExtras extras;
    extras.constraints = 0.25;
    const std::string qos = pick(rng_, {"LSE", "LSR", "LSR", "LS", "BE", ""});
    const bool binds = qos == "LSE" || qos == "LSR";
    if (!qos.empty()) extras.labels += fmt::format(R"(,"koordinator.sh/qosClass":"{}")", qos);
    if (rng_.chance(0.8))
      extras.spec += fmt::format(R"(,"priority":{})", qos == "BE" ? 5500 : 9500);
    if (binds || rng_.chance(0.3)) {
      extras.requests =
          fmt::format(R"("cpu":"{}","memory":"{}Mi")",
                      rng_.chance(0.03) ? "1500m" : fmt::format("{}", 1 + rng_.below(5)),
                      128 * (1 + rng_.below(12)));
      if (rng_.chance(0.4)) extras.limits = R"(,"limits":{"cpu":"6"})";
    } else if (qos == "BE" && rng_.chance(0.7)) {
      extras.requests = R"("kubernetes.io/batch-cpu":"700","kubernetes.io/batch-memory":"1Gi")";
    }
    extras.annotations = notesFor();
    if (rng_.chance(0.2)) addVolumesTo(extras);
    return randomPod(rng_, pods_++, extras);
  }

  std::string notesFor() {
    std::string spec;
    if (rng_.chance(0.4))
      spec += fmt::format(R"("{}CPUBindPolicy":"{}")", pick(rng_, {"required", "preferred"}),
                          pick(rng_, {"FullPCPUs", "SpreadByPCPUs", "Default"}));
    if (rng_.chance(0.3))
      spec += fmt::format(R"({}"preferredCPUExclusivePolicy":"{}")", spec.empty() ? "" : ",",
                          pick(rng_, {"PCPULevel", "NUMANodeLevel"}));
    std::string out;
    if (!spec.empty()) out = note(api::annotation::kResourceSpec, "{" + spec + "}");
    if (rng_.chance(0.15))
      out += (out.empty() ? "" : ",") +
             note(api::annotation::kNumaTopologySpec,
                  fmt::format(R"({{"numaTopologyPolicy":"{}"{}}})",
                              pick(rng_, {"SingleNUMANode", "Restricted", "BestEffort"}),
                              rng_.chance(0.5) ? R"(,"singleNUMANodeExclusive":"Preferred")" : ""));
    return out;
  }

  void addVolumesTo(PodExtras& extras) {
    extras.ns = "default";
    std::string list;
    for (size_t i = 0; i < 1 + rng_.below(2); i++) {
      const std::string claim =
          claims_ > 0 && rng_.chance(0.3) ? fmt::format("c{}", rng_.below(claims_)) : addClaim();
      list += fmt::format(R"({}{{"name":"w{}","persistentVolumeClaim":{{"claimName":"{}"}}}})",
                          list.empty() ? "" : ",", i, claim);
    }
    if (rng_.chance(0.3))
      list += fmt::format(R"(,{{"name":"g","gcePersistentDisk":{{"pdName":"d{}","readOnly":{}}}}})",
                          rng_.below(2), rng_.chance(0.5));
    extras.spec += fmt::format(R"(,"volumes":[{}])", list);
  }

  // ---- comparing
  oracle::World world(std::vector<Row>& rows) {
    oracle::World out;
    const Cluster& cluster = lab_.cluster();
    out.storage = &cluster.storage;
    out.now = lab_.clock().wall();
    for (Row row = 0; row < cluster.table.rows(); row++) {
      if (!cluster.table.live(row)) continue;
      rows.push_back(row);
      auto& place = out.places.emplace_back();
      place.node = &cluster.table.node(row);
      const auto name = cluster.table.info(row).name.view();
      place.metric = cluster.nodeMetrics.find(name).get();
      place.topology = cluster.topologies.find(name).get();
      for (const PodPtr& pod : cluster.table.info(row).pods) place.pods.push_back(pod->pod.get());
    }
    return out;
  }

  std::string refusalOf(const oracle::World& plain, const api::Pod& pod, size_t at) {
    const auto& place = plain.places[at];
    if (auto why = oracle::refusal(plain, pod, at); !why.empty()) return why;
    if (auto why = oracle::volumeRefusal(plain, pod, place); !why.empty()) return why;
    if (auto why = oracle::loadRefusal(load_, plain, pod, place); !why.empty()) return why;
    const auto answer = oracle::askNuma(numa_, pod, place);
    if (answer.refusal.empty()) grants_[place.node->meta.name.str()] = answer.grant;
    return answer.refusal;
  }

  void compare(const std::string& text) {
    auto pod = decoded<api::Pod>(text);
    pod->meta.uid = api::Uid("11111111-1111-4111-8111-111111111111");
    const PodPtr info = lab_.cluster().makeInfo(pod);
    Profile& profile = *lab_.engine().profiles()[0];
    Cycle cycle(profile, lab_.cluster(), info);
    std::vector<Row> rows;
    const oracle::World plain = world(rows);
    grants_.clear();
    best_.clear();
    std::vector<Row> feasible;
    if (cycle.prepare()) feasible = cycle.feasibleRows();
    std::vector<size_t> expected;
    for (size_t i = 0; i < rows.size(); i++) {
      const std::string why = refusalOf(plain, *pod, i);
      const bool fits = std::find(feasible.begin(), feasible.end(), rows[i]) != feasible.end();
      ASSERT_EQ(fits, why.empty()) << plain.places[i].node->meta.name.view() << ": " << why << "\n"
                                   << text;
      if (fits) expected.push_back(i);
    }
    refused += rows.size() - expected.size();
    if (!expected.empty()) compareScores(text, *pod, plain, rows, expected, cycle);
  }

  // What both sides know about the nodes, for the reader of a failure.
  std::string booksOf(const oracle::World& plain, const std::vector<size_t>& places) {
    std::string out;
    Plugin* numa = lab_.engine().profiles()[0]->find("NodeNUMAResource");
    for (size_t i : places) {
      const std::string name = plain.places[i].node->meta.name.str();
      const auto page = numa->serve("nodes/" + name);
      out += name + ": " + (page ? json::write(*page) : "") + "\n";
      for (const api::Pod* pod : plain.places[i].pods)
        if (const auto status = pod->meta.annotations.get(api::annotation::kResourceStatus))
          out += fmt::format("  {} {}\n", pod->meta.name.view(), *status);
    }
    return out;
  }

  void compareScores(const std::string& text, const api::Pod& pod, const oracle::World& plain,
                     const std::vector<Row>& rows, const std::vector<size_t>& expected,
                     Cycle& cycle) {
    auto want = oracle::scores(plain, pod, expected);
    std::vector<Row> feasible;
    for (size_t i : expected) {
      feasible.push_back(rows[i]);
      want["LoadAwareScheduling"].push_back(oracle::loadScore(load_, plain, pod, plain.places[i]));
      if (oracle::numaLooksAt(pod))
        want["NodeNUMAResource"].push_back(oracle::askNuma(numa_, pod, plain.places[i]).score);
    }
    std::vector<int64_t> totals(feasible.size());
    for (const auto& got : cycle.breakdown(feasible)) {
      for (size_t i = 0; i < totals.size(); i++) totals[i] += got.weight * got.scores[i];
      if (got.plugin == "Reservation") want["Reservation"].assign(feasible.size(), 0);  // none
      ASSERT_EQ(got.scores, want[std::string(got.plugin)]) << got.plugin << "\n"
                                                           << text << "\n"
                                                           << booksOf(plain, expected);
      want.erase(std::string(got.plugin));
    }
    ASSERT_TRUE(want.empty()) << want.begin()->first << " was not scored\n" << text;
    const int64_t top = *std::max_element(totals.begin(), totals.end());
    for (size_t i = 0; i < expected.size(); i++)
      if (totals[i] == top || expected.size() == 1)
        best_.insert(plain.places[expected[i]].node->meta.name.str());
  }

  // One that nobody can take would come back at any time, before the pod in question.
  void dropWaiting(const std::string& text) {
    const auto pod = decoded<api::Pod>(text);
    const std::string key = pod->meta.ns.str() + "/" + pod->meta.name.str();
    if (lab_.nodeOf(key).empty()) lab_.removePod(key);
  }

  // The engine has decided: on one of the best nodes, with exactly the CPUs of the rules.
  void checkGrant(const std::string& text) {
    const auto pod = decoded<api::Pod>(text);
    const std::string key = pod->meta.ns.str() + "/" + pod->meta.name.str();
    const std::string node = lab_.nodeOf(key);
    if (best_.empty()) {
      ASSERT_EQ(node, "") << text;
      return;
    }
    ASSERT_TRUE(best_.contains(node)) << node << "\n" << lab_.said(key) << "\n" << text;
    oracle::NumaGrant got;
    const auto status = api::parseResourceStatus(lab_.find(key)->meta.annotations);
    if (status && *status) {
      if (auto set = CpuSet::parse((*status)->cpuset))
        for (int cpu : *set) got.cpus.insert(cpu);
      for (const auto& part : (*status)->numaNodeResources)
        for (const auto& entry : part.resources)
          got.zones[part.node][entry.name.str()] =
              oracle::amount(part.resources, entry.name.view());
    }
    cpusets += !got.cpus.empty();
    zoned += !got.zones.empty();
    ASSERT_EQ(got.cpus, grants_[node].cpus) << node << "\n" << text;
    ASSERT_EQ(got.zones, grants_[node].zones) << node << "\n" << text;
  }

  Rng rng_;
  oracle::LoadRules load_;
  oracle::NumaRules numa_;
  Lab lab_;
  std::map<std::string, oracle::NumaGrant> grants_;
  std::set<std::string> best_;
  size_t nodes_ = 0, pods_ = 0, volumes_ = 0, claims_ = 0;
};

TEST(OracleColocation, agrees_on_nodes_scores_and_cpus_with_all_plugins_on) {
  const size_t pairs = sized<size_t>(2000, 100000);
  constexpr size_t kSteps = 40;
  size_t cpusets = 0, zoned = 0, refused = 0;
  for (size_t seed = 1; seed <= pairs / kSteps; seed++) {
    Colocation comparison(seed);
    for (size_t i = 0; i < kSteps && !::testing::Test::HasFatalFailure(); i++) comparison.step();
    if (::testing::Test::HasFatalFailure()) FAIL() << "seed " << seed;
    cpusets += comparison.cpusets;
    zoned += comparison.zoned;
    refused += comparison.refused;
  }
  fmt::print("{} pods compared: {} cpusets, {} over NUMA nodes, {} nodes refused\n",
             pairs / kSteps * kSteps, cpusets, zoned, refused);
  EXPECT_GT(cpusets, 0u);
  EXPECT_GT(zoned, 0u);
}

}  // namespace
}  // namespace mangrove::placement
