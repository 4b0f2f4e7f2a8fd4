// The bar of the client: whatever the server does to us, the cache becomes the server's truth and
// the handlers' story adds up to the cache.
#include <cstdlib>

#include <gtest/gtest.h>

#include "api/pod/pod.h"
#include "base/number/rng.h"
#include "base/testing/size.h"
#include "base/testing/wait.h"
#include "client/http/http_api_client.h"
#include "client/informer/informer.h"
#include "client/queue/worker.h"
#include "client/testing/fake_api.h"
#include "json/value.h"

namespace mangrove::client {
namespace {

using namespace std::chrono_literals;
using testing::FakeApi;
using testing::Faults;

std::string podBody(int value) {
  return fmt::format(
      R"({{"metadata":{{"labels":{{"value":"{}"}}}},"spec":{{"containers":[{{"name":"c","image":"i"}}]}}}})",
      value);
}

Faults storm() {
  Faults faults;
  faults.dropMidEvent = 0.01;
  faults.duplicate = 0.1;
  faults.reorder = 0.1;
  faults.garble = 0.005;
  faults.halfOpen = 0.003;
  faults.slowBody = 0.05;
  faults.expire = 0.003;
  faults.error500 = 0.1;
  faults.error429 = 0.05;
  faults.refuseVersion = 0.05;
  faults.expirePages = 0.2;
  faults.cutBody = 0.1;
  return faults;
}

// Rebuilds the cache from what a handler hears, and checks that each step fits the last.
struct Story {
  std::map<std::string, std::shared_ptr<const api::Pod>> state;
  size_t steps = 0, misfits = 0;

  void hear(const Change<api::Pod>& change) {
    ++steps;
    std::string key(change.key);
    auto at = state.find(key);
    auto last = at == state.end() ? nullptr : at->second;
    if (last != change.before || (!change.before && !change.after)) ++misfits;
    if (change.after) {
      state[key] = change.after;
    } else {
      state.erase(key);
    }
  }
};

class SoakTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  SoakTest()
      : rng(GetParam()),
        api(loop, {.seed = GetParam(), .bookmarkEvery = 100ms, .retryAfter = 0}),
        client(std::move(
            *HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0, .seed = 3}))) {}

  InformerSetup setup() {
    InformerSetup out;
    out.client = client.get();
    out.owner = &owner;
    out.home = &worker.mailbox();
    out.follow.kind = kind::kPod;
    out.follow.pageSize = 20;
    out.follow.idleTimeout = 400ms;
    out.follow.firstBackoff = 5ms;
    out.follow.longestBackoff = 50ms;
    out.seed = GetParam();
    out.maxUnapplied = 4;
    return out;
  }

  void disturb(int step) {
    std::string name = "p" + std::to_string(rng.below(120));
    if (rng.chance(0.25)) {
      api.remove(kind::kPod, "d", name);
    } else {
      api.put(kind::kPod, "d", name, podBody(step));
    }
    if (rng.chance(0.004)) api.compact();
    if (rng.chance(0.004)) api.dropWatches();
    if (rng.chance(0.002)) api.silenceWatches();
    if (rng.chance(0.002)) api.endWatches();
  }

  // Runs the owner until the cache equals the truth, or it takes too long.
  bool converge(Informer<api::Pod>& pods) {
    auto truth = api.truth(kind::kPod);
    return runUntil(
        owner, [&] { return same(pods, truth); }, 30s);
  }

  static bool same(Informer<api::Pod>& pods, const std::map<std::string, std::string>& truth) {
    if (!pods.hasSynced() || pods.size() != truth.size()) return false;
    for (const auto& [key, body] : truth) {
      auto raw = pods.raw(key);
      if (!raw || *raw != body) return false;
    }
    return true;
  }

  Rng rng;
  net::Loop loop;
  FakeApi api;
  std::unique_ptr<HttpApiClient> client;
  Worker worker;
  Mailbox owner;
};

TEST_P(SoakTest, convergesToTheTruthThroughAnyStorm) {
  const int rounds = sized(3, 60);
  for (int i = 0; i < 100; ++i) disturb(i);
  Informer<api::Pod> pods(setup());
  pods.addIndex("value", [](const api::Pod& pod) {
    return Values{std::string(pod.meta.labels.get("value").value_or(""))};
  });
  Story first, second;
  pods.onChange([&](const Change<api::Pod>& c) { first.hear(c); });
  pods.start();
  for (int round = 0; round < rounds; ++round) {
    api.setFaults(storm());
    for (int step = 0; step < 250; ++step) {
      disturb(1000 * round + step);
      if (step % 5 == 0) owner.runOne(2ms);
    }
    if (round == 1) pods.onChange([&](const Change<api::Pod>& c) { second.hear(c); });
    api.setFaults({});
    ASSERT_TRUE(converge(pods)) << "seed " << GetParam() << " round " << round << ": "
                                << pods.size() << " of " << api.truth(kind::kPod).size() << "; "
                                << (pods.trouble() ? pods.trouble()->text() : "no trouble");
    for (const Story* story : {&first, round >= 1 ? &second : &first}) {
      EXPECT_EQ(story->misfits, 0u);
      EXPECT_EQ(story->state.size(), pods.size());
      for (const auto& [key, pod] : story->state) EXPECT_EQ(pods.find(key), pod) << key;
    }
  }
  size_t indexed = 0;
  for (const auto& value : pods.valuesOf("value")) indexed += pods.by("value", value).size();
  EXPECT_EQ(indexed, pods.size());
  auto stats = pods.stats();
  RecordProperty("faults", api.faultCounts().text());
  RecordProperty("lists", static_cast<int>(stats.follow.lists));
  RecordProperty("watches", static_cast<int>(stats.follow.watches));
  EXPECT_GT(stats.follow.watches, 3u);
  EXPECT_GT(stats.stale, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SoakTest, ::testing::Range<uint64_t>(1, sized<uint64_t>(4, 11)));

TEST(InformerOverHttp, pagesThroughManyObjects) {
  net::Loop loop;
  FakeApi api(loop);
  constexpr int kObjects = 3000;
  for (int i = 0; i < kObjects; ++i) api.put(kind::kPod, "d", "p" + std::to_string(i), podBody(i));
  auto client = HttpApiClient::make(loop, realClock(), api.config(), {.perSecond = 0});
  Worker worker;
  Mailbox owner;
  InformerSetup setup;
  setup.client = client->get();
  setup.owner = &owner;
  setup.home = &worker.mailbox();
  setup.follow.kind = kind::kPod;
  Informer<api::Pod> pods(setup);
  pods.onSynced([&] { owner.stop(); });
  pods.start();
  owner.run();
  EXPECT_EQ(pods.size(), static_cast<size_t>(kObjects));
  EXPECT_EQ(api.stats().lists, 6u);
  auto truth = api.truth(kind::kPod);
  for (const auto& [key, body] : truth) EXPECT_EQ(*pods.raw(key), body);
}

}  // namespace
}  // namespace mangrove::client
