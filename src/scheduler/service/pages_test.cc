#include "scheduler/service/pages.h"

#include <gtest/gtest.h>

namespace mangrove::scheduler {
namespace {

struct FlagCase {
  const char* name;
  const char* value;
  int status;
  const char* says;
};

TEST(Pages, debug_flags_are_set_by_their_names_and_refuse_what_they_cannot_be) {
  const FlagCase cases[] = {
      {"s", "5", 200, "successfully set flag s to 5\n"},
      {"v", "4", 200, "successfully set flag v to 4\n"},
      {"f", "true", 200, "successfully set flag f to true\n"},
      {"d", "1", 200, "successfully set flag d to 1\n"},
      {"db", "false", 200, "successfully set flag db to false\n"},
      {"s", "-1", 400, "flag s: '-1' is not a number of nodes\n"},
      {"v", "loud", 400, "flag v: 'loud' is not a verbosity, 0 or more\n"},
      {"f", "maybe", 400, "flag f: 'maybe' is not true or false\n"},
      {"x", "1", 404, "no flag 'x': want v, s, f, d or db\n"},
  };
  DebugFlags flags;
  for (const auto& c : cases) {
    const ServiceAnswer answer = setDebugFlag(flags, c.name, c.value);
    EXPECT_EQ(answer.status, c.status) << c.name << " " << c.value;
    EXPECT_EQ(answer.body, c.says);
  }
  EXPECT_EQ(flags.topScores, 5);
  EXPECT_EQ(flags.verbosity, 4);
  EXPECT_TRUE(flags.filters);
  EXPECT_TRUE(flags.diagnosis);
}

}  // namespace
}  // namespace mangrove::scheduler
