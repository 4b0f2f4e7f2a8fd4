#include "client/queue/writer.h"

#include <gtest/gtest.h>

#include "client/testing/scripted_client.h"

namespace mangrove::client {
namespace {

using testing::ScriptedClient;

constexpr const char* kNow =
    R"({"metadata":{"name":"a","resourceVersion":"5","labels":{"x":"1"}},"spec":{"containers":[{"name":"c","image":"i"}]},"status":{"n":1}})";

struct PatchCase {
  PatchType type;
  const char* patch;
  bool changes;
};

TEST(Writer, knowsWhetherAPatchChangesAnything) {
  const PatchCase cases[] = {
      {PatchType::kMerge, R"({})", false},
      {PatchType::kMerge, R"({"metadata":{"labels":{"x":"1"}}})", false},
      {PatchType::kMerge, R"({"metadata":{"resourceVersion":"5","labels":{"x":"1"}}})", false},
      {PatchType::kMerge, R"({"metadata":{"resourceVersion":"4","labels":{"x":"1"}}})", false},
      {PatchType::kMerge, R"({"metadata":{"labels":{"x":"2"}}})", true},
      {PatchType::kMerge, R"({"metadata":{"labels":{"x":null}}})", true},
      {PatchType::kMerge, R"({"metadata":{"labels":{"y":null}}})", false},
      {PatchType::kMerge, R"({"status":{"n":2}})", true},
      {PatchType::kStrategic, R"({"spec":{"containers":[{"name":"c","image":"i"}]}})", false},
      {PatchType::kStrategic, R"({"spec":{"containers":[{"name":"c","image":"j"}]}})", true},
      {PatchType::kStrategic, R"({"spec":{"containers":[{"name":"d","image":"i"}]}})", true},
      {PatchType::kStrategic, R"({"metadata":{"uid":"u","labels":{"x":"1"}}})", false},
      {PatchType::kJson, R"([{"op":"replace","path":"/status/n","value":1}])", false},
      {PatchType::kJson, R"([{"op":"replace","path":"/status/n","value":2}])", true},
      {PatchType::kJson, R"([{"op":"remove","path":"/status/absent"}])", true},
      {PatchType::kApply, R"({})", true},
      {PatchType::kMerge, "not json", true},
  };
  for (const auto& one : cases)
    EXPECT_EQ(patchChanges(kNow, one.type, one.patch, kind::kPod), one.changes) << one.patch;
  EXPECT_TRUE(patchChanges("", PatchType::kMerge, "{}", kind::kPod)) << "nothing known";
  EXPECT_TRUE(patchChanges(kNow, PatchType::kStrategic, "{}", kind::kNodeMetric))
      << "no merge rules: the server decides";
}

TEST(Writer, sendsSkipsAndCounts) {
  ScriptedClient api;
  Mailbox owner;
  Registry registry;
  Writer writer(api, "tester", &registry);
  std::string heard;
  auto note = [&](Result<bool> sent) { heard += !sent ? "error " : *sent ? "sent " : "skipped "; };
  Ref ref{kind::kPod, "d", "a"};
  writer.patch(owner, ref, PatchType::kMerge, R"({"metadata":{"labels":{"x":"1"}}})", kNow, note);
  owner.drain();
  EXPECT_TRUE(api.pending.empty());
  writer.patch(owner, ref, PatchType::kMerge, R"({"metadata":{"labels":{"x":"2"}}})", kNow, note);
  EXPECT_EQ(api.next().query.fieldManager, "tester");
  api.reply(200, "{}");
  writer.patch(owner, ref, PatchType::kMerge, R"({"status":{"n":3}})", kNow, note);
  api.reply(409, R"({"kind":"Status","reason":"Conflict","code":409})");
  owner.drain();
  EXPECT_EQ(heard, "skipped sent error ");
  EXPECT_EQ(writer.stats().sent, 2u);
  EXPECT_EQ(writer.stats().skipped, 1u);
  EXPECT_EQ(writer.stats().failed, 1u);
  EXPECT_NE(registry.exposition().find(
                R"(mangrove_client_writes_total{user="tester",result="skipped"} 1)"),
            std::string::npos);
}

}  // namespace
}  // namespace mangrove::client
