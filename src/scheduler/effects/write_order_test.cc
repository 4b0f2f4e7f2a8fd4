#include "scheduler/effects/write_order.h"

#include <vector>

#include <gtest/gtest.h>

namespace mangrove::scheduler {
namespace {

TEST(WriteOrder, one_at_a_time_for_an_object_and_in_order) {
  WriteOrder order;
  std::vector<std::string> sent;
  const auto begin = [&](const std::string& object, const std::string& what) {
    order.begin(object, [&sent, what] { sent.push_back(what); });
  };
  begin("r1", "a");
  begin("r1", "b");
  begin("r2", "c");  // another object does not wait
  begin("r1", "d");
  EXPECT_EQ(sent, (std::vector<std::string>{"a", "c"}));
  order.finished("r1");
  EXPECT_EQ(sent.back(), "b");
  order.finished("r1");
  order.finished("r1");
  EXPECT_EQ(sent, (std::vector<std::string>{"a", "c", "b", "d"}));
  begin("r1", "e");
  EXPECT_EQ(sent.back(), "e");
}

TEST(WriteOrder, a_write_that_is_answered_at_once_keeps_the_order) {
  WriteOrder order;
  int sent = 0;
  for (int i = 0; i < 3; i++)
    order.begin("r", [&] {
      sent++;
      order.finished("r");
    });
  EXPECT_EQ(sent, 3);
  order.finished("r");  // nobody is under way: nothing happens
  EXPECT_EQ(sent, 3);
}

}  // namespace
}  // namespace mangrove::scheduler
