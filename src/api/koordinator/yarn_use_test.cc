#include "api/koordinator/yarn_use.h"

#include <gtest/gtest.h>

#include "json/value.h"

namespace mangrove::api {
namespace {

TEST(YarnUse, ContainersNameTheirApplication) {
  EXPECT_EQ(yarnApplicationOf("container_1700000000000_0001_01_000002"),
            "application_1700000000000_0001");
  EXPECT_EQ(yarnApplicationOf("container_e17_1700000000000_0042_01_000002"),
            "application_1700000000000_0042");
  for (const char* none : {"", "container_", "container_1_2", "container_eX_1_2_3_4", "containerd",
                           "container_1_2_3_4_5", "container_a_2_3_4"})
    EXPECT_EQ(yarnApplicationOf(none), "") << none;
}

TEST(YarnUse, FoundInCommandLinesAndEnvironments) {
  using namespace std::literals;
  EXPECT_EQ(yarnContainerIn("HOME=/\0CONTAINER_ID=container_1_0001_01_000002\0A=b"sv),
            "container_1_0001_01_000002");
  EXPECT_EQ(yarnContainerIn("bash\0/l/container_runs/container_1_1_01_000003/launch.sh\0"sv),
            "container_1_1_01_000003");
  EXPECT_EQ(yarnContainerIn("java -cp container_dir NodeManager"), "");
}

TEST(YarnUse, TravelsBesideOtherExtensions) {
  PodMetric pod;
  pod.extensions.emplace().values["other"] = RawJson{"1"};
  const std::vector<YarnUse> uses = {{"application_1_0001", 1.25, kMiB * 300, 2}};
  addYarn(uses, pod.extensions);
  EXPECT_EQ(pod.extensions->values.size(), 2u);
  EXPECT_EQ(yarnOf(pod), uses);
  pod.extensions->values[std::string(kYarnApplications)] = RawJson{R"({"a":1})"};
  EXPECT_TRUE(yarnOf(pod).empty()) << "none of ours";
  std::optional<Extensions> none;
  addYarn({}, none);
  EXPECT_FALSE(none) << "nothing to say is not said";
}

}  // namespace
}  // namespace mangrove::api
