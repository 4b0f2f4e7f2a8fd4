#include "base/number/quantity.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
using Format = Quantity::Format;

Quantity q(std::string_view text) {
  auto parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed) << text << ": " << (parsed ? "" : parsed.error().text());
  return parsed.value_or(Quantity());
}

struct ParseRow {
  const char* in;
  const char* text;
  const char* format;
  int64_t value;
  int64_t milli;
};

class QuantityParse : public ::testing::TestWithParam<ParseRow> {};

TEST_P(QuantityParse, GivesCanonicalTextAndIntegerViews) {
  const ParseRow& row = GetParam();
  const Quantity amount = q(row.in);
  EXPECT_EQ(amount.text(), row.text) << row.in;
  EXPECT_STREQ(formatName(amount.format()), row.format) << row.in;
  EXPECT_EQ(amount.value(), row.value) << row.in;
  EXPECT_EQ(amount.milliValue(), row.milli) << row.in;
}

constexpr auto kDecimal = "DecimalSI";
constexpr auto kBinary = "BinarySI";
constexpr auto kExponent = "DecimalExponent";

INSTANTIATE_TEST_SUITE_P(Decimal, QuantityParse,
                         ::testing::ValuesIn(std::vector<ParseRow>{
                             {"0", "0", kDecimal, 0, 0},
                             {"-0", "0", kDecimal, 0, 0},
                             {"1", "1", kDecimal, 1, 1000},
                             {"+1", "1", kDecimal, 1, 1000},
                             {"5.", "5", kDecimal, 5, 5000},
                             {".5", "500m", kDecimal, 1, 500},
                             {"00012", "12", kDecimal, 12, 12000},
                             {"1000", "1k", kDecimal, 1000, 1000000},
                             {"25000", "25k", kDecimal, 25000, 25000000},
                             {"25500", "25500", kDecimal, 25500, 25500000},
                             {"1500m", "1500m", kDecimal, 2, 1500},
                             {"-1500m", "-1500m", kDecimal, -2, -1500},
                             {"1.5", "1500m", kDecimal, 2, 1500},
                             {"302.117", "302117m", kDecimal, 303, 302117},
                             {"12.125G", "12125M", kDecimal, 12125000000, 12125000000000},
                             {"100000000000m", "100M", kDecimal, 100000000, 100000000000},
                             {"500000n", "500u", kDecimal, 1, 1},
                             {"1E", "1E", kDecimal, 1000000000000000000, kMax},
                             {"1000E", "1e21", kDecimal, kMax, kMax}}));

INSTANTIATE_TEST_SUITE_P(Binary, QuantityParse,
                         ::testing::ValuesIn(std::vector<ParseRow>{
                             {"4Gi", "4Gi", kBinary, 4294967296, 4294967296000},
                             {"0.5Gi", "512Mi", kBinary, 536870912, 536870912000},
                             {"1.5Gi", "1536Mi", kBinary, 1610612736, 1610612736000},
                             {"1.1Gi", "1181116006400m", kBinary, 1181116007, 1181116006400},
                             {"1024Ki", "1Mi", kBinary, 1048576, 1048576000},
                             {"16265300Ki", "16265300Ki", kBinary, 16655667200, 16655667200000},
                             {"0.9Ki", "921600m", kBinary, 922, 921600},
                             {"0.0001Ki", "102400u", kDecimal, 1, 103},
                             {"-1Mi", "-1Mi", kBinary, -1048576, -1048576000},
                             {"1Ei", "1Ei", kBinary, 1152921504606846976, kMax},
                             // Beyond 2^63-1 a binary amount is capped, on both sides alike.
                             {"8Ei", "9223372036854775807", kBinary, kMax, kMax},
                             {"9Ei", "9223372036854775807", kBinary, kMax, kMax},
                             {"-9Ei", "-9223372036854775807", kBinary, -kMax, kMin},
                             {"123456789012345678901234567890Ki", "9223372036854775807", kBinary,
                              kMax, kMax}}));

