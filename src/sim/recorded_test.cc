// A recorded stretch becomes a trace, and a changed configuration is tried on it.
#include "sim/recorded.h"

#include <gtest/gtest.h>

#include "base/os/files.h"
#include "base/os/temp_folder.h"
#include "base/text/time_text.h"
#include "frame/record/entry.h"
#include "frame/record/session.h"
#include "json/value.h"
#include "sim/rehearse.h"

namespace mangrove::sim {
namespace {

using frame::record::EntryPen;
using frame::record::Mark;
using frame::record::Moment;
using std::chrono::minutes;

constexpr WallTime kMorning{std::chrono::seconds(1'772'409'600)};

WallTime minute(int64_t n) {
  return kMorning + minutes(n);
}

// What a manager's recording holds, written line by line.
class Script {
 public:
  Script() {
    pen_.write(Mark::kSession, 1, at(0), json::write(frame::record::toJson({.role = "manager"})),
               bytes_);
    watch(1, "/api/v1/nodes");
    watch(2, "/api/v1/pods");
    watch(3, "/apis/slo.koordinator.sh/v1alpha1/nodemetrics");
    watch(4, "/api/v1/namespaces/koordinator-system/configmaps");
  }
  void event(uint64_t watch, int64_t n, std::string_view type, const json::Value& object) {
    const std::string line = json::write(json::Object{{"type", type}, {"object", object}}) + "\n";
    pen_.write(Mark::kEvents, watch, at(n), line, bytes_);
  }
  void node(int64_t n, const std::string& name, std::string_view type = "ADDED") {
    const json::Object amounts{{"cpu", "16"}, {"memory", "64Gi"}, {"pods", "110"}};
    event(1, n, type,
          json::Object{{"metadata", {{"name", name}}},
                       {"status", {{"capacity", amounts}, {"allocatable", amounts}}}});
  }
  void pod(int64_t n, const std::string& name, bool isTask, std::string_view type = "ADDED") {
    json::Object amounts{{isTask ? "kubernetes.io/batch-cpu" : "cpu", isTask ? "4000" : "8"},
                         {isTask ? "kubernetes.io/batch-memory" : "memory", "8Gi"}};
    const json::Array containers{
        json::Object{{"name", "c"}, {"resources", {{"requests", std::move(amounts)}}}}};
    event(2, n, type,
          json::Object{{"metadata", {{"name", name}, {"namespace", "default"}}},
                       {"spec", {{"nodeName", "n1"}, {"containers", containers}}},
                       {"status", {{"phase", "Running"}}}});
  }
  void metric(int64_t n, const std::string& node, double web, double etl) {
    const auto use = [](const char* name, double cores) {
      return json::Object{{"name", name},
                          {"namespace", "default"},
                          {"podUsage",
                           {{"resources",
                             {{"cpu", std::to_string(static_cast<int64_t>(cores * 1000)) + "m"},
                              {"memory", "4Gi"}}}}}};
    };
    const auto usage = [](const char* cpu) {
      return json::Object{{"resources", {{"cpu", cpu}, {"memory", "1Gi"}}}};
    };
    event(3, n, "MODIFIED",
          json::Object{{"metadata", {{"name", node}}},
                       {"status",
                        {{"updateTime", formatTime(minute(n))},
                         {"nodeMetric", {{"nodeUsage", usage("6")}, {"systemUsage", usage("1")}}},
                         {"podsMetric", json::Array{use("web", web), use("etl", etl)}}}}});
  }
  // Answered with nothing.
  void list(int64_t n, uint64_t id, const std::string& target) {
    pen_.write(Mark::kRequest, id, {}, "GET " + target + "\n\n", bytes_);
    const client::Reply reply{200, R"({"metadata":{},"items":[]})", {}, 1};
    pen_.write(Mark::kReply, id, at(n), frame::record::textOf(Result<client::Reply>(reply)),
               bytes_);
  }
  void config(int64_t n, const std::string& colocation) {
    event(4, n, "ADDED",
          json::Object{{"metadata", {{"name", "slo-controller-config"}}},
                       {"data", {{"colocation-config", colocation}}}});
  }
  const std::string& bytes() const { return bytes_; }

 private:
  static Moment at(int64_t n) { return {MonoTime(minutes(n)), minute(n)}; }
  void watch(uint64_t id, const std::string& path) {
    pen_.write(Mark::kWatch, id, {}, "WATCH " + path + "?watch=true\n\n", bytes_);
  }
  EntryPen pen_;
  std::string bytes_;
};

// Two hours: a service that wakes up, a task of forty minutes, a node that is away for ten.
Script twoHours() {
  Script out;
  out.config(0, R"({"enable":true,"cpuReclaimThresholdPercent":40})");
  out.node(0, "n1");
  out.node(0, "n2");
  out.pod(0, "web", false);
  out.pod(10, "etl", true);
  for (int64_t n = 1; n <= 120; n++) {
    out.metric(n, "n1", n < 60 ? 1 : 4, n < 50 ? 2 : 0);
    if (n == 30) out.node(n, "n2", "DELETED");
    if (n == 40) out.node(n, "n2");
    if (n == 50) out.pod(n, "etl", true, "DELETED");
  }
  return out;
}

class Recorded : public ::testing::Test {
 protected:
  void read(const Script& script) {
    ASSERT_TRUE(writeFileAtomically(folder_.file("day.1"), script.bytes()));
    const auto ok = readRecording(folder_.file("day"), cluster_);
    ASSERT_TRUE(ok) << ok.error().text();
  }
  TempFolder folder_{"recorded"};
  RecordedCluster cluster_;
};

TEST_F(Recorded, BecomesATrace) {
  read(twoHours());
  const auto trace = cluster_.trace(std::chrono::hours(24));
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ(trace->length, 7200);
  ASSERT_EQ(trace->nodes.size(), 2);
  EXPECT_EQ(trace->nodes[0].cpu, MilliCpu{16000});
  EXPECT_EQ(trace->nodes[0].systemCpu, MilliCpu{1000}) << "as it was measured";
  EXPECT_EQ(trace->nodes[0].allocatableCpu, MilliCpu{16000}) << "nothing is kept back";
  ASSERT_TRUE(trace->nodes[0].systemCurve);
  EXPECT_NEAR(trace->curves[*trace->nodes[0].systemCurve].at(600), 1, 1e-6);
  ASSERT_EQ(trace->services.size(), 1);
  const Service& web = trace->services[0];
  EXPECT_EQ(web.cpu, MilliCpu{8000});
  EXPECT_NEAR(trace->curves[web.curve].at(30 * 60), 1.0 / 8, 1e-6);
  EXPECT_NEAR(trace->curves[web.curve].at(90 * 60), 4.0 / 8, 1e-6);
  ASSERT_EQ(trace->jobs.size(), 1);
  EXPECT_EQ(trace->jobs[0].at, 600);
  EXPECT_EQ(trace->jobs[0].work, 40 * 60);
  EXPECT_NEAR(trace->jobs[0].cpuUse, 0.5, 0.02) << "it asked for four and used two";
  ASSERT_EQ(trace->outages.size(), 1);
  EXPECT_EQ(trace->outages[0], (Outage{"n2-0", 1800, 600}));
  const auto back = readTrace(writeTrace(*trace), "again");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(back->jobs, trace->jobs);
  EXPECT_EQ(back->nodes, trace->nodes);
}

TEST_F(Recorded, TakesWhoWasNotMeasuredForWhatHeAskedFor) {
  Script script;
  script.node(0, "n1");
  script.pod(0, "silent", false);
  script.node(10, "n1", "MODIFIED");
  read(script);
  const auto trace = cluster_.trace(std::chrono::hours(1));
  ASSERT_TRUE(trace) << trace.error().text();
  ASSERT_EQ(trace->services.size(), 1);
  EXPECT_NEAR(trace->curves[trace->services[0].curve].at(0), 1, 1e-6);
  EXPECT_EQ(trace->services[0].memoryUse, 1);
}

// A manager also asks for some pods only.
TEST_F(Recorded, DoesNotTakeAListBySelectorForAllThereIs) {
  Script script;
  script.node(0, "n1");
  script.pod(0, "web", false);
  script.list(1, 7, "/api/v1/pods?labelSelector=spark-role&limit=500");
  script.node(10, "n1", "MODIFIED");
  read(script);
  EXPECT_EQ(cluster_.trace(std::chrono::minutes(5))->services.size(), 1) << "it is still there";
}

TEST_F(Recorded, TakesTheLastOfIt) {
  read(twoHours());
  const auto trace = cluster_.trace(std::chrono::hours(1));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->length, 3600);
  EXPECT_TRUE(trace->jobs.empty()) << "it ended before";
  EXPECT_TRUE(trace->outages.empty());
  EXPECT_NEAR(trace->curves[trace->services[0].curve].at(0), 0.5, 1e-6);
}

TEST_F(Recorded, RefusesWhatCoversNothing) {
  read(Script());
  EXPECT_FALSE(cluster_.trace(std::chrono::hours(24)));
  EXPECT_FALSE(readRecording(folder_.file("other"), cluster_));
}

TEST_F(Recorded, IsRehearsedWithAnotherConfiguration) {
  read(twoHours());
  ASSERT_TRUE(cluster_.config());
  auto now = policyOf(*cluster_.config(), "as it was");
  ASSERT_TRUE(now) << now.error().text();
  auto then = policyOf(
      {{"colocation-config", R"({"enable":true,"cpuReclaimThresholdPercent":80})"}}, "mine");
  ASSERT_TRUE(then);
  RehearseOptions options;
  options.trace = *cluster_.trace(std::chrono::hours(24));
  options.now = *now;
  options.then = *then;
  const auto done = rehearse(options);
  ASSERT_TRUE(done) << done.error().text();
  const Change& sold = done->changes.front();
  EXPECT_GT(sold.difference.low, 0) << "twice the threshold sells more";
  EXPECT_GT(sold.after.estimate, 1.5 * sold.before.estimate);
  EXPECT_TRUE(done->sentence().find("% batch cores sold") != std::string::npos);
  EXPECT_FALSE(policyOf({{"colocation-config", "{"}}, "broken")) << "refused as admission would";
}

}  // namespace
}  // namespace mangrove::sim
