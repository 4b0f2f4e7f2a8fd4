#include "runtime/core/affinity.h"

#include <gtest/gtest.h>

namespace mangrove::runtime {
namespace {

using std::chrono::seconds;

TEST(Affinity, KeepsAClientWithItsPod) {
  const std::vector<Backend> both{{"10.0.0.1", 80}, {"10.0.0.2", 80}};
  const MonoTime start{};
  Affinity affinity;
  EXPECT_EQ(affinity.choose(1, both, 0, seconds(10), start).ip, "10.0.0.1");
  EXPECT_EQ(affinity.choose(2, both, 1, seconds(10), start).ip, "10.0.0.2");
  EXPECT_EQ(affinity.choose(1, both, 1, seconds(10), start + seconds(9)).ip, "10.0.0.1");
  // Its time begins anew with each visit.
  EXPECT_EQ(affinity.choose(1, both, 1, seconds(10), start + seconds(18)).ip, "10.0.0.1");
  EXPECT_EQ(affinity.choose(1, both, 1, seconds(10), start + seconds(28)).ip, "10.0.0.2");
  // A pod that is gone keeps nobody.
  const std::vector<Backend> one{{"10.0.0.1", 80}};
  EXPECT_EQ(affinity.choose(2, one, 5, seconds(10), start + seconds(1)).ip, "10.0.0.1");
  EXPECT_EQ(affinity.choose(2, both, 1, seconds(10), start + seconds(2)).ip, "10.0.0.1");
}

TEST(Affinity, ForgetsWhoIsGoneBeforeItFillsUp) {
  const std::vector<Backend> both{{"10.0.0.1", 80}, {"10.0.0.2", 80}};
  const MonoTime start{};
  Affinity affinity;
  for (uint32_t client = 0; client < 30'000; ++client)
    affinity.choose(client, both, client, seconds(10), start);
  EXPECT_EQ(affinity.choose(29'999, both, 0, seconds(10), start + seconds(1)).ip, "10.0.0.2");
}

}  // namespace
}  // namespace mangrove::runtime
