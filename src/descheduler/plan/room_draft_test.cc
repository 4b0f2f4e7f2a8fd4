// Which pods would have to leave for another to fit.
#include "descheduler/plan/room_draft.h"

#include <gmock/gmock.h>

namespace mangrove::descheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MovablePod pod(int64_t cores, int rank = 0, double cost = 0) {
  return {{cores}, {cores}, rank, 0, cost};
}

TEST(RoomDraft, TheFewestLeaveAndTheNodeWithFewestIsFirst) {
  const std::vector<RoomNode> nodes = {{{1}, {pod(1), pod(1), pod(1)}},  // three for four cores
                                       {{1}, {pod(2), pod(3)}},          // one of three
                                       {{2}, {pod(1), pod(1)}}};         // two
  const auto drafts = draftRoom(nodes, {4}, 5);
  ASSERT_EQ(drafts.size(), 3u);
  EXPECT_EQ(drafts[0].node, 1u);
  EXPECT_THAT(drafts[0].pods, ElementsAre(1));
  EXPECT_EQ(drafts[1].node, 2u);
  EXPECT_EQ(drafts[2].pods.size(), 3u);
}

TEST(RoomDraft, OfEqualOnesTheLowestClassAndTheLeastWorkIsLost) {
  const std::vector<RoomNode> nodes = {{{0}, {pod(2, 3), pod(2, 1, 50)}}, {{0}, {pod(2, 1, 10)}}};
  const auto drafts = draftRoom(nodes, {2}, 1);
  ASSERT_EQ(drafts.size(), 2u);
  EXPECT_EQ(drafts[0].node, 1u);
  EXPECT_THAT(drafts[1].pods, ElementsAre(1)) << "class 1 before class 3";
}

TEST(RoomDraft, ABudgetEndsIt) {
  const std::vector<RoomNode> nodes = {{{0}, {pod(1), pod(1), pod(1)}}};
  EXPECT_THAT(draftRoom(nodes, {3}, 2), IsEmpty());
  EXPECT_EQ(draftRoom(nodes, {3}, 3).size(), 1u);
}

TEST(RoomDraft, NodesWithRoomOrWithoutAnyWayAreNone) {
  const std::vector<RoomNode> nodes = {{{5}, {pod(1)}}, {{0}, {}}, {{-1}, {pod(3)}}};
  const auto drafts = draftRoom(nodes, {2}, 5);
  ASSERT_EQ(drafts.size(), 1u);
  EXPECT_EQ(drafts[0].node, 2u) << "one below zero is made up for as well";
}

}  // namespace
}  // namespace mangrove::descheduler
