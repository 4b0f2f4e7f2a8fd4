// What is said about a gang that waits.
#include "placement/explain/group_explanation.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "placement/testing/lab.h"

namespace mangrove::placement {
namespace {

class Asked : public ::testing::Test {
 protected:
  void node(const std::string& name, int gpus) {
    lab.node(fmt::format(
        R"({{"metadata":{{"name":"{}"}},"status":{{"allocatable":{{"cpu":"64","memory":"64Gi","nvidia.com/gpu":"{}"}}}}}})",
        name, gpus));
  }
  void member(const std::string& name, const std::string& gang, int min, int gpus,
              const std::string& node = "") {
    lab.pod(fmt::format(
        R"({{"metadata":{{"name":"{}","annotations":{{"gang.scheduling.koordinator.sh/name":"{}","gang.scheduling.koordinator.sh/min-available":"{}"}}}},"spec":{{"nodeName":"{}","containers":[{{"name":"c","resources":{{"requests":{{"cpu":"1","nvidia.com/gpu":"{}"}}}}}}]}}}})",
        name, gang, min, node, gpus));
  }
  std::string answer(const std::string& pod) {
    Profile& profile = *lab.engine().profiles()[0];
    const auto view = viewOf(*lab.find(pod), profile);
    if (!view) return "no group";
    return sentenceOf(explainGroup(lab.engine(), profile, *view, [&](const api::Uid& uid) {
      const auto& all = lab.engine().unassigned();
      const auto at = all.find(uid);
      return at == all.end() ? nullptr : lab.cluster().makeInfo(at->second);
    }));
  }

  Lab lab;
};

TEST_F(Asked, how_many_fit_and_what_would_help_the_others) {
  for (int i = 0; i < 6; i++) node(fmt::format("n{}", i), 2);
  for (int i = 6; i < 8; i++) node(fmt::format("n{}", i), 3);
  for (int i = 6; i < 8; i++) member(fmt::format("e{}", i), "etl", 2, 2, fmt::format("n{}", i));
  for (int i = 0; i < 8; i++) member(fmt::format("t{}", i), "train", 8, 2);
  lab.run();
  EXPECT_EQ(answer("t0"),
            "gang group default/train needs 8 members, 6 fit; the 2 missing would fit with "
            "1 less nvidia.com/gpu or after job default/etl ends");
  EXPECT_EQ(answer("e6"), "gang group default/etl has started; its members come and go one by one");
  // Nothing of it happened.
  EXPECT_EQ(lab.nodeOf("t0"), "");
  EXPECT_EQ(lab.cluster().podCount(), 2u);
}

TEST_F(Asked, who_is_missing_altogether) {
  node("n0", 2);
  member("a", "g", 3, 1);
  lab.run();
  EXPECT_EQ(answer("a"), "gang default/g needs 3 members and has 1");
  member("b", "g", 3, 1);
  member("c", "g", 3, 1);
  EXPECT_EQ(answer("a"),
            "gang group default/g needs 3 members, 2 fit; for the 1 missing there is no place even "
            "when one job ends");
  node("n1", 2);
  EXPECT_EQ(answer("a"), "gang group default/g needs 3 members, all fit");
  lab.pod(R"({"metadata":{"name":"alone"},"spec":{"containers":[{"name":"c"}]}})");
  EXPECT_EQ(answer("alone"), "no group");
}

}  // namespace
}  // namespace mangrove::placement