INSTANTIATE_TEST_SUITE_P(Exponent, QuantityParse,
                         ::testing::ValuesIn(std::vector<ParseRow>{
                             {"1e3", "1e3", kExponent, 1000, 1000000},
                             {"1E3", "1e3", kExponent, 1000, 1000000},
                             {"12e+6", "12e6", kExponent, 12000000, 12000000000},
                             {"1e-3", "1e-3", kExponent, 1, 1},
                             {"1.5e1", "15", kExponent, 15, 15000},
                             {"1e0", "1", kExponent, 1, 1000},
                             {"1e20", "100e18", kExponent, kMax, kMax},
                             {"1e00003", "1e3", kExponent, 1000, 1000000}}));

INSTANTIATE_TEST_SUITE_P(FinerThanNanoRoundsAwayFromZero, QuantityParse,
                         ::testing::ValuesIn(std::vector<ParseRow>{
                             {"1n", "1n", kDecimal, 1, 1},
                             {"0.1n", "1n", kDecimal, 1, 1},
                             {"-0.1n", "-1n", kDecimal, -1, -1},
                             {"1.0000000001", "1000000001n", kDecimal, 2, 1001},
                             {"1e-100", "1e-9", kExponent, 1, 1},
                             {"1e-2147483648", "1e-9", kExponent, 1, 1},
                             {"0e-100", "0", kExponent, 0, 0},
                             {"0.00000000000000000000000000000000000001", "1n", kDecimal, 1, 1}}));

INSTANTIATE_TEST_SUITE_P(WithoutDigitsIsZero, QuantityParse,
                         ::testing::ValuesIn(std::vector<ParseRow>{{"-", "0", kDecimal, 0, 0},
                                                                   {"+", "0", kDecimal, 0, 0},
                                                                   {".", "0", kDecimal, 0, 0},
                                                                   {"Ki", "0", kBinary, 0, 0},
                                                                   {"-Ti", "0", kBinary, 0, 0},
                                                                   {"n", "0", kDecimal, 0, 0},
                                                                   {"e3", "0", kExponent, 0, 0}}));

INSTANTIATE_TEST_SUITE_P(
    BeyondInt64IsExact, QuantityParse,
    ::testing::ValuesIn(std::vector<ParseRow>{
        {"9223372036854775807", "9223372036854775807", kDecimal, kMax, kMax},
        {"-9223372036854775808", "-9223372036854775808", kDecimal, kMin, kMin},
        {"9223372036854775808", "9223372036854775808", kDecimal, kMax, kMax},
        {"123456789012345678901234567890", "123456789012345678901234567890", kDecimal, kMax, kMax},
        {"1234567890.123456789", "1234567890123456789n", kDecimal, 1234567891, 1234567890124},
        {"12345678901.234567891", "12345678901234567891n", kDecimal, 12345678902, 12345678901235},
        {"-12345678901.234567891", "-12345678901234567891n", kDecimal, -12345678902,
         -12345678901235},
        {"1.1234567890123456789012Gi", "1206302541819299208n", kBinary, 1206302542,
         1206302541820}}));

TEST(QuantityTest, RefusesWhatKubernetesRefuses) {
  for (const char* text : {"",   "1 Gi", " 1",  "1 ",    "1e",   "1KiB", "1_000", "1Zi",  "1K",
                           "1i", "1mm",  "--1", "1.2.3", "1e3m", "1E+",  "1e1.5", "0x10", "Pi",
                           "Ei", "e-12", "1,5", "NaN",   "Inf",  "1g",   "½"}) {
    EXPECT_FALSE(Quantity::parse(text)) << text;
  }
}

TEST(QuantityTest, ErrorsNameTheTextAndWhatIsWanted) {
  EXPECT_EQ(Quantity::parse("1KiB").error().text(),
            "quantity '1KiB' ends with 'KiB': want nothing, one of n u m k M G T P E, one of Ki Mi "
            "Gi Ti Pi Ei, "
            "or an exponent such as e3");
  EXPECT_EQ(Quantity::parse("many").error().text(),
            "quantity 'many' does not start with a number: want one such as 2, 500m or 4Gi");
  EXPECT_NE(Quantity::parse("").error().text().find("empty"), std::string::npos);
}

TEST(QuantityTest, RefusesAmountsThatWouldNeedEndlessMemory) {
  EXPECT_TRUE(Quantity::parse("1e999"));
  EXPECT_FALSE(Quantity::parse("1e1000"));
  EXPECT_FALSE(Quantity::parse("1e2147483647"));
  EXPECT_FALSE(Quantity::parse(std::string(1001, '9')));
  EXPECT_TRUE(Quantity::parse("0e2147483647"));
  EXPECT_EQ(q(std::string(5000, '0') + "7").text(), "7");
}

