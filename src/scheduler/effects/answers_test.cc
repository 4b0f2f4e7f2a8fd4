#include "scheduler/effects/answers.h"

#include <gtest/gtest.h>

namespace mangrove::scheduler {
namespace {

struct Desk {
  Mailbox owner;
  std::shared_ptr<Answers> answers = std::make_shared<Answers>(owner);
  size_t told = 0;

  void send(size_t requests) {
    for (size_t i = 0; i < requests; i++) answers->sent();
  }
  void answer(size_t requests) {
    for (size_t i = 0; i < requests; i++)
      answers->add([this](Result<client::Reply>) { told++; }, client::Reply());
  }
};

TEST(Answers, with_few_requests_under_way_each_answer_is_told_at_once) {
  Desk desk;
  desk.send(2);
  desk.answer(1);
  desk.owner.drain();
  EXPECT_EQ(desk.told, 1u);
  desk.answer(1);
  desk.owner.drain();
  EXPECT_EQ(desk.told, 2u);
}

TEST(Answers, with_many_under_way_they_come_in_bunches_and_the_last_ones_at_once) {
  Desk desk;
  desk.send(Answers::kFew + Answers::kBunch);
  desk.answer(Answers::kBunch - 1);
  EXPECT_EQ(desk.owner.drain(), 0u);
  desk.answer(1);
  EXPECT_EQ(desk.owner.drain(), 1u);
  EXPECT_EQ(desk.told, Answers::kBunch);
  desk.answer(1);  // fewer than kFew are left
  desk.owner.drain();
  EXPECT_EQ(desk.told, Answers::kBunch + 1);
}

TEST(Answers, a_bunch_that_does_not_grow_is_told_on_the_next_tick) {
  Desk desk;
  desk.send(Answers::kFew * 2);
  desk.answer(3);
  desk.answers->deliver();
  EXPECT_EQ(desk.told, 3u);
}

TEST(Answers, nothing_is_told_after_the_end) {
  Desk desk;
  desk.send(3);
  desk.answer(1);
  desk.answers->close();
  desk.owner.drain();
  desk.answer(2);
  EXPECT_EQ(desk.owner.drain(), 0u);
  EXPECT_EQ(desk.told, 0u);
}

TEST(Answers, an_answer_may_be_the_end) {
  Desk desk;
  desk.send(2);
  desk.answers->add([&](Result<client::Reply>) { desk.answers->close(); }, client::Reply());
  desk.answer(1);
  desk.owner.drain();
  EXPECT_EQ(desk.told, 0u);
}

}  // namespace
}  // namespace mangrove::scheduler
