#include "stats/ring.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove::stats {
namespace {

using namespace std::chrono_literals;

MonoTime at(int second) {
  return MonoTime{} + std::chrono::seconds(second);
}

Ring filled(size_t capacity, int points) {
  Ring ring(capacity);
  for (int i = 0; i < points; ++i) EXPECT_TRUE(ring.push(at(i), i * 10));
  return ring;
}

std::vector<double> values(const Ring::Window& window) {
  std::vector<double> out;
  for (const Point& p : window) out.push_back(p.value);
  return out;
}

TEST(Ring, KeepsTheNewestAfterWrapping) {
  for (int points : {0, 1, 4, 5, 6, 14, 15}) {
    Ring ring = filled(5, points);
    std::vector<double> expected;
    for (int i = std::max(0, points - 5); i < points; ++i) expected.push_back(i * 10);
    EXPECT_EQ(values(ring.all()), expected) << points;
  }
}

TEST(Ring, WindowIncludesBothEnds) {
  Ring ring = filled(5, 8);  // seconds 3 to 7
  struct Row {
    int from, to;
    std::vector<double> expected;
  };
  for (const auto& [from, to, expected] : {Row{4, 6, {40, 50, 60}},
                                           {0, 3, {30}},
                                           {7, 99, {70}},
                                           {0, 99, {30, 40, 50, 60, 70}},
                                           {8, 9, {}},
                                           {0, 2, {}},
                                           {6, 4, {}}})
    EXPECT_EQ(values(ring.between(at(from), at(to))), expected) << from << "-" << to;
  EXPECT_EQ(ring.between(at(4), at(6)).span(), 2s);
}

TEST(Ring, RefusesThePastButTakesTheSameInstantTwice) {
  Ring ring = filled(3, 2);
  EXPECT_FALSE(ring.push(at(0), 99));
  EXPECT_TRUE(ring.push(at(1), 11));
  EXPECT_EQ(values(ring.between(at(1), at(1))), (std::vector<double>{10, 11}));
}

TEST(Ring, CopiesIntoTheCallersBuffer) {
  Ring ring = filled(5, 7);
  std::vector<double> buffer(3);
  EXPECT_EQ(ring.all().copyTo(buffer).size(), 3u);
  EXPECT_EQ(buffer, (std::vector<double>{20, 30, 40}));
  ring.clear();
  EXPECT_TRUE(ring.all().copyTo(buffer).empty());
}

}  // namespace
}  // namespace mangrove::stats
