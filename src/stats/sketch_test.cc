#include "stats/sketch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace mangrove::stats {
namespace {

constexpr double kQuantiles[] = {0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 1};

using Draw = double (*)(std::mt19937&);
const Draw kDistributions[] = {
    [](std::mt19937& r) { return std::uniform_real_distribution<>(0, 64)(r); },
    [](std::mt19937& r) { return std::exponential_distribution<>(2)(r); },
    [](std::mt19937& r) { return std::lognormal_distribution<>(20, 3)(r); },
    [](std::mt19937& r) { return r() % 3 ? 0.0 : 1e9 + r() % 100; },
    [](std::mt19937& r) { return std::pow(10, std::uniform_real_distribution<>(-6, 10)(r)); },
};

double exactQuantile(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(q * double(values.size() - 1))];
}

void expectClose(const Sketch& sketch, const std::vector<double>& values) {
  for (double q : kQuantiles) {
    const double exact = exactQuantile(values, q);
    EXPECT_NEAR(*sketch.quantile(q), exact, exact * sketch.accuracy() * (1 + 1e-9)) << q;
  }
}

TEST(Sketch, QuantilesStayWithinTheAccuracy) {
  for (double accuracy : {0.001, 0.01, 0.05})
    for (size_t d = 0; d < std::size(kDistributions); ++d) {
      SCOPED_TRACE(::testing::Message() << "distribution " << d << " accuracy " << accuracy);
      std::mt19937 rng(static_cast<uint32_t>(d));
      Sketch sketch(accuracy, 40000);
      std::vector<double> values(5000);
      for (double& v : values) sketch.add(v = kDistributions[d](rng));
      expectClose(sketch, values);
    }
}

TEST(Sketch, MergedPartsEqualTheWhole) {
  std::mt19937 rng(3);
  Sketch merged;
  Sketch whole;
  std::vector<double> values;
  for (int part = 0; part < 60; ++part) {
    Sketch minute;
    for (int i = 0; i < 60; ++i) {
      values.push_back(kDistributions[static_cast<size_t>(part) % 5](rng));
      minute.add(values.back());
      whole.add(values.back());
    }
    merged.merge(minute);
  }
  EXPECT_EQ(merged.count(), 3600u);
  EXPECT_NEAR(merged.sum(), whole.sum(), whole.sum() * 1e-12);
  EXPECT_EQ(merged.buckets(), whole.buckets());
  expectClose(merged, values);
}

TEST(Sketch, FoldingKeepsTheUpperEnd) {
  std::mt19937 rng(4);
  Sketch small(0.01, 128);
  std::vector<double> values(20000);
  for (double& v : values) small.add(v = std::uniform_real_distribution<>(1e-5, 100)(rng));
  EXPECT_LE(small.buckets(), 128u);
  EXPECT_EQ(small.count(), values.size());
  for (double q : {0.5, 0.9, 0.99, 1.0}) {
    const double exact = exactQuantile(values, q);
    EXPECT_NEAR(*small.quantile(q), exact, exact * 0.01) << q;
  }
}

TEST(Sketch, FoldsFromEitherDirection) {
  for (bool rising : {true, false}) {
    Sketch one(0.01, 4);
    for (int i = 0; i < 9; ++i) one.add(std::pow(10, rising ? i : 8 - i));
    EXPECT_LE(one.buckets(), 4u);
    EXPECT_EQ(one.count(), 9u);
    EXPECT_NEAR(*one.quantile(1), 1e8, 1e6);
    EXPECT_EQ(one.min(), 1);
    EXPECT_EQ(one.max(), 1e8);
  }
}

TEST(Sketch, OddNumbers) {
  Sketch s;
  EXPECT_EQ(s.quantile(0.5), std::nullopt);
  EXPECT_EQ(s.min(), std::nullopt);
  s.add(std::nan(""));
  s.add(5, 0);
  EXPECT_EQ(s.count(), 0u);
  s.add(-1);
  s.add(0, 3);
  EXPECT_EQ(s.quantile(1), 0);
  s.add(std::numeric_limits<double>::infinity());
  EXPECT_EQ(s.quantile(0.5), 0);
  EXPECT_GT(*s.quantile(1), 1e307);
  s.clear();
  EXPECT_EQ(s.count(), 0u);
}

TEST(Sketch, EncodingRoundTrips) {
  std::mt19937 rng(5);
  for (const Draw draw : kDistributions) {
    Sketch sketch(0.02, 1500);
    for (int i = 0; i < 1000; ++i) sketch.add(draw(rng));
    auto back = Sketch::decode(sketch.encode());
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->encode(), sketch.encode());
    EXPECT_EQ(back->count(), sketch.count());
    for (double q : kQuantiles) EXPECT_EQ(back->quantile(q), sketch.quantile(q));
  }
  EXPECT_LT(Sketch().encode().size(), 50u);
}

TEST(Sketch, DecodeRefusesDamage) {
  Sketch sketch;
  for (int i = 1; i < 100; ++i) sketch.add(i * i);
  const std::string good = sketch.encode();
  for (size_t cut = 0; cut < good.size(); ++cut)
    EXPECT_FALSE(Sketch::decode(std::string_view(good).substr(0, cut))) << cut;
  EXPECT_FALSE(Sketch::decode(good + "x"));
  EXPECT_EQ(Sketch::decode("\x07").error().text(), "sketch of version 7: want version 1");
  std::mt19937 rng(6);
  for (int i = 0; i < 20000; ++i) {  // whatever decodes must also answer and encode
    std::string bad = good;
    bad[rng() % bad.size()] = static_cast<char>(rng());
    if (auto got = Sketch::decode(bad)) {
      (void)got->quantile(0.5);
      got->add(1);
      (void)got->encode();
    }
  }
}

}  // namespace
}  // namespace mangrove::stats
