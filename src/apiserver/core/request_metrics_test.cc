#include "apiserver/core/request_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::apiserver {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Silent final : public AnswerStream {
 public:
  bool write(std::string) override { return true; }
  Bytes queued() const override { return Bytes{0}; }
  void onClosed(Fn) override {}
  void onDrained(Fn) override {}
};

class Anybody final : public Responder {
 public:
  void answer(Answer) override {}
  std::unique_ptr<AnswerStream> stream(Answer) override { return std::make_unique<Silent>(); }
};

struct RequestMetricsTest : ::testing::Test {
  ResponderPtr ask(const char* method, const char* target, bool known = true) {
    return metrics.measured(*parseRequest(method, target), known, std::make_shared<Anybody>());
  }
  VirtualClock clock{WallTime(std::chrono::seconds(1'800'000'000))};
  Registry registry;
  RequestMetrics metrics{registry, clock};
};

TEST_F(RequestMetricsTest, CountsAndTimesUnderKubernetesNames) {
  auto to = ask("POST", "/api/v1/namespaces/a/pods?dryRun=All");
  EXPECT_THAT(registry.exposition(),
              HasSubstr(R"(apiserver_current_inflight_requests{request_kind="mutating"} 1)"));
  to->answer(answer::json(201, "{}"));
  to.reset();
  const std::string text = registry.exposition();
  EXPECT_THAT(text, HasSubstr(R"(apiserver_request_total{verb="POST",dry_run="All",group="",)"
                              R"(version="v1",resource="pods",subresource="",scope="resource",)"
                              R"(component="apiserver",code="201"} 1)"));
  EXPECT_THAT(text, HasSubstr(R"(apiserver_current_inflight_requests{request_kind="mutating"} 0)"));
  EXPECT_THAT(text, HasSubstr("apiserver_request_duration_seconds_count"));
}

TEST_F(RequestMetricsTest, WatchesAreUnderWayUntilTheirStreamEnds) {
  auto to = ask("GET", "/api/v1/pods?watch=true");
  auto stream = to->stream({});
  const std::string running =
      R"(apiserver_longrunning_requests{verb="WATCH",group="",version="v1",resource="pods",)"
      R"(subresource="",scope="cluster",component="apiserver"} )";
  EXPECT_THAT(registry.exposition(), HasSubstr(running + "1"));
  stream.reset();
  EXPECT_THAT(registry.exposition(), HasSubstr(running + "0"));
}

TEST_F(RequestMetricsTest, AnUnansweredRequestCountsAs500) {
  ask("GET", "/api/v1/pods").reset();
  EXPECT_THAT(registry.exposition(), HasSubstr(R"(code="500"} 1)"));
}

TEST_F(RequestMetricsTest, CountsThoseNobodyHadTimeFor) {
  metrics.turnedAway().inc();
  metrics.turnedAway().inc();
  EXPECT_THAT(registry.exposition(), HasSubstr(R"(component="apiserver",code="429"} 2)"));
}

TEST_F(RequestMetricsTest, StrangersCannotMakeTheRegistryGrow) {
  ask("GET", "/apis/made.up/v1/inventions", false)->answer(answer::json(404, ""));
  EXPECT_THAT(registry.exposition(), Not(HasSubstr("made.up")));
}

}  // namespace
}  // namespace mangrove::apiserver
