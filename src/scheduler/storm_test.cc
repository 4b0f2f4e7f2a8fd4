// Whatever the server does to us (conflicts, 429, 500, answers that are lost after the write, slow,
// broken and repeated watches), and however often we start again: no pod bound twice, no node
// filled beyond what it has, no CPU given to two pods, everybody scheduled in the end.
#include <atomic>
#include <cstdlib>
#include <set>

#include <gtest/gtest.h>

#include "api/annotations/cpu.h"
#include "api/pod/pod_requests.h"
#include "base/number/cpu_set.h"
#include "base/os/log.h"
#include "base/testing/size.h"
#include "client/http/http_api_client.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "placement/engine/engine.h"
#include "scheduler/scheduler.h"

namespace mangrove::scheduler {
namespace {

using namespace std::chrono_literals;
using client::testing::FakeApi;
using client::testing::Faults;

constexpr int kCpus = 16;

int podCount() {
  return sized(200, 1000);
}

// Enough that everybody fits, not so many that nobody meets.
int nodeCount() {
  return std::max(12, podCount() / 16);
}

std::string nodeBody() {
  return fmt::format(R"({{"status":{{"allocatable":{{"cpu":"{}","memory":"64Gi","pods":"40"}}}}}})",
                     kCpus);
}

std::string topologyBody() {
  std::string detail;
  for (int cpu = 0; cpu < kCpus; cpu++)
    detail += fmt::format(R"({}{{\"id\":{},\"core\":{},\"socket\":0,\"node\":0}})", cpu ? "," : "",
                          cpu, cpu / 2);
  return fmt::format(
      R"({{"metadata":{{"annotations":{{"node.koordinator.sh/cpu-topology":"{{\"detail\":[{}]}}"}}}},
          "zones":[{{"name":"node-0","type":"Node","resources":[
          {{"name":"cpu","allocatable":"{}"}},{{"name":"memory","allocatable":"64Gi"}}]}}]}})",
      detail, kCpus);
}

// A third of the pods have CPUs of their own.
std::string podBody(int number) {
  const bool alone = number % 3 == 0;
  const std::string cpu = alone ? "2" : "200m";
  return fmt::format(
      R"({{"metadata":{{"uid":"00000000-0000-4000-8000-{:012}","labels":{{"koordinator.sh/qosClass":"{}"}}}},
          "spec":{{"schedulerName":"koord-scheduler","priority":9500,"containers":[{{"name":"c",
          "resources":{{"requests":{{"cpu":"{}","memory":"64Mi"}},"limits":{{"cpu":"{}","memory":"64Mi"}}}}}}]}},
          "status":{{"phase":"Pending"}}}})",
      number, alone ? "LSR" : "LS", cpu, cpu);
}

Faults storm() {
  Faults faults;
  faults.dropMidEvent = 0.01;
  faults.duplicate = 0.1;
  faults.reorder = 0.1;
  faults.slowBody = 0.05;
  faults.expire = 0.003;
  faults.error500 = 0.1;
  faults.error429 = 0.1;
  faults.refuseVersion = 0.05;
  faults.expirePages = 0.1;
  faults.cutBody = 0.1;
  faults.loseAnswer = 0.1;
  return faults;
}

class Storm : public ::testing::TestWithParam<uint64_t> {
 protected:
  Storm() : rng(GetParam()), api(loop, {.seed = GetParam(), .retryAfter = 0}) {
    for (int i = 0; i < nodeCount(); i++) {
      api.put(api::kind::kNode, "", fmt::format("n{}", i), nodeBody());
      api.put(api::kind::kNodeResourceTopology, "", fmt::format("n{}", i), topologyBody());
    }
    // Every tenth binding is told that somebody was faster, which is not even true.
    api.setHook([this](const net::HttpRequest& request) -> std::optional<net::HttpResponse> {
      if (!stormy || !request.target.ends_with("/binding") || ++bindings % 10 != 0)
        return std::nullopt;
      return net::HttpResponse::json(
          409, R"({"kind":"Status","status":"Failure","reason":"Conflict","code":409})");
    });
    begin();
  }
  ~Storm() override { end(); }

