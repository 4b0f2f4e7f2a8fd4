// How members of gangs may move.
#include "descheduler/gang/gang_way.h"

#include <gmock/gmock.h>

namespace mangrove::descheduler {
namespace {

using ::testing::HasSubstr;

TEST(GangWay, Table) {
  struct Row {
    const char* name;
    GangFacts facts;
    int32_t leaving;
    GangWay way;
  };
  const std::vector<Row> rows = {
      {"all are needed", {{{"d/g", 3, 3}}, true, false}, 0, GangWay::kWhole},
      {"one is to spare", {{{"d/g", 3, 4}}, true, false}, 0, GangWay::kAlone},
      {"the spare one is leaving", {{{"d/g", 3, 4}}, true, false}, 1, GangWay::kStays},
      {"two are to spare, one leaves", {{{"d/g", 3, 5}}, true, false}, 1, GangWay::kAlone},
      {"not strict", {{{"d/g", 3, 3}}, false, false}, 0, GangWay::kAlone},
      {"not strict, others leave", {{{"d/g", 3, 3}}, false, false}, 2, GangWay::kAlone},
      {"its own gang has one to spare",
       {{{"d/a", 2, 2}, {"d/g", 1, 2}}, true, false},
       0,
       GangWay::kAlone},
      {"near each other", {{{"d/g", 3, 3}}, true, true}, 0, GangWay::kStays},
      {"near each other, with a spare one", {{{"d/g", 3, 4}}, true, true}, 0, GangWay::kAlone},
      {"nobody knows it", {{{"d/other", 3, 3}}, true, false}, 0, GangWay::kStays},
      {"no minimum", {{{"d/g", 0, 3}}, true, false}, 0, GangWay::kStays},
  };
  for (const Row& row : rows) {
    const GangVerdict got = gangWay(row.facts, "d/g", row.leaving);
    EXPECT_EQ(got.way, row.way) << row.name;
    EXPECT_EQ(got.why.empty(), row.way != GangWay::kStays) << row.name;
  }
  EXPECT_THAT(gangWay({{{"d/g", 3, 4}}, true, false}, "d/g", 1).why,
              HasSubstr("1 of the 4 members of gang d/g are moving, and it needs 3"));
}

}  // namespace
}  // namespace mangrove::descheduler
