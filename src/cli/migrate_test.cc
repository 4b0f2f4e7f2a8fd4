// What `migrate check`, `migrate off` and the support bundle say of made-up clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/migrate_facts.h"
#include "cli/migrate_off_plan.h"
#include "cli/redaction.h"

namespace mangrove::cli {

namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

MigrateFacts plain() {
  MigrateFacts facts;
  facts.configName = "koordinator-system/slo-controller-config";
  return facts;
}

const MigrateItem* find(const std::vector<MigrateItem>& items, std::string_view text) {
  for (const auto& item : items)
    if (item.item.find(text) != std::string::npos) return &item;
  return nullptr;
}

struct FlagCase {
  const char* role;
  const char* arg;
  Verdict verdict;
  const char* reason;
};

TEST(MigrateCheck, TriesEachFlagOnOurs) {
  const FlagCase cases[] = {
      {"agent", "--collect-res-used-interval=1s", Verdict::kSame, "same"},
      {"agent", "-v=4", Verdict::kSame, "same"},
      {"agent", "--addr=:9316", Verdict::kSame, "same"},
      {"agent", "--tsdb-path=/x", Verdict::kDifferent, "history is a fixed ring"},
      {"agent", "--no-such-flag=1", Verdict::kUnsupported, "no-such-flag"},
      {"agent", "--collect-res-used-interval=soon", Verdict::kUnsupported, "soon"},
      {"manager", "--enable-leader-election=true", Verdict::kSame, "same"},
      {"manager", "--sync-period=1h", Verdict::kDifferent, "without effect"},
      {"scheduler", "--port=10251", Verdict::kSame, "same"},
  };
  for (const auto& one : cases) {
    const auto items = compareFlags({"ns/x", one.role, "", {one.arg}});
    ASSERT_EQ(items.size(), 1u) << one.arg;
    EXPECT_EQ(items[0].verdict, one.verdict) << one.arg << ": " << items[0].reason;
    EXPECT_THAT(items[0].reason, HasSubstr(one.reason)) << one.arg;
  }
}

TEST(MigrateCheck, ReadsValuesInTheNextWordAndEachGate) {
  const auto items = compareFlags(
      {"ns/koordlet",
       "agent",
       "",
       {"/koordlet", "--pod-source", "api", "--feature-gates=BECPUEvict=true,Nonsense=true"}});
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].item, "--pod-source=api");
  EXPECT_EQ(items[1].verdict, Verdict::kSame);
  EXPECT_EQ(items[2].verdict, Verdict::kUnsupported);
  EXPECT_THAT(items[2].reason, HasSubstr("Nonsense"));
}

TEST(MigrateCheck, SaysWhoReadsAKey) {
  EXPECT_EQ(compareKey("koordinator.sh/qosClass", 3).verdict, Verdict::kSame);
  EXPECT_THAT(compareKey("koordinator.sh/qosClass", 3).item, HasSubstr("(3)"));
  EXPECT_EQ(compareKey("koordinator.sh/made-up", 1).verdict, Verdict::kUnsupported);
  const auto gang = compareKey("gang.scheduling.koordinator.sh/name", 1);
  EXPECT_EQ(gang.verdict == Verdict::kSame, hasPlugin("Coscheduling"));
  EXPECT_TRUE(hasPlugin("LoadAwareScheduling"));
  EXPECT_FALSE(hasPlugin("NoSuchPlugin"));
}

TEST(MigrateCheck, ComparesConfigurations) {
  MigrateFacts facts = plain();
  facts.config.emplace();
  facts.config->data["colocation-config"] = R"({"enable":true})";
  facts.config->data["resource-threshold-config"] =
      R"({"clusterStrategy":{"cpuSuppressThresholdPercent":700}})";
  facts.schedulerConfigs = {{"ns/c/config.yaml", "kind: KubeSchedulerConfiguration\nprofils: []"}};
  const auto items = compareMigration(facts);
  ASSERT_NE(find(items, "colocation-config"), nullptr);
  EXPECT_EQ(find(items, "colocation-config")->verdict, Verdict::kSame);
  ASSERT_NE(find(items, "resource-threshold-config"), nullptr);
  EXPECT_EQ(find(items, "resource-threshold-config")->verdict, Verdict::kDifferent);
  ASSERT_NE(find(items, "config.yaml"), nullptr);
  EXPECT_EQ(find(items, "config.yaml")->verdict, Verdict::kUnsupported);
}

