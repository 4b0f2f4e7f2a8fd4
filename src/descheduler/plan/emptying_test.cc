#include "descheduler/plan/emptying.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mangrove::descheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MovablePod pod(int rank, double cost = 0) {
  return {{}, {}, rank, 0, cost};
}

TEST(Emptying, FewestMovesThenTheLowestClassThenTheLeastWork) {
  const std::vector<std::vector<MovablePod>> nodes{
      {pod(1), pod(1), pod(1)},  // three moves
      {pod(4, 1)},               // one, of a service
      {},                        // nobody has to leave
      {pod(2, 90)},              // one, of batch work
      {pod(2, 10)},              // the same, and less is lost
      {pod(1), pod(4)},
      {pod(2), pod(3)},  // two: the highest that has to leave counts first
  };
  EXPECT_THAT(emptyingOrder(nodes, 5), ElementsAre(4, 3, 1, 6, 5, 0));
}

TEST(Emptying, NobodyIsBegunWithBeyondTheBudget) {
  const std::vector<std::vector<MovablePod>> nodes{{pod(1), pod(1)}, {pod(1)}};
  EXPECT_THAT(emptyingOrder(nodes, 1), ElementsAre(1));
  EXPECT_THAT(emptyingOrder(nodes, 0), IsEmpty());
}

}  // namespace
}  // namespace mangrove::descheduler
