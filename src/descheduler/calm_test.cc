// A day of a cluster whose load swings around a mean: hot nodes are relieved, and then it is quiet.
// Nobody comes back to a node it was moved away from.
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "descheduler/testing/whole_descheduler.h"

namespace mangrove::descheduler {
namespace {

using namespace std::chrono_literals;
namespace kind = client::kind;

class Calm : public testing::WholeDescheduler {
 protected:
  struct Service {
    std::string pod, on;
    int mean;                       // milli-cores
    std::vector<std::string> left;  // nodes it was moved away from
    int generation = 0;
  };
  static constexpr int kNodes = 6, kServices = 24, kCapacity = 8000;

  Calm() {
    for (const char* name : {"cold", "hot"}) api.remove(kind::kNode, "", name);
    for (int i = 0; i < 4; ++i) api.remove(kind::kPod, "d", fmt::format("p{}", i));
    api.put(kind::kReplicaSet, "d", "rs", R"({"metadata":{"uid":"rs"},"spec":{"replicas":24}})");
    for (int i = 0; i < kNodes; ++i) {
      api.put(
          kind::kNode, "", fmt::format("n{}", i),
          R"({"status":{"allocatable":{"cpu":"8","memory":"64Gi","pods":"110"},"conditions":[{"type":"Ready","status":"True"}]}})");
    }
    // Two nodes have half of everything.
    for (int i = 0; i < kServices; ++i) {
      Service one{"", fmt::format("n{}", i < 12 ? i % 2 : 2 + i % 4), i < 12 ? 1200 : 500, {}};
      services.push_back(one);
      arrive(i);
    }
  }

  void arrive(int i) {
    Service& s = services[i];
    s.pod = fmt::format("s{}-{}", i, s.generation++);
    api.put(
        kind::kPod, "d", s.pod,
        fmt::format(
            R"({{"metadata":{{"uid":"uid-{}","creationTimestamp":"{}","ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"rs","uid":"rs","controller":true}}]}},
                 "spec":{{"nodeName":"{}","schedulerName":"koord-scheduler","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"300m"}}}}}}]}},
                 "status":{{"phase":"Running","conditions":[{{"type":"Ready","status":"True"}}]}}}})",
            s.pod, formatTime(clock.wall()), s.on));
  }
  void report() {
    for (int n = 0; n < kNodes; ++n) {
      std::string list;
      int sum = 100;  // the system's
      for (const Service& s : services) {
        if (s.on != fmt::format("n{}", n)) continue;
        const int swing = static_cast<int>(rng.next() % 400) - 200;  // per mille
        const int used = s.mean * (1000 + swing) / 1000;
        sum += used;
        list += fmt::format(
            R"({}{{"namespace":"d","name":"{}","podUsage":{{"resources":{{"cpu":"{}m"}}}}}})",
            list.empty() ? "" : ",", s.pod, used);
      }
      api.put(
          kind::kNodeMetric, "", fmt::format("n{}", n),
          fmt::format(
              R"({{"status":{{"updateTime":"{}","nodeMetric":{{"nodeUsage":{{"resources":{{"cpu":"{}m"}}}},"systemUsage":{{"resources":{{"cpu":"100m"}}}}}},"podsMetric":[{}]}}}})",
              formatTime(clock.wall()), sum, list));
    }
  }
  // Virtual time stands still until the descheduler knows what was reported, and while jobs run.
  bool isHeard() {
    const auto last = descheduler->caches().metrics.find(fmt::format("n{}", kNodes - 1));
    return descheduler->waitingFor().empty() && last != nullptr &&
           formatTime(last->status.updateTime) == formatTime(clock.wall());
  }
  bool nothingUnderWay() const {
    for (const auto& job : jobs())
      if (!job.status.isFinished()) return false;
    return true;
  }
  // Scheduler and ReplicaSet: the reservation goes where it demands, the next pod into it.
  void neighbours() {
    for (const auto& [name, text] : api.truth(kind::kReservation)) {
      json::Value object = *json::parse(text);
      if (text.find(R"("phase")") == std::string::npos) {
        const std::string_view demand = R"("operator":"In","values":[")";
        const size_t at = text.find(demand);
        ASSERT_NE(at, std::string::npos) << "not for the proven node";
        const size_t from = at + demand.size();
        const std::string target = text.substr(from, text.find('"', from) - from);
        object.as_object()["status"] = *json::parse(fmt::format(
            R"({{"phase":"Available","nodeName":"{}","conditions":[{{"type":"Scheduled","status":"True"}}]}})",
            target));
        api.put(kind::kReservation, "", name, json::write(object));
      }
    }
    const auto pods = api.truth(kind::kPod);
    for (size_t i = 0; i < services.size(); ++i) {
      if (!pods.contains("d/" + services[i].pod)) follow(i);
    }
  }
  void follow(size_t i) {
    Service& s = services[i];
    for (const auto& job : jobs()) {
      if (job.spec.podRef->name != s.pod || job.status.nodeName.empty()) continue;
      const std::string reservation = job.spec.reservationOptions->reservationRef->name;
      s.left.push_back(s.on);
      s.on = job.status.nodeName;
      EXPECT_EQ(std::count(s.left.begin(), s.left.end(), s.on), 0) << s.pod << " came back";
      ++moves;
      lastMove = clock.mono();
      arrive(static_cast<int>(i));
      json::Value object = *json::parse(api.truth(kind::kReservation).at(reservation));
      object.as_object()["status"] = *json::parse(fmt::format(
          R"({{"phase":"Succeeded","nodeName":"{}","conditions":[{{"type":"Scheduled","status":"True"}}],"currentOwners":[{{"namespace":"d","name":"{}"}}]}})",
          s.on, s.pod));
      api.put(kind::kReservation, "", reservation, json::write(object));
      return;
    }
  }

  Rng rng{28};
  std::vector<Service> services;
  int moves = 0;
  MonoTime lastMove{};
};

TEST_F(Calm, ADayWithoutACyclicMove) {
  startWith(R"({
      "apiVersion":"descheduler/v1alpha2","kind":"DeschedulerConfiguration","deschedulingInterval":"30s",
      "profiles":[{"name":"one","plugins":{"balance":{"enabled":[{"name":"LowNodeLoad"}]}},"pluginConfig":[
        {"name":"LowNodeLoad","args":{"lowThresholds":{"cpu":45},"highThresholds":{"cpu":70},
                                      "anomalyCondition":{"consecutiveAbnormalities":2}}},
        {"name":"MigrationController","args":{"provenMoves":true,"objectLimiters":{"workload":{"duration":"0s"}},
          "maxMigratingPerWorkload":4,"maxUnavailablePerWorkload":6}}]}]})");
  const MonoTime begun = clock.mono();
  const Duration day = sized<Duration>(3h, 24h);
  while (clock.mono() - begun < day) {
    report();
    ASSERT_TRUE(until([&] { return isHeard(); }, 0ms));
    ASSERT_TRUE(until([&] {
      neighbours();
      return nothingUnderWay();
    }));
    clock.advance(30s);
  }
  EXPECT_GE(moves, 2) << "two nodes were hot"
                      << ::testing::PrintToString(descheduler->journal().refused());
  EXPECT_LE(moves, 24);
  EXPECT_LT(lastMove - begun, 2h) << "and then it is quiet";
  for (int n = 0; n < kNodes; ++n) {
    int sum = 100;
    for (const Service& s : services)
      if (s.on == fmt::format("n{}", n)) sum += s.mean;
    EXPECT_LE(sum, kCapacity * 70 / 100) << "n" << n << " is hot";
  }
}

}  // namespace
}  // namespace mangrove::descheduler
