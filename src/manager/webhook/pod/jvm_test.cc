// What the JVMs of rewritten Spark and Flink pods are told.
#include "manager/webhook/pod/jvm.h"

#include <gtest/gtest.h>

namespace mangrove::manager {
namespace {

json::Object object(std::string_view text) {
  return json::parse(text)->as_object();
}

std::string told(std::string_view pod, std::string_view original) {
  json::Object out = object(pod);
  tellJvms(out, object(original));
  json::Object again = out;
  tellJvms(again, object(original));
  EXPECT_EQ(again, out) << "twice is once";
  return json::writeSorted(out["spec"].at("containers").at(0).at("env"));
}

constexpr const char* kShown =
    R"({"name":"COLOCATION_ORIGINAL_RESOURCES","valueFrom":{"fieldRef":{"fieldPath":)"
    R"("metadata.annotations['colocation.mangrove.io/original-resources']"}}})";
constexpr std::string_view kLimited =
    R"("metadata":{"annotations":{"colocation.mangrove.io/set-active-processor-count":"true"}},)";

std::string podWith(std::string_view metadata, std::string_view env) {
  std::string out = "{";
  out += metadata;
  out += R"("spec":{"containers":[{"name":"c")";
  out += env;
  return out + "}]}}";
}

TEST(Jvm, LearnsWhatWasAskedFor) {
  EXPECT_EQ(told(podWith("", ""), R"({"c":{"requests":{"cpu":"2"}}})"),
            std::string("[") + kShown + "]");
}

TEST(Jvm, CountsNoMoreThanThatWhereThePolicySaysSo) {
  struct Case {
    std::string_view env, original, wanted;
  };
  const Case cases[] = {
      {"", R"({"c":{"requests":{"cpu":"1"},"limits":{"cpu":"2500m"}}})",
       R"({"name":"JAVA_TOOL_OPTIONS","value":"-XX:ActiveProcessorCount=3"})"},
      {R"(,"env":[{"name":"JAVA_TOOL_OPTIONS","value":"-Xmx1g"}])",
       R"({"c":{"requests":{"cpu":"4"}}})",
       R"({"name":"JAVA_TOOL_OPTIONS","value":"-Xmx1g -XX:ActiveProcessorCount=4"})"},
      {R"(,"env":[{"name":"JAVA_TOOL_OPTIONS","value":"-XX:ActiveProcessorCount=9"}])",
       R"({"c":{"requests":{"cpu":"4"}}})",
       R"({"name":"JAVA_TOOL_OPTIONS","value":"-XX:ActiveProcessorCount=9"})"},
  };
  for (const Case& one : cases)
    EXPECT_NE(told(podWith(kLimited, one.env), one.original).find(one.wanted), std::string::npos)
        << one.wanted;
  EXPECT_EQ(told(podWith(kLimited, ""), "{}"), std::string("[") + kShown + "]")
      << "nothing was asked for";
}

TEST(Jvm, IsKnownByItsOperator) {
  EXPECT_TRUE(runsJvm(object(R"({"metadata":{"labels":{"spark-role":"executor"}}})")));
  EXPECT_TRUE(runsJvm(object(R"({"metadata":{"labels":{"type":"flink-native-kubernetes"}}})")));
  EXPECT_FALSE(runsJvm(object(R"({"metadata":{"labels":{"app":"web"}}})")));
}

}  // namespace
}  // namespace mangrove::manager