  void begin() {
    client = std::move(
        *client::HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0, .seed = 3}));
    worker = std::make_unique<client::Worker>();
    owner = std::make_unique<Mailbox>();
    metrics = std::make_unique<Registry>();
    auto made = Scheduler::make({*client, realClock(), *owner, worker->mailbox(), *metrics,
                                 defaultConfig({"koord-scheduler"}), rng.next()});
    ASSERT_TRUE(made.has_value());
    scheduler = std::move(*made);
    scheduler->start();
    scheduler->setActive(true);
  }
  // Without a word to anybody, as a kill would.
  void end() {
    scheduler.reset();
    worker.reset();
    client.reset();
  }

  void work(Duration duration) {
    const MonoTime end = realClock().mono() + duration;
    while (realClock().mono() < end) owner->runOne(10ms);
    owner->drain();
  }

  bool allBound() {
    for (const auto& [key, body] : api.truth(api::kind::kPod))
      if (api::decodeText<api::Pod>(body)->nodeName.empty()) return false;
    return true;
  }

  void judge() {
    std::map<std::string, int64_t> used;
    std::map<std::string, std::set<int>> cpus;
    for (const auto& [key, body] : api.truth(api::kind::kPod)) {
      const auto pod = *api::decodeText<api::Pod>(body);
      const std::string node = pod.nodeName.str();
      used[node] += api::podRequests(*pod.spec).cpu().v;
      const auto status = api::parseResourceStatus(pod.meta.annotations);
      const bool alone = pod.meta.labels.get("koordinator.sh/qosClass") == "LSR";
      ASSERT_EQ(status && *status && !(*status)->cpuset.empty(), alone) << key << "\n" << body;
      if (!alone) continue;
      const auto set = *CpuSet::parse((*status)->cpuset);
      EXPECT_EQ(set.size(), 2u) << key;
      for (int cpu : set)
        EXPECT_TRUE(cpus[node].insert(cpu).second)
            << key << " shares CPU " << cpu << " of " << node;
    }
    for (const auto& [node, milli] : used) EXPECT_LE(milli, kCpus * 1000) << node;
  }

  Rng rng;
  std::atomic<bool> stormy = true;
  std::atomic<int> bindings = 0;
  net::Loop loop;
  FakeApi api;
  std::unique_ptr<client::HttpApiClient> client;
  std::unique_ptr<client::Worker> worker;
  std::unique_ptr<Mailbox> owner;
  std::unique_ptr<Registry> metrics;
  std::unique_ptr<Scheduler> scheduler;
};

TEST_P(Storm, keeps_its_books_and_schedules_everybody) {
  LogCapture quiet;
  const int pods = podCount();
  api.setFaults(storm());
  for (int i = 0; i < pods; i++) {
    api.put(api::kind::kPod, "d", fmt::format("p{}", i), podBody(i));
    if (i % 10 == 0) work(100ms);  // so that much is decided in the middle of it
    if (rng.chance(0.01)) api.dropWatches();
    if (rng.chance(0.01)) api.compact();
    if (rng.chance(0.01)) {
      end();
      begin();
    }
  }
  size_t early = 0;
  for (const auto& [key, body] : api.truth(api::kind::kPod))
    early += !api::decodeText<api::Pod>(body)->nodeName.empty();
  stormy = false;
  api.setFaults({});
  api.dropWatches();  // those that were left open and dumb
  const MonoTime limit = realClock().mono() + 120s;
  while (!allBound() && realClock().mono() < limit) {
    owner->runOne(50ms);
    owner->drain();
  }
  ASSERT_TRUE(allBound());
  judge();
  RecordProperty("bound in the storm", static_cast<int>(early));
  RecordProperty("faults", api.faultCounts().text());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Storm, ::testing::Values(1, 2));

}  // namespace
}  // namespace mangrove::scheduler
