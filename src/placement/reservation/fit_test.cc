#include "placement/reservation/fit.h"

#include <gmock/gmock.h>

namespace mangrove::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kGiB = int64_t{1} << 30;

NodeRoom nodeWith(int64_t requestedCpus) {
  NodeRoom out;
  out.allocatable = {{"cpu", 32000}, {"memory", 64 * kGiB}};
  out.requested = {{"cpu", requestedCpus * 1000}};
  return out;
}

ReservedRoom holding(AllocatePolicy policy, Amounts amounts) {
  return ReservedRoom::plain("r", policy, std::move(amounts));
}

FitVerdict fitted(const NodeRoom& node, const ReservedRoom& room, Amounts request,
                  bool mustReserve = true) {
  return fitReserved(node, std::span(&room, 1), {std::move(request), mustReserve, ""});
}

TEST(Fit, AlignedTakesTheRestFromTheNode) {
  const auto six = holding(AllocatePolicy::kAligned, {{"cpu", 6000}});
  EXPECT_TRUE(fitted(nodeWith(30), six, {{"cpu", 8000}}).pass);
  EXPECT_THAT(fitted(nodeWith(32), six, {{"cpu", 8000}}).reasons,
              ElementsAre("Insufficient cpu by node"));
}

TEST(Fit, RestrictedTakesItFromTheReservationOnly) {
  const auto six = holding(AllocatePolicy::kRestricted, {{"cpu", 6000}});
  EXPECT_TRUE(fitted(nodeWith(30), six, {{"cpu", 6000}}).pass);
  EXPECT_THAT(fitted(nodeWith(24), six, {{"cpu", 8000}}).reasons,
              ElementsAre("Reservation(s) Insufficient cpu"));
  const auto alone = fitted(nodeWith(24), six, {{"cpu", 8000}}, false);
  EXPECT_TRUE(alone.pass);
  EXPECT_THAT(alone.usable, IsEmpty());
}

TEST(Fit, RestrictedCountsItsOwners) {
  auto two = holding(AllocatePolicy::kRestricted, {{"cpu", 6000}, {"pods", 2}});
  two.take({{"cpu", 1000}});
  EXPECT_TRUE(fitted(nodeWith(7), two, {{"cpu", 1000}}).pass);
  two.take({{"cpu", 1000}});
  EXPECT_THAT(fitted(nodeWith(8), two, {{"cpu", 1000}}).reasons,
              ElementsAre("Reservation(s) Too many pods"));
  two.preemptibleOwners = 1;
  EXPECT_TRUE(fitted(nodeWith(8), two, {{"cpu", 1000}}).pass);
}

TEST(Fit, OptionsLeaveOtherNamesToTheNode) {
  auto room = holding(AllocatePolicy::kRestricted, {{"cpu", 6000}, {"memory", 8 * kGiB}});
  const Amounts pod{{"cpu", 4000}, {"memory", 12 * kGiB}};
  EXPECT_FALSE(fitted(nodeWith(6), room, pod).pass);
  room.restrictTo({"cpu"});
  EXPECT_TRUE(fitted(nodeWith(6), room, pod).pass);
  room.restrictTo({"nvidia.com/gpu"});  // nothing of it is reserved: all names count again
  EXPECT_FALSE(fitted(nodeWith(6), room, pod).pass);
}

TEST(Fit, WhatIsNotCountedDoesNotShrink) {
  auto room = holding(AllocatePolicy::kRestricted, {{"cpu", 3500}, {"memory", 8 * kGiB}});
  room.restrictTo({"memory"});
  room.take({{"cpu", 2000}, {"memory", 2 * kGiB}});
  EXPECT_EQ(room.remaining(), Amounts({{"cpu", 3500}, {"memory", 6 * kGiB}}));
}

TEST(Fit, WhatIsKeptBackInsideIsForNobody) {
  auto room = holding(AllocatePolicy::kRestricted, {{"cpu", 6000}});
  room.inner = {{"cpu", 2000}};
  EXPECT_FALSE(fitted(nodeWith(6), room, {{"cpu", 5000}}).pass);
  EXPECT_TRUE(fitted(nodeWith(6), room, {{"cpu", 4000}}).pass);
}

