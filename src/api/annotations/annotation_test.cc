#include "api/annotations/annotation.h"

#include <cmath>

#include <gtest/gtest.h>

#include "api/annotations/cpu.h"
#include "api/annotations/node.h"
#include "api/annotations/topology.h"
#include "base/text/go_bool.h"

namespace mangrove::api {
namespace {

// What Go's decoder makes of a value, shown on resource-status: the text we would write, or the
// error.
std::string statusOf(std::string_view value) {
  const Annotations pod{{annotation::kResourceStatus, value}};
  auto status = parseResourceStatus(pod);
  if (!status) return "error: " + status.error().text();
  return *status ? annotationText(**status) : "absent";
}

TEST(DecodeLikeGo, ToleratesWhatGoTolerates) {
  struct Row {
    const char* value;
    const char* expected;
  };
  for (auto [value, expected] :
       {Row{"{}", "{}"},
        {"null", "{}"},
        {" {\"cpuset\" : \"1\"} ", R"({"cpuset":"1"})"},
        {R"({"cpuset":null,"numaNodeResources":null})", "{}"},
        {R"({"CpuSet":"0-3"})", R"({"cpuset":"0-3"})"},
        {R"({"CPUSET":"1","cpuset":"2"})", R"({"cpuset":"2"})"},
        {R"({"cpuset":"1","CPUSET":"2"})", R"({"cpuset":"2"})"},
        {R"({"unknown":[{}],"cpuset":"7"})", R"({"cpuset":"7"})"},
        {R"({"numaNodeResources":[{"node":1,"resources":{"cpu":4,"memory":"1Gi"}}]})",
         R"({"numaNodeResources":[{"node":1,"resources":{"cpu":"4","memory":"1Gi"}}]})"}})
    EXPECT_EQ(statusOf(value), expected) << value;
}

TEST(DecodeLikeGo, RefusesWhatGoRefuses) {
  const std::string prefix = "error: annotation " + std::string(annotation::kResourceStatus) + ": ";
  for (const char* value :
       {"", " ", "bad", "{", "{} x", "[]", "3", "\"x\"", "true", R"({"cpuset":3})",
        R"({"cpuset":{}})", R"({"numaNodeResources":{}})",
        R"({"numaNodeResources":[{"node":"0"}]})", R"({"numaNodeResources":[{"node":1.0}]})",
        R"({"numaNodeResources":[{"node":2147483648}]})",
        R"({"numaNodeResources":[{"resources":{"cpu":"x"}}]})",
        R"({"numaNodeResources":[{"resources":{"cpu":""}}]})"})
    EXPECT_TRUE(statusOf(value).starts_with(prefix)) << value << " gave " << statusOf(value);
}

TEST(DecodeLikeGo, ErrorsNameThePlace) {
  const std::string prefix = "error: annotation " + std::string(annotation::kResourceStatus) + ": ";
  EXPECT_EQ(statusOf(R"({"cpuset":3})"), prefix + "cpuset: found number 3, want a string");
  EXPECT_EQ(statusOf(R"({"numaNodeResources":[{"resources":{"cpu":"x"}}]})"),
            prefix + "numaNodeResources[0].resources.cpu: 'x' is not a quantity");
}

TEST(DecodeLikeGo, NullListsAndMapsAreAbsent) {
  const auto pools = [](std::string_view value) {
    return parseCpuSharedPools(Annotations{{annotation::kCpuSharedPools, value}});
  };
  EXPECT_EQ(pools("null").value(), std::nullopt);
  EXPECT_EQ(pools("[]").value(), CpuSharedPools{});
  const Annotations null{{annotation::kResourceAmplificationRatio, "null"}};
  EXPECT_EQ(parseAmplificationRatios(null).value(), std::nullopt);
}

TEST(AnnotationText, EscapesAsGoDoes) {
  CpuBasicInfo info;
  info.cpuModel = "A<B>&\"C\" µ";
  EXPECT_EQ(annotationText(info), R"({"cpuModel":"A\u003cB\u003e\u0026\"C\" µ"})");
}

TEST(ParseGoInt, ReadsWhatStrconvReads) {
  struct Row {
    const char* text;
    int bits;
    std::optional<int64_t> expected;
  };
  for (auto [text, bits, expected] : {Row{"0", 32, 0},
                                      {"-0", 32, 0},
                                      {"+5", 32, 5},
                                      {"007", 32, 7},
                                      {"-10", 32, -10},
                                      {"2147483647", 32, 2147483647},
                                      {"2147483648", 32, std::nullopt},
                                      {"-2147483648", 32, -2147483648LL},
                                      {"-2147483649", 32, std::nullopt},
                                      {"9223372036854775807", 64, 9223372036854775807LL},
                                      {"9223372036854775808", 64, std::nullopt},
                                      {"", 64, std::nullopt},
                                      {"+", 64, std::nullopt},
                                      {"-", 64, std::nullopt},
                                      {"+-5", 64, std::nullopt},
                                      {"--5", 64, std::nullopt},
                                      {" 5", 64, std::nullopt},
                                      {"5 ", 64, std::nullopt},
                                      {"1_000", 64, std::nullopt},
                                      {"0x10", 64, std::nullopt},
                                      {"1.0", 64, std::nullopt},
                                      {"1e3", 64, std::nullopt}}) {
    const auto got = parseGoInt(text, bits);
    EXPECT_EQ(got ? std::optional(*got) : std::nullopt, expected) << text;
  }
}

TEST(ParseGoFloat, ReadsWhatStrconvReads) {
  struct Row {
    const char* text;
    std::optional<double> expected;
  };
  for (auto [text, expected] : {Row{"1.20", 1.2},
                                {"+1.5", 1.5},
                                {"-1", -1},
                                {".5", 0.5},
                                {"5.", 5},
                                {"1e3", 1000},
                                {"0x1p-2", 0.25},
                                {"0X1.8P1", 3},
                                {"Inf", INFINITY},
                                {"-infinity", -INFINITY},
                                {"", std::nullopt},
                                {"+", std::nullopt},
                                {"+-1", std::nullopt},
                                {"1,2", std::nullopt},
                                {" 1", std::nullopt},
                                {"0x1", std::nullopt},
                                {"1e999", std::nullopt},
                                {"abc", std::nullopt},
                                {"e3", std::nullopt},
                                {"nan(1)", std::nullopt},
                                {"-nan", std::nullopt}}) {
    const auto got = parseGoFloat(text);
    EXPECT_EQ(got ? std::optional(*got) : std::nullopt, expected) << text;
  }
  EXPECT_TRUE(std::isnan(parseGoFloat("NaN").value()));
}

TEST(ParseGoBool, TwelveWords) {
  for (const char* word : {"1", "t", "T", "true", "TRUE", "True"})
    EXPECT_TRUE(parseGoBool(word).value()) << word;
  for (const char* word : {"0", "f", "F", "false", "FALSE", "False"})
    EXPECT_FALSE(parseGoBool(word).value()) << word;
  for (const char* word : {"", "yes", "tRUE", " true"}) EXPECT_FALSE(parseGoBool(word)) << word;
}

}  // namespace
}  // namespace mangrove::api
