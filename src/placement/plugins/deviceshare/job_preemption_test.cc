// Jobs that make room for themselves: what their victims have of cards, NICs and functions is free
// in the trials, counted once for all members, and theirs in the end.
#include <fmt/core.h>
#include <gmock/gmock.h>

#include "base/text/strings.h"
#include "placement/plugins/deviceshare/device_share.h"
#include "placement/testing/device_box.h"

namespace mangrove::placement {
namespace {

const std::string kFunctions =
    R"("scheduling.koordinator.sh/device-allocate-hint":"{\"rdma\":{\"vfSelector\":{\"matchLabels\":{\"type\":\"general\"}}}}")";

Asked withNic(int gpus) {
  Asked out = cards(gpus);
  out.emplace_back("koordinator.sh/rdma", "1");
  return out;
}

std::string member(std::string_view name, const Asked& asked, int min) {
  return devicePod(
      name, asked,
      fmt::format(
          R"({},"gang.scheduling.koordinator.sh/name":"g","gang.scheduling.koordinator.sh/min-available":"{}")",
          kFunctions, min),
      R"("priority":100,)");
}

SchedulerConfig evicting() {
  auto config = defaultConfig({"default-scheduler"});
  config.profiles[0].args["Coscheduling"] = json::Object{{"enablePreemption", true}};
  return config;
}

// Two boxes, each with two pods of four cards and a function of a NIC.
void fillTwoBoxes(Lab& lab) {
  for (auto name : {"n1", "n2"}) putBox(lab, name);
  for (int i = 0; i < 4; i++)
    lab.pod(devicePod(fmt::format("low{}", i), withNic(4), kFunctions, R"("priority":1,)"));
  lab.run();
  for (int i = 0; i < 4; i++) ASSERT_NE(devicesOf(lab, fmt::format("low{}", i)), "") << i;
  lab.takeLog();
}

int lowOnes(const Lab& lab) {
  int left = 0;
  for (int i = 0; i < 4; i++) left += lab.find(fmt::format("low{}", i)) != nullptr;
  return left;
}

TEST(DevicesAndJobs, members_take_the_cards_and_functions_of_their_victims) {
  Lab lab(evicting());
  fillTwoBoxes(lab);
  for (auto name : {"a", "b"}) lab.pod(member(name, withNic(4), 2));
  lab.run();
  lab.wait(std::chrono::seconds(15));
  for (auto name : {"a", "b"}) {
    EXPECT_THAT(devicesOf(lab, name), testing::HasSubstr("gpu ")) << lab.said(name);
    EXPECT_THAT(devicesOf(lab, name), testing::HasSubstr("0000:")) << name;
  }
  EXPECT_EQ(lowOnes(lab), 2) << "one member, one victim";
  for (Row row : {0, 1}) EXPECT_TRUE(DeviceBooks::of(lab.cluster()).find(row)->quarrels().empty());
}

TEST(DevicesAndJobs, nobody_is_evicted_for_cards_that_would_not_be_enough) {
  Lab lab(evicting());
  fillTwoBoxes(lab);
  for (int i = 0; i < 5; i++) lab.pod(member(fmt::format("p{}", i), withNic(4), 5));
  lab.run();
  EXPECT_THAT(join(lab.takeLog(), "\n"), testing::Not(testing::HasSubstr("preempted by")));
  EXPECT_EQ(lowOnes(lab), 4);
  for (Row row : {0, 1}) EXPECT_EQ(DeviceBooks::of(lab.cluster()).find(row)->holdings().size(), 2u);
}

}  // namespace
}  // namespace mangrove::placement
