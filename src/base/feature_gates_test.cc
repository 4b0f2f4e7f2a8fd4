#include "base/feature_gates.h"

#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

constexpr GateInfo kGates[] = {
    {"PodTopology", false, Maturity::kAlpha, "report NUMA zones"},
    {"BatchHooks", true, Maturity::kBeta, ""},
    {"ColdStart", false, Maturity::kBeta, ""},
    {"Settled", true, Maturity::kGa, "", true},
};

TEST(FeatureGatesTest, SetsWhatIsNamed) {
  struct Row {
    const char* list;
    const char* summary;
  };
  for (const Row& row : std::vector<Row>{
           {"", "BatchHooks=true,ColdStart=false,PodTopology=false,Settled=true"},
           {"PodTopology=true", "BatchHooks=true,ColdStart=false,PodTopology=true,Settled=true"},
           {" PodTopology = T , BatchHooks=0 ",
            "BatchHooks=false,ColdStart=false,PodTopology=true,Settled=true"},
           {"AllAlpha=true", "BatchHooks=true,ColdStart=false,PodTopology=true,Settled=true"},
           {"AllBeta=true,AllAlpha=true",
            "BatchHooks=true,ColdStart=true,PodTopology=true,Settled=true"},
           {"ColdStart=true,AllBeta=false",
            "BatchHooks=false,ColdStart=true,PodTopology=false,Settled=true"},
           {"Settled=true", "BatchHooks=true,ColdStart=false,PodTopology=false,Settled=true"}}) {
    FeatureGates gates(kGates);
    const auto ok = gates.set(row.list);
    ASSERT_TRUE(ok) << ok.error().text();
    EXPECT_EQ(gates.summary(), row.summary) << row.list;
  }
}

TEST(FeatureGatesTest, RefusesWithASentenceAndChangesNothing) {
  struct Row {
    const char* list;
    const char* error;
  };
  for (const Row& row : std::vector<Row>{
           {"PodTopolgy=true", "unknown feature gate 'PodTopolgy', did you mean 'PodTopology'?"},
           {"Zebra=true", "unknown feature gate 'Zebra'"},
           {"AlAlpha=true", "unknown feature gate 'AlAlpha', did you mean 'AllAlpha'?"},
           {"PodTopology",
            "feature gate 'PodTopology' has no value: want PodTopology=true or "
            "PodTopology=false"},
           {"PodTopology=yes", "feature gate PodTopology='yes': want true or false"},
           {"Settled=false", "feature gate Settled is settled and stays true"}}) {
    FeatureGates gates(kGates);
    const auto ok = gates.set(std::string("ColdStart=true,") + row.list);
    ASSERT_FALSE(ok) << row.list;
    EXPECT_EQ(ok.error().text(), row.error);
    EXPECT_FALSE(gates.on("ColdStart"));
  }
}

TEST(FeatureGatesTest, HelpListsEveryGate) {
  EXPECT_EQ(FeatureGates(kGates).help(),
            "AllAlpha=true|false (ALPHA - default=false)\n"
            "AllBeta=true|false (BETA - default=false)\n"
            "BatchHooks=true|false (BETA - default=true)\n"
            "ColdStart=true|false (BETA - default=false)\n"
            "PodTopology=true|false (ALPHA - default=false) report NUMA zones\n"
            "Settled=true|false (GA - default=true)\n");
}

TEST(FeatureGatesDeathTest, UnknownGatesInCodeAreOurMistake) {
  EXPECT_DEATH(FeatureGates(kGates).on("Nope"), "never declared");
  const GateInfo twice[] = {{"A"}, {"A"}};
  EXPECT_DEATH(FeatureGates{twice}, "declared twice");
}

}  // namespace
}  // namespace mangrove
