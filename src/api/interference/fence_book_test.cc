#include "api/interference/fence_book.h"

#include <gtest/gtest.h>

#include "base/number/rng.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

using State = Fence::State;
const WallTime kNow{std::chrono::hours(24 * 20000)};

double noise(Rng& rng, double mean, double sigma) {
  double sum = 0;
  for (int i = 0; i < 12; ++i) sum += rng.unit();
  return mean + sigma * (sum - 6);
}

FenceBook bookOf(int samples, uint64_t seed, double mean = 1.8) {
  Rng rng(seed);
  FenceBook book;
  for (int i = 0; i < samples; ++i)
    book.learn("w", 4, 310, {{"cpi", noise(rng, mean, 0.1)}, {"bandwidth", noise(rng, 50, 3)}},
               kNow);
  return book;
}

// T-IN-1.
TEST(LoadBins, HalfACpuEachAndTheLastIsOpen) {
  const auto bins = loadBins(4);
  ASSERT_EQ(bins.size(), 6u);
  EXPECT_EQ(bins.front(), (LoadBin{200, 250}));
  EXPECT_EQ(bins[1], (LoadBin{250, 300}));
  EXPECT_EQ(bins.back(), (LoadBin{450, 500}));
  struct Row {
    double util;
    std::optional<size_t> bin;
  };
  for (const Row& row :
       {Row{199, std::nullopt}, Row{200, 0}, Row{249.9, 0}, Row{250, 1}, Row{480, 5}, Row{900, 5}})
    EXPECT_EQ(loadBinOf(4, row.util), row.bin) << row.util;
  EXPECT_EQ(loadBins(0.5).size(), 3u);
}

TEST(FenceBook, SaysHowMuchItKnows) {
  for (const auto& [samples, state] : {std::pair{0, State::kCold},
                                       {19, State::kCold},
                                       {20, State::kProvisional},
                                       {59, State::kProvisional},
                                       {60, State::kLearned}})
    EXPECT_EQ(bookOf(samples, 7).fence("w", 4, 310, "cpi").state, state) << samples;
  const FenceBook book = bookOf(200, 7);
  EXPECT_NEAR(book.fence("w", 4, 310, "cpi").value, 2.07, 0.1);
  EXPECT_NEAR(book.fence("w", 4, 310, "bandwidth").value, 42, 4) << "a lower fence";
  EXPECT_EQ(book.fence("w", 4, 410, "cpi").state, State::kCold) << "another level of load";
  EXPECT_EQ(book.fence("w", 4, 100, "cpi").state, State::kCold) << "below the first level";
  EXPECT_EQ(book.fence("other", 4, 310, "cpi").state, State::kCold);
  EXPECT_NEAR(book.median("w", "cpi").value(), 1.8, 0.05);
  EXPECT_FALSE(bookOf(59, 7).median("w", "cpi"));
}

TEST(FenceBook, IsTheSameAfterWritingAndReading) {
  const FenceBook book = bookOf(100, 3);
  const auto text = json::write(book.state());
  const auto back = FenceBook::restore(json::parse(text).value());
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(json::write(back->state()), text);
  EXPECT_EQ(back->fence("w", 4, 310, "cpi").value, book.fence("w", 4, 310, "cpi").value);
  for (const char* bad :
       {"[]", "{}", R"({"workloads":{"a":{}}})", R"({"workloads":{"a":{"bins":{"x":[]}}}})",
        R"({"workloads":{"a":{"bins":{"0/cpi":[[1]]}}}})",
        R"({"workloads":{"a":{"bins":{"0/cpi":[[1,-3]]}}}})"})
    EXPECT_FALSE(FenceBook::restore(json::parse(bad).value())) << bad;
}

TEST(FenceBook, PoolsNodesThatAloneKnowTooLittle) {
  FenceBook sum;
  for (uint64_t node = 1; node <= 5; ++node) sum.add(bookOf(15, node));
  EXPECT_EQ(sum.fence("w", 4, 310, "cpi").state, State::kLearned);
  EXPECT_EQ(sum.fence("w", 4, 310, "cpi").samples, 75);
}

TEST(FenceBook, ForgetsHalfInADayAndInTheEndAll) {
  FenceBook book = bookOf(100, 5);
  book.age(kNow);
  book.age(kNow + std::chrono::hours(24));
  EXPECT_NEAR(book.fence("w", 4, 310, "cpi").samples, 50, 1);
  for (int day = 2; day < 12; ++day) book.age(kNow + std::chrono::hours(24 * day));
  EXPECT_EQ(book.workloads(), 0u);
}

TEST(FenceBook, KeepsTheLatestOfTooManyWorkloads) {
  FenceBook book;
  for (size_t i = 0; i < FenceBook::kMostWorkloads + 5; ++i)
    book.learn(std::to_string(i), 1, 80, {{"cpi", 1}}, kNow + std::chrono::seconds(i));
  EXPECT_EQ(book.workloads(), FenceBook::kMostWorkloads);
}

}  // namespace
}  // namespace mangrove::api
