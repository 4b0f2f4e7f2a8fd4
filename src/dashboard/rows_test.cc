// Rows made from API objects: what the cluster page and `mangrove top` print.
#include "dashboard/rows.h"

#include <gtest/gtest.h>

#include "dashboard/overview.h"
#include "dashboard/top.h"

namespace mangrove::dashboard {
namespace {

template <class T>
std::shared_ptr<const T> object(std::string_view text) {
  auto decoded = api::decodeText<T>(text);
  EXPECT_TRUE(decoded) << (decoded ? "" : decoded.error().text());
  return std::make_shared<const T>(std::move(*decoded));
}

ClusterView oneNode() {
  ClusterView view;
  view.nodes.push_back(object<api::Node>(R"({"metadata":{"name":"n1"},"status":{
    "capacity":{"cpu":"16","memory":"64Gi"},
    "allocatable":{"cpu":"16","memory":"64Gi","kubernetes.io/batch-cpu":"8000","kubernetes.io/batch-memory":"1Gi"},
    "conditions":[{"type":"Ready","status":"True"}]}})"));
  view.metrics["n1"] = object<api::NodeMetric>(R"({"metadata":{"name":"n1"},"status":{
    "updateTime":"2026-01-01T00:00:10Z",
    "nodeMetric":{"nodeUsage":{"resources":{"cpu":"6","memory":"20Gi"}}},
    "podsMetric":[
      {"name":"web","namespace":"shop","qos":"LS","podUsage":{"resources":{"cpu":"1500m","memory":"4Gi"}}},
      {"name":"job","namespace":"etl","qos":"BE","podUsage":{"resources":{"cpu":"4","memory":"8Gi"}}}]}})");
  view.pods.push_back(object<api::Pod>(R"({"metadata":{"name":"web","namespace":"shop",
    "labels":{"koordinator.sh/qosClass":"LS"},
    "annotations":{"scheduling.koordinator.sh/resource-status":"{\"cpuset\":\"0-3\"}"}},
    "spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"2","memory":"4Gi"}}}]},
    "status":{"phase":"Running"}})"));
  view.pods.push_back(object<api::Pod>(R"({"metadata":{"name":"job","namespace":"etl",
    "labels":{"koordinator.sh/qosClass":"BE"}},
    "spec":{"nodeName":"n1","containers":[{"name":"c","resources":{
      "requests":{"kubernetes.io/batch-cpu":"3000","kubernetes.io/batch-memory":"512Mi"},
      "limits":{"kubernetes.io/batch-cpu":"4000"}}}]},
    "status":{"phase":"Running"}})"));
  view.pods.push_back(object<api::Pod>(R"({"metadata":{"name":"late","namespace":"etl",
    "labels":{"koordinator.sh/qosClass":"BE"},"annotations":{"gang.scheduling.koordinator.sh/name":"nightly"}},
    "spec":{"containers":[{"name":"c"}]},
    "status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False",
      "message":"0/1 nodes are available: 1 Insufficient kubernetes.io/batch-cpu."}]}})"));
  return view;
}

TEST(NodeRows, SplitsUsageByClassAndCountsWhatBatchAskedFor) {
  const json::Array rows = nodeRows(oneNode());
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(json::write(rows[0]),
            R"({"name":"n1","ready":true,"unschedulable":false,)"
            R"("cpu":{"capacity":16,"used":6,"classes":{"LS":1.5,"BE":4,"other":0.5}},)"
            R"("memory":{"capacity":68719476736,"used":21474836480,"classes":)"
            R"({"LS":4294967296,"BE":8589934592,"other":8589934592}},)"
            R"("batchCpu":{"total":8,"asked":3},)"
            R"("batchMemory":{"total":1073741824,"asked":536870912},)"
            R"("measured":1767225610000,"pods":2})");
}

TEST(NodeRows, AnUnmeasuredNodeHasNoUsageInsteadOfZero) {
  ClusterView view = oneNode();
  view.metrics.clear();
  const json::Value row = nodeRows(view)[0];
  EXPECT_TRUE(row.at("cpu").at("used").is_null());
  EXPECT_TRUE(row.at("measured").is_null());
}

