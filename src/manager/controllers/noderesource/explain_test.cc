#include "manager/controllers/noderesource/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/time_text.h"

namespace mangrove::manager {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ExplainInputs inputs() {
  ExplainInputs in;
  in.now = *parseTime("2026-03-01T12:00:10Z");
  in.node = *api::decodeText<api::Node>(
      R"({"metadata":{"name":"n1"},"status":{"capacity":{"cpu":"100","memory":"120G"},"allocatable":{"cpu":"98","memory":"120G"}}})");
  in.metric = *api::decodeText<api::NodeMetric>(
      R"({"status":{"updateTime":"2026-03-01T12:00:00Z","nodeMetric":{"systemUsage":{"resources":{"cpu":"7","memory":"12G"}}},"podsMetric":[
        {"name":"web","namespace":"shop","priority":"koord-prod","podUsage":{"resources":{"cpu":"30","memory":"30G"}}},
        {"name":"gone","namespace":"shop","priority":"koord-prod","podUsage":{"resources":{"cpu":"1","memory":"1G"}}}]}})");
  for (const char* name : {"web", "new"})
    in.pods.push_back(*api::decodeText<api::Pod>(
        std::string(R"({"metadata":{"name":")") + name +
        R"(","namespace":"shop","labels":{"koordinator.sh/qosClass":"LS"}},"spec":{"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"2","memory":"2G"}}}]},"status":{"phase":"Running"}})"));
  in.configMap.emplace();
  in.configMap->data["colocation-config"] =
      R"({"enable":true,"cpuReclaimThresholdPercent":65,"memoryReclaimThresholdPercent":65})";
  return in;
}

TEST(Explain, NamesEveryTermAndItsAge) {
  const auto text = toText(explainNode(inputs()));
  EXPECT_THAT(text, HasSubstr("= for sale         25.000"));  // 100 − 35 − 7 − 30 − 1 − 2
  EXPECT_THAT(text, HasSubstr("10s old"));
  EXPECT_THAT(text, HasSubstr("shop/web"));
  EXPECT_THAT(text, HasSubstr("no metric yet: its request counts"));
  EXPECT_THAT(text, HasSubstr("measured, but no such pod is on the node"));
  EXPECT_THAT(text, HasSubstr("kubelet (2.000 cores)"));
  EXPECT_THAT(text, HasSubstr("calculated now: 25k"));
}

TEST(Explain, ListsWhatReservationsKeepAndWhetherItCounts) {
  auto in = inputs();
  in.reservations.push_back(*api::decodeText<api::Reservation>(
      R"({"metadata":{"name":"release"},"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}},
          "status":{"phase":"Available","nodeName":"n1","allocatable":{"cpu":"6"}}})"));
  EXPECT_THAT(toText(explainNode(in)), HasSubstr("not counted (countReservations is off)"));
  in.configMap->data["colocation-config"] = R"({"enable":true,"countReservations":true})";
  const auto text = toText(explainNode(in));
  EXPECT_THAT(text, HasSubstr("kept by reservations: asked for, used by nobody"));
  EXPECT_THAT(text, HasSubstr("release             6.000"));
}

TEST(Explain, EveryInputHasAnAge) {
  auto in = inputs();
  in.sources.push_back(sourceOf(
      "ConfigMap a/b",
      R"({"metadata":{"resourceVersion":"812","creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[{"time":"2026-03-01T09:57:10Z"},{"time":"2026-02-01T00:00:00Z"}]}})"));
  in.sources.push_back(sourceOf(
      "Node n1",
      R"({"metadata":{"resourceVersion":"5","creationTimestamp":"2026-01-01T00:00:00Z"},"status":{"conditions":[{"type":"Ready","lastHeartbeatTime":"2026-03-01T12:00:00Z"}]}})"));
  in.sources.push_back(sourceOf("Device n1", ""));
  const auto text = toText(explainNode(in));
  EXPECT_THAT(text, HasSubstr("ConfigMap a/b  version 812, changed 2h3m0s ago"));
  EXPECT_THAT(text, HasSubstr("Node n1        version 5, changed 10s ago"));
  EXPECT_THAT(text, HasSubstr("Device n1      there is none"));
}

TEST(Explain, SaysWhyNothingIsSold) {
  auto in = inputs();
  in.now += std::chrono::minutes(20);
  EXPECT_THAT(toText(explainNode(in)), HasSubstr("older than 15 minutes"));
  in.configMap->data["colocation-config"] = R"({"enable":false})";
  const auto off = toText(explainNode(in));
  EXPECT_THAT(off, HasSubstr("not enabled for the cluster"));
  EXPECT_THAT(off, Not(HasSubstr("for sale")));
  in.configMap->data["system-config"] = "{";
  EXPECT_THAT(toText(explainNode(in)), HasSubstr("system-config line 1"));
}

}  // namespace
}  // namespace mangrove::manager
