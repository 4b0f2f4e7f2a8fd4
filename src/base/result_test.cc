#include "base/result.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "base/check.h"

namespace mangrove {
namespace {

Result<int> inner(bool good) {
  if (!good) return fail(Code::kNotFound, "open {}: no such file", "memory.max");
  return 7;
}

Result<std::string> outer(bool good) {
  auto value = inner(good);
  if (!value) return value.error().in("memory limit of {}", "pod12");
  return std::to_string(*value);
}

TEST(ResultTest, MessagesReadOutsideIn) {
  EXPECT_EQ(outer(true).value(), "7");
  const Error error = outer(false).error();
  EXPECT_EQ(error.text(), "memory limit of pod12: open memory.max: no such file");
  EXPECT_EQ(error.sentence(), "open memory.max: no such file");
  EXPECT_EQ(error.code(), Code::kNotFound);
}

TEST(ResultTest, ErrnoBecomesACode) {
  struct Row {
    int errnum;
    Code code;
  };
  for (const Row& row :
       {Row{ENOENT, Code::kNotFound}, Row{EACCES, Code::kDenied}, Row{EEXIST, Code::kExists},
        Row{ETIMEDOUT, Code::kTimeout}, Row{ECONNREFUSED, Code::kUnavailable},
        Row{ENOSYS, Code::kUnsupported}, Row{EIO, Code::kIo}}) {
    const Error error = failErrno(row.errnum, "x").value();
    EXPECT_EQ(error.code(), row.code) << row.errnum;
    EXPECT_EQ(error.detail(), row.errnum);
  }
  EXPECT_EQ(failErrno(ENOENT, "open /x").value().text(), "open /x: No such file or directory");
}

TEST(ResultTest, PassingOnChangesNothing) {
  const Result<int> first = invalid("bad '{}'", 3);
  const Result<std::string> second = pass(first.error());
  EXPECT_EQ(second.error().text(), "bad '3'");
  EXPECT_STREQ(codeName(second.error().code()), "invalid");
}

TEST(CheckDeathTest, AbortsWithExpressionAndValues) {
  CHECK(1 + 1 == 2);
  CHECK(true, "unused {}", 1);
  const int rows = 3;
  EXPECT_DEATH(CHECK(rows > 5, "row {} of {}", 9, rows), "CHECK failed: rows > 5: row 9 of 3");
  EXPECT_DEATH(CHECK(rows > 5), "CHECK failed: rows > 5");
}

}  // namespace
}  // namespace mangrove