TEST(MigrateCheck, PutsWhatIsMissingFirstAndFailsThen) {
  MigrateFacts facts = plain();
  EXPECT_TRUE(judgeMigration(facts).good);
  EXPECT_THAT(judgeMigration(facts).answer, HasSubstr("Koordinator does not run here"));
  facts.components = {{"koordinator-system/koord-manager", "manager", "r/koord-manager:v1.6.0", {}},
                      {"koordinator-system/koord-yarn-operator", "", "r/yarn:v1", {}}};
  const Told told = judgeMigration(facts);
  EXPECT_FALSE(told.good);
  EXPECT_THAT(told.terms, HasSubstr("not supported  koordinator-system/koord-yarn-operator"));
  EXPECT_LT(told.terms.find("not supported"), told.terms.find("better"));
  EXPECT_THAT(told.terms, HasSubstr("compared with this version"));
  EXPECT_THAT(told.todo, Not(IsEmpty()));
}

json::Value parsed(std::string_view text) {
  auto out = json::parse(text);
  EXPECT_TRUE(out) << (out ? "" : out.error().text());
  return *out;
}

TEST(MigrateOff, LeavesWhatIsNotOurs) {
  const auto node = parsed(R"({"metadata":{"name":"n","annotations":{
      "node.koordinator.sh/originExtendedAllocatable":"{}","other":"1",
      "node.koordinator.sh/cpu-normalization-ratio":"1.00","node.koordinator.sh/raw-allocatable":"{}",
      "mangrove.io/raw-allocatable-from":"kubelet",
      "node.koordinator.sh/resource-amplification-ratio":"{}"}},
    "spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                      {"key":"colocation.mangrove.io/colocation-cooldown","effect":"NoSchedule"}]},
    "status":{"capacity":{"cpu":"4","kubernetes.io/batch-cpu":"100"},
      "allocatable":{"cpu":"4","kubernetes.io/batch-cpu":"100","nvidia.com/gpu":"1"},
      "conditions":[{"type":"Ready"},{"type":"colocation.mangrove.io/BestEffortPaused"}]}})");
  const auto status = parsed(statusLeftovers(node));
  EXPECT_EQ(status, parsed(R"({"status":{"capacity":{"kubernetes.io/batch-cpu":null},
      "allocatable":{"kubernetes.io/batch-cpu":null},"conditions":[{"type":"Ready"}]},
      "metadata":{"annotations":{"node.koordinator.sh/originExtendedAllocatable":null,
      "node.koordinator.sh/cpu-normalization-ratio":null,"node.koordinator.sh/raw-allocatable":null,
      "mangrove.io/raw-allocatable-from":null}}})"));
  EXPECT_EQ(parsed(taintLeftovers(node)),
            parsed(R"({"spec":{"taints":[{"key":"a","effect":"NoSchedule"}]}})"));
  const auto clean = parsed(R"({"status":{"capacity":{"cpu":"4"}},"spec":{}})");
  EXPECT_EQ(statusLeftovers(clean), "");
  EXPECT_EQ(taintLeftovers(clean), "");
}

TEST(SupportBundle, ShowsNoSecrets) {
  const auto pod = parsed(R"({"metadata":{"managedFields":[{}],"annotations":{
      "kubectl.kubernetes.io/last-applied-configuration":"{}","a":"b"}},
    "spec":{"volumes":[{"secret":{"secretName":"certs"}}],
      "containers":[{"args":["--token=abc","--token-file=/x","--password","hunter2","--port=1"],
      "env":[{"name":"KEY","value":"swordfish"},{"name":"N","valueFrom":{"fieldRef":{}}}]}]},
    "data":{"key.pem":"-----BEGIN PRIVATE KEY-----"},"webhooks":[{"clientConfig":{"caBundle":"QQ=="}}]})");
  const std::string shown = json::write(redacted(pod));
  for (const char* hidden :
       {"abc", "hunter2", "swordfish", "PRIVATE KEY", "QQ==", "managedFields", "last-applied"})
    EXPECT_THAT(shown, Not(HasSubstr(hidden)));
  for (const char* kept :
       {"--token-file=/x", "--port=1", R"("secretName":"certs")", R"("a":"b")", "fieldRef"})
    EXPECT_THAT(shown, HasSubstr(kept));
}

}  // namespace
}  // namespace mangrove::cli
