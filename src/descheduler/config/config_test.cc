#include "descheduler/config/config.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "descheduler/framework/cycle.h"

namespace mangrove::descheduler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHead =
    "apiVersion: descheduler/v1alpha2\nkind: DeschedulerConfiguration\n";

Result<DeschedulerConfig> read(std::string_view rest) {
  return readConfig(fmt::format("{}{}", kHead, rest), "test.yaml");
}

TEST(Config, TheChartsFileIsUnderstood) {
  const auto config = read(R"(
leaderElection: {leaderElect: true, resourceLock: leases, resourceName: koord-descheduler, resourceNamespace: koordinator-system}
deschedulingInterval: 10s
dryRun: false
profiles:
- name: koord-descheduler
  plugins:
    balance: {enabled: [{name: LowNodeLoad}]}
    evict: {disabled: [{name: "*"}], enabled: [{name: MigrationController}]}
  pluginConfig:
  - name: MigrationController
    args: {apiVersion: descheduler/v1alpha2, kind: MigrationControllerArgs, evictionPolicy: Eviction, namespaces: {exclude: [kube-system, koordinator-system]}, evictQPS: "10", evictBurst: 1}
  - name: LowNodeLoad
    args: {apiVersion: descheduler/v1alpha2, kind: LowNodeLoadArgs, evictableNamespaces: {exclude: [kube-system]}, lowThresholds: {cpu: 45, memory: 55}, highThresholds: {cpu: 75, memory: 80}}
)");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->interval, std::chrono::seconds(10));
  ASSERT_EQ(config->profiles.size(), 1U);
  EXPECT_THAT(config->profiles[0].balance, ElementsAre("LowNodeLoad"));
  EXPECT_THAT(config->profiles[0].evict, ElementsAre("MigrationController"));
  EXPECT_TRUE(makeProfile(config->profiles[0], config->interval));
}

TEST(Config, WithoutProfilesThereIsOne) {
  const auto config = read("");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->profiles[0].name, "koord-descheduler");
  EXPECT_THAT(config->profiles[0].filter, ElementsAre("MigrationController"));
  EXPECT_EQ(config->interval, Duration::zero()) << "one cycle";
}

TEST(Config, SaysWhatIsWrong) {
  struct Row {
    const char* text;
    const char* says;
  };
  for (const Row& row : {
           Row{"profiles: [{name: a, plugins: {balance: {enabled: [{name: LowNodeLoads}]}}}]",
               "did you mean 'LowNodeLoad'"},
           Row{"profiles: [{name: a, plugins: {deschedule: {enabled: [{name: LowNodeLoad}]}}}]",
               "cannot be used for deschedule"},
           Row{"profiles: [{name: a, plugins: {evict: {disabled: [{name: \"*\"}]}}}]",
               "has 0 evict plugins"},
           Row{"profiles: [{name: a, plugins: {evict: {enabled: [{name: DefaultEvictor}]}}}]",
               "has 2 evict plugins"},
           Row{"profiles: [{name: a}, {name: a}]", "two profiles are called 'a'"},
           Row{"profiles: [{nodeSelector: {}}]", "a profile has no name"},
           Row{"profiles: [{name: a, plugins: {balance: {enabled: [{name: LowNodeLoad}, {name: "
               "LowNodeLoad}]}}}]",
               "listed twice"},
           Row{"profiles: [{name: a, pluginConfig: [{name: LowNodeLoad}, {name: LowNodeLoad}]}]",
               "given twice"},
           Row{"maxNoOfPodsToEvictPerNode: -1", "want 0 or more"},
           Row{"deschedulingIntervall: 10s", "did you mean 'deschedulingInterval'"},
           Row{"healthzBindAddress: \"1.2.3.4:http\"", "want host:port"},
       }) {
    const auto config = read(row.text);
    ASSERT_FALSE(config) << row.text;
    EXPECT_THAT(config.error().text(), HasSubstr(row.says)) << row.text;
  }
  EXPECT_FALSE(readConfig("apiVersion: v1\nkind: Pod\n", "x"));
}

TEST(Config, SaysWhatHasNoEffect) {
  const auto config = read("metricsBindAddress: \":9000\"\nenableProfiling: true\n");
  ASSERT_TRUE(config);
  EXPECT_THAT(config->warnings, ElementsAre(HasSubstr("enableProfiling has no effect"),
                                            HasSubstr("0.0.0.0:9000: the address is set by")));
}

TEST(Config, SaysWhichArgumentsHaveNoEffect) {
  const auto config = read(
      "profiles: [{name: a, pluginConfig: [{name: MigrationController, args: "
      "{maxConcurrentReconciles: 2, arbitrationArgs: {enabled: false}}}]}]");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_THAT(config->warnings,
              ElementsAre(HasSubstr("maxConcurrentReconciles has no effect"),
                          HasSubstr("MigrationController: enabled has no effect")));
}

TEST(Config, AddressesAreCompleted) {
  EXPECT_EQ(bindAddress("").value(), "0.0.0.0:10251");
  EXPECT_EQ(bindAddress("1.2.3.4").value(), "1.2.3.4:10251");
  EXPECT_EQ(bindAddress(":8080").value(), "0.0.0.0:8080");
}

}  // namespace
}  // namespace mangrove::descheduler
