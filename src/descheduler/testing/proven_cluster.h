#pragma once
// A cluster made by hand beside a descheduler that proves its moves: machines, guests on them, what
// they use, and who is moved where. Test programs only.

#include <string>
#include <utility>
#include <vector>

#include "descheduler/testing/whole_descheduler.h"

namespace mangrove::descheduler::testing {

class ProvenCluster : public WholeDescheduler {
 protected:
  ProvenCluster() {
    api.remove(kind::kNode, "", "cold");
    api.remove(kind::kNode, "", "hot");
    for (int i = 0; i < 4; ++i) api.remove(kind::kPod, "d", fmt::format("p{}", i));
    api.put(kind::kReplicaSet, "d", "rs", R"({"metadata":{"uid":"rs"},"spec":{"replicas":40}})");
  }
  void machine(const std::string& name, const std::string& cpu, const std::string& more = "") {
    api.put(kind::kNode, "", name,
            fmt::format(
                R"({{"metadata":{{"labels":{{"kubernetes.io/hostname":"{}"}}}},
                     "status":{{"allocatable":{{"cpu":"{}","memory":"64Gi","pods":"110"}},
                                "conditions":[{{"type":"Ready","status":"True"}}]}}{}}})",
                name, cpu, more));
  }
  struct Guest {
    std::string name, on, cpu;
    std::string scheduler = "koord-scheduler";
    std::string spec = "";  // more of it, each member with a comma behind
    std::string annotations = "";
    std::string labels = "";
  };
  void guest(const Guest& g) {
    api.put(
        kind::kPod, "d", g.name,
        fmt::format(
            R"({{"metadata":{{"uid":"uid-{}","creationTimestamp":"{}","labels":{{"app":"web"{}}},"annotations":{{{}}},
                 "ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"rs","controller":true}}]}},
                 "spec":{{"nodeName":"{}",{}"schedulerName":"{}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"{}"}}}}}}]}},
                 "status":{{"phase":"Running","startTime":"{}","conditions":[{{"type":"PodScheduled","status":"True","lastTransitionTime":"{}"}},{{"type":"Ready","status":"True"}}]}}}})",
            g.name, formatTime(clock.wall() - std::chrono::hours(24)), g.labels, g.annotations,
            g.on, g.spec, g.scheduler, g.cpu, formatTime(clock.wall() - std::chrono::hours(24)),
            formatTime(clock.wall() - std::chrono::hours(24))));
  }
  using Uses = std::vector<std::pair<std::string, int>>;  // pod → milli-cores
  void uses(const std::string& node, const Uses& pods, int systemMilli = 0) {
    std::string list;
    for (const auto& [pod, milli] : pods) {
      list += fmt::format(
          R"({}{{"namespace":"d","name":"{}","podUsage":{{"resources":{{"cpu":"{}m"}}}}}})",
          list.empty() ? "" : ",", pod, milli);
    }
    api.put(
        kind::kNodeMetric, "", node,
        fmt::format(
            R"({{"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"100m"}}}},"systemUsage":{{"resources":{{"cpu":"{}m"}}}}}},"podsMetric":[{}]}}}})",
            formatTime(clock.wall()), systemMilli, list));
  }
  void prove(const std::string& more = "", const std::string& mode = "ReservationFirst") {
    startWith(fmt::format(R"({{
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"10s",
      "profiles":[{{"name":"one","plugins":{{"balance":{{"enabled":[{{"name":"LowNodeLoad"}}]}}}},"pluginConfig":[
        {{"name":"LowNodeLoad","args":{{"lowThresholds":{{"cpu":45}},"highThresholds":{{"cpu":75}},
                                        "anomalyCondition":{{"consecutiveAbnormalities":1}}}}}},
        {{"name":"MigrationController","args":{{"provenMoves":true,"defaultJobMode":"{}",
          "maxMigratingPerNode":20,"maxMigratingPerWorkload":20,"maxUnavailablePerWorkload":20{}}}}}]}}]}})",
                          mode, more));
  }
  double cycles() const {
    const std::string text = metrics.exposition();
    const std::string name = "\ndescheduler_cycles_total ";
    const size_t at = text.find(name);
    return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size()));
  }
  // Who is moved, and where to, once so many are and two more cycles have looked.
  std::vector<std::string> planned(size_t atLeast = 0) {
    EXPECT_TRUE(until([&] { return descheduler->waitingFor().empty(); }))
        << descheduler->waitingFor();
    until([&] { return jobs().size() >= atLeast; }, std::chrono::milliseconds(100));
    const double before = cycles();
    until([&] { return cycles() >= before + 2; }, std::chrono::milliseconds(100));
    until([&, looks = 0]() mutable { return ++looks > 20; });
    std::vector<std::string> out;
    for (const auto& job : jobs()) {
      out.push_back(fmt::format(
          "{} to {}", job.spec.podRef->name,
          job.meta.annotations.get("descheduler.mangrove.io/target").value_or("nowhere known")));
    }
    return out;
  }
  std::string whyNot(const std::string& pod) const {
    const auto& refused = descheduler->journal().refused();
    const auto found = refused.find("d/" + pod);
    return found == refused.end() ? "" : found->second;
  }
};

}  // namespace mangrove::descheduler::testing