TEST(QuantityTest, JsonTextsMayHaveBlanksAround) {
  EXPECT_EQ(Quantity::parseJson(" 1Gi\n")->text(), "1Gi");
  EXPECT_EQ(Quantity::parseJson("1.5E+3")->text(), "1500");
  EXPECT_EQ(Quantity::parseJson("2.5e-1")->text(), "250e-3");
  EXPECT_EQ(Quantity::parseJson("4")->text(), "4");
  EXPECT_FALSE(Quantity::parseJson("  "));
}

struct PairRow {
  const char* a;
  const char* b;
  const char* sum;
  const char* difference;
  int compare;
};

TEST(QuantityTest, AddsSubtractsAndCompares) {
  const std::vector<PairRow> rows = {
      {"1", "1Gi", "1073741825", "-1073741823", -1},
      {"1001m", "1Mi", "1048577001m", "-1048574999m", -1},
      {"2000k", "1000", "2001k", "1999k", 1},
      {"0.5Gi", "0.5Gi", "1Gi", "0", 0},
      {"100m", "100u", "100100u", "99900u", 1},
      {"1E3", "1n", "1000000000001e-9", "999999999999e-9", 1},
      {"1Ei", "1Ei", "2Ei", "0", 0},
      {"9223372036854775807", "1", "9223372036854775808", "9223372036854775806", 1},
      {"-9223372036854775808", "999m", "-9223372036854775807001m", "-9223372036854775808999m", -1},
      {"1e30", "-1n", "999999999999999999999999999999999999999e-9", nullptr, 1},
      {"1000m", "1", "2", "0", 0},
      {"1024", "1Ki", "2048", "0", 0},
      {"1e3", "1k", "2e3", "0", 0},
      {"1n", "1e30", nullptr, nullptr, -1},
      {"-1n", "-1e30", nullptr, nullptr, 1},
  };
  for (const PairRow& row : rows) {
    const Quantity a = q(row.a);
    const Quantity b = q(row.b);
    if (row.sum) {
      EXPECT_EQ((a + b).text(), row.sum) << row.a << " + " << row.b;
    }
    if (row.difference) {
      EXPECT_EQ((a - b).text(), row.difference) << row.a << " - " << row.b;
    }
    EXPECT_EQ(a.compare(b), row.compare) << row.a << " <=> " << row.b;
    EXPECT_EQ(b.compare(a), -row.compare) << row.b << " <=> " << row.a;
    EXPECT_EQ((a + b - b).compare(a), 0) << row.a << ", " << row.b;
  }
}

TEST(QuantityTest, FormatOfTheResultIsTheLeftOneUnlessItIsZero) {
  EXPECT_EQ((q("1Gi") + q("1")).format(), Format::kBinarySI);
  EXPECT_EQ((q("1") + q("1Gi")).format(), Format::kDecimalSI);
  EXPECT_EQ((q("0") + q("1Gi")).format(), Format::kBinarySI);
  EXPECT_EQ((q("0") - q("1Gi")).text(), "-1Gi");
  EXPECT_EQ((q("0Mi") - q("0")).format(), Format::kDecimalSI);
  EXPECT_EQ((Quantity() + q("1e3")).text(), "1e3");
}

TEST(QuantityTest, BinarySumsBeyondTheLargestSuffixKeepIt) {
  EXPECT_EQ((q("4Ei") + q("4Ei")).text(), "8Ei");
  Quantity sum = q("1Ei");
  for (int i = 0; i < 10; ++i) sum += sum;
  EXPECT_EQ(sum.text(), "1024Ei");
  EXPECT_EQ((-sum).text(), "-1024Ei");
  EXPECT_EQ(sum.bytes(), Bytes::max());
}

TEST(QuantityTest, NegatesAndCopiesSmallAndWideAmounts) {
  for (const char* text :
       {"1500m", "0", "-9223372036854775808", "123456789012345678901234567890", "1.1Gi"}) {
    const Quantity a = q(text);
    Quantity copy = a;
    const Quantity moved = std::move(copy);
    EXPECT_EQ(moved, a);
    EXPECT_TRUE((a + -a).isZero()) << text;
    EXPECT_EQ((-(-a)).text(), a.text());
    copy = moved;
    EXPECT_EQ(copy, a);
    copy = Quantity::of(7);
    EXPECT_EQ(copy.text(), "7");
  }
}

