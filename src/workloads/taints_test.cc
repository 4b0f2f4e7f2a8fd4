// Who leaves a tainted node, and when.
#include "workloads/taints.h"

#include <gtest/gtest.h>

#include "workloads/testing/plan_text.h"

namespace mangrove::workloads {
namespace {

WallTime at(const char* time) {
  return *parseTime(fmt::format("2026-03-01T{}Z", time));
}

std::shared_ptr<const api::Node> node(const std::string& taints) {
  return object<api::Node>(R"({"metadata":{"name":"n"},"spec":{"taints":[)" + taints + "]}}");
}

std::shared_ptr<const api::Pod> pod(const std::string& name, const std::string& tolerations) {
  return object<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"{0}","namespace":"d","uid":"{0}"}},"spec":{{"nodeName":"n","tolerations":[{1}]}}}})",
      name, tolerations));
}

const char* kTaint = R"({"key":"k","value":"v","effect":"NoExecute"})";
const char* kForever = R"({"key":"k","operator":"Exists","effect":"NoExecute"})";

TEST(Taints, DriveAwayWhoDoesNotEndureThem) {
  TaintedSince since;
  const Pods pods = {pod("none", ""), pod("ever", kForever),
                     pod("short", R"({"key":"k","operator":"Exists","tolerationSeconds":10})")};
  EXPECT_EQ(textOf(planTaints(*node(kTaint), pods, since, at("12:00:00"))),
            "remove none | note TaintManagerEviction | again 10s");
  EXPECT_EQ(textOf(planTaints(*node(kTaint), {pods[1], pods[2]}, since, at("12:00:04"))),
            "again 6s");
  EXPECT_EQ(textOf(planTaints(*node(kTaint), {pods[1], pods[2]}, since, at("12:00:10"))),
            "remove short | note TaintManagerEviction");
}

TEST(Taints, ThatGoAwayAreForgotten) {
  TaintedSince since;
  const Pods pods = {pod("short", R"({"key":"k","operator":"Exists","tolerationSeconds":10})")};
  planTaints(*node(kTaint), pods, since, at("12:00:00"));
  EXPECT_EQ(textOf(planTaints(*node(""), pods, since, at("12:00:05"))), "");
  EXPECT_EQ(textOf(planTaints(*node(kTaint), pods, since, at("12:00:30"))), "again 10s");
  EXPECT_EQ(textOf(planTaints(*node(R"({"key":"k","effect":"NoSchedule"})"), pods, since,
                              at("12:09:00"))),
            "");
}

}  // namespace
}  // namespace mangrove::workloads
