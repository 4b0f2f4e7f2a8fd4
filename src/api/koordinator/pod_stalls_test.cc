#include "api/koordinator/pod_stalls.h"

#include <cmath>

#include <gtest/gtest.h>

#include "api/wire/decode.h"
#include "json/value.h"

namespace mangrove::api {
namespace {

TEST(PodStalls, GoThroughAReportInWholePercents) {
  PodMetric pod;
  pod.name = Text("web-1");
  EXPECT_FALSE(stallsOf(pod));
  pod.extensions = extensionsOf({12.4, 0.6});
  const auto read = decodeText<PodMetric>(json::write(toJson(pod)));
  ASSERT_TRUE(read);
  EXPECT_EQ(stallsOf(*read), (PodStalls{12, 1}));
}

TEST(PodStalls, WhatCannotBeIsNothing) {
  PodMetric pod;
  pod.extensions = extensionsOf({std::nan(""), 250});
  EXPECT_EQ(stallsOf(pod), (PodStalls{0, 100}));
  pod.extensions->values[std::string(kStalls)].text = "[1]";
  EXPECT_FALSE(stallsOf(pod));
  pod.extensions->values.clear();
  pod.extensions->values["others"].text = "{}";
  EXPECT_FALSE(stallsOf(pod));
}

}  // namespace
}  // namespace mangrove::api
