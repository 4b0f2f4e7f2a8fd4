// Who waits for the manager's picture of the cluster, and until when.
#include "up/manager_admission.h"

#include <gtest/gtest.h>

namespace mangrove::up {
namespace {

LentAdmission something() {
  LentAdmission out;
  out.now = [] { return std::make_shared<const manager::Surroundings>(); };
  return out;
}

TEST(PictureSlot, NobodyWaitsForAManagerThatTakesNoPart) {
  PictureSlot slot;
  int ran = 0;
  slot.await([&] { ran++; });
  EXPECT_EQ(ran, 1);
  EXPECT_FALSE(slot.isServed());
  EXPECT_EQ(slot.now(), nullptr);
}

TEST(PictureSlot, AnExpectedPictureIsWaitedFor) {
  PictureSlot slot;
  slot.expect();
  int ran = 0;
  slot.await([&] { ran++; });
  slot.await([&] { ran++; });
  EXPECT_EQ(ran, 0);
  EXPECT_TRUE(slot.isServed());
  EXPECT_EQ(slot.now(), nullptr);
  slot.lend(something());
  EXPECT_EQ(ran, 2);
  EXPECT_NE(slot.now(), nullptr);
  slot.await([&] { ran++; });
  EXPECT_EQ(ran, 3) << "it is there";
  slot.takeBack();
  EXPECT_FALSE(slot.isServed());
}

TEST(PictureSlot, AManagerThatGoesBeforeItComesLeavesNobodyWaiting) {
  PictureSlot slot;
  slot.expect();
  int ran = 0;
  slot.await([&] { ran++; });
  slot.takeBack();
  EXPECT_EQ(ran, 1);
}

}  // namespace
}  // namespace mangrove::up
