#include "base/number/cpu_set.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace mangrove {
namespace {

CpuSet cpus(std::string_view text) {
  auto parsed = CpuSet::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed.value_or(CpuSet());
}

TEST(CpuSetTest, ReadsListsAndWritesThemCanonically) {
  struct Row {
    const char* in;
    const char* text;
    size_t size;
  };
  for (const Row& row : std::vector<Row>{{"", "", 0},
                                         {"0", "0", 1},
                                         {"00", "0", 1},
                                         {"+3", "3", 1},
                                         {"0-3", "0-3", 4},
                                         {"0-3,7", "0-3,7", 5},
                                         {"7,0-3", "0-3,7", 5},
                                         {"1,2", "1-2", 2},
                                         {"44-51,94-98,45", "44-51,94-98", 13},
                                         {"5-3", "", 0},
                                         {"5-3,9", "9", 1},
                                         {"60-70", "60-70", 11},
                                         {"63,64", "63-64", 2},
                                         {"255,256", "255-256", 2},
                                         {"0-4096", "0-4096", 4097},
                                         {"65535", "65535", 1}}) {
    EXPECT_EQ(cpus(row.in).text(), row.text) << row.in;
    EXPECT_EQ(cpus(row.in).size(), row.size) << row.in;
  }
}

TEST(CpuSetTest, RefusesWhatIsNoListAndNamesThePart) {
  for (const char* text : {"-1", "a", "0-3 ", " 0", "0,,1", ",", "1, 2", "1-", "-", "1-2-3", "0x3",
                           "1.5", "0-4097", "65536", "99999999999999999999", "0--0"}) {
    EXPECT_FALSE(CpuSet::parse(text)) << text;
  }
  EXPECT_EQ(CpuSet::parse("0-3,8-x").error().text(),
            "cpu list '0-3,8-x': 'x' in part '8-x' is not a CPU number: want a list such as 0-3,7");
  EXPECT_EQ(CpuSet::parse("70000").error().text(),
            "cpu list '70000': CPU 70000 is out of range: want at most 65535");
}

TEST(CpuSetTest, SetOperations) {
  struct Row {
    const char *a, *b, *both, *common, *rest;
    bool subset;
  };
  for (const Row& row :
       std::vector<Row>{{"0-3", "2-5", "0-5", "2-3", "0-1", false},
                        {"16,30-37,76,80-85", "48-58,65-67,82", "16,30-37,48-58,65-67,76,80-85",
                         "82", "16,30-37,76,80-81,83-85", false},
                        {"", "1", "1", "", "", true},
                        {"1", "", "1", "", "1", false},
                        {"300-310", "1,305", "1,300-310", "305", "300-304,306-310", false},
                        {"1,305", "0-400", "0-400", "1,305", "", true}}) {
    const CpuSet a = cpus(row.a);
    const CpuSet b = cpus(row.b);
    EXPECT_EQ((a | b).text(), row.both);
    EXPECT_EQ((a & b).text(), row.common);
    EXPECT_EQ((a - b).text(), row.rest);
    EXPECT_EQ(a.isSubsetOf(b), row.subset) << row.a << " in " << row.b;
    EXPECT_EQ(a.intersects(b), !(a & b).empty());
  }
}

TEST(CpuSetTest, EqualityDoesNotSeeTheSpaceThatIsLeftOver) {
  CpuSet a{1, 500};
  a.remove(500);
  EXPECT_EQ(a, CpuSet{1});
  EXPECT_EQ(CpuSet{1}, a);
  EXPECT_EQ(a.last(), 1);
  EXPECT_FALSE(a.empty());
  a.remove(1);
  a.remove(9999);
  EXPECT_TRUE(a.empty());
  EXPECT_EQ(a.first(), -1);
  EXPECT_EQ(a.last(), -1);
}

TEST(CpuSetTest, IteratesAscending) {
  const CpuSet set = cpus("7,0,63-65,300");
  EXPECT_EQ(set.list(), (std::vector<int>{0, 7, 63, 64, 65, 300}));
  EXPECT_EQ(std::vector<int>(set.begin(), set.end()), set.list());
  EXPECT_EQ(set.next(65), 300);
  EXPECT_EQ(set.next(300), -1);
  EXPECT_EQ(set.last(), 300);
  EXPECT_EQ(CpuSet::of({3, 1, 2}).text(), "1-3");
  EXPECT_EQ(CpuSet::range(10, 70).size(), 61u);
  EXPECT_FALSE(set.contains(-1));
  EXPECT_FALSE(set.contains(1000000));
}

}  // namespace
}  // namespace mangrove
