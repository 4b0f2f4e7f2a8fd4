#include "base/text/nearest.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

TEST(NearestTest, EditDistance) {
  struct Row {
    const char *a, *b;
    size_t limit, want;
  };
  for (const Row& row : std::vector<Row>{{"", "", 5, 0},
                                         {"abc", "abc", 0, 0},
                                         {"abc", "ABC", 0, 0},
                                         {"abc", "abd", 5, 1},
                                         {"abc", "ab", 5, 1},
                                         {"abc", "acb", 5, 1},
                                         {"kitten", "sitting", 5, 3},
                                         {"kitten", "sitting", 2, 3},
                                         {"a", "abcdefgh", 3, 4},
                                         {"", "abc", 5, 3}}) {
    EXPECT_EQ(editDistance(row.a, row.b, row.limit), row.want) << row.a << " → " << row.b;
    EXPECT_EQ(editDistance(row.b, row.a, row.limit), row.want) << row.b << " → " << row.a;
  }
}

TEST(NearestTest, FindsTheKnownNameOrNothing) {
  const std::array<std::string_view, 4> known = {"replicas", "selector", "template", "strategy"};
  struct Row {
    const char *name, *want;
  };
  for (const Row& row : std::vector<Row>{{"replica", "replicas"},
                                         {"Replicas", "replicas"},
                                         {"sleector", "selector"},
                                         {"tempalte", "template"},
                                         {"minReadySeconds", ""},
                                         {"x", ""},
                                         {"", ""}}) {
    EXPECT_EQ(nearest(row.name, known).value_or(""), row.want) << row.name;
  }
  EXPECT_EQ(didYouMean("replica", known), ", did you mean 'replicas'?");
  EXPECT_EQ(didYouMean("unrelated", known), "");
  const std::array<std::string_view, 2> twins = {"aab", "aac"};
  EXPECT_EQ(nearest("aaa", twins), "aab");
}

}  // namespace
}  // namespace mangrove
