#include "base/number/units.h"

#include <type_traits>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

template <class A, class B>
concept Addable = requires(A a, B b) { a + b; };
static_assert(Addable<Bytes, Bytes>);
static_assert(!Addable<Bytes, MilliCpu>);
static_assert(!std::is_convertible_v<int64_t, Bytes>);

TEST(UnitsTest, SaturatesInsteadOfWrapping) {
  EXPECT_EQ(Bytes{kMax} + Bytes{1}, Bytes{kMax});
  EXPECT_EQ(Bytes{kMin} + Bytes{-1}, Bytes{kMin});
  EXPECT_EQ(Bytes{kMin} - Bytes{1}, Bytes{kMin});
  EXPECT_EQ(Bytes{kMax} - Bytes{-1}, Bytes{kMax});
  EXPECT_EQ(Bytes{0} - Bytes{kMin}, Bytes{kMax});
  EXPECT_EQ(-Bytes{kMin}, Bytes{kMax});
  EXPECT_EQ(Bytes{-1} - Bytes{kMax}, Bytes{kMin});
  EXPECT_EQ(Bytes{kMax} * 2, Bytes{kMax});
  EXPECT_EQ(Bytes{kMax} * -2, Bytes{kMin});
  EXPECT_EQ(Bytes{kMin} * 2, Bytes{kMin});
  EXPECT_EQ(Bytes{kMin} * -1, Bytes{kMax});
}

TEST(UnitsTest, OrdinaryArithmetic) {
  MilliCpu cpu{1500};
  cpu += MilliCpu{500};
  EXPECT_EQ(cpu, MilliCpu{2000});
  cpu -= MilliCpu{3000};
  EXPECT_LT(cpu, MilliCpu{0});
  EXPECT_EQ(MilliCpu{7} / 2, MilliCpu{3});
  EXPECT_EQ(kGiB, kMiB * 1024);
}

}  // namespace
}  // namespace mangrove
