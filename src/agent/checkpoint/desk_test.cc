#include "agent/checkpoint/desk.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "agent/executor/send_signal.h"
#include "agent/qos/evict/task.h"
#include "base/text/time_text.h"

namespace mangrove::agent {
namespace {

using std::chrono::seconds;

const WallTime kNow = *parseTime("2026-11-17T15:00:00Z");

struct Made {
  std::string contract = R"({"mode":"signal"})";
  std::optional<api::CheckpointRequest> request = api::CheckpointRequest{
      kNow - seconds(5), kNow - seconds(5), kNow + seconds(55), "koord-scheduler", "preemption"};
  std::string last = {};
  bool hostNetwork = false;
  std::string ip = "10.1.2.3";
};

PodPtr podOf(const Made& made) {
  auto pod = api::decodeText<api::Pod>(fmt::format(
      R"({{"metadata":{{"name":"p","namespace":"ns","uid":"u"}},"spec":{{"hostNetwork":{},)"
      R"("containers":[{{"name":"c"}}]}},"status":{{"phase":"Running","podIP":"{}"}}}})",
      made.hostNetwork, made.ip));
  EXPECT_TRUE(pod) << (pod ? "" : pod.error().text());
  pod->meta.annotations.set(api::annotation::kCheckpoint, made.contract);
  if (!made.last.empty()) pod->meta.annotations.set(api::annotation::kCheckpointLast, made.last);
  if (made.request)
    pod->meta.annotations.set(api::annotation::kCheckpointRequest,
                              api::annotationText(*made.request));
  return std::make_shared<const api::Pod>(std::move(*pod));
}

std::vector<Errand> errands(const Made& made, bool runs = true) {
  ContainerLook container;
  container.name = "c";
  container.cgroup = "kubepods/besteffort/podu/c";
  PodLook look;
  look.pod = podOf(made);
  if (runs) look.containers = std::span(&container, 1);
  return errandsOf(std::span(&look, 1), kNow);
}

TEST(CheckpointErrands, ARequestThatIsOpenIsCarried) {
  const auto found = errands({});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].cgroup, "kubepods/besteffort/podu/c");
  EXPECT_EQ(found[0].at, kNow - seconds(5));
  EXPECT_EQ(found[0].trouble, "");
}

TEST(CheckpointErrands, WhoIsNotToldAnything) {
  const api::CheckpointRequest later{kNow, kNow + seconds(30), kNow + seconds(90), "", ""};
  const api::CheckpointRequest over{kNow - seconds(90), kNow - seconds(90), kNow - seconds(30), "",
                                    ""};
  const struct {
    const char* what;
    Made made;
  } cases[] = {
      {"nobody asked", {.request = {}}},
      {"cannot save", {.contract = R"({"mode":"none"})"}},
      {"an operator is asked", {.contract = R"({"mode":"operator"})"}},
      {"a contract that makes no sense", {.contract = R"({"mode":"signal","signal":"SIGKILL"})"}},
      {"has saved", {.last = "2026-11-17T14:59:58Z"}},
      {"one is due by itself", {.request = later}},
      {"too late", {.request = over}},
  };
  for (const auto& c : cases) EXPECT_TRUE(errands(c.made).empty()) << c.what;
}

TEST(CheckpointErrands, WhatCannotBeCarriedSaysWhy) {
  const std::string http = R"({"mode":"http","port":80})";
  EXPECT_EQ(errands({}, false).at(0).trouble, "container '' does not run");
  EXPECT_EQ(errands({.contract = R"({"mode":"signal","container":"x"})"}).at(0).trouble,
            "container 'x' does not run");
  EXPECT_EQ(errands({.contract = http, .hostNetwork = true}).at(0).trouble,
            "pods on the host's network are not asked by HTTP");
  EXPECT_EQ(errands({.contract = http, .ip = ""}).at(0).trouble, "the pod has no address");
  EXPECT_EQ(errands({.contract = http}).at(0).trouble, "");
}

TEST(CheckpointErrands, OnlyMemoryDoesNotWait) {
  const auto one = [](std::string_view feature, std::string why) {
    return isEmergency({nullptr, feature, std::move(why), 0});
  };
  EXPECT_TRUE(one(feature::kBeMemory, ""));
  EXPECT_TRUE(one(feature::kMemory, ""));
  EXPECT_TRUE(one("WatermarkEvict", "memory 93.0 is over its mark 90"));
  EXPECT_FALSE(one("WatermarkEvict", "load 3.1 is over its mark 3"));
  EXPECT_FALSE(one(feature::kBeCpu, ""));
  EXPECT_FALSE(one(feature::kMemoryAllocatable, ""));
}

TEST(SendSignal, ParentsAreReadBehindTheName) {
  EXPECT_EQ(parentIn("12 (a) b) S 7 12 12 0"), 7);
  EXPECT_EQ(parentIn("12 (x) R 1"), 1);
  EXPECT_EQ(parentIn("12"), std::nullopt);
  EXPECT_EQ(parentIn("12 (x) R"), std::nullopt);
}

}  // namespace
}  // namespace mangrove::agent