// Reserved 6 cores and 2 are taken; 3 batch cores; one for one owner that has it; one that is over.
ClusterView withReservations() {
  ClusterView view = oneNode();
  const auto reserve = [&](const std::string& name, const std::string& once,
                           const std::string& phase, const std::string& amounts) {
    view.reservations.push_back(object<api::Reservation>(
        R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
        R"("},"spec":{"allocateOnce":)" + once + R"(},"status":{"phase":")" + phase +
        R"(","nodeName":"n1","allocatable":)" + amounts + "}}"));
  };
  reserve("r", "false", "Available", R"({"cpu":"6","memory":"8Gi"})");
  reserve("batch", "true", "Available", R"({"kubernetes.io/batch-cpu":"3000"})");
  reserve("taken", "true", "Available", R"({"cpu":"9"})");
  reserve("over", "true", "Failed", R"({"cpu":"9"})");
  const auto owner = [&](const std::string& name, const std::string& of) {
    view.pods.push_back(object<api::Pod>(
        R"({"metadata":{"name":")" + name + R"(","namespace":"d","annotations":{
            "scheduling.koordinator.sh/reservation-allocated":"{\"name\":\")" +
        of + R"(\",\"uid\":\"uid-)" + of +
        R"(\"}"}},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"2"}}}]},
            "status":{"phase":"Running"}})"));
  };
  owner("o1", "r");
  owner("o2", "taken");
  return view;
}

TEST(NodeRows, ShowsWhatReservationsKeepAndNobodyHasTaken) {
  const json::Value row = nodeRows(withReservations())[0];
  EXPECT_EQ(json::write(row.at("reserved")),
            R"({"count":2,"cpu":4,"memory":8589934592,"batchCpu":3,"batchMemory":0})");
  EXPECT_FALSE(nodeRows(oneNode())[0].as_object().contains("reserved"));
}

TEST(Top, ReservationsHaveALetterAndAColumnOfTheirOwn) {
  TopPicture out;
  out.nodes = nodeRows(withReservations());
  const std::string text = printTop(out, {.width = 100});
  EXPECT_NE(text.find("r=reserved 4.00"), std::string::npos) << text;
  EXPECT_NE(text.find("RSVD"), std::string::npos) << text;
  EXPECT_NE(text.find("rrrr"), std::string::npos) << text;
  EXPECT_NE(text.find("asked 3.00, reserved 3.00"), std::string::npos) << text;
  for (const auto& line : renderTop(out, {.width = 80, .height = 24}))
    EXPECT_LE(line.size(), 80u) << line;
}

TEST(PodRows, ShowsLimitsCpusetAndWhyAPodWaits) {
  const json::Array rows = podRows(oneNode(), "", nullptr);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].at("cpuset"), "0-3");
  EXPECT_TRUE(rows[0].at("cpu").at("limit").is_null());
  EXPECT_EQ(rows[1].at("cpu").at("limit").as_double(), 4.0);
  EXPECT_EQ(rows[1].at("cpu").at("used").as_double(), 4.0);
  EXPECT_EQ(rows[1].at("gang"), "");
  EXPECT_EQ(rows[2].at("gang"), "nightly");
  EXPECT_EQ(rows[2].at("why"), "0/1 nodes are available: 1 Insufficient kubernetes.io/batch-cpu.");
}

TEST(PodRows, TheAgentOfThisProcessKnowsBetterThanTheLastReport) {
  LiveNode live{
      .node = "n1", .budget = 2.5, .pods = {{"etl/job", {.cpu = 2.4, .memory = Bytes{7}}}}};
  const json::Array rows = podRows(oneNode(), "n1", &live);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].at("cpu").at("used").as_double(), 2.4);
  EXPECT_EQ(rows[1].at("cpu").at("limit").as_double(), 2.5);  // the budget is below its own limit
  EXPECT_EQ(rows[0].at("cpu").at("used").as_double(), 1.5);   // not seen live: from the report
}

TopPicture picture() {
  TopPicture out;
  out.nodes = nodeRows(oneNode());
  out.pods = podRows(oneNode(), "", nullptr);
  return out;
}

TEST(Top, FitsEveryTerminal) {
  for (const auto& [width, height] : {std::pair{80, 24}, {200, 60}, {40, 10}, {20, 3}, {1, 1}}) {
    const auto lines = renderTop(picture(), {.width = width, .height = height});
    EXPECT_LE(lines.size(), static_cast<size_t>(height));
    for (const auto& line : lines)
      EXPECT_LE(line.size(), static_cast<size_t>(std::max(width, 12)) + 60) << line;
  }
  for (const auto& line : renderTop(picture(), {.width = 80, .height = 24}))
    EXPECT_LE(line.size(), 80u) << line;
}

