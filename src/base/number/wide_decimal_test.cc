#include "base/number/wide_decimal.h"

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(WideDecimalTest, DigitsSurvive) {
  EXPECT_EQ(WideDecimal(false, "0012345678901234567890", 0).digits(), "12345678901234567890");
  EXPECT_EQ(WideDecimal(false, "7", 12).digits(), "7000000000000");
  EXPECT_EQ(WideDecimal(true, "000", 5).digits(), "");
  EXPECT_FALSE(WideDecimal(true, "000", 5).negative());
  EXPECT_EQ(WideDecimal(Int128{-42}, 0).digits(), "42");
  EXPECT_TRUE(WideDecimal(Int128{-42}, 0).negative());
}

TEST(WideDecimalTest, AddsWithCarryAndBorrow) {
  const WideDecimal nines(false, "999999999999999999", 0);
  const WideDecimal one(false, "1", 0);
  EXPECT_EQ(nines.plus(one).digits(), "1000000000000000000");
  EXPECT_EQ(nines.plus(one).plus(one.negated()).digits(), "999999999999999999");
  EXPECT_TRUE(nines.plus(nines.negated()).isZero());
  EXPECT_TRUE(one.plus(nines.negated()).negative());
}

TEST(WideDecimalTest, ComparesBySignThenMagnitude) {
  const WideDecimal small(false, "1", 0);
  const WideDecimal large(false, "1", 30);
  EXPECT_EQ(small.compare(large), -1);
  EXPECT_EQ(large.compare(small), 1);
  EXPECT_EQ(large.negated().compare(small), -1);
  EXPECT_EQ(large.negated().compare(small.negated()), -1);
  EXPECT_EQ(large.compare(large), 0);
}

TEST(WideDecimalTest, MultipliesAndDivides) {
  WideDecimal number(false, "123456789", 20);
  number.multiply(1u << 30);
  EXPECT_EQ(number.digits(), "13256071780604313600000000000000000000");
  EXPECT_EQ(number.divide(1u << 30), 0u);
  EXPECT_EQ(number.digits(), "12345678900000000000000000000");
  EXPECT_TRUE(number.isInteger());
  EXPECT_EQ(WideDecimal(false, "1001", 0).divide(10), 1u);
  EXPECT_FALSE(WideDecimal(false, "1001", 0).isInteger());
}

}  // namespace
}  // namespace mangrove
