#include "placement/intake/watched_pod.h"

#include <gtest/gtest.h>

#include "placement/intake/transform.h"

namespace mangrove::placement {
namespace {

api::Pod plainly(std::string_view text) {
  auto pod = api::decodeText<api::Pod>(text);
  if (!pod) return {};
  transformPod(*pod);
  return *pod;
}

std::string pod(std::string_view name, std::string_view spec, std::string_view status = "{}") {
  return fmt::format(
      R"({{"metadata":{{"name":"{}","namespace":"d","uid":"u","labels":{{"a":"b"}}}},"spec":{},"status":{}}})",
      name, spec, status);
}

// Each twice, so that the second is remembered: both are what the plain decoder says.
TEST(WatchedPod, readsWhatThePlainDecoderReads) {
  const std::string specs[] = {
      R"({"schedulerName":"x","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]})",
      R"({"nodeName":"n1","containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}],"schedulerName":"x"})",
      R"({"containers":[{"name":"c","resources":{"requests":{"koordinator.sh/batch-cpu":"1"}}}]})",
      R"({"priority":7,"hostNetwork":true,"tolerations":[{"key":"k","tolerationSeconds":3}]})",
      R"({"priority":-7,"hostNetwork":false,"tolerations":[]})",
      R"({"priority":null})",
      R"({})",
  };
  for (int round = 0; round < 2; ++round) {
    for (const auto& spec : specs) {
      const std::string text =
          pod("p", spec, R"({"phase":"Running","nominatedNodeName":"n2","qosClass":"Burstable"})");
      auto got = api::decodeText<WatchedPod>(text);
      ASSERT_TRUE(got) << got.error().text();
      const api::Pod want = plainly(text);
      EXPECT_EQ(*got->spec, *want.spec) << spec;
      EXPECT_EQ(got->nodeName, want.nodeName) << spec;
      EXPECT_EQ(got->meta.name.view(), "p");
      EXPECT_EQ(got->meta.labels, want.meta.labels);
      EXPECT_EQ(got->status.phase, want.status.phase);
      EXPECT_EQ(got->status.nominatedNodeName.view(), "n2");
    }
  }
}

TEST(WatchedPod, isStrictAboutTheRestWhenTheSpecIsKnown) {
  const std::string spec = R"({"containers":[{"name":"strict"}]})";
  ASSERT_TRUE(api::decodeText<WatchedPod>(pod("p", spec)));
  const std::string bad = pod("p", spec, R"({"phase":5})");
  auto known = api::decodeText<WatchedPod>(bad);
  auto plain = api::decodeText<api::Pod>(bad);
  ASSERT_FALSE(known);
  ASSERT_FALSE(plain);
  EXPECT_EQ(known.error().text(), plain.error().text());
  EXPECT_FALSE(
      api::decodeText<WatchedPod>(pod("p", R"({"nodeName":5,"containers":[{"name":"strict"}]})")));
  EXPECT_FALSE(api::decodeText<WatchedPod>(R"({"metadata":{"name":"p"},"spec":5})"));
}

TEST(SpecMemo, knowsEqualSpecsOnly) {
  struct Row {
    std::string_view first, second;
    bool same;
  };
  const Row rows[] = {
      {R"({"a":"b"})", R"({"a":"b"})", true},
      {R"({"a":"b","nodeName":"n"})", R"({"nodeName":"m","a":"b"})", true},
      {R"({"a":"b"})", R"({"a":"c"})", false},
      {R"({"a":"b"})", R"({"ab":""})", false},
      {R"({"a":["b","c"]})", R"({"a":["bc"]})", false},
      {R"({"a":[["b"],"c"]})", R"({"a":[["b","c"]]})", false},
      {R"({"a":{"b":{}}})", R"({"a":{},"b":{}})", false},
      {R"({"a":1})", R"({"a":1.0})", false},
      {R"({"a":1})", R"({"a":"1"})", false},
      {R"({"a":1})", R"({"a":true})", false},
      {R"({"a":-1})", R"({"a":18446744073709551615})", false},
      {R"({"a":false})", R"({"a":true})", false},
      {R"({"a":null})", R"({})", false},
  };
  json::Doc doc;
  for (const Row& row : rows) {
    SpecMemo memo;
    EXPECT_EQ(memo.find(*doc.parse(row.first)), nullptr);
    memo.put(api::Shared<api::PodSpec>(api::PodSpec{}));
    EXPECT_NE(memo.find(*doc.parse(row.first)), nullptr);
    EXPECT_EQ(memo.find(*doc.parse(row.second)) != nullptr, row.same)
        << row.first << " " << row.second;
  }
}

TEST(SpecMemo, forgetsRatherThanGrow) {
  SpecMemo memo;
  json::Doc doc;
  const auto text = [](size_t i) { return fmt::format(R"({{"a":{}}})", i); };
  for (size_t i = 0; i < SpecMemo::kMost + 1; ++i) {
    EXPECT_EQ(memo.find(*doc.parse(text(i))), nullptr);
    memo.put({});
  }
  EXPECT_NE(memo.find(*doc.parse(text(SpecMemo::kMost))), nullptr);
  EXPECT_EQ(memo.find(*doc.parse(text(0))), nullptr);
}

}  // namespace
}  // namespace mangrove::placement
