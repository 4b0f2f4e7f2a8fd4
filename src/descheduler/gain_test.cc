// What a plan must gain, and the peace after a move.
#include "descheduler/plugins/load_pass.h"
#include "descheduler/testing/proven_cluster.h"

namespace mangrove::descheduler {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(WithGain, LowersTheBoundsOfWhatIsTooMuch) {
  // 3 % of 8000 are 240.
  EXPECT_EQ(withGain({6200}, {6000}, {8000}, 3), (Loads{5960}));
  EXPECT_EQ(withGain({6300}, {6000}, {8000}, 3), (Loads{6000})) << "the bound asks for more anyway";
  EXPECT_EQ(withGain({6000}, {6000}, {8000}, 3), (Loads{6000})) << "not above it";
  EXPECT_EQ(withGain({6200}, {kUnlimited}, {8000}, 3), (Loads{kUnlimited}));
  EXPECT_EQ(withGain({6200}, {6000}, {8000}, 0), (Loads{6000}));
  EXPECT_EQ(withGain({100}, {50}, {8000}, 50), (Loads{0})) << "no more than there is";
}

class Gain : public testing::ProvenCluster {
 protected:
  Gain() {
    machine("hot", "8");
    machine("cold", "8");
    uses("cold", {});
  }
};

TEST_F(Gain, MovesThatGainTooLittleTogetherAreNotMade) {
  for (const char* pod : {"a", "b"}) guest({pod, "hot", "1"});
  uses("hot", {{"a", 100}, {"b", 100}}, 5900);  // 100 too much, 200 could go, 240 is the least
  prove();
  EXPECT_THAT(planned(), IsEmpty());
}

TEST_F(Gain, TogetherTheyAreWorthIt) {
  for (const char* pod : {"a", "b", "c"}) guest({pod, "hot", "1"});
  uses("hot", {{"a", 100}, {"b", 100}, {"c", 100}}, 5800);
  prove();
  EXPECT_THAT(planned(3), SizeIs(3));
  for (const auto& job : jobs())
    EXPECT_THAT(job.meta.annotations.get("koordinator.sh/evict-reason").value_or(""),
                HasSubstr("node cpu usage(76.25%)>threshold(75.00%)"));
}

TEST_F(Gain, ARoomThatWasHeldForNothingIsFreeForOthers) {
  machine("hot-2", "8");
  for (const char* pod : {"a", "b"}) guest({pod, "hot", "3"});
  guest({"big", "hot-2", "3"});
  guest({"filler", "cold", "4"});  // room for one of three cores
  uses("cold", {{"filler", 100}});
  uses("hot", {{"a", 100}, {"b", 100}}, 7000);  // hottest, and first
  uses("hot-2", {{"big", 2000}}, 4500);
  prove();
  const auto moves = planned(1);
  ASSERT_THAT(moves, SizeIs(1));
  EXPECT_EQ(moves[0], "big to cold");
}

TEST_F(Gain, AfterAMoveTheRestOfTheWorkloadHasPeaceOnThatNode) {
  for (const char* pod : {"a", "b"}) guest({pod, "hot", "1"});
  uses("hot", {{"a", 2000}, {"b", 1000}}, 4500);
  prove();
  EXPECT_THAT(planned(1), SizeIs(1));
  uses("hot", {{"a", 2000}, {"b", 2000}}, 6500);  // hot again without the one that is leaving
  ASSERT_TRUE(until([&] { return !whyNot("b").empty(); }, std::chrono::milliseconds(100)));
  EXPECT_THAT(whyNot("b"), HasSubstr("one of its workload has left hot lately"));
  EXPECT_THAT(jobs(), SizeIs(1));
}

}  // namespace
}  // namespace mangrove::descheduler