TEST(QuantityTest, ViewsAtOtherScalesRoundAwayFromZeroAndSaturate) {
  struct Row {
    const char* in;
    int scale;
    int64_t want;
    bool exact;
  };
  for (const Row& row : std::vector<Row>{{"1500m", 0, 2, false},
                                         {"-1500m", 0, -2, false},
                                         {"1500m", -3, 1500, true},
                                         {"1500m", -6, 1500000, true},
                                         {"1500m", 3, 1, false},
                                         {"-1n", 18, -1, false},
                                         {"2000", 3, 2, true},
                                         {"2001", 3, 3, false},
                                         {"9E", -3, kMax, false},
                                         {"-9E", -3, kMin, false},
                                         {"10E", 0, kMax, false},
                                         {"1e40", 9, kMax, false},
                                         {"-1e40", 9, kMin, false},
                                         {"12345678901234567890123", 9, 12345678901235, false},
                                         {"-12345678901234567890123", 9, -12345678901235, false},
                                         {"-9223372036854775808", 0, kMin, true}}) {
    EXPECT_EQ(q(row.in).scaled(row.scale), row.want) << row.in << " at " << row.scale;
    EXPECT_EQ(q(row.in).isExact(row.scale), row.exact) << row.in << " at " << row.scale;
  }
}

TEST(QuantityTest, UnitsGoInAndOut) {
  EXPECT_EQ(Quantity::of(MilliCpu{1500}).text(), "1500m");
  EXPECT_EQ(Quantity::of(MilliCpu{4000}).text(), "4");
  EXPECT_EQ(Quantity::of(Bytes{4294967296}).text(), "4Gi");
  EXPECT_EQ(Quantity::of(Bytes{1000}).text(), "1k");
  EXPECT_EQ(Quantity::of(Bytes{2000}).text(), "2000");
  EXPECT_EQ(q("2").milliCpu(), MilliCpu{2000});
  EXPECT_EQ(q("1Ki").bytes(), Bytes{1024});
  EXPECT_EQ(Quantity::of(25, 3).text(), "25k");
  EXPECT_EQ(Quantity::of(kMin).text(), "-9223372036854775808");
  EXPECT_EQ(sizeof(Quantity), 16u);
}

TEST(QuantityTest, ApproximateIsTheNearestDouble) {
  EXPECT_EQ(q("0.3").approximate(), 0.3);
  EXPECT_EQ(q("-1500m").approximate(), -1.5);
  EXPECT_EQ(q("4Gi").approximate(), 4294967296.0);
  EXPECT_EQ(q("9223372036854775807").approximate(), 9223372036854775807.0);
  EXPECT_EQ(q("123456789012345678901234567890").approximate(), 123456789012345678901234567890.0);
  EXPECT_EQ(q("1e400").approximate(), std::numeric_limits<double>::infinity());
}

struct ScaleRow {
  const char* a;
  double factor;
  const char* byMilli;
  const char* byValue;
};

TEST(QuantityTest, SharesAreCutTowardZeroOnADouble) {
  for (const ScaleRow& row :
       std::vector<ScaleRow>{{"1000m", 0.29, "290m", "0"},
                             {"3480k", 1.15, "4001999999m", "4001999"},
                             {"3380Mi", 0.35, "1183Mi", "1183Mi"},
                             {"-1500m", 1, "-1500m", "-2"},
                             {"42534m", -0.5, "-21267m", "-21"},
                             {"1n", 1.2, "1m", "1"},
                             {"1e-3", 1.15, "1e-3", "1"},
                             {"1619k", 0, "0", "0"},
                             {"9Ei", 10, "9223372036854775807m", "9223372036854775807"},
                             {"-9223372036854775808", 0.1, "0", "0"}}) {
    EXPECT_EQ(q(row.a).mulMilli(row.factor).text(), row.byMilli) << row.a << " * " << row.factor;
    EXPECT_EQ(q(row.a).mul(row.factor).text(), row.byValue) << row.a << " * " << row.factor;
  }
}

}  // namespace
}  // namespace mangrove