TEST(Fit, OwnersAreCountedOnceOnTheNode) {
  auto four = holding(AllocatePolicy::kAligned, {{"cpu", 4000}});
  four.take({{"cpu", 2000}});
  // 28 others, the reservation's 4 and the owner's 2: full, but for the 2 that remain.
  EXPECT_TRUE(fitted(nodeWith(34), four, {{"cpu", 2000}}).pass);
  EXPECT_FALSE(fitted(nodeWith(34), four, {{"cpu", 2001}}).pass);
}

TEST(Fit, AnOwnerLargerThanItsAlignedReservationCountsItsRest) {
  auto four = holding(AllocatePolicy::kAligned, {{"cpu", 4000}});
  four.take({{"cpu", 6000}});
  // 20 others, 4 held and 6 of the owner: 26 are in use, since the 4 are within the 6.
  EXPECT_TRUE(fitted(nodeWith(30), four, {{"cpu", 6000}}).pass);
  EXPECT_FALSE(fitted(nodeWith(30), four, {{"cpu", 6001}}).pass);
}

TEST(Fit, ANameAddsTheAmounts) {
  auto room = holding(AllocatePolicy::kRestricted, {{"cpu", 1500}});
  room.take({{"cpu", 500}});
  const auto verdict = fitReserved(nodeWith(4), std::span(&room, 1), {{{"cpu", 10000}}, true, "r"});
  EXPECT_THAT(
      verdict.reasons,
      ElementsAre("Reservation(s) Insufficient cpu, requested: 10000, used: 500, capacity: 1500"));
  EXPECT_FALSE(fitReserved(nodeWith(4), std::span(&room, 1), {{{"cpu", 1}}, true, "x"}).pass);
}

TEST(Fit, OverCommitmentRefusesWhoAsksForNothingOfIt) {
  auto node = nodeWith(0);
  node.requested = {{"memory", 80 * kGiB}};
  const auto room = holding(AllocatePolicy::kAligned, {{"cpu", 1000}});
  EXPECT_THAT(fitted(node, room, {{"cpu", 1000}}).reasons,
              ElementsAre("Insufficient memory by node"));
  node.ignored = {Interned("memory")};
  EXPECT_TRUE(fitted(node, room, {{"cpu", 1000}}).pass);
}

TEST(Fit, TheNodesPodsCountWithoutTheReservationItself) {
  auto node = nodeWith(1);
  node.pods = node.allowedPods = 110;
  const auto room = holding(AllocatePolicy::kAligned, {{"cpu", 1000}});
  EXPECT_TRUE(fitted(node, room, {{"cpu", 1000}}).pass);
  EXPECT_THAT(fitReserved(node, {}, {{{"cpu", 1000}}, false, ""}).reasons,
              ElementsAre("Too many pods by node"));
}

TEST(Policies, TheDefaultStaysAlone) {
  EXPECT_FALSE(mayShareNode(AllocatePolicy::kDefault, AllocatePolicy::kAligned));
  EXPECT_FALSE(mayShareNode(AllocatePolicy::kRestricted, AllocatePolicy::kDefault));
  EXPECT_TRUE(mayShareNode(AllocatePolicy::kAligned, AllocatePolicy::kRestricted));
  EXPECT_TRUE(mayShareNode(AllocatePolicy::kDefault, AllocatePolicy::kDefault));
  EXPECT_FALSE(allocatePolicyOf("restricted"));
}

TEST(ReservationScore, TheFullerTheBetter) {
  const Amounts pod{{"cpu", 2000}, {"memory", 4 * kGiB}};
  const auto small = holding(AllocatePolicy::kAligned, pod);
  auto taken = small;
  taken.take({{"cpu", 2000}, {"memory", 3 * kGiB}});
  EXPECT_EQ(scoreOf(holding(AllocatePolicy::kAligned, {{"cpu", 4000}, {"memory", 8 * kGiB}}), pod),
            50);
  EXPECT_EQ(scoreOf(small, pod), 100);
  EXPECT_EQ(scoreOf(taken, pod), 0);
  EXPECT_EQ(scoreOf(small, {}), 0);
  EXPECT_EQ(scoreOf(holding(AllocatePolicy::kAligned, {}), pod), 0);
}

}  // namespace
}  // namespace mangrove::placement