TEST(Top, SortsByWhatIsAskedFor) {
  auto order = [](TopSort sort) {
    const std::string text = printTop(picture(), {.width = 100, .sort = sort});
    return text.find("etl/job") < text.find("shop/web");
  };
  EXPECT_TRUE(order(TopSort::kCpu));
  EXPECT_TRUE(order(TopSort::kName));
  EXPECT_NE(printTop(picture(), {}).find("CPU 38% of 16.00 cores"), std::string::npos)
      << printTop(picture(), {});
}

TEST(Top, YarnsApplicationsStandBelowTheirNodeManager) {
  ClusterView view = oneNode();
  view.metrics["n1"] = object<api::NodeMetric>(R"({"metadata":{"name":"n1"},"status":{"podsMetric":[
      {"name":"job","namespace":"etl","qos":"BE","podUsage":{"resources":{"cpu":"4","memory":"8Gi"}},
       "extensions":{"Object":{"colocation.mangrove.io/yarn-applications":[
         {"application":"application_1_0007","milliCpu":1250,"memory":1073741824,"containers":3}]}}}]}})");
  TopPicture out = picture();
  out.pods = podRows(view, "", nullptr);
  const std::string text = printTop(out, {.width = 100});
  const size_t manager = text.find("etl/job"), application = text.find("  application_1_0007");
  ASSERT_NE(application, std::string::npos) << text;
  EXPECT_LT(manager, application);
  EXPECT_LT(application, text.find("etl/late"));
  const std::string line = text.substr(application, text.find('\n', application) - application);
  for (const char* part : {"3 cont.", "1.25", "1.0G"})
    EXPECT_NE(line.find(part), std::string::npos) << line;
  const LiveNode live{.node = "n1",
                      .budget = {},
                      .pods = {{"etl/job", {{}, {}, {{"application_1_0008", 1, kGiB, 1}}}}}};
  EXPECT_EQ(podRows(view, "", &live)[1].at("yarn").at(0).at("application"), "application_1_0008");
}

TEST(Top, KeysTurnTheView) {
  TopView view;
  EXPECT_TRUE(turnKey('m', picture(), view));
  EXPECT_EQ(view.sort, TopSort::kMemory);
  EXPECT_TRUE(turnKey('j', picture(), view));
  EXPECT_EQ(view.skip, 1u);
  EXPECT_TRUE(turnKey('k', picture(), view));
  EXPECT_TRUE(turnKey('k', picture(), view));
  EXPECT_EQ(view.skip, 0u);
  EXPECT_FALSE(turnKey('x', picture(), view));
}

TEST(Overview, SumsAMoment) {
  const json::Object moment = momentOf(nodeRows(oneNode()), WallTime(std::chrono::seconds(7)));
  EXPECT_EQ(json::write(moment),
            R"({"t":7000,"nodes":1,"capacity":16,"used":6,"be":4,"sold":8,"asked":3,)"
            R"("memory":68719476736,"memoryUsed":21474836480})");
}

TEST(Overview, NamesWhoWaitsAndWhoUsesMost) {
  const json::Object found = overviewOf(oneNode(), nullptr);
  EXPECT_EQ(found.at("waits").as_int64(), 1);
  const json::Object& waiting = found.at("waiting").as_array().at(0).as_object();
  EXPECT_EQ(waiting.at("key").as_string(), "etl/late");
  EXPECT_NE(waiting.at("why").as_string().find("Insufficient"), std::string::npos);
  EXPECT_EQ(found.at("top").as_array().at(0).as_object().at("key").as_string(), "etl/job");
}

TEST(Overview, ShowsTheTickOfItsOwnNode) {
  json::Array rows = nodeRows(oneNode());
  const json::Object tick{{"t", 9},
                          {"used", 2.5},
                          {"cpu", json::Object{{"LS", 2.5}}},
                          {"memory", json::Object{{"LS", 5}, {"other", 7}}},
                          {"psi", json::Object{{"cpu", 0.5}}}};
  showTick(rows, "n2", tick);
  EXPECT_EQ(rows[0].as_object().at("cpu").as_object().at("used").to_number<double>(), 6);
  showTick(rows, "n1", tick);
  EXPECT_EQ(json::write(rows[0].as_object().at("cpu").as_object().at("classes")), R"({"LS":2.5})");
  EXPECT_EQ(rows[0].as_object().at("memory").as_object().at("used").to_number<double>(), 12);
}

}  // namespace
}  // namespace mangrove::dashboard
