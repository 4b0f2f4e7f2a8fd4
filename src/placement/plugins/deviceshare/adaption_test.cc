// What vendors' device plugins are told, and the lock that two of them share with the scheduler.
#include "placement/plugins/deviceshare/adaption.h"

#include <fmt/core.h>
#include <gmock/gmock.h>

#include "api/wire/decode.h"
#include "base/text/time_text.h"
#include "placement/plugins/deviceshare/node_lock.h"
#include "placement/testing/device_box.h"

namespace mangrove::placement {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

std::string vendorLabel(std::string_view vendor) {
  return fmt::format(R"({{"node.koordinator.sh/gpu-vendor":"{}"}})", vendor);
}
SchedulerConfig adapting() {
  auto config = defaultConfig({"default-scheduler"});
  config.devicePluginAdaption = true;
  return config;
}

TEST(Adaption, tells_vendors_plugins_where_the_gate_is_on) {
  Lab lab(adapting());
  putBox(lab, "n1", {.labels = vendorLabel("huawei")});
  lab.pod(devicePod("a", cards(2)));
  lab.run();
  EXPECT_EQ(lab.annotation("a", "scheduling.koordinator.sh/gpu-minors"), "0,1");
  EXPECT_EQ(lab.annotation("a", "huawei.com/npu-core"), "0,1");
  EXPECT_NE(lab.annotation("a", "scheduling.koordinator.sh/bind-timestamp"), "");
}

struct Told {
  BindNotes notes;
  std::string refusal;
};

// One card of a vendor's, with these resources.
Told told(std::string_view vendor, const std::string& gpus, std::string_view lock = "",
          bool holderIsThere = true) {
  auto node = api::decodeText<api::Node>(fmt::format(
      R"({{"metadata":{{"name":"n1","resourceVersion":"7","labels":{},"annotations":{{{}}}}}}})",
      vendorLabel(vendor), lock));
  auto pod = api::decodeText<api::Pod>(
      R"({"metadata":{"name":"p","namespace":"default"},"spec":{"containers":[{"name":"c"}]}})");
  api::Annotations notes;
  notes.set("scheduling.koordinator.sh/device-allocated", fmt::format(R"({{"gpu":[{}]}})", gpus));
  const auto given = *api::parseDeviceAllocations(notes).value();
  Told out;
  const auto ok = adapt({*pod, *node, given, *parseTime("2026-03-01T12:00:00Z"),
                         [&](std::string_view, std::string_view) { return holderIsThere; }},
                        out.notes);
  if (!ok) out.refusal = ok.error().text();
  return out;
}

std::string card(int minor, int core, std::string_view memory) {
  return fmt::format(
      R"({{"minor":{},"id":"GPU-{}","resources":{{"koordinator.sh/gpu-core":"{}","koordinator.sh/gpu-memory":"{}"}}}})",
      minor, minor, core, memory);
}

TEST(Adaption, cuts_a_card_of_cambricon_and_locks_its_node) {
  const Told one = told("cambricon", card(2, 30, "5Gi"));
  EXPECT_EQ(one.refusal, "");
  EXPECT_THAT(one.notes.annotations, testing::Contains(Pair("CAMBRICON_DSMLU_ASSIGHED", "false")));
  EXPECT_THAT(one.notes.annotations, testing::Contains(Pair("CAMBRICON_DSMLU_PROFILE", "2_30_20")));
  ASSERT_EQ(one.notes.patches.size(), 1u);
  EXPECT_EQ(one.notes.patches[0].name, "n1");
  EXPECT_EQ(
      json::write(one.notes.patches[0].body),
      R"({"metadata":{"resourceVersion":"7","annotations":{"cambricon.com/dsmlu.lock":"2026-03-01T12:00:00Z,default,p"}}})");
  EXPECT_THAT(told("cambricon", card(0, 50, "5Gi") + "," + card(1, 50, "5Gi")).refusal,
              HasSubstr("serves one a pod"));
  EXPECT_THAT(told("cambricon", card(0, 50, "255Mi")).refusal, HasSubstr("256Mi or more"));
  EXPECT_THAT(told("cambricon", card(0, 0, "5Gi")).refusal, HasSubstr("want cores"));
}

TEST(Adaption, names_the_cards_of_metax_and_locks_their_node) {
  const Told two = told("metax", card(0, 100, "64Gi") + "," + card(1, 100, "64Gi"));
  EXPECT_THAT(
      two.notes.annotations,
      testing::Contains(Pair(
          "metax-tech.com/gpu-devices-allocated",
          R"([[{"uuid":"GPU-0","compute":100,"vRam":65536},{"uuid":"GPU-1","compute":100,"vRam":65536}]])")));
  ASSERT_EQ(two.notes.patches.size(), 1u);
  EXPECT_THAT(json::write(two.notes.patches[0].body), HasSubstr("hami.io/mutex.lock"));
}

TEST(Adaption, waits_for_a_lock_unless_it_is_old_or_its_pod_is_gone) {
  const auto lockedBy = [](std::string_view value, bool isThere) {
    return told("metax", card(0, 100, "64Gi"), fmt::format(R"("hami.io/mutex.lock":"{}")", value),
                isThere)
        .refusal;
  };
  EXPECT_THAT(lockedBy("2026-03-01T11:56:00Z,default,other", true),
              HasSubstr("node n1 is locked by its annotation hami.io/mutex.lock"));
  EXPECT_THAT(lockedBy("2026-03-01T11:56:00Z,default,other", false), IsEmpty());
  EXPECT_THAT(lockedBy("2026-03-01T11:54:00Z,default,other", true), IsEmpty());
  EXPECT_THAT(lockedBy("2026-03-01T11:56:00Z,default,p", true), IsEmpty()) << "its own";
  EXPECT_THAT(lockedBy("scribbled", true), IsEmpty());
}

// Through the engine: the lock is written before the binding.
TEST(Adaption, locks_before_it_binds) {
  Lab lab(adapting());
  putBox(lab, "n1", {.labels = vendorLabel("metax")});
  lab.pod(devicePod("a", percent(50)));
  lab.run();
  EXPECT_EQ(lab.nodeOf("a"), "n1") << lab.said("a");
  const auto log = lab.takeLog();
  ASSERT_FALSE(log.empty());
  EXPECT_THAT(log.front(), HasSubstr("hami.io/mutex.lock"));
}

}  // namespace
}  // namespace mangrove::placement
